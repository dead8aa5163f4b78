package checkpoint

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sessctl/sessctl/entries"
)

// Compare lists the files that are not alike at two entries of the tree, on whatever
// branches they are; "" is before the first entry.
func (v *View) Compare(from, to entries.ID) ([]Change, error) {
	for _, id := range []entries.ID{from, to} {
		if err := v.has(id); err != nil {
			return nil, err
		}
	}
	f, err := forkOf(v.tree, from, to, v.st)
	if err != nil {
		return nil, err
	}
	return changes(f.paths(), f.states), nil
}

// Drift lists the files that are not on disk what they were at an entry, among those that
// the path to it or the one to the leaf tells of.
func (v *View) Drift(at entries.ID) ([]Change, error) {
	if v.ws == nil {
		return nil, fmt.Errorf("%w: there is no folder to look at", ErrRoot)
	}
	if err := v.has(at); err != nil {
		return nil, err
	}
	f, err := v.fork(at)
	if err != nil {
		return nil, err
	}
	touched := maps.Clone(f.here.paths)
	maps.Copy(touched, f.there.paths)
	return changes(slices.Sorted(maps.Keys(touched)), func(path string) (was, is State) {
		_, was = f.states(path)
		return was, v.ws.state(path, nil)
	}), nil
}

func changes(paths []string, states func(path string) (before, after State)) (list []Change) {
	for _, path := range paths {
		if before, after := states(path); before.bare() != after.bare() {
			list = append(list, Change{Path: path, Before: before, After: after})
		}
	}
	return list
}

func (v *View) has(id entries.ID) error {
	if id == "" {
		return nil
	}
	_, err := v.tree.Entry(id)
	return err
}

// Content gives the bytes of a file in a state: from the store, or where that does not
// have them from the disk, if they are what the path has now. An error is ErrNoBlob.
func (v *View) Content(path string, s State) ([]byte, error) {
	err := fmt.Errorf("%w: there is no store", ErrNoBlob)
	var data []byte
	if v.st != nil {
		if data, err = v.st.Get(s.SHA256); err == nil {
			return data, nil
		}
	}
	if v.ws == nil || !usable(path) {
		return nil, err
	}
	now := v.ws.state(path, func(_ string, b []byte) error {
		data = bytes.Clone(b)
		return nil
	})
	if now.Kind == File && now.SHA256 == s.SHA256 {
		return data, nil
	}
	return nil, err
}

// Relative gives a path as records have it: relative to the workspace, with slashes. ok is
// false where it leads out. Without a workspace only relative paths are known.
func (v *View) Relative(name string) (rel string, ok bool) {
	if filepath.Clean(name) == "." {
		return ".", true
	}
	if v.ws != nil {
		rel = v.ws.relative(name)
	} else if filepath.IsLocal(name) {
		rel = filepath.ToSlash(filepath.Clean(name))
	}
	return rel, rel != ""
}

// Recorded tells whether the log has any file states.
func (v *View) Recorded() (bool, error) {
	for e, err := range v.tree.Entries() {
		if err != nil {
			return false, err
		}
		if is, err := isRecord(e); is || err != nil {
			return is, err
		}
	}
	return false, nil
}

// Unsettled is what Track finds to bring in order before anything else.
type Unsettled struct {
	Cut *Cut // nil where no restore was cut short
	// Carried: a program that knows nothing of file states moved the leaf.
	Carried bool
}

// A Cut is a restore that was cut short by a crash.
type Cut struct {
	Begin entries.ID
	To    entries.ID // whose states were being restored; "" is before the first entry
	Scope Scope
	Files int
	// Rewind is the result of a rewind, where this is one's: only what applies the rewind
	// finishes it.
	Rewind entries.ID
	// Late: the conversation went on. Nothing is written any more; the log is told what
	// the files are.
	Late bool
}

// Unsettled tells what Track would bring in order. Programs that only look report it.
func (v *View) Unsettled() (u Unsettled, err error) {
	cut, err := findUnended(v.tree, v.st)
	if err != nil {
		return u, err
	}
	if cut != nil {
		r := cut.record
		u.Cut = &Cut{Begin: cut.begin, Scope: r.Scope, Files: len(r.Files), Rewind: r.Rewind, Late: cut.spoken}
		if r.To != nil {
			u.Cut.To = *r.To
		}
		return u, nil
	}
	_, u.Carried, err = missingCarried(v.tree, "", v.st)
	return u, err
}

// A ChangeKind says in a word what became of a path.
type ChangeKind string

// The kinds of changes.
const (
	Created ChangeKind = "created"
	Changed ChangeKind = "changed" // its content, or where a link leads to
	Gone    ChangeKind = "removed"
	Mode    ChangeKind = "mode" // its mode alone
	Became  ChangeKind = "became"
	Unclear ChangeKind = "unknown"
	NoDiff  ChangeKind = "same"
)

// Kind sums up a change. Became is of a path that is of another kind than before, such as
// a link in the place of a file.
func (c Change) Kind() ChangeKind {
	before, after := c.Before, c.After
	switch {
	case !before.isKnown() || !after.isKnown():
		return Unclear
	case before.bare() == after.bare():
		return NoDiff
	case before.Kind == Absent:
		return Created
	case after.Kind == Absent:
		return Gone
	case before.Kind != after.Kind:
		return Became
	case before.SHA256 == after.SHA256 && before.Target == after.Target:
		return Mode
	}
	return Changed
}

// In tells whether the path of a change is one of a list, or below one.
func (c Change) In(paths []string) bool { return covers(paths, c.Path) }

func (s State) isKnown() bool { return s.Kind != Unknown && s.Kind != "" }
