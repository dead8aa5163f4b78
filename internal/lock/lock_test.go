package lock

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/durable"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// What the next holder reads tells when the last one that did not end had started,
// until what that one left is settled.
func TestHoldersThatDoNotEnd(t *testing.T) {
	d := durable.NewDisk()
	acquire := func(boot string, want Info) *Lock {
		t.Helper()
		l, before, err := AcquireIn(d, "lock", boot)
		must(t, err)
		if before.Boot != want.Boot || before.Synced != want.Synced || before.Clean != want.Clean || before.Failed != want.Failed {
			t.Errorf("got %+v, want %+v", before, want)
		}
		return l
	}
	l := acquire("first", Info{})
	must(t, l.Settled(10))
	l = acquire("second", Info{Boot: "first", Synced: 10})
	acquire("second", Info{Boot: "first", Synced: 10}) // the one before died at once
	must(t, l.Settled(20), l.Update(30, true), l.Release())
	l = acquire("third", Info{Boot: "second", Synced: 30, Clean: true})
	must(t, l.Settled(30), l.Fail(31), l.Update(31, true))
	l = acquire("third", Info{Boot: "third", Synced: 31, Failed: true})
	acquire("third", Info{Boot: "third", Synced: 31, Failed: true})
	must(t, l.Settled(40))
	acquire("third", Info{Boot: "third", Synced: 40})
}

func TestALockIsHeldOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, _, err := Acquire(path)
	must(t, err)
	_, _, err = Acquire(path)
	held, ok := errors.AsType[*HeldError](err)
	if !ok || held.Holder.PID == 0 || held.Path != path {
		t.Fatalf("got %v", err)
	}
	must(t, l.Update(1, true), l.Release())
	l, before, err := Acquire(path)
	must(t, err)
	if !before.Clean || before.Synced != 1 {
		t.Errorf("got %+v", before)
	}
	must(t, l.Release())
}
