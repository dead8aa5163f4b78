package checkpoint

import (
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Carried makes the record that goes with a move of the leaf that leaves the files alone:
// what they are, where the path that the leaf goes to says otherwise. It belongs into the
// batch of the move. ok is false where none is needed. Where a tree has long lists of
// files st has to be the session's store; otherwise it may be nil. only, where there are
// any, limits it to these paths.
func Carried(t *sessiontree.Tree, from, to entries.ID, st *Store, only ...string) (d entries.Draft, ok bool, err error) {
	f, err := forkFrom(t, from, to, st)
	if err != nil {
		return d, false, err
	}
	r, ok := f.carried()
	if len(only) > 0 {
		r.Files = slices.DeleteFunc(r.Files, func(f fileRecord) bool { return !covers(only, f.Path) })
	}
	if !ok || len(r.Files) == 0 {
		return d, false, nil
	}
	d, err = r.draft(st)
	return d, err == nil, err
}

// forkFrom is forkOf, with what a foreign move of the leaf left unsaid on this side.
func forkFrom(t *sessiontree.Tree, here, there entries.ID, st *Store) (fork, error) {
	f, err := forkOf(t, here, there, st)
	if err != nil || here != t.Leaf() {
		return f, err
	}
	r, ok, err := missingCarried(t, "", st)
	if ok {
		f.here.ids = append(f.here.ids, "")
		f.here.take(entries.Entry{}, r)
	}
	return f, err
}

func carried(t *sessiontree.Tree, from, to entries.ID, st *Store) (r record, ok bool, err error) {
	f, err := forkOf(t, from, to, st)
	if err != nil {
		return r, false, err
	}
	r, ok = f.carried()
	return r, ok, nil
}

// carried makes the record of what is here, and is not so there.
func (f fork) carried() (r record, ok bool) {
	r = record{Phase: phaseCarried, Source: ByTool, Workspace: f.here.workspace}
	for _, path := range f.paths() {
		here, there := f.states(path)
		if here.bare() != there.bare() {
			r.Files = append(r.Files, fileRecord{Path: path, Before: &there, State: &here, Source: f.carriedBy(path, there)})
		}
	}
	return r, len(r.Files) > 0
}

// carriedBy says whose work is carried along; "" stands for tools'. What may be another
// session's is as little this one's as a person's.
func (f fork) carriedBy(path string, there State) Source {
	switch t := f.here.trail(path, f.at); {
	case t.user, t.beside, f.onlyByHand(path, t, there):
		return ByUser
	case t.scan:
		return ByScan
	}
	return ""
}
