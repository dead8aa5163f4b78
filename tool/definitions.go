package tool

import "encoding/json"

// The names of the tools.
const (
	NameCheckpoint = "checkpoint"
	NameRewind     = "rewind"
)

// Is tells whether a name is one of the two tools'.
func Is(name string) bool { return name == NameCheckpoint || name == NameRewind }

// What rewind does with the files that the exploration changed.
const (
	FilesKeep    = "keep"
	FilesRestore = "restore"
)

// A Definition is a tool as models are told of it. InputSchema is a JSON schema.
type Definition struct {
	Name        string
	Description string
	InputSchema json.RawMessage
}

const checkpointText = `Marks this point of the conversation before an exploration whose details will not be needed later: reading many files, searching, trying something out. When the exploration is done, call rewind with a report: at the end of that turn everything after this point leaves your context, and the report takes its place. Nothing is lost: it stays in the log. One checkpoint at a time is enough; set it just before the exploring starts. You may call it beside other tools: their results stay.`

const rewindText = `Ends the exploration that the last checkpoint started. At the end of this turn everything after the checkpoint leaves your context and your report takes its place, so write into it all that you will need: what you found (with file names and line numbers), what you changed, what you ruled out, what you already told the user, and what comes next. Files stay as they are now, unless files is "restore". It pays for explorations of several calls that much is to follow. You may call it beside the tools that you need next: those calls and their results stay. After that you may set another checkpoint for another exploration.`

const checkpointSchema = `{"type":"object","properties":{"goal":{"type":"string","description":"What the exploration is to find out."},"label":{"type":"string","description":"A short name for this point, if you want to rewind to it by name."}},"required":["goal"],"additionalProperties":false}`

const rewindSchema = `{"type":"object","properties":{"report":{"type":"string","description":"What is to be known of the exploration from here on."},"checkpoint":{"type":"string","description":"Id or label of the checkpoint; by default the innermost open one. Naming an outer one ends the inner ones too."},"files":{"type":"string","enum":["keep","restore"],"description":"keep (the default) leaves changed files as they are; restore also takes back the file edits made since the checkpoint."}},"required":["report"],"additionalProperties":false}`

// Definitions gives the two tools. They never change: providers cache them with the
// prompt.
func (t *Tools) Definitions() []Definition {
	return []Definition{
		{NameCheckpoint, checkpointText, json.RawMessage(checkpointSchema)},
		{NameRewind, rewindText, json.RawMessage(rewindSchema)},
	}
}
