package sessiontree

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
)

// simulate runs histories with these seeds and gives the number of states that were
// checked, and some of what was violated.
func simulate(p protocol, from, to uint64) (states int64, violations []error) {
	const workers = 4
	var next, sum atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	next.Store(int64(from))
	for range workers {
		wg.Go(func() {
			own := p
			for {
				seed := uint64(next.Add(1) - 1)
				if seed >= to {
					break
				}
				if err := own.history(seed); err != nil {
					mu.Lock()
					violations = append(violations, err)
					mu.Unlock()
				}
			}
			sum.Add(int64(own.states))
		})
	}
	wg.Wait()
	return sum.Load(), violations
}

// How many histories are simulated, and how many states they have to have. What is
// simulated depends on nothing but the seeds.
const (
	histories, leastStates           = 400, 100_000
	shortHistories, shortLeastStates = 30, 5_000
)

func TestCrashes(t *testing.T) {
	t.Parallel()
	n, least := uint64(histories), int64(leastStates)
	if testing.Short() {
		n, least = shortHistories, shortLeastStates
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // a disk is garbage soon
	states, violations := simulate(protocol{}, 0, n)
	t.Logf("%d states", states)
	for i, err := range violations {
		if i == 10 {
			t.Fatalf("and %d more", len(violations)-i)
		}
		t.Error(err)
	}
	if states < least {
		t.Errorf("only %d states were checked, want %d", states, least)
	}
}
