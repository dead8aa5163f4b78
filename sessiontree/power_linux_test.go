package sessiontree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// unable skips a test for which this machine is not equipped; CI has to be.
func unable(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(reason + "; CI has to be able to")
	}
	t.Skip(reason)
}

// mount mounts something until the test ends.
func mount(t *testing.T, args ...string) (dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		unable(t, "only root can mount a file system")
	}
	dir = t.TempDir()
	if out, err := exec.Command("mount", append(args, dir)...).CombinedOutput(); err != nil {
		unable(t, fmt.Sprintf("cannot mount: %v: %s", err, out))
	}
	t.Cleanup(func() {
		err := syscall.Unmount(dir, 0) // of a loop device, which that detaches
		if errors.Is(err, syscall.EBUSY) {
			err = syscall.Unmount(dir, syscall.MNT_DETACH)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A disk is an ext4 file system in a file that writes nothing of itself for long.
type disk struct {
	image, dir string
}

const noCommit = "loop,commit=1000"

func newDisk(t *testing.T) disk {
	t.Helper()
	d := disk{image: filepath.Join(t.TempDir(), "disk")}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, 48<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		unable(t, fmt.Sprintf("cannot make an ext4 file system: %v: %s", err, out))
	}
	d.dir = mount(t, "-o", noCommit, d.image)
	return d
}

// cut is a power cut: what the disk has at this moment, mounted as after a start of
// the machine.
func (d disk) cut(t *testing.T) (dir string) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "disk")
	if out, err := exec.Command("cp", "--sparse=always", d.image, image).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return mount(t, "-o", noCommit, image)
}

// after gives where a file of the disk is after the power cut.
func (d disk) after(dir, path string) string {
	rel, _ := filepath.Rel(d.dir, path)
	return filepath.Join(dir, rel)
}

