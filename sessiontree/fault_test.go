package sessiontree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
)

// A faultRun is a script of operations, on a file system that fails once.
type faultRun struct {
	t      *testing.T
	c      computer
	fsys   *durable.Faulty
	what   string // fails
	path   string
	s      *Session
	ids    entries.IDs
	r      *rand.Rand
	acked  []byte       // the log, as far as it was acknowledged
	want   []entries.ID // that have to be in the log in the end
	failed durable.Op   // what failed
	cause  error
}

func newFaultRun(t *testing.T) *faultRun {
	f := &faultRun{t: t, c: newComputer(), r: rand.New(rand.NewPCG(3, 3))}
	f.fsys = &durable.Faulty{FS: f.c.disk}
	f.path = "dir/deep/" + fileName(f.header("session"))
	return f
}

func (f *faultRun) header(id string) entries.Header {
	return entries.Header{ID: id, Time: time.Unix(1e9, 0), Cwd: "/p"}
}

func (f *faultRun) options() *Options { return f.c.options(f.fsys, SyncAlways) }

// drafts are n entries with reserved ids.
func (f *faultRun) drafts(n int) (drafts []entries.Draft) {
	for range n {
		id, err := f.ids.New()
		if err != nil {
			f.t.Fatal(err)
		}
		drafts = append(drafts, filler(300).WithID(id))
	}
	return drafts
}

// do does a step, and does it again after an error; where its outcome is unknown the
// session is opened anew before. Nothing fails twice.
func (f *faultRun) do(step func() error, drafts ...entries.Draft) {
	f.t.Helper()
	for range 4 {
		err := step()
		f.judge(err)
		if err == nil {
			for _, d := range drafts {
				f.want = append(f.want, d.ID())
			}
			f.acked = content(f.c.disk, f.path)
			return
		}
		if errors.Is(err, ErrUnknown) && f.s != nil && f.failed.Name == f.path {
			f.poisoned()
		}
	}
	f.t.Fatalf("%s: the step never succeeds", f.what)
}

// judge checks an error, and that memory and the log agree after it.
func (f *faultRun) judge(err error) {
	f.t.Helper()
	if err != nil && (!errors.Is(err, f.cause) || !strings.Contains(err.Error(), f.failed.Name)) {
		f.t.Fatalf("%s: the error is %v", f.what, err)
	}
	if f.s == nil {
		return
	}
	text := content(f.c.disk, f.path)
	if crashed := content(f.c.disk.Crash(f.r), f.path); !bytes.HasPrefix(text, f.acked) || !bytes.HasPrefix(crashed, f.acked) {
		f.t.Fatalf("%s: what was acknowledged is lost", f.what)
	}
	tree, treeErr := readOn(f.c, f.path)
	if treeErr != nil || tree.Leaf() != f.s.Leaf() {
		f.t.Fatalf("%s: the session's leaf is %s, the log's %s (%v)", f.what, f.s.Leaf(), tree.Leaf(), treeErr)
	}
}

// poisoned checks that a session of unknown state refuses, and opens another.
func (f *faultRun) poisoned() {
	f.t.Helper()
	before := content(f.c.disk, f.path)
	if _, err := f.s.Append(context.Background(), filler(1)); !errors.Is(err, ErrUnknown) {
		f.t.Fatalf("%s: the session goes on: %v", f.what, err)
	}
	if !bytes.Equal(before, content(f.c.disk, f.path)) {
		f.t.Fatalf("%s: the session goes on writing", f.what)
	}
	f.s.Close()
	f.s = nil
	f.do(f.open)
}

func (f *faultRun) open() (err error) {
	f.s, err = Open(f.path, f.options())
	return err
}

// create makes the session, or takes the one that is there after all.
func (f *faultRun) create() (err error) {
	f.s, err = Create("dir/deep", f.header("session"), f.options())
	if errors.Is(err, ErrExists) {
		return f.open()
	}
	return err
}

func (f *faultRun) append(n int) {
	f.t.Helper()
	drafts := f.drafts(n)
	f.do(func() error { _, err := f.s.Append(context.Background(), drafts...); return err }, drafts...)
}

func (f *faultRun) appendTo(parent entries.ID) {
	f.t.Helper()
	drafts := f.drafts(1)
	f.do(func() error { _, err := f.s.AppendTo(context.Background(), parent, drafts...); return err }, drafts...)
}

// fork makes a fork, which is there as a whole once it succeeds, and at no time in
// part.
func (f *faultRun) fork(id string) {
	f.t.Helper()
	path := "dir/forks/" + fileName(f.header(id))
	var want []byte
	f.do(func() error {
		tree, err := f.s.Tree()
		if err != nil {
			return err
		}
		fork, err := Fork(context.Background(), tree, "", "dir/forks", f.header(id), f.options())
		if got := content(f.c.disk, path); got != nil && want == nil {
			want = got
		}
		if errors.Is(err, ErrExists) {
			fork, err = Open(path, f.options())
		}
		if err == nil {
			err = fork.Close()
		}
		return err
	})
	if got := content(f.c.disk, path); !bytes.Equal(got, want) || bytes.Count(got, []byte("\n")) != len(f.want)+1 {
		f.t.Fatalf("%s: the fork has %d bytes", f.what, len(got))
	}
}

