package jsonl

import (
	"iter"
	"sync"
)

// A job is a chunk on its way: it is loaded in order, parsed by any worker, and
// consumed in order.
type job struct {
	c      *chunk
	err    error
	parsed chan struct{}
}

// A pipeline reads with one goroutine and parses with others. Chunks are reused,
// which bounds its memory and, since loading waits for a free one, its lead. Workers
// that load what they parse would do without the one, but waiting for their turn
// costs more than that: a third more time where loading is half of the work.
type pipeline struct {
	free  chan *chunk
	order chan *job
	work  chan *job
	stop  chan struct{}
	wg    sync.WaitGroup
}

func parallel(src Source, head *Head, limit int64, opt Options) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		p := newPipeline(head, opt)
		defer p.wg.Wait()
		defer close(p.stop)
		p.wg.Go(func() { p.load(src, limit) })
		for range opt.Workers {
			p.wg.Go(p.parse)
		}
		for j := range p.order {
			<-j.parsed
			if j.err != nil {
				yield(nil, j.err)
				return
			}
			if !yield(j.c, nil) {
				return
			}
			p.free <- j.c
		}
	}
}

func newPipeline(head *Head, opt Options) *pipeline {
	n := opt.Workers + 2
	p := &pipeline{
		free:  make(chan *chunk, n),
		order: make(chan *job, n),
		work:  make(chan *job, n),
		stop:  make(chan struct{}),
	}
	for range n {
		p.free <- newChunk(head, opt)
	}
	return p
}

// load reads one chunk after the other; it never waits but for a free one, since
// there are as many places in the other channels as chunks.
func (p *pipeline) load(src Source, limit int64) {
	defer close(p.order)
	defer close(p.work)
	for from := int64(0); from < limit; {
		var c *chunk
		select {
		case c = <-p.free:
		case <-p.stop:
			return
		}
		j := &job{c: c, parsed: make(chan struct{})}
		j.err = c.loadForward(src, from, limit, forwardBlock)
		p.order <- j
		if j.err != nil {
			close(j.parsed)
			return
		}
		p.work <- j
		from = c.end()
	}
}

func (p *pipeline) parse() {
	for j := range p.work {
		j.c.parseFirst(someRecords)
		close(j.parsed)
	}
}
