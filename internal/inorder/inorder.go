// Package inorder does work on several processors and gives what comes of it in the order
// of the work.
package inorder

import (
	"context"
	"iter"
	"sync"
)

// Do does work for each element of seq, with so many goroutines, and gives what the work
// emits in the order of the elements, as soon as it can. emit returns false where nobody
// wants more, as when ctx is done. Who is ahead waits, so that memory stays bounded. seq
// runs in a goroutine of its own; when Do returns all of them have ended.
func Do[T, R any](ctx context.Context, workers int, seq iter.Seq[T], work func(ctx context.Context, t T, emit func(R) bool)) iter.Seq[R] {
	return func(yield func(R) bool) {
		ctx, cancel := context.WithCancel(ctx)
		o := &order[T, R]{ctx: ctx, work: work, inTurn: make(chan *task[T, R], 2*workers), free: make(chan *task[T, R], 2*workers)}
		defer o.wait.Wait()
		defer cancel()
		o.wait.Go(func() { o.feed(seq) })
		for range workers {
			o.wait.Go(o.serve)
		}
		for t := range o.inTurn {
			for r := range t.out {
				if !yield(r) {
					return
				}
			}
		}
	}
}

type order[T, R any] struct {
	ctx    context.Context
	work   func(context.Context, T, func(R) bool)
	inTurn chan *task[T, R] // all tasks, for who gives what they found
	free   chan *task[T, R] // those that nobody has begun
	wait   sync.WaitGroup
}

type task[T, R any] struct {
	element T
	out     chan R
}

func (o *order[T, R]) feed(seq iter.Seq[T]) {
	defer close(o.inTurn)
	defer close(o.free)
	const ahead = 8 // of what is found, for each task
	for element := range seq {
		t := &task[T, R]{element, make(chan R, ahead)}
		for _, c := range []chan *task[T, R]{o.free, o.inTurn} {
			select {
			case c <- t:
			case <-o.ctx.Done():
				return
			}
		}
	}
}

func (o *order[T, R]) serve() {
	for t := range o.free {
		o.work(o.ctx, t.element, func(r R) bool {
			select {
			case t.out <- r:
				return true
			case <-o.ctx.Done():
				return false
			}
		})
		close(t.out)
	}
}
