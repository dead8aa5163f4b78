package entries

import (
	"encoding/json"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A Compaction replaces what stands before it on its path by a summary.
type Compaction struct {
	Summary string
	// FirstKept is the entry from which the path is kept; the compaction's own id
	// keeps nothing.
	FirstKept ID
	// FirstKeptIndex is what version 1 has in place of FirstKept: the position of
	// the record in the file, the header counted; -1 where there is none.
	FirstKeptIndex int
	TokensBefore   float64
	Details        json.RawMessage
}

// Compaction reads a compaction entry.
func (e Entry) Compaction() (Compaction, error) {
	c := Compaction{FirstKeptIndex: -1}
	err := e.view(TypeCompaction, func(name string, value []byte) {
		switch name {
		case "summary":
			c.Summary = jsonvalue.String(value)
		case "firstKeptEntryId":
			c.FirstKept = ID(jsonvalue.String(value))
		case "firstKeptEntryIndex":
			c.FirstKeptIndex = count(value)
		case "tokensBefore":
			c.TokensBefore = jsonvalue.Number(value)
		case "details":
			c.Details = clone(value)
		}
	})
	return c, err
}

// A BranchSummary tells, on the branch that goes on, what was left behind.
type BranchSummary struct {
	// From is the leaf that was left. Older pi and oh-my-pi write the summary's own
	// parent, or "root", instead.
	From    ID
	Summary string // "" is a mere leaf marker of oh-my-pi's
	Details json.RawMessage
}

// BranchSummary reads a branch_summary entry.
func (e Entry) BranchSummary() (BranchSummary, error) {
	var b BranchSummary
	err := e.view(TypeBranchSummary, func(name string, value []byte) {
		switch name {
		case "fromId":
			b.From = ID(jsonvalue.String(value))
		case "summary":
			b.Summary = jsonvalue.String(value)
		case "details":
			b.Details = clone(value)
		}
	})
	return b, err
}

// A Custom entry is a program's own record, never sent to a model.
type Custom struct {
	CustomType string
	Data       json.RawMessage
}

// Custom reads a custom entry.
func (e Entry) Custom() (Custom, error) {
	var c Custom
	err := e.view(TypeCustom, func(name string, value []byte) {
		switch name {
		case "customType":
			c.CustomType = jsonvalue.String(value)
		case "data":
			c.Data = clone(value)
		}
	})
	return c, err
}

// A CustomMessage is a program's own message to the model.
type CustomMessage struct {
	CustomType string
	Content    json.RawMessage
	Display    bool // on screens; the model gets it either way
	Details    json.RawMessage
}

// CustomMessage reads a custom_message entry.
func (e Entry) CustomMessage() (CustomMessage, error) {
	var c CustomMessage
	err := e.view(TypeCustomMessage, func(name string, value []byte) {
		switch name {
		case "customType":
			c.CustomType = jsonvalue.String(value)
		case "content":
			c.Content = clone(value)
		case "display":
			c.Display = jsonvalue.True(value)
		case "details":
			c.Details = clone(value)
		}
	})
	return c, err
}

// A Label names an entry, or takes its name away.
type Label struct {
	Target ID
	Label  string // "" clears
}

// Label reads a label entry.
func (e Entry) Label() (Label, error) {
	var l Label
	err := e.view(TypeLabel, func(name string, value []byte) {
		switch name {
		case "targetId":
			l.Target = ID(jsonvalue.String(value))
		case "label":
			l.Label = jsonvalue.String(value)
		}
	})
	return l, err
}

// A LeafMarker is the custom entry that moves the leaf to its parent and says so.
type LeafMarker struct {
	From   ID
	Reason string // checkout, undo, redo, restore, return
}

// LeafMarker reads an entry as a leaf marker; ok is false where it is something else.
func (e Entry) LeafMarker() (m LeafMarker, ok bool, err error) {
	if e.Type != TypeCustom {
		return m, false, nil
	}
	c, err := e.Custom()
	if err != nil {
		return m, false, err
	}
	m, ok = c.LeafMarker()
	return m, ok, nil
}

// LeafMarker reads a custom entry as a leaf marker; ok is false where it is another.
func (c Custom) LeafMarker() (m LeafMarker, ok bool) {
	if c.CustomType != CustomLeaf {
		return m, false
	}
	err := jsonvalue.Members(c.Data, func(name string, value []byte) {
		switch name {
		case "from":
			m.From = ID(jsonvalue.String(value))
		case "reason":
			m.Reason = jsonvalue.String(value)
		}
	})
	return m, err == nil
}

// Field reads one string field of any entry; other values and missing ones are "".
// It serves the small types: session_info has name, title_change has title,
// model_change provider and modelId (oh-my-pi: model), and so on.
func (e Entry) Field(name string) (string, error) {
	var s string
	err := e.Fields(func(n string, value []byte) {
		if n == name {
			s = jsonvalue.String(value)
		}
	})
	return s, err
}
