package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/durable"
)

// A promise is what BeforeEdit returned nil for.
type promise struct{ path, sum string }

// kept checks that a promise is kept by whoever opens a disk now.
func (l *life) kept(list []promise) error {
	h := l.history()
	for _, p := range list {
		_, err := l.st.Get(p.sum)
		if err == nil && !slices.ContainsFunc(h.paths[p.path], func(ev event) bool { return ev.after.SHA256 == p.sum }) {
			err = errors.New("the log does not name it")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
	}
	return nil
}

// manyNames are more contents than are synced one by one.
func manyNames(c computer, round int) (names []string, promised []promise) {
	for i := range manyBlobs + 3 {
		name := fmt.Sprintf("f%d", i)
		text := fmt.Sprintf("round %d of %s", round, strings.Repeat(name, 20))
		c.put(name, text, 0o644)
		names, promised = append(names, name), append(promised, promise{name, sumOf([]byte(text))})
	}
	return names, promised
}

// TestContentsSurvive cuts the power at each operation of a turn of edits, and in every
// state that is left all that BeforeEdit returned nil for is there.
func TestContentsSurvive(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 1))
		states := 0
		var kept []promise
		c := newComputer()
		c.whole = whole
		faulty := &durable.Faulty{FS: c.disk}
		l, err := c.open(faulty)
		must(err)
		faulty.Fault = func(op durable.Op) error {
			if !mutates(op) || t.Failed() {
				return nil
			}
			states++
			if err := c.crashed(r).start().kept(kept); err != nil {
				t.Errorf("whole %v, %s: %v", whole, op, err)
			}
			return nil
		}
		l.prompt("one")
		for round := range 2 {
			names, promised := manyNames(c, round)
			for _, list := range [][]string{names[:1], names[1:4], names} {
				must(l.f.BeforeEdit(context.Background(), "call", list...))
				kept = append(kept, promised[:len(list)]...)
			}
		}
		if states < 100 {
			t.Errorf("only %d states were checked", states)
		}
	}
}

// TestContentsOfADeadProcess: what a process stored, and died before it was certain, is
// made certain by the next one that relies on it.
func TestContentsOfADeadProcess(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for _, whole := range []bool{false, true} {
		c := newComputer()
		c.whole = whole
		names, promised := manyNames(c, 0)
		syncWhole(c.disk, "/")
		faulty := &durable.Faulty{FS: c.disk}
		l, err := c.open(faulty)
		must(err)
		faulty.Fault = func(op durable.Op) error {
			if !mutates(op) || op.Kind == durable.Open || t.Failed() {
				return nil
			}
			next := c.killed().start()
			at := r.IntN(len(names))
			must(next.f.BeforeEdit(context.Background(), "call", names[at]))
			for range 2 {
				if err := next.crashed(r).start().kept(promised[at : at+1]); err != nil {
					t.Errorf("whole %v, %s: %v", whole, op, err)
				}
			}
			return nil
		}
		must(l.f.BeforeEdit(context.Background(), "call", names...))
	}
}

// TestFailedCaptures lets each operation of a capture fail: the edit goes on, and what is
// not known is never written or removed.
func TestFailedCaptures(t *testing.T) {
	t.Parallel()
	start := newComputer()
	start.put("a", "first", 0o644)
	start.put("d/b", strings.Repeat("first ", 100), 0o644)
	start.link("a", "link")
	syncWhole(start.disk, "/")
	lost := 0
	for n := 1; ; n++ {
		c := start.killed()
		var at durable.Op
		fault := durable.FailNth("", n, []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES}[n%3])
		before := capture(c, func(op durable.Op) error {
			err := fault(op)
			if err != nil {
				at = op
			}
			return err
		}, path.Dir(c.log))
		if at.Kind == "" {
			break
		}
		unknown, err := takenBack(c, before)
		if err != nil {
			t.Errorf("%s failed: %v", at, err)
		}
		lost += unknown
	}
	if lost < 10 {
		t.Errorf("only %d states were lost: nothing was proved", lost)
	}
}

// capture is a turn of one edit, before which captures may fail, but not the log. It gives
// the files before.
func capture(c computer, fault func(durable.Op) error, log string) map[string]string {
	before := c.files()
	faulty := &durable.Faulty{FS: c.disk}
	l, err := c.open(faulty)
	must(err)
	l.prompt("one")
	paths := []string{"a", "d/b", "link", "new"}
	faulty.Fault = func(op durable.Op) error {
		if path.Dir(op.Name) == log {
			return nil
		}
		return fault(op)
	}
	must(l.f.BeforeEdit(context.Background(), "call", paths...))
	faulty.Fault = nil
	c.put("a", "second", 0o644)
	c.drop("d/b")
	c.drop("link")
	c.put("new", "new", 0o644)
	must(l.f.AfterEdit(context.Background(), "call", paths...))
	must(l.s.Close())
	return before
}

// takenBack takes the turn back, with force, and counts what stays as it is since it is not
// known what it was.
func takenBack(c computer, before map[string]string) (unknown int, err error) {
	after := c.files()
	l := c.start()
	p, err := undo(Code)(l)
	must(err)
	_, err = l.f.Commit(context.Background(), p, &CommitOptions{Force: true})
	must(err)
	want := maps.Clone(before)
	for _, it := range p.Items {
		if it.Action == ActUnknown {
			unknown++
			delete(want, it.Path)
			if is, ok := after[it.Path]; ok {
				want[it.Path] = is
			}
		}
	}
	if got := l.files(); !maps.Equal(got, want) {
		return unknown, fmt.Errorf("%v", unlike(got, after, want))
	}
	return unknown, errors.Join(l.fold(), l.clean())
}

// TestUnreadableFile: a file that may not be read is unknown, and an edit of it goes on.
func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	c := newComputer()
	c.put("a", "first", 0o644)
	c.put("d/b", "first", 0o644)
	c.link("a", "link")
	before := capture(c, func(op durable.Op) error {
		if op.Kind == durable.Open && path.Base(op.Name) == "a" {
			return syscall.EACCES
		}
		return nil
	}, path.Dir(c.log))
	unknown, err := takenBack(c, before)
	if unknown != 1 || err != nil || c.files()["a"] != "0644 second" {
		t.Errorf("%d unknown, %v: %v", unknown, err, c.files())
	}
}
