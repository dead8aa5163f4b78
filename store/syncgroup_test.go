package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/sessctl/sessctl/internal/durable"
)

// A held log is one whose syncs wait until they are let go. It lives in a bubble of
// synctest, where "everybody waits" is a moment that can be waited for.
type held struct {
	t    *testing.T
	fsys *durable.Faulty
	log  *FileLog
	end  int64
	gate chan error // what the next sync meets
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error // of the callers that returned
}

func newHeld(t *testing.T) *held {
	h := &held{t: t, fsys: &durable.Faulty{FS: durable.NewDisk()}, gate: make(chan error)}
	log, err := CreateFileLogIn(h.fsys, "log", []byte("first\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.log, h.end = log, 6
	h.fsys.Fault = func(op durable.Op) error {
		if op.Kind == durable.Sync {
			return <-h.gate
		}
		return nil
	}
	return h
}

// commit appends a line, and syncs it in the background.
func (h *held) commit(ctx context.Context) {
	h.t.Helper()
	end, err := h.log.Append(context.Background(), h.end, fmt.Appendf(nil, "line at %d\n", h.end))
	if err != nil {
		h.t.Fatal(err)
	}
	h.end = end
	h.wg.Go(func() {
		err := h.log.Sync(ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.errs = append(h.errs, err)
	})
	synctest.Wait()
}

// returned gives how many callers have returned, and how many of them with an error.
func (h *held) returned(target error) (all, with int) {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, err := range h.errs {
		if errors.Is(err, target) {
			with++
		}
	}
	return len(h.errs), with
}

func (h *held) syncs() (n int) {
	for _, line := range h.fsys.Trace() {
		if strings.HasPrefix(line, "sync log") {
			n++
		}
	}
	return n
}

func TestSyncIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld(t)
		before := h.syncs()
		const callers = 100
		for range callers {
			h.commit(t.Context())
		}
		if all, _ := h.returned(nil); all != 0 {
			t.Fatalf("%d callers returned before a sync did", all)
		}
		h.gate <- nil
		// The first one led the first sync, which began before the others wrote.
		if all, ok := h.returned(nil); all != 1 || ok != 1 {
			t.Errorf("%d callers returned after the first sync, want 1", all)
		}
		h.gate <- nil
		h.wg.Wait()
		if n := h.syncs() - before; n != 2 {
			t.Errorf("%d callers took %d syncs, want 2", callers, n)
		}
		if h.log.Synced() != h.end {
			t.Errorf("synced up to %d, want %d", h.log.Synced(), h.end)
		}
		if err := h.log.Sync(t.Context()); err != nil || h.syncs()-before != 2 {
			t.Errorf("with nothing to do: %v, and %d syncs", err, h.syncs()-before)
		}
	})
}

// What a sync that fails leaves is unknown to everybody, for ever, and told so also
// to those who wrote after it began: the next sync would prove nothing.
func TestAFailedSyncReachesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld(t)
		before := h.syncs()
		for range 10 {
			h.commit(t.Context())
		}
		h.gate <- syscall.EIO
		h.wg.Wait()
		if all, with := h.returned(ErrUnknown); all != 10 || with != 10 {
			t.Errorf("%d of %d callers learnt of it", with, all)
		}
		if _, with := h.returned(syscall.EIO); with != 10 {
			t.Errorf("%d callers learnt the cause", with)
		}
		if err := h.log.Sync(t.Context()); !errors.Is(err, ErrUnknown) {
			t.Errorf("a later sync: %v", err)
		}
		if _, err := h.log.Append(t.Context(), h.end, []byte("x\n")); !errors.Is(err, ErrUnknown) {
			t.Errorf("a later append: %v", err)
		}
		if n := h.syncs() - before; n != 1 || h.log.Synced() != 6 {
			t.Errorf("%d syncs, up to %d; want 1, up to 6", n, h.log.Synced())
		}
		if size, err := h.log.Size(); size != h.end || err != nil {
			t.Errorf("it cannot be read any more: %d, %v", size, err)
		}
	})
}

func TestAWaiterIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld(t)
		h.commit(t.Context())
		soon, cancel := context.WithCancel(t.Context())
		h.commit(soon)
		h.commit(t.Context())
		cancel()
		if all, with := h.returned(context.Canceled); all != 1 || with != 1 {
			t.Errorf("%d callers returned, %d of them cancelled; want 1", all, with)
		}
		h.gate <- nil
		h.gate <- nil
		h.wg.Wait()
		if all, ok := h.returned(nil); all != 3 || ok != 2 {
			t.Errorf("%d of %d callers succeeded, want 2 of 3", ok, all)
		}
	})
}

// With real goroutines, in whatever order they come.
func TestManyAppendersShareSyncs(t *testing.T) {
	const appenders, each = 32, 20
	fsys := &durable.Faulty{FS: durable.NewDisk()}
	log, err := CreateFileLogIn(fsys, "log", []byte("first\n"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	end := int64(6)
	var wg sync.WaitGroup
	for range appenders {
		wg.Go(func() {
			for range each {
				mu.Lock()
				end, err = log.Append(t.Context(), end, []byte("line\n"))
				upTo := end
				mu.Unlock()
				if err := log.Sync(t.Context()); err != nil || log.Synced() < upTo {
					t.Errorf("synced up to %d, want %d (%v)", log.Synced(), upTo, err)
				}
			}
		})
	}
	wg.Wait()
	if err != nil || end != 6+5*appenders*each {
		t.Errorf("the end is %d (%v)", end, err)
	}
	if n := strings.Count(strings.Join(fsys.Trace(), "\n"), "sync log"); n > appenders*each+1 {
		t.Errorf("%d syncs of %d appends", n, appenders*each)
	}
}
