package sessiontree

import (
	"bytes"
	"fmt"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/cycles"
	"github.com/sessctl/sessctl/internal/jsonl"
)

// An index is what a whole scan keeps of a log: its entries in file order with
// their parents.
type index struct {
	names
	recs   []rec
	ids    table
	leaf   int32 // -1 in a log without entries
	report *jsonl.Report

	ordered  bool // each id is greater than the one before, as those of one writer are
	absent   int  // recs that Entries leaves out
	again    bool // some id stands on several entries
	forward  bool // some parent stands behind its child
	open     []open
	openName []byte
}

// An open entry names a parent that is not just above it in the file; it is looked
// up when all entries are known.
type open struct {
	child   int32
	at, len uint32 // of the parent's id in openName
}

// scan reads the whole log. Nothing is looked up while blocks stream through the
// processor's cache: that would cost more than the reading.
func scan(t *Tree, opt jsonl.Options, visit Visit) (*index, error) {
	x := &index{names: newNames(), leaf: -1, report: &jsonl.Report{}, ordered: true}
	read := func() error { return x.read(t, opt, visit) }
	if t.from != nil && t.from.Outlines != nil && !opt.Deep {
		read = func() error { return x.outlined(t, visit) }
	}
	if err := read(); err != nil {
		return nil, err
	}
	if err := x.identify(t); err != nil {
		return nil, err
	}
	x.resolve()
	x.cutCycles()
	return x, nil
}

// read adds the records of the log.
func (x *index) read(t *Tree, opt jsonl.Options, visit Visit) error {
	for r, err := range jsonl.Forward(t.src, t.head, t.end, x.report, opt) {
		if err != nil {
			return err
		}
		if t.from != nil {
			r.Line, _ = t.from.Place(r.Offset)
		}
		if err := x.add(t, r); err != nil {
			return err
		}
		if visit != nil {
			visit(r.Offset, r.Role, r.Object())
		}
	}
	return nil
}

func (x *index) add(t *Tree, r *jsonl.Record) error {
	if uint64(x.text.Len())+uint64(len(x.openName)+len(r.ID)+len(r.Parent)) > 1<<32-64 || len(x.recs) == 1<<31-2 {
		return fmt.Errorf("sessiontree: %s has too many entries", t.path)
	}
	id := r.ID
	if t.head.V1 {
		id = v1ID(r.Offset)
	}
	i := int32(len(x.recs))
	if i >= 1000 && int(i) == cap(x.recs) {
		x.makeRoom(t.size, r.Offset)
	}
	x.recs = append(x.recs, x.keep(r, id))
	x.leaf = i
	x.ordered = x.ordered && (i == 0 || string(x.id(&x.recs[i-1])) < string(id))
	x.attach(t, i, r.Parent)
	return nil
}

// makeRoom guesses, from the entries so far and where they end, how many the log
// has: growing step by step would take twice the memory. It does not trust its guess
// far before a part of the log that says something about the rest was read, since
// large entries may follow many small ones.
func (x *index) makeRoom(size, offset int64) {
	n := len(x.recs) + int(float64(len(x.recs))*float64(size-offset)/float64(offset+1)*1.1)
	n = max(n, len(x.recs)*5/4)
	if offset < size/64 {
		n = min(n, len(x.recs)*4)
	}
	x.recs = append(make([]rec, 0, n), x.recs...)
	text := x.text.String()
	x.text.Reset() // growing what is there would take twice the room it has, and more
	x.text.Grow(n*len(text)/len(x.recs) + 64)
	x.text.WriteString(text)
}

// v1ID names an entry of a version-1 log by its place, so that all readings agree.
func v1ID(offset int64) []byte { return fmt.Appendf(nil, "v1-%d", offset) }

// attach gives an entry its parent: the entry before it, as a rule.
func (x *index) attach(t *Tree, i int32, parent []byte) {
	switch {
	case t.head.V1:
		x.recs[i].parent = i - 1
	case len(parent) == 0:
	case i > 0 && string(x.id(&x.recs[i-1])) == string(parent):
		x.recs[i].parent = i - 1
	default:
		x.open = append(x.open, open{i, uint32(len(x.openName)), uint32(len(parent))})
		x.openName = append(x.openName, parent...)
	}
}

// identify enters all ids in the table and judges those that come twice. Where ids
// are ordered none does, and no table is needed to find them.
func (x *index) identify(t *Tree) error {
	if x.ordered {
		return nil
	}
	x.ids = newTable(len(x.recs))
	for i := range x.recs {
		before := x.ids.put(x, int32(i))
		if before < 0 {
			continue
		}
		if err := x.duplicate(t, before, int32(i)); err != nil {
			return err
		}
	}
	return nil
}

