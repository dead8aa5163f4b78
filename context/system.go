package modelcontext

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A System is the prompt and the tools in force: what the system messages of a
// context come to, replayed in order (pi: getCurrentSystemMessage).
type System struct {
	Content  string    // the base prompt, with what was added to it
	Sections []Section // in the order in which they first came
	Tools    []json.RawMessage
}

// Text is the prompt as one text: its content, then its sections (pi:
// getSystemMessageText).
func (s System) Text() string {
	parts := []string{s.Content}
	for _, section := range s.Sections {
		parts = append(parts, section.Text)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n\n")
}

// A Section is a named part of the prompt.
type Section struct{ Name, Text string }

// System replays the system messages: content is added to the prompt, sections are
// set by name and taken away by null, tools come and go by name.
func (c *Context) System() System {
	var s replay
	for _, m := range c.Messages {
		if m.Role == RoleSystem {
			s.take(m)
		}
	}
	s.Content = strings.Join(s.texts, "\n\n")
	return s.System
}

type replay struct {
	System
	texts []string
}

func (s *replay) take(m Message) {
	if text := textOf(m.Content()); text != "" {
		s.texts = append(s.texts, text)
	}
	_ = jsonvalue.Members(m.Field("sections"), func(name string, value []byte) {
		s.section(name, value)
	})
	for _, tool := range blocks(m.Field("toolsRemoved")) {
		s.tool(toolName(tool), nil)
	}
	for _, tool := range blocks(m.Field("toolsAdded")) {
		s.tool(toolName(tool), tool)
	}
}

func toolName(tool []byte) string { return jsonvalue.String(fieldOf(tool, "name")) }

func (s *replay) section(name string, value []byte) {
	for i := range s.Sections {
		if s.Sections[i].Name != name {
			continue
		}
		if jsonvalue.Null(value) {
			s.Sections = append(s.Sections[:i:i], s.Sections[i+1:]...)
		} else {
			s.Sections[i].Text = jsonvalue.String(value)
		}
		return
	}
	if !jsonvalue.Null(value) {
		s.Sections = append(s.Sections, Section{name, jsonvalue.String(value)})
	}
}

// tool sets a tool by its name, or with nil takes it away.
func (s *replay) tool(name string, tool json.RawMessage) {
	for i := range s.Tools {
		if toolName(s.Tools[i]) != name {
			continue
		}
		if tool == nil {
			s.Tools = append(s.Tools[:i:i], s.Tools[i+1:]...)
		} else {
			s.Tools[i] = tool
		}
		return
	}
	if tool != nil {
		s.Tools = append(s.Tools, tool)
	}
}

// textOf joins the text of a content, a string or blocks.
func textOf(content []byte) string {
	if isString(content) {
		return jsonvalue.String(content)
	}
	var parts []string
	for _, b := range blocks(content) {
		if kindOf(b) == "text" {
			parts = append(parts, jsonvalue.String(fieldOf(b, "text")))
		}
	}
	return strings.Join(parts, "\n")
}
