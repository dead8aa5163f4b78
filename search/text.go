package search

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A Part is a piece of text that a person would read of an entry.
type Part struct {
	Tool string // the tool whose call or result it is; "" where it is none
	Text string
}

// Parts gives the text of an entry in the order in which it is read: what was said and
// thought, the values of the arguments of calls, what tools and commands gave,
// summaries, names and labels. Other entries have none.
func Parts(e entries.Entry) ([]Part, error) {
	switch e.Type {
	case entries.TypeMessage:
		return messageParts(e)
	case entries.TypeCompaction:
		c, err := e.Compaction()
		return said(c.Summary), err
	case entries.TypeBranchSummary:
		b, err := e.BranchSummary()
		return said(b.Summary), err
	case entries.TypeCustomMessage:
		c, err := e.CustomMessage()
		return contentParts(c.Content), err
	case entries.TypeLabel:
		l, err := e.Label()
		return said(l.Label), err
	case entries.TypeSessionInfo:
		name, err := e.Field("name")
		return said(name), err
	case entries.TypeTitleChange:
		title, err := e.Field("title")
		return said(title), err
	}
	return nil, nil
}

func said(texts ...string) (parts []Part) {
	for _, text := range texts {
		if text != "" {
			parts = append(parts, Part{Text: text})
		}
	}
	return parts
}

func messageParts(e entries.Entry) ([]Part, error) {
	object, err := e.MessageObject()
	if err != nil {
		return nil, err
	}
	m := entries.ParseMessage(object)
	parts := contentParts(m.Content)
	if m.Role == "toolResult" {
		for i := range parts {
			parts[i].Tool = m.ToolName
		}
	}
	parts = append(parts, said(m.Command, m.Output, m.Error)...)
	return append(parts, specialParts(m.Role, object)...), nil
}

// contentParts reads content as it stands in messages.
func contentParts(content []byte) (parts []Part) {
	for _, b := range entries.Blocks(content) {
		if b.Type == "toolCall" {
			parts = append(parts, Part{Tool: b.Name, Text: values(b.Arguments)})
		} else if b.Text != "" {
			parts = append(parts, Part{Text: b.Text})
		}
	}
	return parts
}

// specialParts is what messages of some roles say elsewhere than in their content.
func specialParts(role string, object []byte) []Part {
	switch role {
	case "branchSummary", "compactionSummary":
		return said(jsonvalue.String(jsonvalue.Get(object, "summary")))
	case "pythonExecution":
		return said(jsonvalue.String(jsonvalue.Get(object, "code")))
	case "fileMention":
		return said(values(jsonvalue.Get(object, "files")))
	case "system":
		return said(values(jsonvalue.Get(object, "sections")))
	}
	return nil
}

// values joins the scalars in a JSON value with newlines: all but its keys.
func values(value []byte) string {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(value)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return "" // nested deeper than encoding/json goes: no person reads that
	}
	var lines []string
	collect(v, &lines)
	return strings.Join(lines, "\n")
}

func collect(v any, lines *[]string) {
	switch v := v.(type) {
	case string:
		*lines = append(*lines, v)
	case json.Number:
		*lines = append(*lines, v.String())
	case bool:
		*lines = append(*lines, strconv.FormatBool(v))
	case []any:
		for _, element := range v {
			collect(element, lines)
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			collect(v[key], lines)
		}
	}
}

func sortedKeys(v map[string]any) []string {
	keys := make([]string, 0, len(v))
	for key := range v {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// exitText is how programs write the exit code of a command into its result.
var exitText = regexp.MustCompile(`(?mi)^(?:(?:command|process) exited with (?:exit )?code|exit code:?) (-?\d+)\.?\s*$`)

// ExitCode tells how a command ended, by what the entry of its result says: a field, or
// a line of text. A shell's result that says nothing and is no error stands for 0. ok is
// false for everything else.
func ExitCode(e entries.Entry) (code int, ok bool) {
	if e.Role != "toolResult" && e.Role != "bashExecution" {
		return 0, false
	}
	object, err := e.MessageObject()
	if err != nil {
		return 0, false
	}
	details := jsonvalue.Get(object, "details")
	for _, value := range [][]byte{
		jsonvalue.Get(object, "exitCode"), jsonvalue.Get(details, "exitCode"), jsonvalue.Get(details, "exit_code"),
	} {
		if code, err := strconv.Atoi(string(value)); err == nil {
			return code, true
		}
	}
	m := entries.ParseMessage(object)
	if !shells[strings.ToLower(m.ToolName)] {
		return 0, false
	}
	if found := exitText.FindAllStringSubmatch(m.Text(), -1); len(found) > 0 {
		if code, err := strconv.Atoi(found[len(found)-1][1]); err == nil {
			return code, true
		}
		return 0, false
	}
	return 0, !m.IsError
}

// shells are the tools that run a command.
var shells = map[string]bool{"bash": true, "shell": true, "exec": true, "exec_command": true, "local_shell": true, "run_shell_command": true, "shell_command": true}
