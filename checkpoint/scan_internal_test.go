package checkpoint

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// newTracked follows a folder with files that are older than a scan's clock can tell.
func newTracked(t *testing.T, files ...string) *Tracker {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	for _, name := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := sessiontree.Create(home, entries.Header{Cwd: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	st, err := OpenStore(StoreOf(s.Path()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); root.Close(); st.Close() })
	f, err := Track(t.Context(), s, root, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lookedAt scans, as if all that is there were older than clocks are coarse.
func lookedAt(t *testing.T, f *Tracker, old *index) *scan {
	t.Helper()
	s, err := f.scan(t.Context(), old, false)
	if err != nil {
		t.Fatal(err)
	}
	s.now.at = s.now.at.Add(2 * coarseTick)
	return s
}

// TestUnchangedIsNotRead: the second scan reads nothing, and remembers what the first one
// does; the third one reads what changed, and shares the rest.
func TestUnchangedIsNotRead(t *testing.T) {
	f := newTracked(t, "a", "d/b", "d/c", "e/f")
	first := lookedAt(t, f, nil)
	second := lookedAt(t, f, first.now)
	if second.reread.Load() || len(second.changes) > 0 {
		t.Errorf("an unchanged tree was read: %v", second.changes)
	}
	for dir, list := range second.now.dirs {
		if &list[0] != &first.now.dirs[dir][0] || len(list) != len(first.now.dirs[dir]) {
			t.Errorf("what is remembered of %s is there twice", dir)
		}
	}
	name := filepath.Join(f.ws.root.Name(), "d", "c")
	if err := os.WriteFile(name, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	third := lookedAt(t, f, second.now)
	if len(third.changes) != 1 || third.changes[0].path != "d/c" {
		t.Errorf("changed: %v, want d/c alone", third.changes)
	}
	if was, ok := second.now.state("d/c"); !ok || was != third.changes[0].before {
		t.Errorf("a later scan changed what an older one remembers: %v", was)
	}
	if now, _ := third.now.state("d/c"); now != third.changes[0].after || len(third.now.dirs["d"]) != 2 {
		t.Errorf("remembered: %v", third.now.dirs["d"])
	}
}

// TestGoneIsNotShared: a list whose beginning is gone is not the beginning of the old one.
func TestGoneIsNotShared(t *testing.T) {
	f := newTracked(t, "a", "b", "c")
	first := lookedAt(t, f, nil)
	if err := os.Remove(filepath.Join(f.ws.root.Name(), "a")); err != nil {
		t.Fatal(err)
	}
	second := lookedAt(t, f, first.now)
	if list := second.now.dirs["."]; len(list) != 2 || list[0].name != "b" || list[1].name != "c" {
		t.Errorf("remembered: %v, want b and c", list)
	}
	if list := first.now.dirs["."]; len(list) != 3 || list[0].name != "a" {
		t.Errorf("a later scan changed what an older one remembers: %v", list)
	}
}

func TestValidSum(t *testing.T) {
	sum := sumOf(nil)
	for text, want := range map[string]bool{sum: true, "": false, sum[1:]: false, sum + "0": false, "G" + sum[1:]: false, sum[1:] + "/": false, "A" + sum[1:]: false} {
		if validSum(text) != want {
			t.Errorf("validSum(%q) is not %t", text, want)
		}
	}
}

// TestWalkSeesWhatIsBelow: what goes away with a directory is what was in it, and in nothing
// whose name begins alike.
func TestWalkSeesWhatIsBelow(t *testing.T) {
	x := newIndex()
	dir := func(name string) node { return node{name: name, state: State{Kind: Dir}} }
	x.dirs["."] = []node{dir("a"), dir("a.b"), dir("unseen")}
	x.dirs["a"] = []node{dir("b"), {name: "f", state: State{Kind: File}}}
	x.dirs["a/b"], x.dirs["a.b"] = []node{}, []node{}
	for dir, want := range map[string]string{".": ". a a/b a.b", "a": "a a/b", "a/f": "", "unseen": ""} {
		var seen []string
		x.walk(dir, func(dir string, _ []node) { seen = append(seen, dir) })
		if got := strings.Join(seen, " "); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}

// TestNothingIsKeptThatCannotBeReadAgain: a file larger than what the store reads would be
// stored, and lost.
func TestNothingIsKeptThatCannotBeReadAgain(t *testing.T) {
	if o := (&TrackOptions{MaxFile: largestBlob + 1}).withDefaults(); o.MaxFile != largestBlob {
		t.Error(o.MaxFile)
	}
}

// TestMountsAreLeftAlone: a directory on which something was mounted cannot be removed, which
// must not stop the rest of a restore.
func TestMountsAreLeftAlone(t *testing.T) {
	on := func(dev uint64) State {
		return State{Kind: Dir, Mode: 0o755, look: &look{signature: signature{dev: dev}}}
	}
	for dev, want := range map[uint64]Action{1: ActRemove, 2: ActUnknown} {
		p := &planner{above: map[string]State{"d": on(1)}}
		it := Item{Path: "d/mnt", Known: on(1).bare(), Disk: on(dev), To: State{Kind: Absent}}
		if got := p.judge(it, trail{any: true, makers: makers{tool: true}}); got.Action != want {
			t.Errorf("%d: %s: %s", dev, got.Action, got.Reason)
		}
	}
}

// TestHomeIsKnownWithoutItsVariable: services have no HOME, and a home directory still is no
// workspace.
func TestHomeIsKnownWithoutItsVariable(t *testing.T) {
	t.Setenv("HOME", "")
	u, err := user.Current()
	if got := homes(); err == nil && !slices.Contains(got, u.HomeDir) {
		t.Error(got)
	}
}

func TestTurnsMeetInFolders(t *testing.T) {
	for root, want := range map[string]bool{"/a": true, "/a/b": true, "/a/b/c": true, "/a/bc": false, "/x": false, "": false} {
		if got := (running{Root: root}).meets("/a/b"); got != want {
			t.Errorf("%s: %v", root, got)
		}
	}
}
