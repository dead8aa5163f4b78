package jsonl

import (
	"iter"
	"sync"
)

// A job is a chunk on its way: it is loaded in order, worked on by any worker, and
// consumed in order.
type job struct {
	c    *chunk
	err  error
	done chan struct{}
}

// A pipeline reads with one goroutine and works on what was read with others. Chunks are
// reused, which bounds its memory and, since loading waits for a free one, its lead.
// Workers that load what they work on would do without the one, but waiting for their
// turn costs more than that: a third more time where loading is half of the work.
type pipeline struct {
	block int // bytes of a chunk, about
	free  chan *chunk
	order chan *job
	work  chan *job
	stop  chan struct{}
	wg    sync.WaitGroup
}

func parallel(src Source, head *Head, limit int64, opt Options) iter.Seq2[*chunk, error] {
	return pipelined(src, limit, forwardBlock, func() *chunk { return newChunk(head, opt) }, opt.Workers,
		func(int) func(*chunk) { return func(c *chunk) { c.parseFirst(someRecords) } })
}

// pipelined gives chunks of about block bytes, in order, each of which one of some workers
// has worked on.
func pipelined(src Source, limit int64, block int, fresh func() *chunk, workers int, worker func(i int) func(*chunk)) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		p := newPipeline(block, workers, fresh)
		defer p.wg.Wait()
		defer close(p.stop)
		p.wg.Go(func() { p.load(src, limit) })
		for i := range workers {
			do := worker(i)
			p.wg.Go(func() { p.each(do) })
		}
		p.consume(yield)
	}
}

func newPipeline(block, workers int, fresh func() *chunk) *pipeline {
	n := workers + 2
	p := &pipeline{
		block: block,
		free:  make(chan *chunk, n),
		order: make(chan *job, n),
		work:  make(chan *job, n),
		stop:  make(chan struct{}),
	}
	for range n {
		p.free <- fresh()
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
		j := &job{c: c, done: make(chan struct{})}
		j.err = c.loadForward(src, from, limit, p.block)
		p.order <- j
		if j.err != nil {
			close(j.done)
			return
		}
		p.work <- j
		from = c.end()
	}
}

func (p *pipeline) each(do func(*chunk)) {
	for j := range p.work {
		do(j.c)
		close(j.done)
	}
}

func (p *pipeline) consume(yield func(*chunk, error) bool) {
	for j := range p.order {
		<-j.done
		if !yield(j.c, j.err) || j.err != nil {
			return
		}
		p.free <- j.c
	}
}
