package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
)

// A rewindTest cuts the restore of a rewind, which is not Track's to finish.
type rewindTest struct {
	*testing.T
	start         computer
	before, after map[string]string
	result        entries.ID
	dropped       int
	finished      int
}

// summary is what a rewind leaves in the place of what it takes back.
func summary(result entries.ID) func(*Done) []entries.Draft {
	return func(*Done) []entries.Draft {
		return []entries.Draft{entries.BranchSummaryDraft(result, "what was tried", nil)}
	}
}

// rewind is the commit.
func (x *rewindTest) rewind(c computer, fault func(durable.Op) error) error {
	faulty := &durable.Faulty{FS: c.disk}
	l, err := c.open(faulty)
	must(err)
	p, err := toStart(Both)(l)
	must(err)
	faulty.Fault = fault
	_, err = l.f.Commit(context.Background(), p, &CommitOptions{Rewind: x.result, Batch: summary(x.result)})
	return err
}

func newRewindTest(t *testing.T) *rewindTest {
	c := newComputer()
	l := c.start()
	twoTurns(l)
	x := &rewindTest{T: t, result: l.prompt("the result, as it were"), before: c.files()}
	must(l.s.Close())
	syncWhole(c.disk, "/")
	x.start = c.killed()
	done := x.start.killed()
	must(x.rewind(done, nil))
	x.after = done.files()
	return x
}

// TestCutRewinds: Track leaves the restore of a rewind as it is; what applies the rewind
// finishes it, or gives it up.
func TestCutRewinds(t *testing.T) {
	t.Parallel()
	x := newRewindTest(t)
	c := x.start.killed()
	must(x.rewind(c, func(op durable.Op) error {
		if mutates(op) && op.Kind != durable.Open {
			for _, end := range []func(l *life) error{x.finish, x.drop, x.other} {
				if err := x.leaves(c.killed(), end); err != nil && !x.Failed() {
					x.Errorf("%s: %v", op, err)
				}
			}
		}
		return nil
	}))
	if x.finished < 40 || x.dropped < 40 {
		t.Errorf("only %d were finished and %d dropped", x.finished, x.dropped)
	}
	l := c.killed().start()
	if done, ok, err := l.f.FinishRewind(context.Background(), x.result, nil); done != nil || ok || err != nil {
		t.Errorf("a rewind that has its end is finished again: %v, %v, %v", done, ok, err)
	}
}

// leaves opens everything anew: nothing is done by that. Then it is ended.
func (x *rewindTest) leaves(c computer, end func(l *life) error) error {
	left := c.files()
	l := c.start()
	if !maps.Equal(l.files(), left) || l.f.Finished() != nil {
		return errors.New("Track has finished the restore of a rewind")
	}
	cut := slices.Contains(l.restores(), "cut")
	if p, err := l.f.Undo(context.Background(), Both, nil); err == nil && cut {
		if _, err := l.f.Commit(context.Background(), p, nil); !errors.Is(err, ErrConflict) || !maps.Equal(l.files(), left) {
			return fmt.Errorf("another restore came in between: %w", err)
		}
	}
	if err := end(l); err != nil {
		return err
	}
	if slices.Contains(l.restores(), "cut") {
		return errors.New("the restore has no end")
	}
	must(l.s.Close())
	return errors.Join(l.again(), l.clean())
}

func (x *rewindTest) finish(l *life) error {
	cut := slices.Contains(l.restores(), "cut")
	done, ok, err := l.f.FinishRewind(context.Background(), x.result, summary(x.result))
	switch {
	case err != nil || ok != cut || cut != (done != nil):
		return fmt.Errorf("cut %v, finished %v: %w", cut, ok, err)
	case !cut && len(l.restores()) == 0 && !maps.Equal(l.files(), x.before):
		return errors.New("something was written before the restore began")
	case !cut:
		return nil
	}
	x.finished++
	if !maps.Equal(l.files(), x.after) || len(done.IDs) != 1 || len(l.said()) != 1 || l.said()[0] != done.IDs[0] {
		return fmt.Errorf("finished: %v, and the conversation is %v", differing(l.files(), x.after), l.said())
	}
	return l.fold()
}

func (x *rewindTest) drop(l *life) error {
	left := withoutTemps(l.files())
	said := l.said()
	done, err := l.f.DropRewind(context.Background())
	if done != nil {
		x.dropped++
	}
	switch {
	case err != nil:
		return err
	case !maps.Equal(l.files(), left):
		return fmt.Errorf("given up, and changed: %v", differing(l.files(), left))
	case !slices.Equal(l.said(), said):
		return errors.New("given up, and the conversation moved")
	}
	return l.fold()
}

// other asks for a rewind that it is not, and then for the right one.
func (x *rewindTest) other(l *life) error {
	left := l.files()
	if _, ok, err := l.f.FinishRewind(context.Background(), "another", nil); ok || err != nil || !maps.Equal(l.files(), left) {
		return fmt.Errorf("another rewind was finished: %v, %w", ok, err)
	}
	return x.finish(l)
}
