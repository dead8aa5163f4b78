package checkpoint_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestModel plays random histories of a session against a naive model: a copy of the whole
// workspace at every entry, and who made what. CHECKPOINT_SEED plays one of them again, and
// CHECKPOINT_HISTORIES so many from there on.
func TestModel(t *testing.T) {
	first, n := 1, 100
	if testing.Short() {
		n = 30
	}
	if text := os.Getenv("CHECKPOINT_SEED"); text != "" {
		first, n = number(t, text), 1
	}
	if text := os.Getenv("CHECKPOINT_HISTORIES"); text != "" {
		n = number(t, text)
	}
	for seed := first; seed < first+n; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			newWorld(t, seed).play()
		})
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What may happen in a history. Histories in which less happens are held to more: a path
// that a person touched is not compared with the model, only never lost.
type weather struct {
	scan  bool // and with it shell commands
	hand  bool // a person works in the folder
	other bool // and another session
	moves bool // the leaf moves, and the files stay
	quits bool // the program ends at any moment
	mid   bool // restores and moves in the middle of a turn
}

// A world is a session, its workspace, and what a naive observer knows of both.
type world struct {
	*bench
	weather
	r     *rand.Rand
	trace []string
	other *bench // in the same folder

	at      map[entries.ID]moment
	ids     []entries.ID    // in the order of the log
	seen    folder          // what the log can know: the folder without what a command did just now
	pending map[string]bool // paths that a command changed, and no scan has seen yet
	unseen  map[string]bool // paths that it sees right now
	tainted map[string]bool // paths that somebody else touched, ever
	owner   map[string]actor
	inTurn  bool
	beside  bool // a turn of the other session runs
	overlap bool // it ran since the turn began
	foreign bool // the leaf was moved by a program that knows nothing of files
	count   int
}

// A moment is what the workspace was when an entry was appended.
type moment struct {
	files folder
	vague map[string]bool // paths of which the log could not know it
}

// An actor made a path what it is.
type actor string

const (
	byTool    actor = "tool"
	byShell   actor = "shell"
	byHand    actor = "hand"
	byOther   actor = "other"
	byRestore actor = "restore"
)

func newWorld(t *testing.T, seed int) *world {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	w := &world{r: r, at: map[entries.ID]moment{}, pending: map[string]bool{}, tainted: map[string]bool{}, owner: map[string]actor{}}
	w.weather = weather{r.IntN(3) > 0, r.IntN(3) == 0, r.IntN(4) == 0, r.IntN(2) == 0, r.IntN(3) == 0, r.IntN(3) == 0}
	w.note("seed %d: %+v", seed, w.weather)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("CHECKPOINT_SEED=%d go test ./checkpoint -run TestModel\n%s", seed, strings.Join(w.trace, "\n"))
		}
	})
	w.bench = newBench(t, &checkpoint.TrackOptions{Scan: w.scan})
	for range 6 {
		w.change(w.dir, paths)
	}
	w.seen = look(t, w.dir)
	w.at[""] = moment{files: w.seen.copy()}
	if w.weather.other {
		w.other = w.neighbour()
	}
	w.learn(w.seen)
	return w
}

// neighbour is another session in the same folder.
func (w *world) neighbour() *bench {
	w.Helper()
	b := &bench{T: w.T, dir: w.dir, home: w.home, opt: &checkpoint.TrackOptions{Scan: w.r.IntN(2) == 0}}
	s, err := sessiontree.Create(b.home, entries.Header{Cwd: b.dir}, nil)
	b.must(err)
	b.s = s
	b.start()
	w.Cleanup(b.stop)
	return b
}

func (w *world) note(format string, values ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, values...))
}

// fail reports what does not hold; the history ends.
func (w *world) fail(format string, values ...any) {
	w.Helper()
	w.Fatalf(format, values...)
}

// learn takes up the entries that were appended since: what the folder is at each. pre is
// what was seen before what appended them.
func (w *world) learn(pre folder) {
	w.Helper()
	t, err := w.s.Tree()
	w.must(err)
	for e, err := range t.Entries() {
		w.must(err)
		if _, known := w.at[e.ID]; known {
			continue
		}
		w.ids = append(w.ids, e.ID)
		w.at[e.ID] = w.momentOf(e, pre)
	}
}

func (w *world) momentOf(e entries.Entry, pre folder) moment {
	w.Helper()
	_, moved, err := e.LeafMarker()
	w.must(err)
	phase := phaseOf(e)
	switch {
	case phase == "carried":
		vague := maps.Clone(w.pending)
		maps.Copy(vague, w.unseen)
		return moment{w.seen.copy(), vague}
	case phase == "begin":
		return moment{pre.copy(), maps.Clone(w.pending)}
	case phase == "" && (moved || w.foreign || e.Type == entries.TypeBranchSummary):
		return w.at[e.Parent] // the log cannot know that the files stayed
	}
	return moment{w.seen.copy(), maps.Clone(w.pending)}
}

// phaseOf is the phase of a file record, "" for other entries.
func phaseOf(e entries.Entry) string {
	c, err := e.Custom()
	if err != nil || c.CustomType != entries.CustomFileSnapshot && c.CustomType != entries.CustomFileRestore {
		return ""
	}
	_, after, _ := strings.Cut(string(c.Data), `"phase":"`)
	phase, _, _ := strings.Cut(after, `"`)
	return cmp.Or(phase, "?")
}

// sync takes up what the folder is, but for what no record can tell of yet.
func (w *world) sync() {
	w.Helper()
	now := look(w.T, w.dir)
	for name := range w.pending {
		delete(now, name)
		if was, ok := w.seen[name]; ok {
			now[name] = was
		}
	}
	w.seen = now
}

// did runs something of an actor, and notes which paths became something else.
func (w *world) did(by actor, do func()) (changed []string) {
	w.Helper()
	before := look(w.T, w.dir)
	do()
	changed = before.differs(look(w.T, w.dir))
	now := look(w.T, w.dir)
	for _, name := range changed {
		if w.owner[name] = by; now[name].same(w.seen[name]) {
			w.owner[name] = byRestore // as the log knows it: nothing of anybody is lost
		}
		if by == byHand || by == byOther {
			w.tainted[name] = true
		}
	}
	return changed
}
