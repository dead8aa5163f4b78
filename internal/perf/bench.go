package main

import (
	"fmt"
	"io"
	"slices"
)

// A bench runs the jobs of all rows and keeps the best of each.
type bench struct {
	*config
	rows []row
	peer *peer // nil where none was given
	best map[job]sample

	busy, runs int
}

// prepare makes the sessions and looks for the peer, so that nothing but measuring
// is left to do.
func (b *bench) prepare(notes io.Writer) (err error) {
	if b.peers != "" {
		if b.peer, err = newPeer(b.peers); err != nil {
			return err
		}
	}
	for _, s := range b.sessions() {
		fmt.Fprintf(notes, "perf: session %s\n", s.name())
		if err := s.make(b.dir); err != nil {
			return err
		}
	}
	return nil
}

// sessions lists those of the rows, each once.
func (b *bench) sessions() (list []*session) {
	for _, r := range b.rows {
		if !slices.Contains(list, r.on) {
			list = append(list, r.on)
		}
	}
	return list
}

// measure runs each row's job once a round, in the order of the rows, which keeps
// every job close to what it is compared with.
func (b *bench) measure(notes io.Writer) error {
	if b.peer != nil {
		defer b.peer.close()
	}
	if err := b.warm(); err != nil {
		return err
	}
	for round := range b.rounds {
		fmt.Fprintf(notes, "perf: round %d of %d\n", round+1, b.rounds)
		for _, r := range b.rows {
			if err := b.once(r.job); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(notes, "perf: other programs were busy in %d of %d runs\n", b.busy, b.runs)
	return nil
}

// warm brings all sessions into the page cache. They are taken out of it first: how
// fast a file is read changes, by twice and more, with the pieces of memory that hold
// it, and those that lay there for long are not what a file is that was just used.
func (b *bench) warm() error {
	for _, s := range b.sessions() {
		if s.shape == folder {
			continue // the first case goes through it
		}
		if s.shape == farm {
			if err := s.warmFarm(); err != nil {
				return err
			}
			continue
		}
		if err := dropCache(s.path); err != nil {
			return err
		}
		if _, err := readOnce(s.path); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) once(j job) error {
	if _, ok := peerCases[j.name]; ok && b.peer == nil {
		return nil
	}
	b.runs++
	if !waitForQuiet(b.wait) {
		b.busy++
	}
	got, err := b.sample(j)
	if err != nil {
		return err
	}
	best, ok := b.best[j]
	if !ok {
		best = got
	}
	got.NS, got.Peak, got.Read = min(best.NS, got.NS), min(best.Peak, got.Peak), max(best.Read, got.Read)
	b.best[j] = got
	return nil
}

// sample runs a job in a process of its own and checks what it found.
func (b *bench) sample(j job) (got sample, err error) {
	var want int64
	if c, ok := peerCases[j.name]; ok {
		want = c.want(j.on)
		got, err = b.peer.run(c, j.on.path)
	} else {
		want = cases[j.name].want(j.on)
		got, err = runChild(j.name, j.on.path)
	}
	if err == nil && got.Result != want {
		err = fmt.Errorf("%s on %s found %d, want %d", j.name, j.on.path, got.Result, want)
	}
	return got, err
}