func (d disk) create(t *testing.T, name string, opt *sessiontree.Options) *sessiontree.Session {
	t.Helper()
	s, err := sessiontree.Create(filepath.Join(d.dir, name, "deep"), entries.Header{Cwd: "/p"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// control writes a file without syncing it, and demands that a power cut loses it:
// otherwise the cut is none.
func (d disk) control(t *testing.T) (check func(dir string)) {
	t.Helper()
	path := filepath.Join(d.dir, "control")
	if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(dir string) {
		t.Helper()
		if info, err := os.Stat(d.after(dir, path)); err == nil && info.Size() > 0 {
			t.Error("the power cut lost nothing: nothing was proved")
		}
	}
}

// survivor opens a session after the power cut, and demands that it is sound, has
// the acknowledged messages and, of the others, none but the next ones.
func survivor(t *testing.T, path string, durable, written []entries.ID) (n int) {
	t.Helper()
	s, err := sessiontree.Open(path, &sessiontree.Options{Settle: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sound(t, path)
	x, err := s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range x.Entries() {
		if err != nil || n >= len(written) || e.ID != written[n] {
			t.Fatalf("%s: got entry %s (%v) at place %d, want %v", path, e.ID, err, n, written)
		}
		n++
	}
	if n < len(durable) {
		t.Fatalf("%s: got %d entries, want the %d that were durable", path, n, len(durable))
	}
	appendTo(t, s, entries.UserMessage("and on"))
	sound(t, path)
	return n
}

// TestPowerCut appends in all sync modes and cuts the power: what was acknowledged
// as durable is there, and nothing torn is accepted.
func TestPowerCut(t *testing.T) {
	d := newDisk(t)
	check := d.control(t)
	always := d.create(t, "always", nil)
	turn := d.create(t, "turn", &sessiontree.Options{Sync: sessiontree.SyncTurn})
	never := d.create(t, "never", &sessiontree.Options{Sync: sessiontree.SyncNever})
	written := map[*sessiontree.Session][]entries.ID{}
	durable := map[*sessiontree.Session][]entries.ID{}
	work := func(s *sessiontree.Session, drafts ...entries.Draft) {
		t.Helper()
		done := appendTo(t, s, drafts...)
		written[s] = append(written[s], done.IDs...)
		if done.Durable {
			durable[s] = written[s]
		}
	}
	lost := 0
	for range 3 {
		for _, s := range []*sessiontree.Session{always, turn, never} {
			work(s, entries.UserMessage("one"), entries.UserMessage(string(make([]byte, 30000))))
		}
		if err := turn.EndTurn(context.Background()); err != nil {
			t.Fatal(err)
		}
		durable[turn] = written[turn]
		// Before a tool runs, what led to it is on disk in every mode.
		work(never, entries.CustomDraft(entries.CustomToolExecutionStart, []byte(`{"toolCallId":"c"}`)))
		work(turn, entries.UserMessage("of the next turn"))
		work(never, entries.UserMessage("synced by nobody"), entries.UserMessage(string(make([]byte, 70000))))
		dir := d.cut(t)
		check(dir)
		for _, s := range []*sessiontree.Session{always, turn, never} {
			n := survivor(t, d.after(dir, s.Path()), durable[s], written[s])
			lost += len(written[s]) - n
		}
	}
	if len(durable[always]) != len(written[always]) {
		t.Error("SyncAlways acknowledged what it does not call durable")
	}
	if lost == 0 {
		t.Error("the power cuts lost nothing that was not synced: nothing was proved")
	}
}

// TestPowerCutAfterMakingFiles: when Create, Fork and ArchiveFile return, what they
// made is there, with its name.
func TestPowerCutAfterMakingFiles(t *testing.T) {
	d := newDisk(t)
	check := d.control(t)
	source := d.create(t, "source", nil)
	appendTo(t, source, entries.UserMessage("one"))
	done := appendTo(t, source, entries.UserMessage("two"))
	x, err := source.Tree()
	if err != nil {
		t.Fatal(err)
	}
	fork, err := sessiontree.Fork(context.Background(), x, "", filepath.Join(d.dir, "forks"), entries.Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	cold := d.create(t, "cold", nil)
	kept := appendTo(t, cold, entries.UserMessage("archived"))
	if err := cold.Close(); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour) // a log has to rest before it is archived
	if err := os.Chtimes(cold.Path(), past, past); err != nil {
		t.Fatal(err)
	}
	archived, err := store.ArchiveFile(cold.Path(), &store.ArchiveFileOptions{Lock: sessiontree.LockLog})
	if err != nil {
		t.Fatal(err)
	}
	empty := d.create(t, "empty", nil)
	dir := d.cut(t)
	check(dir)
	survivor(t, d.after(dir, empty.Path()), nil, nil)
	ids := []entries.ID{}
	for e := range x.Path(done.Leaf) {
		ids = append(ids, e.ID)
	}
	survivor(t, d.after(dir, source.Path()), ids, ids)
	survivor(t, d.after(dir, fork.Path()), ids, ids)
	tree, err := sessiontree.Read(d.after(dir, archived.Archive), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if tree.Leaf() != kept.Leaf {
		t.Errorf("the archive's leaf is %s, want %s", tree.Leaf(), kept.Leaf)
	}
	if err := tree.Scan(); err != nil {
		t.Error(err)
	}
}

// TestFullDisk fills a real file system: appends fail with what the system says and
// change nothing, and succeed once there is room again.
func TestFullDisk(t *testing.T) {
	dir := mount(t, "-t", "tmpfs", "-o", "size=1m", "tmpfs")
	s, err := sessiontree.Create(dir, entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var ids []entries.ID
	fillers := []string{filepath.Join(dir, "filler 1"), filepath.Join(dir, "filler 2")}
	for _, filler := range fillers {
		if err := os.WriteFile(filler, make([]byte, 200<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, filler := range fillers {
		ids = append(ids, fill(t, s)...)
		if _, err := sessiontree.Create(dir, entries.Header{Cwd: "/p"}, nil); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Create: got %v, want ENOSPC", err)
		}
		if err := os.Truncate(filler, 0); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, appendTo(t, s, entries.UserMessage(string(make([]byte, 10000)))).IDs...)
		if got := sound(t, s.Path()); len(got) != len(ids) {
			t.Errorf("got %d entries, want %d", len(got), len(ids))
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(left) != 1 {
		t.Errorf("got logs %v (%v), want one", left, err)
	}
}

// fill appends until the disk is full, and some more, larger and smaller.
func fill(t *testing.T, s *sessiontree.Session) (ids []entries.ID) {
	t.Helper()
	for failed := 0; failed < 18; { // until not even a small one fits
		size := 40000 >> failed
		before, _ := os.Stat(s.Path())
		leaf := s.Leaf()
		done, err := s.Append(context.Background(), entries.UserMessage(string(make([]byte, size))), entries.UserMessage("and"))
		if err == nil {
			ids = append(ids, done.IDs...)
			continue
		}
		failed++
		after, _ := os.Stat(s.Path())
		if !errors.Is(err, syscall.ENOSPC) || after.Size() != before.Size() || s.Leaf() != leaf {
			t.Fatalf("got %v, %d bytes more, leaf %s; want ENOSPC and nothing changed", err, after.Size()-before.Size(), s.Leaf())
		}
		sound(t, s.Path())
	}
	return ids
}
