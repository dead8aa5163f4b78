package sessiontree

import (
	"cmp"
	"iter"
	"strings"
	"sync"
)

// youngest is a heap of sessions, the newest conversation first.
type youngest []*Info

func (y youngest) Len() int      { return len(y) }
func (y youngest) Swap(i, j int) { y[i], y[j] = y[j], y[i] }
func (y *youngest) Push(x any)   { *y = append(*y, x.(*Info)) }

func (y youngest) Less(i, j int) bool {
	a, b := y[i], y[j]
	return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.ID, b.ID), strings.Compare(a.Path, b.Path)) < 0
}

func (y *youngest) Pop() any {
	last := len(*y) - 1
	x := (*y)[last]
	(*y)[last] = nil
	*y = (*y)[:last]
	return x
}

// described gives what the files are, in their order. Workers are a few files ahead of
// who takes them.
func (l *listing) described() iter.Seq2[int, Info] {
	describe := l.opt.Describe
	if describe == nil {
		describe = Describe
	}
	if l.opt.Workers > 1 {
		return l.describedAhead(describe)
	}
	return func(yield func(int, Info) bool) {
		for n, f := range l.files {
			if !yield(n, describe(f.Path)) {
				return
			}
		}
	}
}

func (l *listing) describedAhead(describe func(string) Info) iter.Seq2[int, Info] {
	return func(yield func(int, Info) bool) {
		turns := make(chan chan Info, 2*l.opt.Workers) // of the files, in their order
		work := make(chan func(), 2*l.opt.Workers)
		stop := make(chan struct{})
		var wait sync.WaitGroup
		defer wait.Wait()
		defer close(stop)
		wait.Go(func() { l.feed(describe, turns, work, stop) })
		for range l.opt.Workers {
			wait.Go(func() {
				for do := range work {
					do()
				}
			})
		}
		n := 0
		for turn := range turns {
			if !yield(n, <-turn) {
				return
			}
			n++
		}
	}
}

func (l *listing) feed(describe func(string) Info, turns chan<- chan Info, work chan<- func(), stop <-chan struct{}) {
	defer close(turns)
	defer close(work)
	for _, f := range l.files {
		info := make(chan Info, 1)
		select {
		case turns <- info:
		case <-stop:
			return
		}
		select {
		case work <- func() { info <- describe(f.Path) }:
		case <-stop:
			return
		}
	}
}
