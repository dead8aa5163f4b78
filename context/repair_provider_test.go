package modelcontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
)

// memoryLog is a log that is no file.
type memoryLog struct{ *bytes.Reader }

func (m memoryLog) Size() (int64, error) { return m.Reader.Size(), nil }
func (memoryLog) Close() error           { return nil }

// readLog reads a log from memory; nil where it is none.
func readLog(t testing.TB, log []byte) *sessiontree.Tree {
	t.Helper()
	tree, err := sessiontree.From(memoryLog{bytes.NewReader(log)}, "memory", nil)
	if errors.Is(err, sessiontree.ErrNoSession) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// leaves gives the log's leaf and some of its other entries.
func leaves(t testing.TB, tree *sessiontree.Tree, r *rand.Rand, most int) (list []entries.ID) {
	t.Helper()
	list = append(list, tree.Leaf())
	var all []entries.ID
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.ID)
	}
	for len(list) < most && len(all) > 0 {
		list = append(list, all[r.IntN(len(all))])
	}
	return list
}

// rawMessages gives the objects of a list.
func rawMessages(list []modelcontext.Message) (raw []json.RawMessage) {
	for _, m := range list {
		raw = append(raw, m.Raw)
	}
	return raw
}

// checkRepaired demands that a repaired context is one that providers take, and that
// repairing it again changes nothing.
func checkRepaired(t *testing.T, name string, c *modelcontext.Context) {
	t.Helper()
	fixed := c.Repair()
	original := rawMessages(c.Messages)
	for what, list := range map[string][]modelcontext.Message{"repaired": fixed.Messages, "rendered": fixed.Render()} {
		found := checkProvider(rawMessages(list), signedSet(original))
		found = append(found, checkSignedRuns(rawMessages(list), original)...)
		for i, v := range found {
			if i < 3 && !t.Failed() {
				t.Errorf("%s, %s: %v\n%.600s", name, what, v, list[v.at].Raw)
			}
		}
	}
	again := fixed.Repair()
	if n := len(again.Report.Repaired) - len(fixed.Report.Repaired); n != 0 || again.Hash() != fixed.Hash() {
		t.Errorf("%s: repairing again changes %d things: %v", name, n, again.Report.Repaired[len(fixed.Report.Repaired):])
	}
	if changed := fixed.Hash() != c.Hash(); changed != (len(fixed.Report.Repaired) > len(c.Report.Repaired)) {
		t.Errorf("%s: the list changed: %v; reported are %d changes", name, changed, len(fixed.Report.Repaired))
	}
}

// checkRepairs checks the contexts of a log at several leaves, in both dialects.
func checkRepairs(t *testing.T, name string, log []byte, r *rand.Rand, most int) {
	t.Helper()
	tree := readLog(t, log)
	if tree == nil {
		return
	}
	for _, leaf := range leaves(t, tree, r, most) {
		for _, d := range []modelcontext.Dialect{modelcontext.Pi, modelcontext.Omp} {
			c, err := modelcontext.Build(tree, leaf, &modelcontext.Options{Dialect: d})
			if err != nil {
				t.Fatalf("%s at %q: %v", name, leaf, err)
			}
			checkRepaired(t, name+" at "+string(leaf)+" as "+string(d), c)
		}
	}
}

// spoil does to a log what crashes, other programs and people do: it cuts the end,
// takes lines away, and doubles some.
func spoil(log []byte, r *rand.Rand) []byte {
	var out []byte
	for line := range bytes.Lines(log) {
		switch n := r.IntN(40); {
		case n == 0 && len(out) > 0:
		case n == 1:
			out = append(append(out, line...), line...)
		default:
			out = append(out, line...)
		}
	}
	if r.IntN(2) == 0 {
		out = out[:len(out)-r.IntN(min(len(out), 2000))]
	}
	return out
}

func TestRepairedContextsAreValid(t *testing.T) {
	t.Parallel()
	seeds := uint64(200)
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 11))
		opt := &sessgen.ContextOptions{Native: seed%3 == 0, Omp: seed%3 == 1}
		log := sessgen.ContextTree(r, 5+r.IntN(150), opt)
		checkRepairs(t, "sound log", log, r, 4)
		checkRepairs(t, "spoiled log", spoil(log, r), r, 3)
	}
}

func TestRepairedCorpusIsValid(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SESSCTL_CORPUS")
	if dir == "" {
		t.Skip("SESSCTL_CORPUS names no folder of other people's logs")
	}
	leaves := 3
	if testing.Short() {
		leaves = 1
	}
	for _, folder := range []string{"pi", "native", "odd"} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no logs in %s (%v)", folder, err)
		}
		for _, file := range files {
			log, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkRepairs(t, folder+"/"+filepath.Base(file), log, rand.New(rand.NewPCG(1, 12)), leaves)
		}
	}
}