// duplicate judges two entries with one id: the same line written twice is one
// entry, which the second makes the leaf again; of different ones the last has the
// id, as in pi and oh-my-pi.
func (x *index) duplicate(t *Tree, before, i int32) error {
	first, second := &x.recs[before], &x.recs[i]
	same, err := sameRecord(t, first, second)
	if err != nil {
		return err
	}
	x.again = true
	what := "with another content; the last one has the id"
	if same {
		what = "too; it counts once"
	}
	x.damage(i, jsonl.DuplicateID, fmt.Sprintf("entry %s stands on line %d %s", x.id(first).Short(), first.line, what))
	if !same {
		first.flags |= superseded
		return nil
	}
	second.flags |= repeated
	x.absent++
	x.ids.put(x, before)
	if x.leaf == i {
		x.leaf = before
	}
	return nil
}

func sameRecord(t *Tree, a, b *rec) (bool, error) {
	if a.size != b.size {
		return false, nil
	}
	first, err := t.ReadRecord(a.offset, a.size)
	if err != nil {
		return false, err
	}
	second, err := t.ReadRecord(b.offset, b.size)
	return bytes.Equal(withoutSum(first), withoutSum(second)), err
}

// withoutSum leaves out what may differ when one entry is written twice.
func withoutSum(raw []byte) []byte {
	if body, _, ok := entries.SplitSum(raw); ok {
		return body
	}
	return raw
}

// resolve finds the parents that are not just above their children, and leads the
// children of an entry that lost its id to the one that has it.
func (x *index) resolve() {
	names := entries.ID(x.openName)
	for _, o := range x.open {
		name := names[o.at : o.at+o.len]
		p := x.findAbove(o.child, name)
		if p >= 0 {
			x.recs[o.child].parent = p
			x.noteForward(o.child, p)
		} else if x.recs[o.child].flags&lost == 0 {
			x.damage(o.child, jsonl.MissingParent, fmt.Sprintf("its parent %s is not in the log; it becomes a root", name.Short()))
		}
	}
	x.open, x.openName = nil, nil
	if !x.again {
		return
	}
	for i := range x.recs {
		if p := x.recs[i].parent; p >= 0 && x.recs[p].flags&lost != 0 {
			p = x.ids.find(x, x.id(&x.recs[p]))
			x.recs[i].parent = p
			x.noteForward(int32(i), p)
		}
	}
}

func (x *index) noteForward(child, parent int32) {
	if parent > child {
		x.damage(child, jsonl.ForwardParent, "its parent stands later in the file")
	}
	x.forward = x.forward || parent >= child
}

func (x *index) damage(i int32, kind DamageKind, detail string) {
	r := &x.recs[i]
	x.report.Add(Damage{Kind: kind, Line: int(r.line), Offset: r.offset, Length: r.size, Detail: detail})
}

// cutCycles makes the first entry of every cycle a root. Only a parent that stands
// behind its child, or is it, can close a cycle.
func (x *index) cutCycles() {
	if !x.forward {
		return
	}
	for i := range cycles.Firsts(len(x.recs), func(i int32) int32 { return x.recs[i].parent }) {
		x.recs[i].parent = noParent
		x.damage(i, jsonl.Cycle, "it is its own ancestor; it becomes a root")
	}
}

// byDepth gives all entries, parents before their children. In a log without
// forward parents that is the order of the file.
func (x *index) byDepth(kids *children) []int32 {
	order := make([]int32, 0, len(x.recs))
	if !x.forward {
		for i := range x.recs {
			order = append(order, int32(i))
		}
		return order
	}
	order = append(order, kids.of(noParent)...)
	for n := 0; n < len(order); n++ {
		order = append(order, kids.of(order[n])...)
	}
	return order
}

// children lists the children of every entry, in file order. An entry that lost
// its id to a later one is nobody's child: it is reachable by its line alone.
type children struct {
	start []int32 // of entry i at i+1; of the roots at 0
	list  []int32
}

func (x *index) children() *children {
	c := &children{start: make([]int32, len(x.recs)+2)}
	for i := range x.recs {
		if x.recs[i].flags&lost == 0 {
			c.start[x.recs[i].parent+2]++
		}
	}
	for i := 1; i < len(c.start); i++ {
		c.start[i] += c.start[i-1]
	}
	// Filling moves each start to where the next one was; moving them back is
	// cheaper than a second array.
	c.list = make([]int32, c.start[len(c.start)-1])
	for i := range x.recs {
		if x.recs[i].flags&lost == 0 {
			at := &c.start[x.recs[i].parent+1]
			c.list[*at] = int32(i)
			*at++
		}
	}
	copy(c.start[1:], c.start)
	c.start[0] = 0
	return c
}

func (c *children) of(i int32) []int32 { return c.list[c.start[i+1]:c.start[i+2]] }
