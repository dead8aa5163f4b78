package checkpoint

import (
	"iter"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A Turn is what became of files between one prompt and the next, as a path of the tree
// says.
type Turn struct {
	Prompt entries.ID // "" above the first prompt
	Steps  []Step
}

// A StepKind says how files came to be what they are.
type StepKind string

// The kinds of steps.
const (
	StepChange  StepKind = "change"  // somebody changed them
	StepRestore StepKind = "restore" // they were restored
	StepCarried StepKind = "carried" // the leaf moved, and they stayed what they were
	StepUnread  StepKind = "unread"  // the record cannot be read
)

// A Step is what one record says.
type Step struct {
	Entry  entries.ID // the record
	Kind   StepKind
	Source Source
	CallID string // of a tool's call
	Tool   string // its name; "" where the call is not found
	Reason string // why the record cannot be read

	// Of a restore.
	To             *entries.ID // whose states were restored; nil where that is not known
	Aborted        bool        // it failed, and was taken back
	Undoes, Redoes entries.ID  // the prompt of a turn, or the end of another restore

	Files []Change
}

// A Change is a path that is not what it was.
type Change struct {
	Path          string
	Before, After State
	Source        Source
	Result        Result // of a restore
}

// Turns gives what a path says of files, from the root down to an entry: every turn in
// which something happened to some. Where the path has long lists of files st has to be
// the session's store; otherwise it may be nil.
func Turns(t *sessiontree.Tree, leaf entries.ID, st *Store) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		w := &walk{history: &history{paths: map[string][]event{}}, tree: t, st: st}
		for e, err := range t.Path(leaf) {
			if err != nil {
				yield(Turn{}, err)
				return
			}
			if isPrompt(e) {
				if len(w.now.Steps) > 0 && !yield(w.now, nil) {
					return
				}
				w.now = Turn{Prompt: e.ID}
			}
			w.take(e)
		}
		if len(w.now.Steps) > 0 {
			yield(w.now, nil)
		}
	}
}

// A walk goes down a path, and tells what each record adds to those above it.
type walk struct {
	*history
	tree *sessiontree.Tree
	st   *Store
	now  Turn
}

func (w *walk) add(s Step) {
	if len(s.Files) > 0 || s.Kind == StepUnread {
		w.now.Steps = append(w.now.Steps, s)
	}
}

func (w *walk) take(e entries.Entry) {
	w.ids = append(w.ids, e.ID)
	r, ok, err := readRecord(e, w.st)
	switch {
	case err != nil:
		w.add(Step{Entry: e.ID, Kind: StepUnread, Reason: err.Error()})
	case ok:
		w.record(e, r)
	}
}

// record tells what one record says. A state that is not the one before it was made by
// somebody in between.
func (w *walk) record(e entries.Entry, r record) {
	s := Step{Entry: e.ID, Kind: StepChange, Source: r.Source, CallID: r.ToolCallID, Undoes: r.Undoes, Redoes: r.Redoes}
	between := Step{Entry: e.ID, Kind: StepChange, Source: ByUser}
	known := map[string]State{}
	for _, f := range r.Files {
		if was, ok := w.last(f.Path, len(w.ids)); ok {
			known[f.Path] = was
		}
	}
	w.history.take(e, r)
	for _, f := range r.Files {
		if !usable(f.Path) {
			continue
		}
		events := w.paths[f.Path]
		ev := events[len(events)-1]
		prev, ok := known[f.Path]
		before := ev.was(prev, ok)
		if ok && !ev.settles() && prev.bare() != before.bare() {
			between.Files = append(between.Files, Change{Path: f.Path, Before: prev, After: before, Source: ByUser})
		}
		if ev.tells(before) {
			s.Files = append(s.Files, Change{f.Path, before, ev.after, ev.source, ev.result})
		}
	}
	w.describe(&s, e, r)
	w.add(between)
	w.add(s)
}

// tells whether an event says more than that its path is what it was. Of what is not known
// nobody can say that.
func (ev *event) tells(before State) bool {
	switch ev.phase {
	case phaseBefore, phaseBegin:
		return false
	case phaseEnd:
		return true
	}
	return before.bare() != ev.after.bare() || !ev.after.isKnown()
}

// describe adds what is known of a step besides its files.
func (w *walk) describe(s *Step, e entries.Entry, r record) {
	switch r.Phase {
	case phaseCarried:
		s.Kind = StepCarried
	case phaseEnd:
		s.Kind, s.Source, s.Aborted = StepRestore, "", r.Outcome != outcomeDone
		w.begun(s, r.Begin)
	default:
		s.Tool = w.toolOf(e.ID, r.ToolCallID)
	}
}

// begun adds what the begin of a restore says: where it goes to, and what its files were
// on disk before. It is on the path that was left, where the restore moved the leaf.
func (w *walk) begun(s *Step, begin entries.ID) {
	e, err := w.tree.Entry(begin)
	if err != nil {
		return
	}
	r, ok, err := readRecord(e, w.st)
	if err != nil || !ok {
		return
	}
	s.To = r.To
	from := map[string]*State{}
	for _, f := range r.Files {
		from[f.Path] = f.From
	}
	for i, f := range s.Files {
		if was := from[f.Path]; was != nil {
			s.Files[i].Before = *was
		}
	}
}

// toolOf finds the name of the tool that a call was for, in the turn of a record.
func (w *walk) toolOf(record entries.ID, call string) string {
	if call == "" {
		return ""
	}
	for e, err := range w.tree.Ancestors(record) {
		if err != nil || isPrompt(e) {
			break
		}
		if e.Type != entries.TypeMessage || e.Role != "assistant" {
			continue
		}
		m, err := e.Message()
		if err != nil {
			continue // damage is told of elsewhere
		}
		for _, b := range m.Calls() {
			if b.ID == call {
				return b.Name
			}
		}
	}
	return ""
}
