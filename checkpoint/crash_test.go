package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/sessctl/sessctl/internal/durable"
)

// A crashTest cuts the commit of a scene wherever it can be cut.
type crashTest struct {
	*testing.T
	*scene
	r    *rand.Rand
	seen map[string]bool // what was checked
}

func newCrashTest(t *testing.T, y story, whole bool, seed uint64) *crashTest {
	return &crashTest{T: t, scene: y.play(whole), r: rand.New(rand.NewPCG(seed, 1)), seen: map[string]bool{}}
}

// mutates tells of operations after which a crash leaves something else than before.
func mutates(op durable.Op) bool {
	switch op.Kind {
	case durable.Stat, durable.ReadAt, durable.ReadDir, durable.Readlink, durable.Close:
		return false
	}
	return true
}

// commit does the commit with a fault.
func (x *crashTest) commit(c computer, fault func(durable.Op) error) (*life, error) {
	faulty := &durable.Faulty{FS: c.disk}
	l, err := c.open(faulty)
	must(err)
	p, err := x.plan(l)
	must(err)
	faulty.Fault = fault
	_, err = l.f.Commit(context.Background(), p, x.opt)
	faulty.Fault = nil
	return l, err
}

// check checks what the next process makes of a disk; sure tells that the commit was
// reported done. What was checked before is not checked again.
func (x *crashTest) check(c computer, sure bool, what string, values ...any) {
	seen := c.sum()
	if x.Failed() || x.seen[seen] && !sure {
		return
	}
	x.seen[seen] = true
	if err := x.recovered(c, sure); err != nil {
		x.Errorf("%s, %s: %v", x.name, fmt.Sprintf(what, values...), err)
	}
}

// sum stands for all that is on the disk.
func (c computer) sum() string {
	h := sha256.New()
	files := c.files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q%q", name, files[name])
	}
	c.sumOf(h, homeDir)
	return string(h.Sum(nil))
}

func (c computer) sumOf(h io.Writer, dir string) {
	list, err := c.disk.ReadDir(dir)
	must(err)
	for _, e := range list {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			c.sumOf(h, name)
			continue
		}
		data, err := readFile(c.disk, name, 1<<20)
		must(err)
		fmt.Fprintf(h, "%q%d%q", name, c.boots, data)
	}
}

// recovered opens everything anew, twice.
func (x *crashTest) recovered(c computer, sure bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	l := c.start()
	if err := x.finished(l, sure); err != nil {
		return err
	}
	must(l.s.Close())
	if len(x.seen)%4 != 0 {
		return nil
	}
	return l.again()
}

// again opens everything once more, and finds nothing to do.
func (l *life) again() error {
	files, log := l.files(), l.logSize()
	next := l.computer.start()
	defer next.s.Close()
	switch {
	case next.f.Finished() != nil:
		return errors.New("the restore was finished twice")
	case next.logSize() != log || !maps.Equal(next.files(), files):
		return errors.New("opening it once more changed something")
	}
	return nil
}

func (l *life) logSize() int64 {
	info, err := l.disk.Stat(l.log)
	must(err)
	return info.Size()
}

// finished checks that all is as before, or as planned.
func (x *crashTest) finished(l *life, sure bool) error {
	files, ends := l.files(), l.restores()
	done := maps.Equal(files, x.after)
	switch {
	case slices.Contains(ends, "cut"):
		return errors.New("a restore has no end")
	case !done && !maps.Equal(files, x.before):
		return fmt.Errorf("the files are neither as before nor as planned: %v", unlike(files, x.before, x.after))
	case sure && !done:
		return errors.New("what was reported done is lost")
	case done && ends[len(ends)-1] != string(outcomeDone):
		return fmt.Errorf("the files are as planned, and the log says %q", ends)
	case done && !slices.Equal(l.said(), x.saying), !done && !slices.Equal(l.said(), x.said):
		return fmt.Errorf("done %v, and the conversation is %v", done, l.said())
	}
	err := errors.Join(l.clean(), stored(l.st, x.sums))
	if done || x.known {
		err = errors.Join(err, l.fold())
	}
	return err
}