// tear leaves the session as a process does that dies in an append.
func (f *faultRun) tear() {
	f.s.log.Close()
	f.s = nil
	text := content(f.c.disk, f.path)
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	put(f.c.disk, f.path, text[last:len(text)-9], int64(len(text)))
}

func (f *faultRun) script() {
	f.t.Helper()
	f.do(f.create)
	f.append(1)
	f.append(3)
	f.fork("fork")
	f.appendTo(f.want[0])
	f.do(func() error { return f.s.EndTurn(context.Background()) })
	f.tear()
	f.do(f.open)
	f.append(2)
	f.do(func() error { return f.s.Close() })
}

// done checks the log and its directory after the script.
func (f *faultRun) done() {
	f.t.Helper()
	tree, err := readOn(f.c, f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	v, err := tree.Verify()
	if err != nil || !v.OK || v.Checksums != ChecksumsOK {
		f.t.Fatalf("%s: the log does not verify: %+v, %v", f.what, v, err)
	}
	text := string(content(f.c.disk, f.path))
	for _, id := range f.want {
		if n := strings.Count(text, `,"id":"`+string(id)); n != 1 {
			f.t.Errorf("%s: entry %s is there %d times", f.what, id, n)
		}
	}
	for _, dir := range []string{"dir", "dir/deep", "dir/forks"} {
		list, _ := f.c.disk.ReadDir(dir)
		for _, e := range list {
			if strings.HasSuffix(e.Name(), ".tmp") && f.failed.Kind != durable.Remove {
				f.t.Errorf("%s: %s stays", f.what, e.Name())
			}
		}
	}
}

// short is a write of which a part arrives: a share of its length, and some bytes.
type short struct{ half, bytes int }

// fail makes the nth operation fail; false where it is one that cannot fail so.
func (f *faultRun) fail(n int, cause error, part *short) {
	f.cause = cause
	seen := 0
	f.fsys.Fault = func(op durable.Op) error {
		if seen++; seen != n || part != nil && op.Kind != durable.Write {
			return nil
		}
		f.failed = op
		f.what = fmt.Sprintf("operation %d, %s, %v %+v", n, op, cause, part)
		err := &fs.PathError{Op: string(op.Kind), Path: op.Name, Err: cause} // as of the system
		if part == nil {
			return err
		}
		return &durable.ShortWrite{N: min(part.half*op.Len/2+part.bytes, op.Len-1), Err: err}
	}
}

// TestEveryFault fails every operation of the script in turn, in all ways.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	count := newFaultRun(t)
	count.script()
	count.done()
	operations := len(count.fsys.Trace())
	parts := []*short{nil, {0, 0}, {0, 1}, {1, 0}, {2, -1}}
	for n := 1; n <= operations; n++ {
		for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
			for _, part := range parts {
				f := newFaultRun(t)
				f.fail(n, cause, part)
				f.script()
				f.done()
			}
		}
	}
	t.Logf("%d operations, failed in %d ways", operations, 2*len(parts))
}

// TestShortWriteThatCannotBeUndone fails the truncation after a short write, too.
func TestShortWriteThatCannotBeUndone(t *testing.T) {
	for _, second := range []durable.OpKind{durable.Truncate, durable.Sync, durable.Stat} {
		f := newFaultRun(t)
		f.do(f.create)
		f.append(1)
		stage := 0
		f.cause, f.what = syscall.ENOSPC, "a short write, and then "+string(second)
		f.fsys.Fault = func(op durable.Op) error {
			switch {
			case op.Kind == durable.Write && op.Name == f.path && stage == 0:
				stage = 1
				return &durable.ShortWrite{N: 100, Err: syscall.ENOSPC}
			case op.Kind == second && op.Name == f.path && stage == 1:
				stage, f.failed = 2, op
				return syscall.ENOSPC
			}
			return nil
		}
		f.append(2)
		if stage != 2 {
			t.Errorf("%s: it did not come to that", f.what)
		}
		f.append(1)
		f.do(func() error { return f.s.Close() })
		f.done()
	}
}

// After a write that failed the session goes on, and what failed can be appended
// again: once, whoever appends what in between.
func TestAppendAfterAFullDisk(t *testing.T) {
	f := newFaultRun(t)
	f.do(f.create)
	f.append(1)
	full := true
	f.fsys.Fault = func(op durable.Op) error {
		if full && op.Kind == durable.Write {
			return &durable.ShortWrite{N: op.Len / 2, Err: syscall.ENOSPC}
		}
		return nil
	}
	drafts, leaf, before := f.drafts(2), f.s.Leaf(), content(f.c.disk, f.path)
	for range 3 {
		if _, err := f.s.Append(context.Background(), drafts...); !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrUnknown) {
			t.Fatal(err)
		}
		if f.s.Leaf() != leaf || !bytes.Equal(before, content(f.c.disk, f.path)) {
			t.Fatal("a write that failed changed something")
		}
	}
	full = false
	f.append(1)
	f.do(func() error { _, err := f.s.Append(context.Background(), drafts...); return err }, drafts...)
	again, err := f.s.Append(context.Background(), drafts...)
	if err != nil || !again.Repeated || !again.Durable || !slices.Equal(again.IDs, []entries.ID{drafts[0].ID(), drafts[1].ID()}) {
		t.Errorf("got %+v, %v", again, err)
	}
	f.done()
}
