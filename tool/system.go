package tool

import (
	"bytes"
	"encoding/json"
	"strings"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
)

// The prompt and the tools in force are the harness's, and not part of what a rewind or
// a summary leaves: system messages say again what would change.

// systemOf is what is in force, as one message says it.
func systemOf(s modelcontext.System) entries.System {
	return entries.System{Content: s.Content, Sections: sectionsOf(s), ToolsAdded: s.Tools}
}

func sectionsOf(s modelcontext.System) map[string]json.RawMessage {
	sections := map[string]json.RawMessage{}
	for _, section := range s.Sections {
		sections[section.Name] = encode(section.Text)
	}
	return sections
}

// systemChange is the message that leads from what is in force there to what is here.
// Content can only be added: where there has other content than here begins with, as it
// may be behind a compaction, that stays in front.
func systemChange(there, here modelcontext.System) (change entries.System) {
	change.Content = here.Content
	if rest, ok := strings.CutPrefix(here.Content, there.Content); ok {
		change.Content = strings.TrimPrefix(rest, "\n\n")
	}
	change.Sections = sectionsOf(here)
	for name, text := range sectionsOf(there) {
		switch now, ok := change.Sections[name]; {
		case !ok:
			change.Sections[name] = json.RawMessage("null")
		case bytes.Equal(now, text):
			delete(change.Sections, name)
		}
	}
	before := toolsByName(there)
	for _, tool := range here.Tools {
		name := text(tool, "name")
		if !bytes.Equal(before[name], tool) {
			change.ToolsAdded = append(change.ToolsAdded, tool)
		}
		delete(before, name)
	}
	for _, tool := range there.Tools {
		if name := text(tool, "name"); before[name] != nil {
			change.ToolsRemoved = append(change.ToolsRemoved, name)
		}
	}
	return change
}

func toolsByName(s modelcontext.System) map[string]json.RawMessage {
	tools := map[string]json.RawMessage{}
	for _, tool := range s.Tools {
		tools[text(tool, "name")] = tool
	}
	return tools
}
