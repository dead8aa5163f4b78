package sessiontree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

// twinRuns is how many random lives of sessions are lived, a third of them in logs
// of each kind.
const twinRuns = 300

// TestSessionAgreesWithItsTwin lives random lives of sessions, with other programs,
// crashes and torn tails in them, and compares after each step with a naive tree.
func TestSessionAgreesWithItsTwin(t *testing.T) {
	runs := uint64(twinRuns)
	if testing.Short() {
		runs /= 10
	}
	omp, err := filepath.Glob("../testdata/omp/*.jsonl")
	if err != nil || len(omp) == 0 {
		t.Fatalf("no logs of oh-my-pi: %v", err)
	}
	did := map[string]int{}
	for seed := range runs {
		l := beginLife(t, seed, omp)
		for step := range 25 {
			l.step(step)
			l.check()
		}
		l.end()
		for what, n := range l.did {
			did[what] += n
		}
	}
	for _, what := range slices.Sorted(maps.Keys(lifeSteps)) {
		if did[what] == 0 {
			t.Errorf("no life had the step %q: nothing was proved of it", what)
		}
	}
	t.Logf("steps: %v", did)
}

// A life is a session with its twin.
type life struct {
	t    *testing.T
	r    *rand.Rand
	what string // for messages: the seed and the step
	dir  string
	kind string // native, pi or omp
	s    *Session
	w    *twin
	did  map[string]int

	// What the last append of ours did, for tails to be cut in it.
	from    int64 // the log's size before it
	entries int   // of the twin, before it
	drafts  []entries.Draft
	done    Appended
}

// lifeOptions: nothing is synced, which is no matter here, and torn tails need not
// rest.
var lifeOptions = &Options{Sync: SyncNever, Settle: 1}

