package command

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/entries"
)

// A summary is an entry in a few words, as tree and show --brief print it. Its
// strings are not safe to print yet.
type summary struct {
	kind string // user, assistant, result, compaction, ...
	text string
	tool string // name of the tool, of results
	bad  bool   // a failed call or turn
}

// summarize reads an entry's body. One that cannot be read is told by its error.
func summarize(e entries.Entry) summary {
	s, err := summaryOf(e)
	if err != nil {
		return summary{kind: kindName(e), text: "cannot be read: " + err.Error(), bad: true}
	}
	return s
}

// kindName tells what an entry is without reading its body.
func kindName(e entries.Entry) string {
	if e.Type == entries.TypeMessage {
		if e.Role == "toolResult" {
			return "result"
		}
		return e.Role
	}
	return strings.ReplaceAll(string(e.Type), "_", " ")
}

func summaryOf(e entries.Entry) (summary, error) {
	s := summary{kind: kindName(e)}
	var err error
	switch e.Type {
	case entries.TypeMessage:
		return messageSummary(e)
	case entries.TypeCompaction:
		var c entries.Compaction
		c, err = e.Compaction()
		s.text = c.Summary
	case entries.TypeBranchSummary:
		var b entries.BranchSummary
		b, err = e.BranchSummary()
		s.text = b.Summary
	case entries.TypeCustomMessage:
		var c entries.CustomMessage
		c, err = e.CustomMessage()
		s.kind, s.text = "custom message "+c.CustomType, entries.Text(c.Content)
	case entries.TypeCustom:
		var c entries.Custom
		c, err = e.Custom()
		s.kind, s.text = "custom "+c.CustomType, string(c.Data)
		if m, ok := c.LeafMarker(); ok {
			s.kind, s.text = "leaf marker", m.Reason
		}
	case entries.TypeLabel:
		var l entries.Label
		l, err = e.Label()
		s.text = fmt.Sprintf("%s: %s", l.Target.Short(), l.Label)
	default:
		s.text, err = fieldsOf(e)
	}
	return s, err
}

func messageSummary(e entries.Entry) (summary, error) {
	m, err := e.Message()
	if err != nil {
		return summary{}, err
	}
	s := summary{kind: kindName(e), text: m.Text(), tool: m.ToolName, bad: m.IsError || m.Error != ""}
	switch m.Role {
	case "assistant":
		s.text = assistantText(m)
	case "toolResult":
		s.kind = "result " + m.ToolName
	case "bashExecution":
		s.kind, s.text = "shell", "$ "+m.Command
	case "custom":
		s.kind = "custom message " + m.CustomType
	}
	return s, nil
}

// assistantText is what a model said and what it called.
func assistantText(m entries.Message) string {
	parts := []string{}
	if text := m.Text(); text != "" {
		parts = append(parts, text)
	}
	for _, b := range m.Blocks() {
		if b.Type == "toolCall" {
			parts = append(parts, "-> "+b.Name+" "+argument(b.Arguments))
		}
	}
	if m.Error != "" {
		parts = append(parts, m.StopReason+": "+m.Error)
	}
	return strings.Join(parts, "  ")
}

// argument picks what tells a call best: its path or command, or all of it.
func argument(args json.RawMessage) string {
	var known struct{ Command, Path, FilePath, Pattern, Goal, Report *string }
	if json.Unmarshal(args, &known) == nil {
		for _, s := range []*string{known.Command, known.Path, known.FilePath, known.Pattern, known.Goal, known.Report} {
			if s != nil {
				return *s
			}
		}
	}
	return string(args)
}

// fieldsOf shows the fields of a small entry that its envelope does not.
func fieldsOf(e entries.Entry) (string, error) {
	var parts []string
	err := e.Fields(func(name string, value []byte) {
		switch name {
		case "type", "id", "parentId", "timestamp", "crc", "more":
			return
		}
		parts = append(parts, name+" "+strings.Trim(string(value), `"`))
	})
	return strings.Join(parts, ", "), err
}
