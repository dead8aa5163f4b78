package sessgen

import "math/rand/v2"

// ContextOptions shape a tree of [ContextTree]. The zero value is pi's version 3.
type ContextOptions struct {
	Native bool // sums, ULIDs and the native header
	Omp    bool // oh-my-pi's entries and messages, behind its title line
	// Version is 1 or 2 for pi's old formats. 0 means 3, and so does any with
	// Native or Omp. Version 1 is one branch of entries without ids.
	Version int
}

// A contextEntry is what later entries may refer to.
type contextEntry struct {
	stamp
	parent  int      // index of the parent, or -1
	kind    string   // the type; of messages the role
	target  entryID  // of a context_edit
	calls   []string // made and not answered on the path
	done    string   // the call that was answered last on the path
	aborted bool     // an assistant message that was cut off
}

type contextTree struct {
	dice
	log     *logWriter
	ids     idSource
	opt     ContextOptions
	depth   float64
	kinds   []contextKind
	total   int // of the kinds' weights
	entries []contextEntry
	made    []string // all calls, on whatever branch
}

// ContextTree returns a log with so many entries that have what decides about the
// context of a model: messages of every role with odd and missing contents, calls
// and results that do not match, compactions, summaries, edits. Nothing is damaged:
// ids are unique and parents precede their children. Each log has its own mixture.
// All randomness comes from r.
func ContextTree(r *rand.Rand, entries int, opt *ContextOptions) []byte {
	c := newContextTree(r, opt)
	c.header()
	for len(c.entries) < entries {
		c.grow()
	}
	return c.log.buf
}

func newContextTree(r *rand.Rand, opt *ContextOptions) *contextTree {
	c := &contextTree{dice: dice{r}}
	if opt != nil {
		c.opt = *opt
	}
	c.opt.Native = c.opt.Native && !c.opt.Omp
	if c.opt.Version == 0 || c.opt.Native || c.opt.Omp {
		c.opt.Version = 3
	}
	format := formatOf(c.opt.Native)
	c.log, c.ids = newLogWriter(nil, format), newIDSource(r, format, 2000)
	c.depth = 0.8 + 0.195*r.Float64()
	c.mix()
	return c
}

// mix takes the kinds of the dialect and decides how often each one comes.
func (c *contextTree) mix() {
	for _, list := range [][]contextKind{commonKinds, c.dialectKinds()} {
		for _, kind := range list {
			kind.weight *= []int{1, 2, 2, 2, 6}[c.r.IntN(5)]
			c.kinds, c.total = append(c.kinds, kind), c.total+kind.weight
		}
	}
}

func (c *contextTree) dialectKinds() []contextKind {
	if c.opt.Omp {
		return ompKinds
	}
	return piKinds
}

// grow adds an entry: what follows from the one above it, or one of any kind.
func (c *contextTree) grow() {
	e := contextEntry{parent: c.choosePlace()}
	e.stamp.id, e.stamp.ms = c.ids.next()
	if e.parent >= 0 {
		above := c.entries[e.parent]
		e.stamp.parent, e.calls, e.done = above.id, above.calls, above.done
	}
	c.chooseKind(&e)(c, &e)
	c.entries = append(c.entries, e)
}

// choosePlace gives the index of the next entry's parent, or -1.
func (c *contextTree) choosePlace() int {
	last := len(c.entries) - 1
	switch {
	case last < 0 || c.opt.Version == 1 || c.chance(c.depth):
		return last
	case c.chance(0.05):
		return -1
	}
	return c.r.IntN(last + 1)
}

func (c *contextTree) chooseKind(e *contextEntry) func(*contextTree, *contextEntry) {
	switch {
	case len(c.entries) > 0 && e.parent != len(c.entries)-1 && c.chance(0.25):
		return (*contextTree).branchSummary
	case c.opt.Omp && e.parent >= 0 && c.entries[e.parent].aborted && c.chance(0.5):
		return (*contextTree).interruptedThinking
	case len(e.calls) > 0 && c.chance(0.7):
		return (*contextTree).toolResult
	}
	n := c.r.IntN(c.total)
	for _, kind := range c.kinds {
		if n -= kind.weight; n < 0 {
			return kind.write
		}
	}
	return (*contextTree).user
}

// path lists up to most entries above e, the nearest first.
func (c *contextTree) path(e *contextEntry, most int) []int {
	var path []int
	for i := e.parent; i >= 0 && len(path) < most; i = c.entries[i].parent {
		path = append(path, i)
	}
	return path
}

// above is the id of one of the nearest entries above e, or null.
func (c *contextTree) above(e *contextEntry, most int) string {
	path := c.path(e, most)
	if len(path) == 0 {
		return "null"
	}
	return c.idOf(path[c.r.IntN(len(path))])
}

func (c *contextTree) idOf(index int) string { return quotedID(c.entries[index].id) }

// anyID is the id of an entry anywhere in the log.
func (c *contextTree) anyID(e *contextEntry) string {
	if len(c.entries) == 0 {
		return quotedID(e.id)
	}
	return c.idOf(c.r.IntN(len(c.entries)))
}

// foreignID is the id of no entry.
func (c *contextTree) foreignID() string {
	id, _ := c.ids.next()
	return quotedID(id)
}

func quotedID(id entryID) string { return string(appendID(nil, id)) }

// message writes a message entry; pairs are those of the message.
func (c *contextTree) message(e *contextEntry, role string, pairs ...string) {
	e.kind = role
	pairs = append([]string{"role", quote(role)}, pairs...)
	c.entry(e, "message", "message", object(append(pairs, "timestamp", c.messageTime(e))...))
}

// messageTime is in milliseconds; old and foreign programs leave it out.
func (c *contextTree) messageTime(e *contextEntry) string {
	if c.chance(0.03) {
		return ""
	}
	return string(appendNumber(nil, float64(e.ms)))
}

// entry writes a line. The programs write a custom entry's own fields first.
func (c *contextTree) entry(e *contextEntry, kind string, pairs ...string) {
	if kind != "message" {
		e.kind = kind
	}
	base := []string{"id", quotedID(e.id), "parentId", quotedID(e.stamp.parent), "timestamp", c.entryTime(e, kind)}
	if c.opt.Version == 1 {
		base = base[4:]
	}
	list := append([]string{"type", quote(kind)}, base...)
	if !c.opt.Native && (kind == "custom" || kind == "custom_message") {
		list = append(append([]string{"type", quote(kind)}, pairs...), base...)
	} else {
		list = append(list, pairs...)
	}
	c.line(object(list...))
}

// line writes an object as the next record.
func (c *contextTree) line(object string) {
	c.log.start, c.log.late = len(c.log.buf), nil
	c.log.raw(object[:len(object)-1])
	c.log.close(false)
}

// entryTime may be odd only where the context takes it from the entry.
func (c *contextTree) entryTime(e *contextEntry, kind string) string {
	made := kind == "custom_message" || kind == "branch_summary" || kind == "compaction"
	if made && c.chance(0.08) {
		return c.of("", "null", `"not a date"`, `""`, `"2026-01-05"`, `"2026-01-05T09:00:00Z"`,
			`"2026-01-05T09:00:00.5+02:00"`, "1767603600000", "1e21", "true")
	}
	return string(appendTime(nil, e.ms))
}
