package entries

// A Type says what an entry is. The set is open: a type that is not listed here is
// kept, shown and copied like any other, and contributes nothing to a context.
type Type string

// The types of pi's session format version 3, which native logs use.
const (
	TypeMessage             Type = "message"
	TypeModelChange         Type = "model_change"
	TypeThinkingLevelChange Type = "thinking_level_change"
	TypeUsage               Type = "usage"
	TypeCompaction          Type = "compaction"
	TypeContextEdit         Type = "context_edit"
	TypeBranchSummary       Type = "branch_summary"
	TypeCustom              Type = "custom"
	TypeCustomMessage       Type = "custom_message"
	TypeLabel               Type = "label"
	TypeSessionInfo         Type = "session_info"
)

// The types that only oh-my-pi writes.
const (
	TypeServiceTierChange Type = "service_tier_change"
	TypeResetBoundary     Type = "reset_boundary"
	TypeTitleChange       Type = "title_change"
	TypeTTSRInjection     Type = "ttsr_injection"
	TypeCredentialPin     Type = "credential_pin"
	TypeSessionInit       Type = "session_init"
	TypeModeChange        Type = "mode_change"
	TypeModelUsage        Type = "model_usage"
)

// TypeSession is the header's type; a line with it is never an entry.
const TypeSession Type = "session"

// The customTypes of docs/format.md: what pi has no type for.
const (
	CustomRewindReport       = "rewind-report"
	CustomLeaf               = "leaf"
	CustomCheckpointState    = "checkpoint-state"
	CustomToolExecutionStart = "tool_execution_start"
	CustomSessionExit        = "session_exit"
	CustomFileSnapshot       = "file-snapshot" // docs/files.md
	CustomFileRestore        = "file-restore"
	CustomFormat             = "format"
)

// OnlyOmp tells whether a type is written by oh-my-pi and not by pi.
func (t Type) OnlyOmp() bool {
	switch t {
	case TypeServiceTierChange, TypeResetBoundary, TypeTitleChange, TypeTTSRInjection,
		TypeCredentialPin, TypeSessionInit, TypeModeChange, TypeModelUsage:
		return true
	}
	return false
}

// Housekeeping tells whether entries of a type say something about the session and
// nothing in the conversation: names, labels, usage, settings of accounts.
func (t Type) Housekeeping() bool {
	switch t {
	case TypeLabel, TypeSessionInfo, TypeTitleChange, TypeUsage, TypeModelUsage, TypeCredentialPin:
		return true
	}
	return false
}

// Conversation tells whether entries of a type are part of what a model is sent, or
// change it; the others are records about the session, settings and marks.
func (t Type) Conversation() bool {
	switch t {
	case TypeMessage, TypeCustomMessage, TypeBranchSummary, TypeCompaction, TypeContextEdit, TypeResetBoundary:
		return true
	}
	return false
}

// Known tells whether a type is one of those listed here.
func (t Type) Known() bool {
	switch t {
	case TypeMessage, TypeModelChange, TypeThinkingLevelChange, TypeUsage, TypeCompaction, TypeContextEdit,
		TypeBranchSummary, TypeCustom, TypeCustomMessage, TypeLabel, TypeSessionInfo:
		return true
	}
	return t.OnlyOmp()
}
