package sessiontree

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
)

// TestAppendsTogetherFailTogether: appends that come together are one write; where
// that fails none of them is in the log or in memory, and each can be done again.
func TestAppendsTogetherFailTogether(t *testing.T) {
	var writes atomic.Int64
	fsys := &durable.Faulty{FS: durable.OS(), Fault: func(op durable.Op) error {
		if op.Kind == durable.Write && op.Len < 4000 && writes.Add(1)%3 == 0 {
			return &durable.ShortWrite{N: op.Len / 2, Err: syscall.ENOSPC}
		}
		return nil
	}}
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/"}, &Options{fsys: fsys, unlocked: true, Sync: SyncNever})
	if err != nil {
		t.Fatal(err)
	}
	const goroutines, each = 16, 20
	var all sync.WaitGroup
	var failed atomic.Int64
	ids := make([][]entries.ID, goroutines)
	for g := range goroutines {
		all.Go(func() {
			for range each {
				id, err := s.NewID()
				if err != nil {
					t.Error(err)
					return
				}
				for tries := 0; ; tries++ {
					done, err := s.Append(context.Background(), entries.CustomDraft("x", nil).WithID(id), entries.CustomDraft("y", nil))
					if err == nil {
						if done.Repeated {
							t.Errorf("%s failed before and was there all the same", id)
						}
						ids[g] = append(ids[g], done.IDs...)
						break
					}
					failed.Add(1)
					if tries > 100 {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	if failed.Load() == 0 {
		t.Error("no write failed, so nothing was shown")
	}
	checkTogether(t, s, ids, goroutines*each*2)
}

// checkTogether compares the log with what was acknowledged.
func checkTogether(t *testing.T, s *Session, ids [][]entries.ID, want int) {
	t.Helper()
	tree, err := s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	n, err := tree.Len()
	if err != nil || n != want || len(tree.Damage()) > 0 || tree.Leaf() != s.Leaf() {
		t.Errorf("%d entries, want %d; leaf %s, want %s; %v %v", n, want, tree.Leaf(), s.Leaf(), tree.Damage(), err)
	}
	for _, list := range ids {
		for i, id := range list {
			e, err := tree.Entry(id)
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 1 && e.Parent != list[i-1] {
				t.Errorf("%s is not below the other entry of its batch", id)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	verifySound(t, s.Path())
}
