package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/sessiontree"
)

// operations lists those of the commit.
func (x *crashTest) operations() (ops []durable.Op) {
	_, err := x.commit(x.start.killed(), func(op durable.Op) error {
		ops = append(ops, op)
		return nil
	})
	must(err)
	return ops
}

// faults lets each operation fail, in a process that lives on.
func (x *crashTest) faults() {
	for n, op := range x.operations() {
		if !mutates(op) && n%3 != 0 {
			continue
		}
		fault := syscall.EIO
		if n%2 == 0 && mutates(op) {
			fault = syscall.ENOSPC
		}
		c := x.start.killed()
		l, err := x.commit(c, durable.FailNth("", n+1, fault))
		if e := x.reported(l, op, err); e != nil {
			x.Errorf("%s, %s fails: %v, after %v", x.name, op, e, err)
		}
		x.cuts(c, err == nil, 1, "%s failed", op)
		if err := x.goesOn(l); err != nil {
			x.Errorf("%s, %s failed: %v", x.name, op, err)
		}
	}
}

// reported checks that what a commit says is what it did.
func (x *crashTest) reported(l *life, op durable.Op, failed error) error {
	files, ends := l.files(), l.restores()
	done := maps.Equal(files, x.after)
	switch {
	case !done && !maps.Equal(files, x.before):
		return fmt.Errorf("the files are neither as before nor as planned: %v", unlike(files, x.before, x.after))
	case failed == nil && !done, errors.Is(failed, ErrAborted) && done, errors.Is(failed, ErrStale) && (done || strings.HasPrefix(op.Name, blobsDir) && mutates(op)):
		return errors.New("that is not so")
	case errors.Is(failed, ErrAborted) && (ends[len(ends)-1] != string(outcomeAborted) || !slices.Equal(l.said(), x.said)):
		return fmt.Errorf("it was taken back, and the log says %q, %v", ends, l.said())
	case errors.Is(failed, ErrAborted) && x.known:
		return errors.Join(l.clean(), l.fold())
	}
	return l.clean()
}

// goesOn does the commit again, in the same process, unless that has to open the session
// anew or the files are as planned by now.
func (x *crashTest) goesOn(l *life) error {
	p, err := x.plan(l)
	if err == nil && maps.Equal(l.files(), x.before) && p.Count(ActConflict) != x.conflicts {
		return fmt.Errorf("%d conflicts, and %d before", p.Count(ActConflict), x.conflicts)
	}
	if err == nil && !maps.Equal(l.files(), x.after) {
		_, err = l.f.Commit(context.Background(), p, x.opt)
	}
	switch {
	case errors.Is(err, sessiontree.ErrUnknown), errors.Is(err, sessiontree.ErrNothingToUndo):
		return nil
	case err == nil && !maps.Equal(l.files(), x.after):
		return errors.New("the commit was tried again, and the files are not as planned")
	}
	return err
}

func TestFailedCommits(t *testing.T) {
	t.Parallel()
	var states atomic.Int64
	floor(t, &states, 300)
	for i, y := range toldStories() {
		if i%2 == 0 {
			continue // what the others do, these do too
		}
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			x := newCrashTest(t, y, i%4 == 1, uint64(i))
			x.faults()
			states.Add(int64(len(x.seen)))
		})
	}
}
