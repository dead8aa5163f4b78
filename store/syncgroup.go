package store

import (
	"context"
	"sync"
)

// A syncGroup lets concurrent callers share a sync: while one is under way, those
// that wrote meanwhile wait for the next, which one of them leads.
type syncGroup struct {
	do func() (upTo int64, err error)

	mu      sync.Mutex
	done    int64 // durable up to here
	err     error // of a sync that failed: it stays
	running chan struct{}
}

func (g *syncGroup) init(do func() (int64, error)) { g.do = do }

func (g *syncGroup) synced() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.done
}

// wait returns when the bytes before an offset are durable.
func (g *syncGroup) wait(ctx context.Context, offset int64) error {
	g.mu.Lock()
	for g.err == nil && g.done < offset {
		if g.running == nil {
			g.lead()
			continue
		}
		running := g.running
		g.mu.Unlock()
		select {
		case <-running:
		case <-ctx.Done():
			return ctx.Err()
		}
		g.mu.Lock()
	}
	defer g.mu.Unlock()
	return g.err
}

// lead runs one sync for everybody. g.mu is held on entry and on return.
func (g *syncGroup) lead() {
	running := make(chan struct{})
	g.running = running
	g.mu.Unlock()
	upTo, err := g.do()
	g.mu.Lock()
	g.running = nil
	if err != nil {
		g.err = err
	}
	g.done = max(g.done, upTo)
	close(running)
}
