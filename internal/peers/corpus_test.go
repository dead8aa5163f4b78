package peers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/sessiontree"
)

// corpusFolders are those below SESSCTL_CORPUS whose logs pi may open.
var corpusFolders = []string{"pi", "native", "odd"}

// A deviation is a place where this reader means to differ from a peer: the
// heading of docs/interop.md, and what it turns this reader's answer into the
// peer's by.
type deviation struct {
	heading string
	adjust  func(*answer)
}

// corpusDeviations are those from pi 1.6.0, by file.
var corpusDeviations = map[string]deviation{
	"odd/cycle.jsonl": {"Cycles", func(a *answer) {
		cycle := []string{"e1", "e2", "e3"} // pi goes round it for ever
		a.Cyclic = []string{"e3"}
		for name, path := range a.Paths {
			a.Cyclic = append(a.Cyclic, name)
			a.Paths[name] = append(slices.Clone(cycle[len(path):]), path...)
		}
	}},
	"odd/json-but-not-object.jsonl": {"Values that are no objects", func(a *answer) {
		a.IDs = append([]string{"", "", "", ""}, a.IDs...) // [] 123 "str" true; null is not listed
	}},
	"odd/torn-middle.jsonl": {"A record behind a torn one", func(a *answer) {
		a.IDs = without(a.IDs, "e3")
		a.Path = []string{"e4"} // its parent e3 is lost
		a.Paths["e4"] = a.Path
	}},
}

// refused are the logs that pi does not open, and whether this reader does.
var refused = map[string]struct {
	heading string
	read    bool
}{
	"odd/header-not-first.jsonl":             {"A missing or late header", true},
	"odd/not-json.jsonl":                     {"", false},
	"odd/parallel-tools-artifact-fork.jsonl": {"", false}, // Claude Code's format
	"odd/real-rewind.jsonl":                  {"", false}, // the same
}

func without(list []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == id })
}

// corpus lists the logs of the corpus by their names in it.
func corpus(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = os.Getenv("SESSCTL_CORPUS")
	if dir == "" {
		t.Skip("SESSCTL_CORPUS names no folder of other people's logs")
	}
	for _, folder := range corpusFolders {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no logs in the corpus's %s (%v)", folder, err)
		}
		for _, f := range files {
			names = append(names, folder+"/"+filepath.Base(f))
		}
	}
	return dir, names
}

// TestCorpusLikePi compares every log of the corpus: entries, labels and name, and
// the paths of the leaf, of all branches' tips and of entries chosen at random.
func TestCorpusLikePi(t *testing.T) {
	installed(t)
	dir, names := corpus(t)
	var requests []request
	for _, name := range names {
		requests = append(requests, tipsRequest(t, filepath.Join(dir, name)))
	}
	for i, want := range pi.ask(t, requests) {
		if want.Error != "" {
			checkRefused(t, names[i], requests[i], want.Error)
			continue
		}
		if _, listed := refused[names[i]]; listed {
			t.Errorf("%s: pi opens it, want it refused", names[i])
		}
		compareCorpus(t, names[i], requests[i], want)
	}
}

// tipsRequest asks for the tips of this reader's branches and for some entries.
func tipsRequest(t *testing.T, file string) request {
	t.Helper()
	r := someRequest(t, file)
	tree, err := sessiontree.Read(file, nil)
	if err != nil || tree.Header().Version < 2 {
		return r
	}
	defer tree.Close()
	branches, err := tree.Branches()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range branches {
		r.Leaves = append(r.Leaves, string(b.Tip))
	}
	slices.Sort(r.Leaves)
	r.Leaves = slices.Compact(r.Leaves)
	return r
}

// someRequest asks for some entries, without asking this reader which; of version
// 1, by position.
func someRequest(t *testing.T, file string) request {
	t.Helper()
	tree, err := sessiontree.Read(file, nil)
	if err != nil {
		return request{File: file}
	}
	defer tree.Close()
	if tree.Header().Version >= 2 {
		return request{File: file, Leaves: chooseEntries(t, file, 0)}
	}
	n, err := tree.Len()
	if err != nil {
		t.Fatal(err)
	}
	return request{File: file, Positions: []int{0, n / 3, n / 2, n - 1}}
}

func checkRefused(t *testing.T, name string, r request, why string) {
	t.Helper()
	want, listed := refused[name]
	if !listed {
		t.Errorf("%s: pi does not open it: %s", name, why)
		return
	}
	tree, err := sessiontree.Read(r.File, nil)
	if err == nil {
		tree.Close()
	}
	if got := err == nil; got != want.read || !got && !errors.Is(err, sessiontree.ErrNoSession) {
		t.Errorf("%s: got error %v, want it read: %v", name, err, want.read)
	}
}

func compareCorpus(t *testing.T, name string, r request, peers answer) {
	t.Helper()
	got := wholeScan(t, r)
	fromEnd, _ := tailFirst(t, r, got.IDs)
	fromEnd.IDs = got.IDs
	if d, ok := corpusDeviations[name]; ok {
		if len(differences(got, peers)) == 0 {
			t.Errorf("%s: pi reads it as this reader does, want it to differ: %s", name, d.heading)
		}
		d.adjust(&got)
		d.adjust(&fromEnd)
	}
	if strings.HasPrefix(got.Leaf, "v1-") {
		got, fromEnd, peers = got.byPosition(), fromEnd.byPosition(), peers.byPosition()
	}
	for _, d := range differences(got, peers) {
		t.Errorf("%s: %s", name, d)
	}
	if fromEnd.Leaf != peers.Leaf {
		t.Errorf("%s: leaf, from the end: got %q, want %q", name, fromEnd.Leaf, peers.Leaf)
	}
	for _, d := range pathDifferences(fromEnd, peers) {
		t.Errorf("%s, from the end: %s", name, d)
	}
}
