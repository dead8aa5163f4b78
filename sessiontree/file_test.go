package sessiontree_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// writeLog puts a log into a file and reads it.
func writeLog(t testing.TB, log []byte) (string, *sessiontree.Tree) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, read(t, path)
}

func read(t testing.TB, path string) *sessiontree.Tree {
	t.Helper()
	x := must(t, of(sessiontree.Read(path, nil)))
	t.Cleanup(func() { x.Close() })
	return x
}

// readAll asks a tree for everything that it gives.
func readAll(t testing.TB, x *sessiontree.Tree) {
	t.Helper()
	for range x.Ancestors(x.Leaf()) {
	}
	walked(t, x.Entries())
	must(t, of(x.Branches()))
	must(t, of(x.Labels()))
	must(t, of(x.Name()))
	walked(t, x.Path(x.Leaf()))
	x.Damage()
	x.Agent()
}

// TestReadTouchesNothing: neither the bytes nor a time of the file or its folder
// change, the access times included.
func TestReadTouchesNothing(t *testing.T) {
	log := randomLog(0b11111)
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	age(t, path)
	age(t, dir)
	before := []string{status(t, path), status(t, dir)}
	x := read(t, path)
	readAll(t, x)
	if list := must(t, of(store.ReadDir(dir))); len(list) != 1 || list[0].Name() != "log.jsonl" {
		t.Errorf("got folder %v, want the log", list)
	}
	for i, p := range []string{path, dir} {
		if after := status(t, p); after != before[i] {
			t.Errorf("%s: got %s, want %s", filepath.Base(p), after, before[i])
		}
	}
	if got := must(t, of(os.ReadFile(path))); string(got) != string(log) {
		t.Error("the bytes changed")
	}
}

// bodies reads the path's bodies and gives the first error.
func bodies(x *sessiontree.Tree) error {
	for e, err := range x.Ancestors(x.Leaf()) {
		if err != nil {
			return err
		}
		if _, err := e.Raw(); err != nil {
			return err
		}
	}
	return nil
}

