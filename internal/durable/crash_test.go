package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A fileModel is the naive model of one file: all that it was since the last Sync,
// whole, and every sector that was ever written anywhere.
type fileModel struct {
	was  [][]byte // the first is certain
	ever map[[sectorSize]byte]bool
}

func (m *fileModel) now() []byte { return m.was[len(m.was)-1] }

func (m *fileModel) became(b []byte) {
	m.was = append(m.was, b)
	for i := range sectorsOf(int64(len(b))) {
		m.ever[sectorAt(b, i, len(b))] = true
	}
}

// sectorAt is a sector of a file that is cut at a size, with zeros behind.
func sectorAt(b []byte, i, size int) (s [sectorSize]byte) {
	if b = b[:min(len(b), size)]; i*sectorSize < len(b) {
		copy(s[:], b[i*sectorSize:])
	}
	return s
}

// allows says why a power cut cannot have left this, or nothing.
func (m *fileModel) allows(found []byte) string {
	sizes := false
	for k, b := range m.was {
		sizes = sizes || len(found) == len(b) || k > 0 && len(found) < len(b) && len(found)%sectorSize == 0
	}
	if !sizes {
		return "the size was never that"
	}
	for i := range sectorsOf(int64(len(found))) {
		if !m.allowsSector(i, found) {
			return "a sector was never that"
		}
	}
	return ""
}

func (m *fileModel) allowsSector(i int, found []byte) bool {
	got := sectorAt(found, i, len(found))
	for _, b := range m.was {
		if sectorAt(b, i, len(found)) == got {
			return true
		}
	}
	if i < sectorsOf(int64(len(m.was[0]))) {
		return false
	}
	if len(found) >= (i+1)*sectorSize {
		return m.ever[got] || got == [sectorSize]byte{}
	}
	for s := range m.ever {
		if sectorAt(s[:], 0, len(found)-i*sectorSize) == got {
			return true
		}
	}
	return got == [sectorSize]byte{}
}

// step does one random operation on a file and on its model.
func (m *fileModel) step(t *testing.T, r *rand.Rand, f File) {
	now := bytes.Clone(m.now())
	switch r.IntN(6) {
	case 0:
		must(t, f.Sync())
		m.was = [][]byte{now}
		return
	case 1:
		size := r.IntN(4000)
		must(t, f.Truncate(int64(size)))
		now = append(now, make([]byte, max(0, size-len(now)))...)[:size]
	default:
		data := make([]byte, 1+r.IntN(1500))
		for i := range data {
			data[i] = byte(1 + r.IntN(255))
		}
		off := len(now)
		if r.IntN(3) == 0 {
			off = r.IntN(3000)
		}
		put(t, f, string(data), int64(off))
		now = append(now, make([]byte, max(0, off+len(data)-len(now)))...)
		copy(now[off:], data)
	}
	m.became(now)
}

// atRest says what is wrong with a disk that was just found: all on it is durable.
func atRest(d *Disk, r *rand.Rand) string {
	before := (&player{fsys: d, root: "."}).tree(".")
	after := (&player{fsys: d.Crash(r), root: "."}).tree(".")
	if !slices.Equal(before, after) {
		return "a crash after a crash lost something"
	}
	return ""
}

func TestCrashKeepsToTheModel(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := NewDisk()
		f := newFile(t, d, "a", "")
		must(t, d.SyncDir("."))
		m := &fileModel{was: [][]byte{{}}, ever: map[[sectorSize]byte]bool{}}
		for step := range 25 {
			m.step(t, r, f)
			for range 8 {
				c := d.Crash(r)
				if why := m.allows(contentOf(c, "a")) + atRest(c, r); why != "" {
					t.Fatalf("seed %d: step %d: %s", seed, step, why)
				}
			}
		}
		if !bytes.Equal(contentOf(d, "a"), m.now()) || !bytes.Equal(contentOf(d.Kill(), "a"), m.now()) {
			t.Fatalf("seed %d: Crash or Kill changed the disk, or Kill lost something", seed)
		}
	}
}

func TestCrashAllKeepsToTheModel(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		d := NewDisk()
		f := newFile(t, d, "a", "")
		must(t, d.SyncDir("."))
		m := &fileModel{was: [][]byte{{}}, ever: map[[sectorSize]byte]bool{}}
		for range 12 {
			m.step(t, r, f)
		}
		for c := range d.CrashAll {
			if why := m.allows(contentOf(c, "a")); why != "" {
				t.Fatalf("seed %d: %s", seed, why)
			}
		}
	}
}

// seen collects what the crashes of a disk leave under a name; "-" is nothing.
func seen(d *Disk, all bool, names ...string) map[string]bool {
	states := map[string]bool{}
	note := func(c *Disk) bool {
		var parts []string
		for _, name := range names {
			b := contentOf(c, name)
			part := string(b)
			if b == nil {
				part = "-"
			}
			parts = append(parts, part)
		}
		states[strings.Join(parts, "|")] = true
		return true
	}
	if all {
		d.CrashAll(note)
		return states
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		note(d.Crash(r))
	}
	return states
}

