package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/store"
)

// Memory gives a store in memory, without logs: the promises in few lines. Nothing
// in it is durable.
func Memory() store.Store { return &memory{logs: map[string]*memoryLog{}} }

type memory struct {
	mu   sync.Mutex
	logs map[string]*memoryLog
}

// A memoryLog is what all handles to a log share.
type memoryLog struct {
	mu    sync.Mutex
	bytes []byte
}

// A memoryHandle is one opening of a log.
type memoryHandle struct {
	*memoryLog
	closed bool // guarded by the log's mutex
}

func (m *memory) Open(ctx context.Context, session string) (store.Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	log, ok := m.logs[session]
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !ok:
		return nil, store.ErrNotFound
	}
	return &memoryHandle{memoryLog: log}, nil
}

func (m *memory) Create(ctx context.Context, session string, lines []byte) (store.Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch _, ok := m.logs[session]; {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case ok:
		return nil, store.ErrExists
	}
	log := &memoryLog{bytes: bytes.Clone(lines)}
	m.logs[session] = log
	return &memoryHandle{memoryLog: log}, nil
}

func (m *memory) List(context.Context) iter.Seq2[string, error] {
	m.mu.Lock()
	sessions := slices.Collect(maps.Keys(m.logs))
	m.mu.Unlock()
	return func(yield func(string, error) bool) {
		for _, s := range sessions {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// use locks the log for an operation; the caller unlocks it.
func (h *memoryHandle) use(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		return store.ErrClosed
	}
	return ctx.Err()
}

func (h *memoryHandle) Append(ctx context.Context, after int64, lines []byte) (int64, error) {
	err := h.use(ctx)
	defer h.mu.Unlock()
	size, end := int64(len(h.bytes)), after+int64(len(lines))
	switch {
	case err != nil:
		return 0, err
	case after == size:
		h.bytes = append(h.bytes, lines...)
	case after < 0 || end > size || !bytes.Equal(h.bytes[after:end], lines):
		return 0, &store.ConflictError{After: after, End: size, Reason: "the log has moved on"}
	}
	return end, nil
}

func (h *memoryHandle) Sync(ctx context.Context) error {
	defer h.mu.Unlock()
	return h.use(ctx)
}

func (h *memoryHandle) Size() (int64, error) {
	err := h.use(context.Background())
	defer h.mu.Unlock()
	return int64(len(h.bytes)), err
}

func (h *memoryHandle) ReadAt(p []byte, off int64) (n int, err error) {
	err = h.use(context.Background())
	defer h.mu.Unlock()
	switch {
	case err != nil:
		return 0, err
	case off < 0:
		return 0, errors.New("negative offset")
	}
	if n = copy(p, h.bytes[min(off, int64(len(h.bytes))):]); n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (h *memoryHandle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	return nil
}
