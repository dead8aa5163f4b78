package main

import (
	"errors"
	"runtime"
	"slices"
	"sync"
)

// A bench replays traces in a folder.
type bench struct {
	*config
	dir string
}

// A row is a trace with what each way took for it, in the order of the ways.
type row struct {
	trace trace
	took  []totals
}

func (r row) of(w way) totals {
	return r.took[slices.IndexFunc(ways, func(o way) bool { return o.name == w.name })]
}

func (b *bench) rows() ([]row, error) {
	var rows []row
	for i, k := range kinds {
		for _, n := range b.calls {
			t := newDice(b.seed, uint64(i*10000+n)).trace(k, n)
			rows = append(rows, row{t, make([]totals, len(ways))})
		}
	}
	// The longest first, so that no processor waits for one at the end.
	err := together(len(rows)*len(sessions), func(i int) error {
		i = len(rows)*len(sessions) - 1 - i
		at := sessions[i%len(sessions)]
		return b.replay(rows[i/len(sessions)], at[0], at[1])
	})
	return rows, err
}

// replay replays a trace for the ways from one place to another.
func (b *bench) replay(r row, from, to int) error {
	p, err := newPlayer(b.dir, b.terms, ways[from:to]...)
	if err != nil {
		return err
	}
	err = p.play(r.trace)
	for i, v := range p.views {
		r.took[from+i] = v.totals
	}
	return err
}

// together does n things on all processors.
func together(n int, do func(i int) error) error {
	errs := make([]error, n)
	work := make(chan int)
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range work {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	group.Wait()
	return errors.Join(errs...)
}