// leaves checks that both ways of crashing leave all of the wanted states, and none
// of the others.
func leaves(t *testing.T, d *Disk, names string, wanted, never []string) {
	t.Helper()
	for _, all := range []bool{false, true} {
		states := seen(d, all, strings.Fields(names)...)
		for _, w := range wanted {
			if !states[w] {
				t.Errorf("all=%v: no crash leaves %.40q…%d in %s", all, w, len(w), names)
			}
		}
		for _, w := range never {
			if states[w] {
				t.Errorf("all=%v: a crash leaves %.40q…%d in %s", all, w, len(w), names)
			}
		}
	}
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// synced makes a disk with one durable file.
func synced(t *testing.T, content string) (*Disk, File) {
	d := NewDisk()
	f := newFile(t, d, "a", content)
	must(t, f.Sync(), d.SyncDir("."))
	return d, f
}

func TestWhatACrashLeavesOfAnAppend(t *testing.T) {
	d, f := synced(t, repeat("o", 512))
	d.Stale([]byte(repeat("s", 512)))
	put(t, f, repeat("n", 1024), 512)
	o, n, s, z := repeat("o", 512), repeat("n", 512), repeat("s", 512), repeat("\x00", 512)
	leaves(t, d, "a",
		[]string{o, o + n, o + n + n, o + z + z, o + n + z, o + z + n, o + s + s, o + n + s, o + s + n},
		[]string{"-", "", o[:511], z + n + n})
	must(t, f.Sync())
	if states := seen(d, false, "a"); len(states) != 1 || !states[o+n+n] {
		t.Errorf("synced data has %d states", len(states))
	}
}

func TestWhatACrashLeavesOfTwoWrites(t *testing.T) {
	d, f := synced(t, repeat("o", 1024))
	put(t, f, "1", 0)
	put(t, f, "2", 600)
	put(t, f, "3", 1)
	with := func(first, second string) string {
		return first + repeat("o", 512-len(first)) + repeat("o", 88) + second + repeat("o", 424-len(second))
	}
	leaves(t, d, "a",
		[]string{with("", ""), with("1", ""), with("", "2"), with("1", "2"), with("13", "2"), with("13", "")},
		[]string{with("o3", ""), with("o3", "2")}) // a sector is written whole
}

func TestWhatACrashLeavesOfATruncate(t *testing.T) {
	d, f := synced(t, repeat("o", 1000))
	must(t, f.Truncate(100))
	leaves(t, d, "a", []string{repeat("o", 1000), repeat("o", 100)}, []string{"", repeat("o", 512)})
	must(t, f.Sync())
	leaves(t, d, "a", []string{repeat("o", 100)}, []string{repeat("o", 1000)})
}

func TestWhatACrashLeavesOfANewFile(t *testing.T) {
	d := NewDisk()
	f := newFile(t, d, "a", "new")
	leaves(t, d, "a", []string{"-", "", "new", "\x00\x00\x00"}, nil)
	must(t, f.Sync())
	leaves(t, d, "a", []string{"-", "new"}, []string{"", "\x00\x00\x00"})
	must(t, d.SyncDir("."))
	leaves(t, d, "a", []string{"new"}, []string{"-"})
	must(t, d.Remove("a"))
	leaves(t, d, "a", []string{"new", "-"}, nil)
	must(t, d.SyncDir("."))
	leaves(t, d, "a", []string{"-"}, []string{"new"})
}

func TestARenameIsOneStep(t *testing.T) {
	d, _ := synced(t, "old")
	f := newFile(t, d, "b", "new")
	must(t, f.Sync(), d.SyncDir("."), d.Rename("b", "a"))
	leaves(t, d, "a b", []string{"old|new", "new|-"}, []string{"old|-", "new|new", "-|-", "-|new"})
}

func TestARenameIntoAnotherDirectoryIsOneStep(t *testing.T) {
	d, f := synced(t, "x")
	must(t, d.Mkdir("d", 0o700), d.SyncDir("."), d.Rename("a", "d/a"))
	leaves(t, d, "a d/a", []string{"x|-", "-|x"}, []string{"x|x", "-|-"})
	must(t, d.SyncDir("d"))
	leaves(t, d, "a d/a", []string{"-|x"}, []string{"x|-"})
	must(t, f.Close())
}

func TestADirectoryNeedsItsParentSynced(t *testing.T) {
	d := NewDisk()
	must(t, d.Mkdir("d", 0o700))
	f := newFile(t, d, "d/a", "x")
	must(t, f.Sync(), d.SyncDir("d"))
	leaves(t, d, "d/a", []string{"-", "x"}, []string{""})
	must(t, d.SyncDir("."))
	leaves(t, d, "d/a", []string{"x"}, []string{"-"})
}

func TestLaterChangesOfANameNeedTheEarlier(t *testing.T) {
	d, _ := synced(t, "x")
	must(t, d.Rename("a", "b"), newFile(t, d, "a", "").Close())
	leaves(t, d, "a b", []string{"x|-", "-|x", "|x"}, []string{"|-", "-|-"})
}

func TestAFailedSyncSpoils(t *testing.T) {
	d, _ := synced(t, repeat("o", 512))
	fsys := &Faulty{FS: &Faulty{FS: d}, Fault: FailNth(Sync, 1, syscall.EIO)}
	f := newFile(t, fsys, "a", repeat("1", 512))
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	put(t, f, repeat("2", 512), 512)
	must(t, f.Sync())
	if got := string(contentOf(d, "a")); got != repeat("1", 512)+repeat("2", 512) {
		t.Errorf("a failed Sync changed what is read")
	}
	o, one, two := repeat("o", 512), repeat("1", 512), repeat("2", 512)
	leaves(t, d, "a", []string{o + two, one + two}, []string{o, one, one + repeat("\x00", 512)})
	leaves(t, d.Kill(), "a", []string{o + two, one + two}, []string{o, one})
}

func TestKill(t *testing.T) {
	d, f := synced(t, "old")
	put(t, f, "new", 0)
	must(t, newFile(t, d, "b", "x").Close())
	k := d.Kill()
	if got := seen(k.Kill(), true, "a", "b"); !got["old|-"] || !got["new|x"] {
		t.Errorf("a crash after a death leaves %v", got)
	}
	g, err := k.OpenFile("a", os.O_RDWR, 0)
	must(t, err, g.Sync(), k.SyncDir("."))
	leaves(t, k, "a", []string{"new"}, []string{"old"})
	leaves(t, d, "a", []string{"old"}, nil)
	put(t, g, "k", 0)
	if got := string(contentOf(d, "a")); got != "new" {
		t.Errorf("the disk before the death changed to %q", got)
	}
}

// What a killed disk has in common with the one before is never written to.
func TestKillSharesNothingThatChanges(t *testing.T) {
	d, f := synced(t, "old")
	put(t, f, "new", 0) // the file has sectors of its own already
	k := d.Kill()
	g, err := k.OpenFile("a", os.O_RDWR, 0)
	must(t, err)
	put(t, g, "k", 0)
	put(t, f, "d", 1)
	if got := string(contentOf(d, "a")) + " " + string(contentOf(k, "a")); got != "ndw kew" {
		t.Errorf("got %q", got)
	}
}

// A sync that succeeds after one that failed makes the size certain, which is not
// among the data that the failed one gave up.
func TestTheSizeAfterAFailedSync(t *testing.T) {
	d, _ := synced(t, "old")
	fsys := &Faulty{FS: d, Fault: FailNth(Sync, 1, syscall.EIO)}
	f, err := fsys.OpenFile("a", os.O_RDWR, 0)
	must(t, err)
	put(t, f, repeat("n", 1024), 0)
	if err := f.Sync(); err == nil {
		t.Fatal("it did not fail")
	}
	must(t, f.Sync())
	n, z := repeat("n", 512), repeat("\x00", 512)
	leaves(t, d, "a", []string{n + n, n + z, "old" + z[3:] + z}, []string{"old", n})
}

func TestCrashMovesTheClock(t *testing.T) {
	d, f := synced(t, "x")
	put(t, f, "y", 0)
	c := d.Crash(rand.New(rand.NewPCG(1, 1)))
	boot := c.Now()
	stat := func() fs.FileInfo {
		fi, err := c.Stat("a")
		must(t, err)
		return fi
	}
	if !stat().ModTime().Before(boot) {
		t.Error("a file is younger than the boot")
	}
	put(t, newFile(t, c, "a", "z"), "z", 0)
	if !stat().ModTime().After(boot) {
		t.Error("a write after the boot is older than it")
	}
}

func TestCrashAllOfManyNames(t *testing.T) {
	d := NewDisk()
	for i := range manyOps + 1 {
		must(t, newFile(t, d, string(rune('a'+i)), "").Close())
	}
	left := map[int]bool{}
	for c := range d.CrashAll {
		left[len(names(t, c))] = true
	}
	if len(left) != manyOps+2 {
		t.Errorf("the directories that are left have %d sizes", len(left))
	}
}

func TestCrashAllCanBeLeft(t *testing.T) {
	d := NewDisk()
	newFile(t, d, "a", repeat("x", 2000))
	newFile(t, d, "b", repeat("x", 2000))
	for range d.CrashAll {
		break
	}
	n := 0
	for range d.CrashAll {
		n++
	}
	if n < 100 || n > 5000 {
		t.Errorf("%d states", n)
	}
}
