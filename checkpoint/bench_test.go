package checkpoint_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// The benchmarks of this file are for profiles. What is promised is measured by
// internal/perf, beside git and beside copying.

// A course is a session in a workspace of many small files.
type course struct {
	*testing.B
	dir, home string
	s         *sessiontree.Session
	st        *checkpoint.Store
	f         *checkpoint.Tracker
}

func newCourse(b *testing.B, files int) *course {
	b.Helper()
	c := &course{B: b, dir: b.TempDir(), home: b.TempDir()}
	c.fill(files, 1)
	s, err := sessiontree.Create(c.home, entries.Header{Cwd: c.dir}, nil)
	c.must(err)
	c.s = s
	root, err := os.OpenRoot(c.dir)
	c.must(err)
	c.st, err = checkpoint.OpenStore(checkpoint.StoreOf(s.Path()))
	c.must(err)
	c.f = c.track(root, c.st)
	b.Cleanup(func() { s.Close(); c.st.Close(); root.Close() })
	return c
}

func (c *course) track(root *os.Root, st *checkpoint.Store) *checkpoint.Tracker {
	c.Helper()
	f, err := checkpoint.Track(c.Context(), c.s, root, st, scans)
	c.must(err)
	return f
}

func (c *course) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// fill writes files of half a kilobyte, a hundred in a directory.
func (c *course) fill(files int, seed uint64) {
	c.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range files {
		name := filepath.Join(c.dir, fmt.Sprintf("d%02d/d%02d/f%02d", i/4000, i/100%40, i%100))
		c.must(os.MkdirAll(filepath.Dir(name), 0o755))
		text := fmt.Sprintf("%s%0440d", name, r.Uint64())
		c.must(os.WriteFile(name, []byte(text), 0o644))
	}
}

// restored is how many files a benchmark changes and restores.
const restored = 1000

// changed is a course after a turn that changed files; it gives the entry before that.
func changed(b *testing.B) (c *course, before entries.ID) {
	c = newCourse(b, 2*restored)
	c.must(c.f.TurnStart(c.Context()))
	done, err := c.s.Append(c.Context(), entries.UserMessage("change everything"))
	c.must(err)
	c.fill(restored, 2)
	c.must(c.f.TurnEnd(c.Context()))
	return c, done.Leaf
}

func BenchmarkFirstScan(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		c := newCourse(b, 10_000)
		b.StartTimer()
		c.must(c.f.TurnStart(b.Context()))
	}
}

func BenchmarkScanUnchanged(b *testing.B) {
	c := newCourse(b, 20_000)
	c.must(c.f.TurnStart(b.Context()))
	for b.Loop() {
		c.must(c.f.TurnStart(b.Context()))
	}
}

func BenchmarkPlan(b *testing.B) {
	c, before := changed(b)
	for b.Loop() {
		_, err := c.f.Plan(b.Context(), before, checkpoint.Code, nil)
		c.must(err)
	}
}

func BenchmarkRestore(b *testing.B) {
	c, before := changed(b)
	after := c.s.Leaf()
	for b.Loop() {
		p, err := c.f.Plan(b.Context(), before, checkpoint.Code, nil)
		c.must(err)
		done, err := c.f.Commit(b.Context(), p, nil)
		c.must(err)
		if n := done.Count(checkpoint.Restored); n != restored {
			b.Fatalf("%d files were restored, want %d", n, restored)
		}
		before, after = after, done.Leaf
	}
}

// BenchmarkEdit is what an edit of a tool waits for: the content, and two records.
func BenchmarkEdit(b *testing.B) {
	c := newCourse(b, 1)
	name := filepath.Join(c.dir, "edited")
	for i := 0; b.Loop(); i++ {
		c.must(c.f.BeforeEdit(b.Context(), "call", "edited"))
		c.must(os.WriteFile(name, fmt.Append(nil, i), 0o644))
		c.must(c.f.AfterEdit(b.Context(), "call", "edited"))
	}
}
