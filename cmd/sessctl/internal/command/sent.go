package command

import (
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A sentView tells which entries a model is sent at a tip, and of the others why not.
type sentView struct {
	sent    map[entries.ID]bool
	held    map[entries.ID]bool // messages that no model gets
	onPath  map[entries.ID]bool // nil where that is not known
	reasons map[entries.ID]modelcontext.Reason
	cut     entries.ID // the compaction that stands for what is before it
}

// viewOf looks at a context: some of its messages do not reach the model, such as shell
// commands that the user kept from it.
func viewOf(c *modelcontext.Context) *sentView {
	v := &sentView{sent: map[entries.ID]bool{}, held: map[entries.ID]bool{}, reasons: map[entries.ID]modelcontext.Reason{}}
	for _, m := range c.Render() {
		v.sent[m.Entry] = true
	}
	for _, m := range c.Messages {
		v.held[m.Entry] = !v.sent[m.Entry]
		if m.Role == modelcontext.RoleCompactionSummary && v.cut == "" {
			v.cut = m.Entry
		}
	}
	for _, d := range c.Report.Dropped {
		switch d.Reason {
		case modelcontext.MissingBlob, modelcontext.Orphan, modelcontext.CutCycle: // of a part, or of the path
		default:
			v.reasons[d.Entry] = d.Reason
		}
	}
	return v
}

// sent looks at the context of the tip that is shown.
func (f *showFlags) sent(t *sessiontree.Tree) (*sentView, error) {
	if f.raw {
		return nil, nil
	}
	tip, err := f.tip(t)
	if err != nil {
		return nil, err
	}
	c, err := modelcontext.Build(t, tip, nil)
	if err != nil {
		return nil, err
	}
	v := viewOf(c)
	v.onPath = map[entries.ID]bool{}
	for e, err := range t.Path(tip) {
		if err != nil {
			return nil, err
		}
		v.onPath[e.ID] = true
	}
	return v, nil
}

// Reasons besides those of package modelcontext.
const (
	otherBranch modelcontext.Reason = "other-branch"
	compacted   modelcontext.Reason = "compacted"
	keptBack    modelcontext.Reason = "kept-back" // a role, or a shell command, that no model gets
	beforeReset modelcontext.Reason = "before-reset"
)

// unsent tells that an entry could be a message of the context, and is none.
func (v *sentView) unsent(e entries.Entry) bool {
	return v != nil && spoken(e.Type) && !v.sent[e.ID]
}

// why tells the reason of an entry that is not sent.
func (v *sentView) why(e entries.Entry) modelcontext.Reason {
	switch reason := v.reasons[e.ID]; {
	case reason != "":
		return reason
	case v.held[e.ID]:
		return keptBack
	case !v.onPath[e.ID]:
		return otherBranch
	case v.cut != "":
		return compacted
	}
	return beforeReset
}

// spoken tells whether entries of a type become messages for a model.
func spoken(t entries.Type) bool {
	switch t {
	case entries.TypeMessage, entries.TypeCustomMessage, entries.TypeBranchSummary, entries.TypeCompaction:
		return true
	}
	return false
}

// unsentMark is what stands at an entry, or a message, that the model does not get.
const unsentMark = "not sent"

// unsentMark tells why too, where one entry alone is shown.
func (p *printer) unsentMark(e entries.Entry) string {
	if !p.alone {
		return unsentMark
	}
	reason := p.view.why(e)
	if reason == compacted {
		return unsentMark + ": compacted by " + short(p.view.cut)
	}
	return unsentMark + ": " + string(reason)
}