const lifeHeader = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}`

func beginLife(t *testing.T, seed uint64, omp []string) *life {
	l := &life{t: t, r: rand.New(rand.NewPCG(seed, 77)), dir: quickDir(t), did: map[string]int{}}
	l.kind = []string{"native", "pi", "omp"}[seed%3]
	l.what = fmt.Sprintf("life %d (%s)", seed, l.kind)
	log := []byte(lifeHeader + "\n")
	switch l.kind {
	case "native":
		s, err := Create(l.dir, entries.Header{Cwd: "/p"}, lifeOptions)
		l.must(err)
		l.s, l.w = s, &twin{}
		return l
	case "omp":
		var err error
		log, err = os.ReadFile(omp[l.r.IntN(len(omp))])
		l.must(err)
	}
	path := filepath.Join(l.dir, "log.jsonl")
	l.must(os.WriteFile(path, log, 0o600))
	l.w = readTwin(log)
	l.open(path)
	return l
}

// quickDir is a directory in memory where there is one: nothing here is about disks,
// and a sync takes as long as all the rest.
func quickDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "sessiontree")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (l *life) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatalf("%s: %v", l.what, err)
	}
}

func (l *life) open(path string) {
	l.t.Helper()
	s, err := Open(path, lifeOptions)
	l.must(err)
	l.s = s
}

func (l *life) end() { l.must(l.s.Close()) }

// any gives an entry's id; "" where there is none.
func (l *life) any() entries.ID {
	if len(l.w.list) == 0 {
		return ""
	}
	return l.w.list[l.r.IntN(len(l.w.list))].id
}

func (l *life) size() int64 {
	info, err := os.Stat(l.s.Path())
	l.must(err)
	return info.Size()
}

// lifeSteps are drawn with equal chance.
var lifeSteps = map[string]func(*life){
	"append":        (*life).append,
	"append more":   (*life).append,
	"append again":  (*life).repeat,
	"append if":     (*life).appendIf,
	"append to":     (*life).appendTo,
	"move":          (*life).move,
	"move, summary": (*life).moveWithSummary,
	"label":         (*life).label,
	"name":          (*life).name,
	"fork":          (*life).fork,
	"reopen":        (*life).reopen,
	"reload":        func(l *life) { l.must(l.s.Reload()) },
	"foreign":       (*life).foreign,
	"foreign, torn": (*life).foreignTorn,
	"crash":         (*life).crash,
	"torn":          (*life).torn,
}

func (l *life) step(n int) {
	names := slices.Sorted(maps.Keys(lifeSteps))
	name := names[l.r.IntN(len(names))]
	before := l.what
	l.what = fmt.Sprintf("%s, step %d, %s", before, n, name)
	defer func() { l.what = before }()
	l.did[name]++
	lifeSteps[name](l)
}

// draft makes a draft and what the twin has to remember of it.
func (l *life) draft() (entries.Draft, twinEntry) {
	id, err := l.s.NewID()
	l.must(err)
	text := fmt.Sprintf("text %d", l.r.IntN(1000))
	switch target := l.any(); {
	case l.r.IntN(4) == 0 && target != "":
		return entries.LabelDraft(target, text).WithID(id), twinEntry{id: id, kind: "label", target: target, text: text}
	case l.r.IntN(3) == 0:
		return entries.CustomDraft("note", []byte(`{"n":1}`)).WithID(id), twinEntry{id: id, kind: "custom"}
	}
	return entries.UserMessage(text).WithID(id), twinEntry{id: id, kind: "message"}
}

// batch makes drafts that go below an entry one by one.
func (l *life) batch(parent entries.ID) (drafts []entries.Draft, list []twinEntry) {
	for range 1 + l.r.IntN(4) {
		d, e := l.draft()
		e.parent, parent = parent, e.id
		drafts, list = append(drafts, d), append(list, e)
	}
	return drafts, list
}

// begin notes where an append of ours starts.
func (l *life) begin() { l.from, l.entries, l.drafts = l.size(), len(l.w.list), nil }

func (l *life) append() {
	l.begin()
	drafts, list := l.batch(l.w.leaf)
	done, err := l.s.Append(context.Background(), drafts...)
	l.must(err)
	for _, e := range list {
		l.w.put(e)
	}
	l.drafts, l.done = drafts, done
}

// repeat appends once more what was appended last.
func (l *life) repeat() {
	if l.drafts == nil {
		return
	}
	done, err := l.s.Append(context.Background(), l.drafts...)
	if err != nil || !done.Repeated || !slices.Equal(done.IDs, l.done.IDs) {
		l.t.Fatalf("%s: got %+v, %v, want a repetition of %v", l.what, done, err, l.done.IDs)
	}
}

// appendIf expects a leaf that is none, or the right one.
func (l *life) appendIf() {
	d, e := l.draft()
	leaf := l.any()
	if _, err := l.s.AppendIf(context.Background(), "not this one", d); !errors.Is(err, ErrConflict) {
		l.t.Fatalf("%s: got %v, want ErrConflict", l.what, err)
	}
	l.begin()
	_, err := l.s.AppendIf(context.Background(), leaf, d)
	if leaf != l.w.leaf {
		if !errors.Is(err, ErrConflict) {
			l.t.Fatalf("%s: got %v, want ErrConflict", l.what, err)
		}
		return
	}
	l.must(err)
	e.parent = leaf
	l.w.put(e)
}

func (l *life) appendTo() {
	parent, leaf := l.any(), l.w.leaf
	l.begin()
	drafts, list := l.batch(parent)
	done, err := l.s.AppendTo(context.Background(), parent, drafts...)
	l.must(err)
	for _, e := range list {
		l.w.put(e)
	}
	if leaf != "" && parent != leaf {
		l.w.put(twinEntry{id: done.Leaf, parent: leaf, kind: "custom"})
	}
}

// target is any entry, or the place before the first one.
func (l *life) target() entries.ID {
	if l.r.IntN(4) == 0 {
		return ""
	}
	return l.any()
}

func (l *life) move() {
	l.begin()
	to := l.target()
	done, err := l.s.MoveLeaf(context.Background(), to, ReasonUndo)
	l.must(err)
	if done.Repeated { // the leaf was there already
		if to != l.w.leaf {
			l.t.Errorf("nothing moved to %q from %q", to, l.w.leaf)
		}
		return
	}
	l.w.put(twinEntry{id: done.Leaf, parent: to, kind: "custom"})
}

func (l *life) moveWithSummary() {
	l.begin()
	to := l.target()
	done, err := l.s.MoveLeafWithSummary(context.Background(), to, "it was in vain")
	l.must(err)
	l.w.put(twinEntry{id: done.Leaf, parent: to, kind: "branch_summary"})
}

func (l *life) label() {
	target := l.any()
	if target == "" {
		return
	}
	label := []string{"", "a", "b"}[l.r.IntN(3)]
	l.begin()
	parent := l.w.leaf
	done, err := l.s.SetLabel(context.Background(), target, label)
	l.must(err)
	l.w.put(twinEntry{done.Leaf, parent, "label", target, label})
}

func (l *life) name() {
	name := []string{"", "one", "two"}[l.r.IntN(3)]
	l.begin()
	parent := l.w.leaf
	done, err := l.s.SetName(context.Background(), name)
	l.must(err)
	l.w.put(twinEntry{id: done.Leaf, parent: parent, kind: "session_info", text: name})
}
