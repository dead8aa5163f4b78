package sessiontree_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// generate streams a log into a file.
func generate(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	if testing.Short() {
		t.Skip("large files")
	}
	path := filepath.Join(t.TempDir(), "log.jsonl")
	f := must(t, of(os.Create(path)))
	w := bufio.NewWriterSize(f, 1<<20)
	for _, err := range []error{write(w), w.Flush(), f.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A meter counts what is read of a log.
type meter struct {
	store.Source
	bytes int64
}

func (m *meter) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.Source.ReadAt(p, off)
	m.bytes += int64(n)
	return n, err
}

func metered(t *testing.T, path string) (*meter, *sessiontree.Tree) {
	t.Helper()
	m := &meter{Source: must(t, of(store.OpenFile(path)))}
	x := must(t, of(sessiontree.From(m, path, nil)))
	t.Cleanup(func() { x.Close() })
	return m, x
}

// costs are what some work allocated, what of it is still held, and what it read.
type costs struct{ allocated, held, read int64 }

// cost does work on a log. Counts of work tell a quadratic algorithm as well as a
// clock does, and say the same on every machine.
func cost(m *meter, work func()) costs {
	var before, after, end runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	read := m.bytes
	work()
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.ReadMemStats(&end)
	return costs{int64(after.TotalAlloc - before.TotalAlloc), int64(end.HeapAlloc) - int64(before.HeapAlloc), m.bytes - read}
}

func (c costs) check(t *testing.T, what string, limit costs) {
	t.Helper()
	t.Logf("%s: %d KiB allocated, %d KiB held, %d KiB read", what, c.allocated>>10, c.held>>10, c.read>>10)
	if c.allocated > limit.allocated || c.held > limit.held || c.read > limit.read {
		t.Errorf("%s: got %+v, want %+v at most", what, c, limit)
	}
}

const blocks = 16 << 20 // buffers of a fixed size

func TestChainOfAMillion(t *testing.T) {
	const n = 1_000_000
	path := generate(t, func(w io.Writer) error { return sessgen.Chain(w, n, true) })
	m, x := metered(t, path)
	size := x.Size()
	cost(m, func() { must(t, of(0, x.Scan())) }).check(t, "scan", costs{400*n + blocks, 150*n + blocks, size + blocks})
	cost(m, func() {
		if got := length(t, x.Path(x.Leaf())); got != n {
			t.Errorf("got a path of %d entries, want %d", got, n)
		}
	}).check(t, "path", costs{200*n + blocks, blocks, 0})
	cost(m, func() {
		branches := must(t, of(x.Branches()))
		if len(branches) != 1 || branches[0].Entries != n || branches[0].Turns != n {
			t.Errorf("got branches %+v, want one of %d entries", branches, n)
		}
	}).check(t, "branches", costs{400*n + blocks, 100*n + blocks, 1 << 20})
	first := must(t, of(x.Roots()))[0]
	if id, ok, err := x.CommonAncestor(first, x.Leaf()); id != first || !ok || err != nil {
		t.Errorf("got common ancestor %s, %v (%v), want %s", id, ok, err, first)
	}
	runtime.KeepAlive(x)

	m, x = metered(t, path)
	cost(m, func() {
		if got := length(t, x.Ancestors(x.Leaf())); got != n {
			t.Errorf("from the tail: got a path of %d entries, want %d", got, n)
		}
	}).check(t, "ancestors", costs{1200*n + blocks, 400*n + blocks, size*11/10 + blocks})
	runtime.KeepAlive(x)
}

func length(t *testing.T, walk func(func(entries.Entry, error) bool)) (n int) {
	t.Helper()
	for _, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestTailIsEnough: what stands at the end of a large log is not paid for by what
// stands before it.
func TestTailIsEnough(t *testing.T) {
	m, x := metered(t, generate(t, func(w io.Writer) error { return sessgen.Chain(w, 200_000, true) }))
	cost(m, func() {
		n := 0
		for range x.Ancestors(x.Leaf()) {
			if n++; n == 300 {
				break
			}
		}
		must(t, of(x.Entry(x.Leaf())))
	}).check(t, "300 ancestors", costs{2 << 20, 1 << 20, 1 << 20})
	if x.Scanned() || m.bytes > 2<<20 {
		t.Errorf("read %d bytes, scanned %v, want the end alone", m.bytes, x.Scanned())
	}
}

func TestForkOfAHundredThousand(t *testing.T) {
	const n = 100_000
	m, x := metered(t, generate(t, func(w io.Writer) error { return sessgen.Fork(w, n) }))
	size := x.Size()
	cost(m, func() {
		branches := must(t, of(x.Branches()))
		if len(branches) != n || branches[0].Entries != 2 || branches[n/2].Origin != sessiontree.OriginBranch {
			t.Errorf("got %d branches, the first %+v, want %d", len(branches), branches[0], n)
		}
	}).check(t, "branches", costs{3000*n + blocks, 400*n + blocks, 2*size + blocks})
	root := must(t, of(x.Roots()))[0]
	if got := must(t, of(x.Children(root))); len(got) != n {
		t.Errorf("got %d children, want %d", len(got), n)
	}
	runtime.KeepAlive(x)
}

func TestLongLine(t *testing.T) {
	const size = 200 << 20
	path := generate(t, func(w io.Writer) error { return sessgen.LongLine(w, size, true) })
	m, x := metered(t, path)
	line := x.Size()
	cost(m, func() { must(t, of(0, x.Scan())) }).check(t, "scan", costs{2*line + blocks, blocks, 3*line + blocks})
	cost(m, func() {
		if n := length(t, x.Path(x.Leaf())); n != 3 {
			t.Errorf("got %d entries, want 3", n)
		}
	}).check(t, "path", costs{1 << 20, 1 << 20, 0})
	m, x = metered(t, path)
	cost(m, func() { length(t, x.Ancestors(x.Leaf())) }).check(t, "ancestors", costs{2*line + blocks, line + blocks, 3*line + blocks})
	runtime.KeepAlive(x)
}

// TestSmallThenLarge: what the first entries need says little about the rest.
func TestSmallThenLarge(t *testing.T) {
	const small, large = 1500, 60
	text := strings.Repeat("x", 1<<20)
	m, x := metered(t, generate(t, func(w io.Writer) error {
		log := lines(piHeader)
		for i := range small {
			log = append(log, lines(note(fmt.Sprint("s", i), "", ""))...)
		}
		for i := range large {
			log = append(log, lines(note(fmt.Sprint("l", i), "", text))...)
		}
		_, err := w.Write(log)
		return err
	}))
	scan := func() { must(t, of(0, x.Scan())) }
	cost(m, scan).check(t, "scan", costs{blocks, 200*(small+large) + 64<<10, 2 * x.Size()})
	runtime.KeepAlive(x)
}