// TestLogChangesUnderItsReader: what was there is not made up for.
func TestLogChangesUnderItsReader(t *testing.T) {
	log := randomLog(0)
	for name, change := range map[string]func(path string) error{
		"cut":      func(path string) error { return os.Truncate(path, int64(len(log)/2)) },
		"emptied":  func(path string) error { return os.Truncate(path, 0) },
		"replaced": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", len(log))), 0o600) },
	} {
		for _, scan := range []bool{true, false} {
			path, x := writeLog(t, log)
			if scan {
				must(t, of(0, x.Scan()))
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if err := bodies(x); !errors.Is(err, sessiontree.ErrChanged) {
				t.Errorf("%s, scanned %v: got %v, want ErrChanged", name, scan, err)
			}
			if err := x.Scan(); name != "replaced" && scan != (err == nil) || err != nil && !errors.Is(err, sessiontree.ErrChanged) {
				t.Errorf("%s, scanned %v: Scan: got %v, want ErrChanged unless it was scanned before", name, scan, err)
			}
		}
	}
}

// TestLogGrowsUnderItsReader: a tree is the log as it was.
func TestLogGrowsUnderItsReader(t *testing.T) {
	log := randomLog(0)
	path, x := writeLog(t, log)
	leaf := x.Leaf()
	more := `{"type":"message","id":"new","parentId":null}` + "\n"
	if err := os.WriteFile(path, append(log[:len(log):len(log)], more...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := bodies(x); err != nil || x.Leaf() != leaf {
		t.Errorf("got leaf %s (%v), want %s", x.Leaf(), err, leaf)
	}
	if _, err := x.Entry("new"); !errors.Is(err, sessiontree.ErrNotFound) {
		t.Errorf("the new entry: got %v, want ErrNotFound", err)
	}
	if got := read(t, path).Leaf(); got != "new" {
		t.Errorf("read again: got leaf %s, want new", got)
	}
}

// TestFileIsReplaced: the open file stays the one that was read.
func TestFileIsReplaced(t *testing.T) {
	log := randomLog(0)
	path, x := writeLog(t, log)
	other := path + ".new"
	if err := errors.Join(os.WriteFile(other, randomLog(2), 0o600), os.Rename(other, path)); err != nil {
		t.Fatal(err)
	}
	if err := bodies(x); err != nil {
		t.Errorf("got %v, want the old file's bodies", err)
	}
	must(t, of(x.Branches()))
}

func TestWhatIsNoSession(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty": "", "newlines": "\n\n\n", "text": "hello\nworld\n", "mark": "\ufeff", "nul": "\x00\x00", "torn header": `{"type":"sess`,
		"another program's": `{"type":"user","uuid":"a","parentUuid":null}` + "\n", "JSON": "{\n  \"a\": 1\n}\n", "array": "[1]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sessiontree.Read(path, nil); !errors.Is(err, sessiontree.ErrNoSession) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want ErrNoSession with the path", name, err)
		}
	}
	if _, err := sessiontree.Read(dir, nil); !errors.Is(err, store.ErrNotALog) {
		t.Errorf("a folder: got %v, want ErrNotALog", err)
	}
	if _, err := sessiontree.Read(filepath.Join(dir, "nowhere"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v, want ErrNotExist", err)
	}
}

// TestHeaderAlone: a session that has not begun yet is one.
func TestHeaderAlone(t *testing.T) {
	_, x := writeLog(t, []byte(`{"type":"session","version":3,"id":"s"}`+"\n"))
	branches, err := x.Branches()
	if x.Leaf() != "" || len(branches) != 0 || err != nil || must(t, of(x.Len())) != 0 {
		t.Errorf("got leaf %q, branches %v (%v), want none", x.Leaf(), branches, err)
	}
	readAll(t, x)
}

// TestConcurrentReaders: a tree may be asked by many at once, from the first
// question on; the race detector sees the rest.
func TestConcurrentReaders(t *testing.T) {
	for seed := range uint64(8) {
		log := randomLog(seed)
		want := fmt.Sprint(must(t, of(tree(t, log, nil).Branches())))
		_, x := writeLog(t, log)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if i%2 == 0 {
					for e := range x.Ancestors(x.Leaf()) {
						e.Raw()
					}
				}
				if got, err := x.Branches(); err != nil || fmt.Sprint(got) != want {
					t.Errorf("seed %d: got branches %v (%v), want %s", seed, got, err, want)
				}
				for e := range x.Entries() {
					x.Entry(e.ID)
					x.Children(e.ID)
					x.CommonAncestor(e.ID, x.Leaf())
				}
				x.Labels()
				x.Name()
				x.Damage()
				x.Agent()
				x.Scanned()
			})
		}
		wg.Wait()
	}
}

func TestProgressAndWorkers(t *testing.T) {
	log := randomLog(0)
	var done, total int64
	x := tree(t, log, &sessiontree.ReadOptions{Workers: 4, Progress: func(d, n int64) { done, total = d, n }})
	must(t, of(0, x.Scan()))
	if done != int64(len(log)) || total != done || x.Size() != done {
		t.Errorf("got progress %d of %d, want all of %d", done, total, len(log))
	}
}

func TestReadRecordOutside(t *testing.T) {
	x := tree(t, randomLog(0), nil)
	for _, place := range [][2]int64{{-1, 5}, {0, x.Size() + 1}, {x.Size(), 1}, {5, -1}, {1 << 62, 1 << 62}, {1<<63 - 1, 5}} {
		if raw, err := x.ReadRecord(place[0], place[1]); err == nil {
			t.Errorf("%v: got %q, want an error", place, raw)
		}
	}
	var none entries.Entry
	if _, err := none.Raw(); !errors.Is(err, entries.ErrBody) {
		t.Errorf("got %v, want ErrBody", err)
	}
}
