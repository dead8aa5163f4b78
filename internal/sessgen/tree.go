package sessgen

import "math/rand/v2"

// TreeOptions shape a random tree. The zero value is a sound pi log.
type TreeOptions struct {
	Native bool // sums, ULIDs and the native header
	// Depth is the probability to attach to the current leaf. 0 means 0.85.
	Depth float64
	// MissingParents adds entries whose parent is not in the file.
	MissingParents bool
	// ForwardParents adds entries whose parent comes later. No cycles arise.
	ForwardParents bool
	// Duplicates adds byte-identical copies of earlier lines (in native logs
	// with their old sum, whose second half is then out of order), and other
	// entries with an id that was used before. Neither makes a cycle.
	Duplicates bool
	// Damage adds lines between the records: torn, garbage, empty, NUL.
	Damage bool
}

// A treeEntry is what later entries may refer to.
type treeEntry struct {
	id         entryID
	parent     int // index of the parent, or -1
	start, end int // of the line in the log
	call       entryID
	editable   bool // a context_edit may name it
	copied     bool // its id was promised or used before
	settings   settings
}

// A promise is an id that an entry named as its parent before it exists.
type promise struct {
	id    entryID
	since int // entries that were there when it was first named
}

type tree struct {
	log      *logWriter
	ids      idSource
	r        *rand.Rand
	opt      TreeOptions
	entries  []treeEntry
	promises []promise
}

// A place is where an entry goes: under which id, and which known entry that
// is, if any.
type place struct {
	parent entryID
	index  int
}

var nowhere = place{index: -1}

// Tree returns a random log with so many entries, lines of damage not counted.
// The entries are small. All randomness comes from r.
func Tree(r *rand.Rand, entries int, opt *TreeOptions) []byte {
	t := newTree(r, opt)
	t.log.header(&t.ids)
	for len(t.entries) < entries {
		t.grow(entries - len(t.entries))
	}
	return t.log.buf
}

func newTree(r *rand.Rand, opt *TreeOptions) *tree {
	t := &tree{r: r}
	if opt != nil {
		t.opt = *opt
	}
	if t.opt.Depth == 0 {
		t.opt.Depth = 0.85
	}
	format := formatOf(t.opt.Native)
	t.log, t.ids = newLogWriter(nil, format), newIDSource(r, format, 2000)
	return t
}

// grow adds one entry; left says how many are still to come, this included.
func (t *tree) grow(left int) {
	if t.opt.Damage && t.chance(0.06) {
		t.damage()
	}
	switch {
	case len(t.promises) > 0 && (left <= len(t.promises) || t.chance(0.2)):
		t.keepPromise()
	case t.opt.Duplicates && len(t.entries) > 0 && t.chance(0.05):
		t.duplicate()
	default:
		id, ms := t.ids.next()
		t.add(id, ms, t.choosePlace(left), false)
	}
}

func (t *tree) chance(p float64) bool { return t.r.Float64() < p }

// choosePlace decides under what the next entry goes.
func (t *tree) choosePlace(left int) place {
	switch {
	case len(t.entries) == 0 || t.chance(0.02):
		return nowhere
	case t.opt.MissingParents && t.chance(0.04):
		return place{t.unusedID(), -1}
	case t.opt.ForwardParents && left > len(t.promises)+1 && t.chance(0.05):
		return place{t.promise(), -1}
	case t.chance(t.opt.Depth):
		return t.under(len(t.entries) - 1)
	}
	return t.under(t.r.IntN(len(t.entries)))
}

func (t *tree) under(index int) place { return place{t.entries[index].id, index} }

func (t *tree) unusedID() entryID {
	id, _ := t.ids.next()
	return id
}

// promise names an entry that comes later, now and then the same one again.
func (t *tree) promise() entryID {
	if n := len(t.promises); n > 0 && t.chance(0.3) {
		return t.promises[t.r.IntN(n)].id
	}
	id := t.unusedID()
	t.promises = append(t.promises, promise{id, len(t.entries)})
	return id
}

// keepPromise adds a promised entry. It goes above everything that waits for
// it: under something older than the first one that does. So no cycle arises.
func (t *tree) keepPromise() {
	i := t.r.IntN(len(t.promises))
	p := t.promises[i]
	t.promises = append(t.promises[:i], t.promises[i+1:]...)
	_, ms := t.ids.next()
	t.add(p.id, ms, t.placeBefore(p.since), true)
}

// placeBefore chooses among the first n entries.
func (t *tree) placeBefore(n int) place {
	if n == 0 || t.chance(0.1) {
		return nowhere
	}
	return t.under(t.r.IntN(n))
}

// add writes an entry of a random kind.
func (t *tree) add(id entryID, ms int64, at place, copied bool) {
	e := treeEntry{id: id, parent: at.index, start: len(t.log.buf), copied: copied}
	t.inherit(&e, at)
	s := stamp{id, at.parent, ms}
	if t.hasMoved(at) && t.chance(0.3) {
		t.branchSummary(s)
	} else {
		t.writeAny(s, &e)
	}
	e.end = len(t.log.buf) - 1
	t.entries = append(t.entries, e)
}

// inherit takes over what the path says. Where the parent is not known, or an
// id may yet be given to another entry, nobody can know what is in force.
func (t *tree) inherit(e *treeEntry, at place) {
	e.settings = settings{known: at.parent.n == 0 && !t.opt.Duplicates, model: -1}
	if at.index >= 0 {
		e.call = t.entries[at.index].call
		e.settings = t.entries[at.index].settings
	}
}

// hasMoved says whether the place is not under the leaf.
func (t *tree) hasMoved(at place) bool {
	return len(t.entries) > 0 && at.index != len(t.entries)-1
}

// duplicate repeats an earlier line, or writes another entry with its id.
func (t *tree) duplicate() {
	index := t.r.IntN(len(t.entries))
	e := t.entries[index]
	if t.chance(0.5) {
		e.copied = true
		t.log.foreign(t.log.buf[e.start:e.end])
		e.start, e.end = len(t.log.buf)-1-(e.end-e.start), len(t.log.buf)-1
		t.entries = append(t.entries, e)
		return
	}
	if e.copied {
		return // what is older than it, one cannot tell by its position
	}
	_, ms := t.ids.next()
	t.add(e.id, ms, t.placeBefore(index), true)
}

// damage writes a line that no reader takes for a record.
func (t *tree) damage() {
	t.log.foreign(t.damagedLine())
}

func (t *tree) damagedLine() []byte {
	switch t.r.IntN(4) {
	case 0:
		return nil
	case 1:
		return make([]byte, 1+t.r.IntN(600))
	case 2:
		return []byte(garbage[t.r.IntN(len(garbage))])
	}
	return t.tornLine()
}

var garbage = []string{
	"not json", "{", "}{", `{"type":"message","id":}`, "\xff\xfe\x00garbage", "<<<<<<< HEAD",
	`{"type":"label","id":"x","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","targetId":"\q"}`,
}

// tornLine is the beginning of an entry of its own, which exists nowhere else.
func (t *tree) tornLine() []byte {
	start, last := len(t.log.buf), t.log.last
	id, ms := t.ids.next()
	t.writeAny(stamp{id, t.leafID(), ms}, &treeEntry{parent: -1})
	line := append([]byte(nil), t.log.buf[start:]...)
	t.log.buf, t.log.last = t.log.buf[:start], last
	return line[:1+t.r.IntN(len(line)-2)]
}

func (t *tree) leafID() entryID {
	if len(t.entries) == 0 {
		return entryID{}
	}
	return t.entries[len(t.entries)-1].id
}
