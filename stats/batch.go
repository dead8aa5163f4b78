package stats

import (
	"context"
	"iter"
	"sync"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/inorder"
)

// A batch is a run of entries, and what their bodies say. Bodies are read by several
// goroutines; what is known of the path to an entry is added in order.
type batch struct {
	entries []entries.Entry
	facts   []fact
	err     error
}

const batchSize = 128

// all reads entries and adds them.
func (r *reader) all(list iter.Seq2[entries.Entry, error], opt *Options) error {
	parsers := sync.Pool{New: func() any {
		return &parser{prompt: opt.Prompt, session: r.session, early: r.early, names: map[string]string{}}
	}}
	read := func(_ context.Context, b batch, emit func(batch) bool) {
		p := parsers.Get().(*parser)
		defer parsers.Put(p)
		p.batch(&b)
		emit(b)
	}
	for b := range inorder.Do(context.Background(), max(1, opt.Workers), batches(list), read) {
		if b.err != nil {
			return b.err
		}
		for i := range b.facts {
			r.entry(b.entries[i], &b.facts[i])
		}
	}
	return nil
}

// batches cuts a list. An error comes after everything before it.
func batches(list iter.Seq2[entries.Entry, error]) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		var b batch
		for e, err := range list {
			if err != nil {
				b.err = err
				break
			}
			if b.entries = append(b.entries, e); len(b.entries) == batchSize {
				if !yield(b) {
					return
				}
				b = batch{}
			}
		}
		yield(b)
	}
}

// A parser reads bodies.
type parser struct {
	prompt  func(entries.Entry) bool // nil stands for typed
	session *Session                 // its id and directory
	early   *early                   // what was read already
	buf     []byte                   // of the record that is read
	names   map[string]string        // decoded, by what stands in the log
	both    [2]string                // a provider and its model
	joined  string                   // ... as one name
}

func (p *parser) batch(b *batch) {
	b.facts = make([]fact, len(b.entries))
	for i, e := range b.entries {
		f := &b.facts[i]
		known := p.early.of(e)
		if known != nil {
			*f = *known
		}
		if f.key, f.at, f.role = keyOf(e), e.Time, e.Role; known != nil {
			continue
		}
		if err := p.read(e, f); err != nil {
			b.err = err
			return
		}
	}
}
