package search

import (
	"context"
	"iter"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/inorder"
	"github.com/sessctl/sessctl/sessiontree"
)

// Tree gives the entries of a session that match, in the order of the log. It decodes
// with so many goroutines; 0 stands for one. An error comes last.
func (p *Pattern) Tree(ctx context.Context, t *sessiontree.Tree, workers int) iter.Seq2[Hit, error] {
	return p.tree(ctx, t, workers, nil)
}

// tree is Tree for the entries that share bytes with some spans; nil stands for all.
func (p *Pattern) tree(ctx context.Context, t *sessiontree.Tree, workers int, spans []span) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		look := &looking{ctx: ctx, pattern: p, tree: t, spans: spans, all: spans == nil}
		for h := range inorder.Do(ctx, max(workers, 1), look.batches, look.hits) {
			if ok, err := look.place(&h); err != nil {
				yield(Hit{}, err)
				return
			} else if ok && !yield(h, nil) {
				return
			}
		}
		if look.err == nil {
			look.err = ctx.Err()
		}
		if look.err != nil {
			yield(Hit{}, look.err)
		}
	}
}

// A looking is one search in a session.
type looking struct {
	ctx      context.Context
	pattern  *Pattern
	tree     *sessiontree.Tree
	spans    []span
	all      bool
	branches *sessiontree.BranchIndex // looked up for the first hit
	err      error                    // of reading the entries; set before batches returns
}

// batches gives the entries that have to be decoded, some at a time.
func (l *looking) batches(yield func([]entries.Entry) bool) {
	const size = 32
	var batch []entries.Entry
	for e, err := range l.tree.Entries() {
		if err != nil {
			l.err = err
			return
		}
		if !l.all && !l.touched(e) {
			continue
		}
		if batch = append(batch, e); len(batch) == size {
			if !yield(batch) {
				return
			}
			batch = nil
		}
	}
	if len(batch) > 0 {
		yield(batch)
	}
}

// touched tells whether an entry shares bytes with a span. Entries come in the order of
// the log, as spans do.
func (l *looking) touched(e entries.Entry) bool {
	for len(l.spans) > 0 && l.spans[0].to <= e.Offset {
		l.spans = l.spans[1:]
	}
	return len(l.spans) > 0 && l.spans[0].from < e.Offset+e.Size
}

func (l *looking) hits(_ context.Context, batch []entries.Entry, emit func(Hit) bool) {
	for _, e := range batch {
		if h, ok := l.pattern.hit(e); ok && !emit(h) {
			return
		}
	}
}

// place tells which branch a hit is on, and whether that is wanted.
func (l *looking) place(h *Hit) (wanted bool, err error) {
	if l.branches == nil {
		if l.branches, err = l.tree.BranchIndex(); err != nil {
			return false, err
		}
	}
	h.Tip, h.Active = l.branches.Of(h.Entry.ID)
	return h.Active || !l.pattern.query.Active, nil
}
