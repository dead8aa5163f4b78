package sessiontree

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/inorder"
	"github.com/sessctl/sessctl/store"
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
	return func(yield func(int, Info) bool) {
		n := 0
		for some := range l.ahead(describe) {
			for _, info := range some {
				if !yield(n, info) {
					return
				}
				n++
			}
		}
	}
}

// atOnce is how many files a worker takes: handing over each costs as much as opening it.
const atOnce = 64

func (l *listing) ahead(describe func(string) Info) iter.Seq[[]Info] {
	n := min(atOnce, len(l.files)/(8*max(l.opt.Workers, 1)))
	if l.opt.Limit > 0 || n < 1 { // no more work than it takes
		n = 1
	}
	some := func(files []store.LogFile) []Info {
		list := make([]Info, len(files))
		for i, f := range files {
			list[i] = describe(f.Path)
		}
		return list
	}
	chunks := slices.Chunk(l.files, n)
	if l.opt.Workers > 1 {
		return inorder.Do(context.Background(), l.opt.Workers, chunks, func(_ context.Context, files []store.LogFile, emit func([]Info) bool) {
			emit(some(files))
		})
	}
	return func(yield func([]Info) bool) {
		for files := range chunks {
			if !yield(some(files)) {
				return
			}
		}
	}
}
