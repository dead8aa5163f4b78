package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// A racing is a store that writers and gc use at the same time, each as a process of its
// own.
type racing struct {
	*testing.T
	home string
	gone atomic.Int64 // blobs that gc removed
}

func (x *racing) open() *Store {
	st, err := OpenStore(filepath.Join(x.home, "blobs"))
	must(err)
	x.Cleanup(func() { st.Close() })
	return st
}

// age makes every blob old.
func age(st *Store) {
	long := time.Now().Add(-2 * youngest)
	must(st.eachBlob(func(name, _ string, _ fs.FileInfo) error { return st.fsys.Chtimes(name, long) }))
}

// text is a content that some round, and every other one, has.
func text(n int) []byte { return []byte(strings.Repeat(fmt.Sprintf("content %d ", n), 1+n%20)) }

// TestGCRacesWriters lets writers store contents that were there as old garbage, while gc
// removes what it finds. What was stored, and is named by a log, is never lost.
func TestGCRacesWriters(t *testing.T) {
	t.Parallel()
	x := &racing{T: t, home: t.TempDir()}
	st := x.open()
	for round := range 8 {
		for n := range 24 {
			_, err := st.Put(text(n))
			must(err)
		}
		age(st)
		x.round(round)
	}
	if x.gone.Load() < 8 {
		t.Errorf("gc removed only %d blobs: nothing was proved", x.gone.Load())
	}
}

func (x *racing) round(round int) {
	var writers, collectors sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		collectors.Go(func() { x.collect(stop) })
	}
	logs := make([]string, 3)
	for i := range logs {
		logs[i] = filepath.Join(x.home, fmt.Sprintf("%d-%d.jsonl", round, i))
		writers.Go(func() { x.write(logs[i], rand.New(rand.NewPCG(uint64(round), uint64(i)))) })
	}
	writers.Go(func() { x.edit(filepath.Join(x.home, fmt.Sprint("sessions-", round))) })
	writers.Wait()
	close(stop)
	collectors.Wait()
	x.check()
	for _, log := range logs {
		must(os.Remove(log))
	}
	must(os.RemoveAll(filepath.Join(x.home, fmt.Sprint("sessions-", round))))
}

