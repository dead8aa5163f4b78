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
	out := System{Content: strings.Join(s.texts, "\n\n")}
	s.sections.each(func(name, text string) { out.Sections = append(out.Sections, Section{name, text}) })
	s.tools.each(func(_ string, tool json.RawMessage) { out.Tools = append(out.Tools, tool) })
	return out
}

// A replay is system messages being replayed: what was taken away leaves a gap, so that
// each name is found at once.
type replay struct {
	texts    []string
	sections ordered[string]
	tools    ordered[json.RawMessage]
}

// An ordered is values by name, in the order in which the names first came.
type ordered[V any] struct {
	at     map[string]int
	names  []string
	values []*V // nil where it was taken away
}

func (o *ordered[V]) set(name string, value *V) {
	if i, ok := o.at[name]; ok && o.values[i] != nil {
		o.values[i] = value
		if value == nil {
			delete(o.at, name)
		}
		return
	}
	if value == nil {
		return
	}
	if o.at == nil {
		o.at = map[string]int{}
	}
	o.at[name] = len(o.values)
	o.names, o.values = append(o.names, name), append(o.values, value)
}

func (o *ordered[V]) each(f func(name string, value V)) {
	for i, v := range o.values {
		if v != nil {
			f(o.names[i], *v)
		}
	}
}

func (s *replay) take(m Message) {
	if text := textOf(m.Content()); text != "" {
		s.texts = append(s.texts, text)
	}
	_ = jsonvalue.Members(m.Field("sections"), func(name string, value []byte) {
		text := jsonvalue.String(value)
		if jsonvalue.Null(value) {
			s.sections.set(name, nil)
		} else {
			s.sections.set(name, &text)
		}
	})
	for _, tool := range blocks(m.Field("toolsRemoved")) {
		s.tools.set(toolName(tool), nil)
	}
	for _, tool := range blocks(m.Field("toolsAdded")) {
		s.tools.set(toolName(tool), &tool)
	}
}

func toolName(tool []byte) string { return jsonvalue.String(fieldOf(tool, "name")) }

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
