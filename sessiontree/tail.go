package sessiontree

import (
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
)

// A tail is what was read of a log from its end up. It grows as somebody walks up
// a path, and stops being used when the whole log is read. The tree's mutex guards
// it.
type tail struct {
	names
	v1     bool
	back   *jsonl.Back
	report *jsonl.Report
	recs   []tailRec // the last entry first
	byID   map[entries.ID]int
	done   bool // the log's beginning was reached
}

// A tailRec is an entry and the name of its parent, which stands further up.
type tailRec struct {
	rec
	parent entries.ID
}

func newTail(t *Tree) *tail {
	report := &jsonl.Report{}
	return &tail{
		names: newNames(), v1: t.head.V1, report: report, byID: map[entries.ID]int{},
		back: jsonl.Backward(t.src, t.head, t.end, report),
	}
}

// at gives the entry that is n above the last one, nil where there is none.
func (l *tail) at(n int) (*tailRec, error) {
	for n >= len(l.recs) && !l.done {
		if err := l.read(); err != nil {
			return nil, err
		}
	}
	if n >= len(l.recs) {
		return nil, nil
	}
	return &l.recs[n], nil
}

// read takes one more entry. Of several with one id the last in the file has it,
// which comes first here.
func (l *tail) read() error {
	r, err := l.back.Next()
	if r == nil || err != nil {
		l.done = err == nil
		return err
	}
	id := r.ID
	if l.v1 {
		id = v1ID(r.Offset)
	}
	n := len(l.recs)
	l.recs = append(l.recs, tailRec{l.keep(r, id), entries.ID(r.Parent)})
	if _, taken := l.byID[entries.ID(id)]; !taken {
		l.byID[entries.ID(id)] = n
	}
	return nil
}

// find gives the place of the entry with an id, reading up to it; -1 where the log
// has none.
func (l *tail) find(id entries.ID) (int, error) {
	for {
		if n, ok := l.byID[id]; ok {
			return n, nil
		}
		if l.done {
			return -1, nil
		}
		if err := l.read(); err != nil {
			return -1, err
		}
	}
}

// A step up a path, as the tail sees it.
type step int

const (
	stepParent  step = iota // the parent is at the place given
	stepRoot                // there is no parent
	stepUnknown             // only the whole log can tell
)

// parent finds the parent of the entry at place n. A parent that is named but
// stands further down, or nowhere, is for the whole scan to judge: it may be a
// cycle, or damage that has to be reported.
func (l *tail) parent(n int) (int, step, error) {
	if l.v1 {
		up, err := l.at(n + 1)
		if up == nil {
			return 0, stepRoot, err
		}
		return n + 1, stepParent, nil
	}
	id := l.recs[n].parent
	if id == "" {
		return 0, stepRoot, nil
	}
	up, err := l.find(id)
	if err != nil || up <= n {
		return 0, stepUnknown, err
	}
	return up, stepParent, nil
}
