package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/checkpoint"
	modelcontext "github.com/sessctl/sessctl/context"
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
		} else if text, ok := checkpoint.Describe(e); ok {
			s.kind, s.text = "files", text
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
	m, stored, err := messageOf(e)
	if err != nil {
		return summary{}, err
	}
	s := summary{kind: kindName(e), text: messageText(stored, m), tool: m.ToolName, bad: m.Failed()}
	switch m.Role {
	case modelcontext.RoleToolResult:
		s.kind = "result " + m.ToolName
	case modelcontext.RoleBashExecution:
		s.kind = "shell"
	case modelcontext.RoleCustom:
		s.kind = "custom message " + m.CustomType
	}
	return s, nil
}

// messageOf reads a message entry once: what all messages have, and the message as it is
// stored.
func messageOf(e entries.Entry) (m entries.Message, stored modelcontext.Message, err error) {
	object, err := e.MessageObject()
	m = entries.ParseMessage(object)
	m.Role = e.Role // the envelope's, as Entry.Message has it
	return m, modelcontext.Message{Role: e.Role, Raw: object}, err
}

// assistantText is what a model said and what it called.
func assistantText(m entries.Message) string {
	parts := []string{}
	if text := m.Text(); text != "" {
		parts = append(parts, text)
	}
	for _, b := range m.Calls() {
		parts = append(parts, "-> "+b.Name+" "+argument(b.Arguments))
	}
	switch {
	case m.Error != "":
		parts = append(parts, m.StopReason+": "+m.Error)
	case m.Failed():
		parts = append(parts, "("+m.StopReason+")")
	}
	return strings.Join(parts, "  ")
}

func textMember(m modelcontext.Message, name string) (text string) {
	_ = json.Unmarshal(m.Field(name), &text)
	return text
}

type mentioned struct{ Path, Content string }

func filesOf(m modelcontext.Message) (files []mentioned) {
	_ = json.Unmarshal(m.Field("files"), &files)
	return files
}

// systemParts tells the sections that a system message sets or takes away (null), and
// the tools that it brings and takes.
func systemParts(m modelcontext.Message) (sections, tools []string) {
	var all map[string]*string
	_ = json.Unmarshal(m.Field("sections"), &all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if text := all[name]; text == nil {
			sections = append(sections, "[section "+name+" removed]")
		} else {
			sections = append(sections, "[section "+name+"] "+*text)
		}
	}
	for _, part := range []struct{ member, verb string }{{"toolsAdded", "added"}, {"toolsRemoved", "removed"}} {
		var names []string
		for _, tool := range entries.Blocks(m.Field(part.member)) {
			names = append(names, tool.Name)
		}
		if len(names) > 0 {
			tools = append(tools, "[tools "+part.verb+": "+strings.Join(names, ", ")+"]")
		}
	}
	return sections, tools
}

// messageText is a message in a few words.
func messageText(m modelcontext.Message, body entries.Message) string {
	switch m.Role {
	case modelcontext.RoleBranchSummary, modelcontext.RoleCompactionSummary:
		return textMember(m, "summary")
	case modelcontext.RoleAssistant:
		return assistantText(body)
	case modelcontext.RoleBashExecution:
		return "$ " + body.Command
	case modelcontext.RolePythonExecution:
		return ">>> " + textMember(m, "code")
	case modelcontext.RoleFileMention:
		var paths []string
		for _, f := range filesOf(m) {
			paths = append(paths, f.Path)
		}
		return "[files " + strings.Join(paths, ", ") + "]"
	case modelcontext.RoleSystem:
		sections, tools := systemParts(m)
		return strings.Join(append(append([]string{body.Text()}, tools...), sections...), " ")
	}
	parts := []string{body.Text()}
	for _, b := range body.Blocks() {
		if b.Type != "text" {
			parts = append(parts, "["+b.Type+"]")
		}
	}
	return strings.Join(parts, " ")
}

// telling are the arguments that tell a call best, in the words of several agents.
var telling = []string{"command", "cmd", "path", "file_path", "filePath", "notebook_path", "pattern", "url", "description", "goal", "report"}

// argument picks what tells a call best: its path or command, or all of it.
func argument(args json.RawMessage) string {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(args, &all) // what is no object has none
	for _, name := range telling {
		var text string
		if json.Unmarshal(all[name], &text) == nil {
			return text
		}
		var words []string // Codex has ["bash","-lc","..."]
		if json.Unmarshal(all[name], &words) == nil && len(words) > 0 {
			return words[len(words)-1]
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