// unlike lists what is neither.
func unlike(is, before, after map[string]string) (list []string) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	maps.Copy(all, is)
	for name := range all {
		list = append(list, fmt.Sprintf("%s: %.40q, before %.40q, planned %.40q", name, is[name], before[name], after[name]))
	}
	slices.Sort(list)
	return list
}

// cuts checks what a death or a power cut leaves of a computer.
func (x *crashTest) cuts(c computer, sure bool, crashes int, what string, values ...any) {
	x.check(c.killed(), sure, what+", killed", values...)
	for range crashes {
		x.check(c.crashed(x.r), sure, what+", power cut", values...)
	}
}

// everywhere cuts the commit at each operation, and inside of each write.
func (x *crashTest) everywhere(crashes int) {
	c, ops := x.start.killed(), []durable.Op{}
	_, err := x.commit(c, func(op durable.Op) error {
		if ops = append(ops, op); mutates(op) {
			x.cuts(c, false, crashes, "%s", op)
			x.completion(c.killed(), op)
		}
		return nil
	})
	must(err)
	x.cuts(c, true, crashes, "after it")
	for n, op := range ops {
		if op.Kind == durable.Write {
			x.inside(n, op, crashes)
		}
	}
}

// inside kills the process in the middle of a write.
func (x *crashTest) inside(n int, op durable.Op, crashes int) {
	for _, bytes := range []int{0, 1, op.Len / 2, op.Len - 1, op.Len} {
		c := x.start.killed()
		if _, err := x.commit(c, durable.KillInside(n+1, bytes)); err == nil {
			x.Errorf("%s, %s: the dead process says that it is done", x.name, op)
		}
		x.cuts(c, false, crashes, "%s, after %d bytes", op, bytes)
	}
}

// completion cuts the completion, too, of a restore that was cut short at an operation.
func (x *crashTest) completion(c computer, at durable.Op) {
	faulty := &durable.Faulty{FS: c.disk, Fault: func(op durable.Op) error {
		if mutates(op) && x.r.IntN(64) == 0 {
			x.cuts(c, false, 1, "%s, killed, and then %s", at, op)
		}
		return nil
	}}
	l, err := c.open(faulty)
	must(err)
	x.cuts(c, false, 1, "%s, killed, and completed", at)
	must(l.s.Close())
}

// toldStories are the stories that are cut: a few where time is short, as with the race
// detector, which makes them take ten times as long.
func toldStories() []story {
	if testing.Short() {
		return stories[:2]
	}
	return stories
}

// floor makes sure that as much was checked as is meant to be.
func floor(t *testing.T, states *atomic.Int64, least int64) {
	if testing.Short() {
		least /= 10
	}
	t.Cleanup(func() {
		t.Logf("%d states", states.Load())
		if states.Load() < least && !t.Failed() {
			t.Errorf("only %d states were checked, want %d", states.Load(), least)
		}
	})
}

func TestCutCommits(t *testing.T) {
	t.Parallel()
	var states atomic.Int64
	floor(t, &states, 2000)
	for i, y := range toldStories() {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			x := newCrashTest(t, y, i%2 == 1, uint64(i))
			x.everywhere(1)
			t.Logf("%d states", len(x.seen))
			states.Add(int64(len(x.seen)))
		})
	}
}

// TestCutCommitInEveryWay leaves nothing to chance, for a commit of one file.
func TestCutCommitInEveryWay(t *testing.T) {
	t.Parallel()
	var states atomic.Int64
	floor(t, &states, 20)
	x := newCrashTest(t, story{name: "one file", tell: fewFiles, plan: toStart(Both)}, false, 0)
	c := x.start.killed()
	_, err := x.commit(c, func(op durable.Op) error {
		if mutates(op) {
			for d := range c.disk.CrashAll {
				x.check(c.booted(d), false, "%s", op)
			}
		}
		return nil
	})
	must(err)
	states.Add(int64(len(x.seen)))
}
