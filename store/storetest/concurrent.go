package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/sessctl/sessctl/store"
)

const racers, rounds = 8, 50

// race lets several append at one end, over and over: one wins each time, and the
// others have written nothing.
func race(k *kit) {
	log := k.create("s")
	k.race(slices.Repeat([]store.Log{log}, racers))
}

func raceOfHandles(k *kit) {
	logs := []store.Log{k.create("s")}
	for len(logs) < racers {
		logs = append(logs, k.open("s"))
	}
	k.race(logs)
}

func (k *kit) race(logs []store.Log) {
	k.Helper()
	want := first
	for round := range rounds {
		won := k.raceOnce(logs, k.size(logs[0]), round)
		if len(won) != 1 {
			k.Fatalf("round %d: %d racers won, want one", round, len(won))
		}
		want += won[0]
	}
	k.holds("s", logs[0], want)
}

func (k *kit) raceOnce(logs []store.Log, after int64, round int) (won []string) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var lost []error
	for racer, log := range logs {
		wg.Go(func() {
			lines := strings.Repeat(fmt.Sprintf("round %d, racer %d\n", round, racer), 1+racer)
			_, err := log.Append(ctx, after, []byte(lines))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, lines)
			} else {
				lost = append(lost, err)
			}
		})
	}
	wg.Wait()
	for _, err := range lost {
		k.conflict("a loser", err, k.size(logs[0]))
	}
	return won
}

// readsWhileAppending reads a log that grows: what is there stays, and of what is on its
// way the beginning may be there.
func readsWhileAppending(k *kit) {
	log := k.create("s")
	var appends []string
	for i := range 300 {
		appends = append(appends, fmt.Sprintf("%d one\n%d two\n", i, i))
	}
	all := []byte(first + strings.Join(appends, ""))
	other := k.open("s")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, l := range []store.Log{log, other} {
		wg.Go(func() {
			var before []byte
			for more := true; more; {
				select {
				case <-done:
					more = false
				default:
				}
				now := k.content(l)
				if !bytes.HasPrefix(all, now) || len(now) < len(before) {
					k.Errorf("a reader sees %.200q behind %d bytes that it saw before", now[min(len(now), len(before)):], len(before))
					return
				}
				before = now
			}
		})
	}
	for _, lines := range appends {
		k.append(log, lines)
	}
	close(done)
	wg.Wait()
	k.holds("s", log, string(all))
}

// cancelled calls with a context that is over.
func cancelled(k *kit) {
	log := k.create("s")
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := log.Append(over, k.size(log), []byte("x\n")); !errors.Is(err, context.Canceled) {
		k.Errorf("append: got %v, want Canceled", err)
	}
	k.holds("s", log, first)
	if _, err := k.store.Open(over, "s"); !errors.Is(err, context.Canceled) {
		k.Errorf("open: got %v, want Canceled", err)
	}
	if _, err := k.store.Create(over, "other", []byte(first)); !errors.Is(err, context.Canceled) {
		k.Errorf("create: got %v, want Canceled", err)
	}
	if _, err := k.store.Open(ctx, "other"); !errors.Is(err, store.ErrNotFound) {
		k.Errorf("what was not created: got %v, want ErrNotFound", err)
	}
	k.append(log, "y\n")
	k.holds("s", log, first+"y\n")
}

// cancelledAnywhere cancels appends while they run. Each is there as a whole or not
// at all; where the outcome is unknown the same append tells.
func cancelledAnywhere(k *kit) {
	log := k.create("s")
	want := first
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 200 {
		lines := strings.Repeat(fmt.Sprintf("append %d\n", i), 1+r.IntN(300))
		soon, cancel := context.WithCancel(ctx)
		spin := r.IntN(3000)
		go func() {
			for range spin {
				_ = soon.Err()
			}
			cancel()
		}()
		_, err := log.Append(soon, int64(len(want)), []byte(lines))
		cancel()
		switch got := k.size(log); {
		case got == int64(len(want)) && err != nil:
		case got == int64(len(want)+len(lines)):
			want += lines
			if end, err := log.Append(ctx, got-int64(len(lines)), []byte(lines)); err != nil || end != got {
				k.Fatalf("append %d, once more: got %d, %v", i, end, err)
			}
		default:
			k.Fatalf("append %d (%v): the log has %d bytes, want %d, or %d more", i, err, got, len(want), len(lines))
		}
	}
	k.holds("s", log, want)
}

// syncs syncs from many sides; with nothing to do it succeeds as well.
func syncs(k *kit) {
	log := k.create("s")
	k.must(log.Sync(ctx))
	k.must(log.Sync(ctx))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := log.Sync(ctx); err != nil {
					k.Error(err)
				}
			}
		})
	}
	want := first
	for i := range 50 {
		lines := fmt.Sprintf("%d\n", i)
		k.append(log, lines)
		want += lines
	}
	wg.Wait()
	k.must(log.Sync(ctx))
	k.holds("s", log, want)
}

func closes(k *kit) {
	log := k.create("s")
	other := k.open("s")
	k.append(log, "one\n")
	k.must(log.Close())
	k.must(log.Close()) // again is no error
	if _, err := log.Append(ctx, int64(len(first)+4), []byte("two\n")); !errors.Is(err, store.ErrClosed) {
		k.Errorf("append: got %v, want ErrClosed", err)
	}
	if err := log.Sync(ctx); !errors.Is(err, store.ErrClosed) {
		k.Errorf("sync: got %v, want ErrClosed", err)
	}
	if _, err := log.ReadAt(make([]byte, 1), 0); err == nil {
		k.Error("read: got no error")
	}
	k.holds("s", other, first+"one\n")
}
