package sessiontree

import (
	"iter"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/entries"
)

// check compares the session, and what is read of its log, with the twin.
func (l *life) check() {
	l.t.Helper()
	if got := l.s.Leaf(); got != l.w.leaf {
		l.t.Fatalf("%s: got leaf %q, want %q", l.what, got, l.w.leaf)
	}
	own, err := l.s.Tree()
	l.must(err)
	l.compare(own)
	read, err := Read(l.s.Path(), &ReadOptions{Verify: true})
	l.must(err)
	defer read.Close()
	l.compare(read)
	v, err := read.Verify()
	l.must(err)
	if !v.OK || l.kind == "native" && v.Checksums != ChecksumsOK {
		l.t.Fatalf("%s: the log is not sound: %+v", l.what, v)
	}
}

// compare reads from the end first, then the whole.
func (l *life) compare(x *Tree) {
	l.t.Helper()
	if got := x.Leaf(); got != l.w.leaf {
		l.t.Fatalf("%s: the log's leaf is %q, want %q", l.what, got, l.w.leaf)
	}
	other := l.any()
	for _, id := range []entries.ID{l.w.leaf, other} {
		l.same("path from the end", l.collect(x.Path(id)), l.w.path(id))
	}
	l.must(x.Scan())
	for _, id := range []entries.ID{l.w.leaf, other} {
		l.same("path", l.collect(x.Path(id)), l.w.path(id))
	}
	l.same("entries", l.collect(x.Entries()), l.w.ids())
	labels, err := x.Labels()
	l.must(err)
	if !maps.Equal(labels, l.w.labels()) {
		l.t.Fatalf("%s: got labels %v, want %v", l.what, labels, l.w.labels())
	}
	if name, err := x.Name(); !l.titled() && (err != nil || name != l.w.name()) {
		l.t.Fatalf("%s: got name %q (%v), want %q", l.what, name, err, l.w.name())
	}
}

func (l *life) same(what string, got, want []entries.ID) {
	l.t.Helper()
	if !slices.Equal(got, want) {
		l.t.Fatalf("%s: got %s %v, want %v", l.what, what, got, want)
	}
}

func (l *life) collect(walk iter.Seq2[entries.Entry, error]) (ids []entries.ID) {
	l.t.Helper()
	for e, err := range walk {
		l.must(err)
		ids = append(ids, e.ID)
	}
	return ids
}

// titled tells that oh-my-pi's title is the session's name; the twin knows none.
func (l *life) titled() bool {
	return l.kind == "omp" || slices.ContainsFunc(l.w.list, func(e twinEntry) bool { return e.kind == "title_change" })
}