// collect removes garbage again and again.
func (x *racing) collect(stop chan struct{}) {
	st := x.open()
	for {
		g, err := st.Garbage(context.Background())
		if err == nil {
			var blobs int
			blobs, _, err = st.Collect(context.Background(), g)
			x.gone.Add(int64(blobs))
		}
		if err != nil {
			x.Errorf("gc: %v", err)
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

// write stores contents, and then names them in a log.
func (x *racing) write(log string, r *rand.Rand) {
	st := x.open()
	f, err := os.Create(log)
	must(err)
	defer f.Close()
	for range 12 {
		sum, err := st.Put(text(r.IntN(24)))
		if err != nil {
			x.Errorf("put: %v", err)
			return
		}
		fmt.Fprintf(f, "{\"sha256\":%q}\n", sum)
	}
}

// edit is a session whose files have contents of these.
func (x *racing) edit(dir string) {
	work := x.TempDir()
	s, err := sessiontree.Create(dir, entries.Header{Cwd: work}, nil)
	must(err)
	defer s.Close()
	root, err := os.OpenRoot(work)
	must(err)
	defer root.Close()
	f, err := Track(context.Background(), s, root, x.open(), nil)
	must(err)
	for n := range 24 {
		name := fmt.Sprint(n)
		must(os.WriteFile(filepath.Join(work, name), text(n), 0o644))
		if err := f.BeforeEdit(context.Background(), "call", name); err != nil {
			x.Errorf("edit: %v", err)
		}
	}
}

// check reads every content that a log names.
func (x *racing) check() {
	st := x.open()
	logs, err := st.Logs(context.Background())
	must(err)
	for _, l := range logs {
		for _, sum := range l.Blobs {
			if _, err := st.Get(sum); err != nil {
				x.Errorf("%s: %v", l.Path, err)
			}
		}
	}
}

// TestCutRemovals cuts the removal of a blob that a writer touches at any moment of it.
func TestCutRemovals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for touchAt := range 8 {
		for range 8 {
			c := newComputer()
			st := c.store(c.disk)
			sum, err := st.Put(text(1))
			must(err)
			must(st.touch(sum))
			name, _, err := st.find(sum)
			must(err)
			must(st.fsys.Chtimes(name, c.disk.Now().Add(-2*youngest)))
			x := &removal{T: t, c: c, sum: sum, touchAt: touchAt, r: r}
			_, err = c.store(&durable.Faulty{FS: c.disk, Fault: x.before}).removeBlob(sum)
			must(err)
			x.check()
		}
	}
}

// A removal is gc's, beside a writer.
type removal struct {
	*testing.T
	c       computer
	sum     string
	ops     int
	touchAt int
	relied  bool // a writer got the blob, and relies on it
	r       *rand.Rand
}

func (x *removal) before(op durable.Op) error {
	if x.ops++; x.ops == x.touchAt {
		_, err := x.c.store(x.c.disk).Put(text(1))
		must(err)
		x.relied = true
	}
	x.check()
	return nil
}

func (x *removal) check() {
	for _, c := range []computer{x.c.killed(), x.c.crashed(x.r)} {
		if _, err := c.store(c.disk).Get(x.sum); x.relied && err != nil {
			x.Errorf("touched at operation %d, cut at %d: %v", x.touchAt, x.ops, err)
		}
	}
}

// TestGCKeeps: what is young, and what a damaged, an archived or a removed log names.
func TestGCKeeps(t *testing.T) {
	t.Parallel()
	x := &racing{T: t, home: t.TempDir()}
	st := x.open()
	names := []string{"plain.jsonl", "torn.jsonl", "log.jsonl.damaged", "archived.jsonl", ".trash/gone.jsonl", "project/deep.jsonl", "garbage.jsonl"}
	want := map[string]bool{}
	for n, name := range names {
		sum, err := st.Put(text(n))
		must(err)
		want[sum] = true
		line := fmt.Sprintf("{\"type\":\"custom\",\"id\":\"1\",\"sha256\":%q}\n", sum)
		switch name {
		case "torn.jsonl":
			line = strings.TrimSuffix(line, "}\n")
		case "garbage.jsonl":
			line = "\x00\xff\xfe not a log at all " + line
		}
		must(os.MkdirAll(filepath.Dir(filepath.Join(x.home, name)), 0o700))
		must(os.WriteFile(filepath.Join(x.home, name), []byte(line), 0o600))
	}
	archive(t, filepath.Join(x.home, "archived.jsonl"))
	lost, err := st.Put(text(100))
	must(err)
	age(st)
	young, err := st.Put(text(101))
	must(err)
	g, err := st.Garbage(context.Background())
	must(err)
	if len(g.Blobs) != 1 || g.Blobs[0].Sum != lost || g.Young != 1 || g.Kept != len(want) {
		t.Errorf("%+v", g)
	}
	_, _, err = st.Collect(context.Background(), g)
	must(err)
	want[young] = true
	for sum := range want {
		if _, err := st.Get(sum); err != nil {
			t.Error(err)
		}
	}
	if st.Has(lost) {
		t.Error("the garbage is still there")
	}
}

func archive(t *testing.T, log string) {
	long := time.Now().Add(-time.Hour)
	must(os.Chtimes(log, long, long))
	if _, err := store.ArchiveFile(log, nil); err != nil {
		t.Fatal(err)
	}
}

// TestGCRefusesWhileALogIsMissing: what a registered log refers to is not known then.
func TestGCRefusesWhileALogIsMissing(t *testing.T) {
	t.Parallel()
	x := &racing{T: t, home: t.TempDir()}
	st := x.open()
	elsewhere := filepath.Join(t.TempDir(), "a", "b", "log.jsonl")
	must(st.register(elsewhere))
	sum, err := st.Put(text(1))
	must(err)
	age(st)
	g, err := st.Garbage(context.Background())
	must(err)
	if _, _, err := st.Collect(context.Background(), g); !errors.Is(err, ErrMissingLog) || !strings.Contains(err.Error(), elsewhere) || !st.Has(sum) {
		t.Errorf("got %v, want ErrMissingLog with the path", err)
	}
	must(os.MkdirAll(filepath.Dir(elsewhere), 0o700))
	must(os.WriteFile(elsewhere, []byte(sum+"\n"), 0o600))
	g, err = st.Garbage(context.Background())
	must(err)
	if blobs, _, err := st.Collect(context.Background(), g); blobs != 0 || err != nil || !st.Has(sum) {
		t.Errorf("%d blobs were removed, %v", blobs, err)
	}
}
