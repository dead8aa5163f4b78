package sessiontree

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sessctl/sessctl/entries"
)

// Entry gives the entry with an id, ErrNotFound where there is none. Of different
// entries with one id it is the last.
func (t *Tree) Entry(id entries.ID) (entries.Entry, error) {
	if e, ok := t.inTail(id); ok {
		return e, nil
	}
	x, i, err := t.find(id)
	if err != nil {
		return entries.Entry{}, err
	}
	return t.at(x, i), nil
}

// inTail looks among what was read already.
func (t *Tree) inTail(id entries.ID) (e entries.Entry, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.index != nil {
		return e, false
	}
	n, ok := t.tail.byID[id]
	if !ok {
		return e, false
	}
	return t.tailEntry(n)
}

// tailEntry gives the entry at a place of the tail with its parent; ok is false
// where only the whole log knows it.
func (t *Tree) tailEntry(n int) (e entries.Entry, ok bool) {
	up, step, err := t.tail.parent(n)
	r := &t.tail.recs[n] // not before: looking for the parent may move the records
	switch {
	case err != nil || step == stepUnknown:
		return e, false
	case step == stepRoot:
		return t.entry(&t.tail.names, &r.rec, ""), true
	}
	return t.entry(&t.tail.names, &r.rec, t.tail.id(&t.tail.recs[up].rec)), true
}

// find reads the whole log and finds an entry in it.
func (t *Tree) find(id entries.ID) (x *index, i int32, err error) {
	if x, err = t.whole(); err != nil {
		return nil, noParent, err
	}
	i, err = t.lookup(x, id)
	return x, i, err
}

func (t *Tree) lookup(x *index, id entries.ID) (int32, error) {
	if i := x.ids.find(x, id); i >= 0 && id != "" {
		return i, nil
	}
	return -1, fmt.Errorf("%s: entry %q: %w", t.path, id, ErrNotFound)
}

// EntryAtLine gives the entry that stands on a line of the file, counted from 1.
// It also reaches an entry that lost its id to a later one. Where a line holds two
// records it is the first.
func (t *Tree) EntryAtLine(line int) (entries.Entry, error) {
	x, err := t.whole()
	if err != nil {
		return entries.Entry{}, err
	}
	for i := range x.recs {
		if int(x.recs[i].line) == line {
			return t.at(x, int32(i)), nil
		}
	}
	return entries.Entry{}, fmt.Errorf("%s: no entry on line %d: %w", t.path, line, ErrNotFound)
}

// RecordAt gives the id of the record at a position of the log, where the header has
// position 0: so a version-1 compaction names the first entry that it keeps.
// ErrNotFound where no entry stands there.
func (t *Tree) RecordAt(index int) (entries.ID, error) {
	x, err := t.whole()
	if err != nil {
		return "", err
	}
	if index < 1 || index > len(x.recs) {
		return "", fmt.Errorf("%s: no entry at position %d: %w", t.path, index, ErrNotFound)
	}
	return x.id(&x.recs[index-1]), nil
}

