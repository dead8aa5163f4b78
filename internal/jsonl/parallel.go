package jsonl

import (
	"iter"
	"sync"
)

// A job is a chunk on its way: it is loaded in order, parsed by the worker that
// loaded it, and consumed in order.
type job struct {
	c      *chunk
	err    error
	parsed chan struct{}
}

// A pipeline reads and parses with several goroutines. Chunks are reused, which
// bounds its memory and, since loading waits for a free one, its lead.
type pipeline struct {
	src   Source
	free  chan *chunk
	order chan *job
	stop  chan struct{}
	wg    sync.WaitGroup

	turn        sync.Mutex // to load: a chunk starts where the one before ended
	from, limit int64
}

func parallel(src Source, head *Head, limit int64, opt Options) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		p := newPipeline(src, head, limit, opt)
		defer p.wg.Wait()
		defer close(p.stop)
		for range opt.Workers {
			p.wg.Go(p.work)
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

func newPipeline(src Source, head *Head, limit int64, opt Options) *pipeline {
	n := opt.Workers + 2
	p := &pipeline{
		src: src, limit: limit,
		free:  make(chan *chunk, n),
		order: make(chan *job, n),
		stop:  make(chan struct{}),
	}
	for range n {
		p.free <- newChunk(head, opt)
	}
	return p
}

func (p *pipeline) work() {
	for j := p.load(); j != nil; j = p.load() {
		if j.err == nil {
			j.c.begin()
			j.c.parseOn(someRecords)
		}
		close(j.parsed)
	}
}

// load takes the next chunk, and gives nil behind the last. It waits for its turn
// and for a free chunk, and for nothing else, since there are as many places in
// order as chunks.
func (p *pipeline) load() *job {
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.from >= p.limit {
		return nil
	}
	var c *chunk
	select {
	case c = <-p.free:
	case <-p.stop:
		return nil
	}
	j := &job{c: c, parsed: make(chan struct{})}
	j.err = c.loadForward(p.src, p.from, p.limit, forwardBlock)
	p.order <- j
	if p.from = c.end(); p.from >= p.limit || j.err != nil {
		p.from = p.limit
		close(p.order)
	}
	return j
}
