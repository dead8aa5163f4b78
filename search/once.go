package search

import (
	"iter"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// once leaves out the hits that another file of the same session had: Codex keeps a thread
// in several files, each of which is read as the whole of it, and people keep copies. With
// first a session is told once, whichever entry it is told by.
func once(results iter.Seq[Result], first bool) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		t := told{}
		for r := range results {
			if r.Err == nil && t.elsewhere(r.Session, r.Hit.Entry.ID, first) {
				continue
			}
			if !yield(r) {
				return
			}
		}
	}
}

// told has the path of the file in which an entry of a session was a hit, for all of them.
type told map[identity]map[entries.ID]string

type identity struct {
	agent sessiontree.Agent
	id    string
}

// elsewhere tells whether an entry was a hit in another file, and remembers that it is one
// now. A damaged log may have no ids, and nothing tells that two of those are the same.
func (t told) elsewhere(s *Session, entry entries.ID, first bool) bool {
	if s.ID == "" || entry == "" {
		return false
	}
	who := identity{s.Agent, s.ID}
	if first {
		entry = ""
	}
	path, known := t[who][entry]
	if known {
		return path != s.Path
	}
	if t[who] == nil {
		t[who] = map[entries.ID]string{}
	}
	// A part of the text that has all ids of a session would keep that alive.
	t[who][entries.ID(strings.Clone(string(entry)))] = s.Path
	return false
}