// Ancestors goes from an entry, itself included, up to its root. It reads the log
// from its end, as far as the caller goes. An error comes last; the empty id has no
// ancestors.
func (t *Tree) Ancestors(id entries.ID) iter.Seq2[entries.Entry, error] {
	return func(yield func(entries.Entry, error) bool) {
		for id != "" {
			if t.Scanned() {
				t.indexAncestors(id, yield)
				return
			}
			e, err := t.up(id)
			if err != nil {
				yield(entries.Entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
			id = e.Parent
		}
	}
}

// indexAncestors is Ancestors where the whole log is known: nothing has to be looked
// up but the first entry.
func (t *Tree) indexAncestors(id entries.ID, yield func(entries.Entry, error) bool) {
	x, i, err := t.find(id)
	if err != nil {
		yield(entries.Entry{}, err)
		return
	}
	for i >= 0 {
		r, parent := &x.recs[i], entries.ID("")
		if i = r.parent; i >= 0 {
			parent = x.id(&x.recs[i])
		}
		e := t.entry(&x.names, r, parent)
		e.ID, id = id, parent // one string for both
		if !yield(e, nil) {
			return
		}
	}
}

// up is Entry for a walk: it reads the tail up to the entry, and the whole log only
// where the tail cannot tell.
func (t *Tree) up(id entries.ID) (entries.Entry, error) {
	t.mu.Lock()
	if t.index == nil {
		n, err := t.tail.find(id)
		if err == nil && n >= 0 {
			if e, ok := t.tailEntry(n); ok {
				t.mu.Unlock()
				return e, nil
			}
		}
	}
	t.mu.Unlock()
	return t.Entry(id)
}

// Path goes from the root of an entry down to it, itself included.
func (t *Tree) Path(id entries.ID) iter.Seq2[entries.Entry, error] {
	if t.Scanned() {
		return t.indexPath(id)
	}
	return func(yield func(entries.Entry, error) bool) {
		var path []entries.Entry
		for e, err := range t.Ancestors(id) {
			if err != nil {
				yield(entries.Entry{}, err)
				return
			}
			path = append(path, e)
		}
		for i := len(path) - 1; i >= 0; i-- {
			if !yield(path[i], nil) {
				return
			}
		}
	}
}

// indexPath is Path where the whole log is known: a path of a million entries then
// costs four bytes each.
func (t *Tree) indexPath(id entries.ID) iter.Seq2[entries.Entry, error] {
	return func(yield func(entries.Entry, error) bool) {
		x, i, err := t.find(id)
		if id == "" && errors.Is(err, ErrNotFound) {
			return // the path of no entry is empty
		}
		if err != nil {
			yield(entries.Entry{}, err)
			return
		}
		for _, i := range x.path(i) {
			if !yield(t.at(x, i), nil) {
				return
			}
		}
	}
}

// path lists the entries from the root of i down to i.
func (x *index) path(i int32) []int32 {
	path := make([]int32, 0, 64)
	for ; i >= 0; i = x.recs[i].parent {
		path = append(path, i)
	}
	slices.Reverse(path)
	return path
}

// Entries goes over all entries in file order; of a line that was written twice,
// once.
func (t *Tree) Entries() iter.Seq2[entries.Entry, error] {
	return func(yield func(entries.Entry, error) bool) {
		x, err := t.whole()
		if err != nil {
			yield(entries.Entry{}, err)
			return
		}
		for i := range x.recs {
			if x.recs[i].flags&repeated == 0 && !yield(t.at(x, int32(i)), nil) {
				return
			}
		}
	}
}

// Len counts the entries that Entries gives.
func (t *Tree) Len() (int, error) {
	x, err := t.whole()
	if err != nil {
		return 0, err
	}
	return len(x.recs) - x.absent, nil
}

// Children lists the entries whose parent is id, in file order; of "" the roots.
func (t *Tree) Children(id entries.ID) ([]entries.ID, error) {
	x, kids, err := t.kids()
	if err != nil {
		return nil, err
	}
	i := int32(noParent)
	if id != "" {
		if i, err = t.lookup(x, id); err != nil {
			return nil, err
		}
	}
	ids := make([]entries.ID, 0, len(kids.of(i)))
	for _, k := range kids.of(i) {
		ids = append(ids, x.id(&x.recs[k]))
	}
	return ids, nil
}

// Roots lists the entries without a parent, in file order. An entry whose parent is
// not in the log is one.
func (t *Tree) Roots() ([]entries.ID, error) { return t.Children("") }

func (t *Tree) kids() (*index, *children, error) {
	x, err := t.whole()
	if err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.memo.kids == nil {
		t.memo.kids = x.children()
	}
	return x, t.memo.kids, nil
}

// CommonAncestor finds the last entry that is on the paths of both a and b; ok is
// false where they have different roots.
func (t *Tree) CommonAncestor(a, b entries.ID) (id entries.ID, ok bool, err error) {
	x, i, err := t.find(a)
	if err != nil {
		return "", false, err
	}
	j, err := t.lookup(x, b)
	if err != nil {
		return "", false, err
	}
	at := x.meet(i, j)
	if at < 0 {
		return "", false, nil
	}
	return x.id(&x.recs[at]), true, nil
}

// meet walks up from i and j, first the deeper one, until they are one; -1 where
// they have different roots.
func (x *index) meet(i, j int32) int32 {
	for di, dj := x.depth(i), x.depth(j); i != j; {
		if di >= dj {
			i, di = x.recs[i].parent, di-1
		}
		if di < dj {
			j, dj = x.recs[j].parent, dj-1
		}
	}
	return i
}

func (x *index) depth(i int32) (n int) {
	for ; i >= 0; i = x.recs[i].parent {
		n++
	}
	return n
}
