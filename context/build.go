package modelcontext

import (
	"fmt"
	"math"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// A builder makes one context.
type builder struct {
	t   *sessiontree.Tree
	opt Options
	ctx *Context

	// up is the path as far as it was read: the leaf first. next is the entry above,
	// "" where the root was reached.
	up    []entries.Entry
	all   bool // keep what a model would not be sent again: for PendingCalls
	next  entries.ID
	cut   *cut // the latest compaction on the path; nil where there is none
	blobs map[string]blob
}

// A cut is a compaction that replaces what stands before it.
type cut struct {
	at   int // in builder.up
	rec  record
	name entries.ID // the first entry that it keeps, by what it says
	kept entries.ID // the same; "" where nothing above it is kept
	from int        // where that is in builder.up; -1 where it was not met
}

func (b *builder) build() error {
	b.ctx.promised = slices.Contains(b.t.Header().Records, entries.CustomToolExecutionStart)
	b.ctx.started = map[string]bool{}
	if b.next = b.ctx.Leaf; b.next != "" {
		if err := b.climbPi(); err != nil {
			return err
		}
	}
	b.ctx.Dialect = b.opt.Dialect
	if b.ctx.Dialect == "" {
		b.ctx.Dialect = dialectOf(b.t, b.up)
	}
	var err error
	switch b.ctx.Dialect {
	case Pi:
		err = b.pi()
	case Omp:
		err = b.omp()
	default:
		err = fmt.Errorf("modelcontext: no dialect %q; there are %s and %s", b.opt.Dialect, Pi, Omp)
	}
	if err != nil {
		return err
	}
	b.noteSure()
	b.resolveBlobs()
	b.noteRoot()
	b.orderReport()
	return b.settings()
}

// climb goes up the path as long as more says so.
func (b *builder) climb(more func(e entries.Entry) (bool, error)) error {
	for e, err := range b.t.Ancestors(b.next) {
		if err != nil {
			return err
		}
		b.up, b.next = append(b.up, e), e.Parent
		if ok, err := more(e); !ok || err != nil {
			return err
		}
	}
	return nil
}

// climbToRoot is climb where the way may well lead to the root. Once it turns out to be
// long, the whole log is read at once, which is quicker.
func (b *builder) climbToRoot(more func(e entries.Entry) (bool, error)) error {
	const patience = 2000 // entries, and a sixteenth of the log
	return b.climb(func(e entries.Entry) (bool, error) {
		if len(b.up) > patience && !b.t.Scanned() && b.t.Size()-e.Offset > b.t.Size()/16 {
			n, err := b.t.Len()
			if err != nil {
				return false, err
			}
			b.up = slices.Grow(b.up, n-len(b.up))
		}
		return more(e)
	})
}

// climbPi goes up to where a context of pi's begins: the first entry that the latest
// compaction keeps, else the root.
func (b *builder) climbPi() error {
	return b.climbToRoot(func(e entries.Entry) (bool, error) {
		if b.cut == nil && e.Type == entries.TypeCompaction {
			return b.compaction(e)
		}
		return !b.meets(e), nil
	})
}

// meets notes where the first kept entry is.
func (b *builder) meets(e entries.Entry) bool {
	met := b.cut != nil && b.cut.kept == e.ID
	if met {
		b.cut.from = len(b.up) - 1
	}
	return met
}

// compaction takes up the latest compaction; it tells whether anything above it is
// kept.
func (b *builder) compaction(e entries.Entry) (keeps bool, err error) {
	raw, err := e.Raw()
	if err != nil {
		return false, err
	}
	rec, err := readRecord(raw)
	if err != nil { // its bytes are not sound inside: the envelope is all there is
		b.ctx.Report.drop(e.ID, Unreadable, err.Error())
	}
	b.cut = &cut{at: len(b.up) - 1, rec: rec, from: -1}
	b.cut.kept = entries.ID(jsonvalue.String(rec["firstKeptEntryId"]))
	if b.t.Header().Version < 2 {
		b.keptByIndex(rec["firstKeptEntryIndex"])
	}
	if b.cut.name = b.cut.kept; b.cut.kept == e.ID {
		b.cut.kept = ""
	}
	return b.cut.kept != "", nil
}

// keptByIndex reads how version 1 names the first kept entry: by its position. Where
// no entry stands there, what firstKeptEntryId says holds.
func (b *builder) keptByIndex(index []byte) {
	at := jsonvalue.Number(index)
	if !isNumber(index) || at != math.Trunc(at) {
		return
	}
	if id, err := b.t.RecordAt(int(at)); err == nil {
		b.cut.kept = id
	}
}

// after gives the part of the path below place at of b.up; the leaf first.
func (b *builder) after(at int) []entries.Entry { return b.up[:max(at, 0)] }

// between gives the part of the path from place from of b.up down to, but without, the
// latest compaction; the lowest first.
func (b *builder) between(from int) []entries.Entry {
	return b.up[b.cut.at+1 : max(from, b.cut.at)+1]
}

// noteRoot reports where the path does not start where its first entry says.
func (b *builder) noteRoot() {
	b.ctx.Report.Entries = len(b.up)
	if len(b.up) == 0 || b.next != "" {
		return
	}
	root := b.up[len(b.up)-1]
	for _, d := range b.t.Damage() {
		if d.Offset != root.Offset {
			continue
		}
		switch d.Kind {
		case "missing-parent":
			b.ctx.Report.drop(root.ID, Orphan, d.Detail)
		case "cycle":
			b.ctx.Report.drop(root.ID, CutCycle, d.Detail)
		}
	}
}

// orderReport puts what was left out in the order of the path.
func (b *builder) orderReport() {
	dropped := b.ctx.Report.Dropped
	if len(dropped) < 2 {
		return
	}
	at := make(map[entries.ID]int, len(b.up))
	for i, e := range b.up {
		at[e.ID] = -i
	}
	slices.SortStableFunc(dropped, func(x, y Dropped) int { return at[x.Entry] - at[y.Entry] })
}

// noteSure finds the answers below which nothing was ever left: those behind the last
// move of the leaf, on the active path of a log whose end is whole.
func (b *builder) noteSure() {
	if !b.ctx.promised || len(b.up) == 0 || b.ctx.Leaf != b.t.Leaf() || b.endIsDamaged() {
		return
	}
	b.ctx.sure = map[entries.ID]bool{}
	forked := b.t.Header().ParentEntry
	for _, e := range b.up {
		switch {
		case e.ID == forked, e.Type == entries.TypeBranchSummary, e.Type == entries.TypeCustom && movesLeaf(e):
			return // what is above may have been left before
		case e.Type == entries.TypeMessage && e.Role == RoleAssistant:
			b.ctx.sure[e.ID] = true
		}
	}
}

// movesLeaf tells whether an entry is a leaf marker that went elsewhere.
func movesLeaf(e entries.Entry) bool {
	m, ok, err := e.LeafMarker()
	return err != nil || ok && m.Reason != string(sessiontree.ReasonReturn)
}

// endIsDamaged tells whether something behind the leaf could not be read.
func (b *builder) endIsDamaged() bool {
	for _, d := range b.t.Damage() {
		if !d.Note && d.Offset > b.up[0].Offset {
			return true
		}
	}
	return false
}
