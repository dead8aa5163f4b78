package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/internal/sessgen"
)

// A contextRequest asks what a model is sent at some entries of a log; see
// serve.mjs. Here asks for the log's own leaf: in version 1 nothing else can, since
// its ids are new at every opening.
type contextRequest struct {
	File     string   `json:"file"`
	Contexts []string `json:"contexts,omitempty"`
	Here     bool     `json:"here,omitempty"`
}

// A contextAnswer is what a peer makes of a log. Contexts holds one object for each
// entry that was asked for; that of the log's own leaf stands under "".
type contextAnswer struct {
	File     string
	Leaf     string
	Contexts map[string]peerContext
	Error    string
}

// A peerContext has the members that serve.mjs gives it. Where a peer has no such
// thing, or where it is undefined, the member is nil.
type peerContext struct {
	Messages           json.RawMessage
	LLM                json.RawMessage
	Model              json.RawMessage // pi
	Models             json.RawMessage // oh-my-pi, and what follows
	ThinkingLevel      json.RawMessage // both
	ConfiguredThinking json.RawMessage
	Mode, ModeData     json.RawMessage
	InjectedTtsrRules  json.RawMessage
	ServiceTier        json.RawMessage
	Rewind             json.RawMessage
	Error              string
}

// askContexts runs a peer on all requests, in one process.
func (p peer) askContexts(t *testing.T, requests []contextRequest) []contextAnswer {
	t.Helper()
	return contextAnswersIn(t, p.name, runPeer(t, p, requests), len(requests))
}

func contextAnswersIn(t *testing.T, name, file string, want int) []contextAnswer {
	t.Helper()
	out, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []contextAnswer
	for line := range bytes.Lines(out) {
		a, err := readContextAnswer(line)
		if err != nil {
			t.Fatalf("%s: answer %d: %v\n%.200s", name, len(list), err, line)
		}
		list = append(list, a)
	}
	if len(list) != want {
		t.Fatalf("%s: got %d answers, want %d", name, len(list), want)
	}
	return list
}

// readContextAnswer does without encoding/json, which reads no more than 10,000
// levels: contexts may be deeper.
func readContextAnswer(line []byte) (contextAnswer, error) {
	a := contextAnswer{Contexts: map[string]peerContext{}}
	var inner error
	err := jsonvalue.Members(bytes.TrimSpace(line), func(name string, value []byte) {
		switch name {
		case "file":
			a.File = jsonvalue.String(value)
		case "leaf":
			a.Leaf = jsonvalue.String(value)
		case "error":
			a.Error = jsonvalue.String(value)
		case "contexts":
			inner = jsonvalue.Members(value, func(leaf string, value []byte) {
				a.Contexts[leaf] = readPeerContext(value)
			})
		}
	})
	if err == nil {
		err = inner
	}
	return a, err
}

func readPeerContext(value []byte) (c peerContext) {
	members := map[string]*json.RawMessage{
		"messages": &c.Messages, "llm": &c.LLM, "model": &c.Model, "models": &c.Models, "thinkingLevel": &c.ThinkingLevel,
		"configuredThinkingLevel": &c.ConfiguredThinking, "mode": &c.Mode, "modeData": &c.ModeData,
		"injectedTtsrRules": &c.InjectedTtsrRules, "serviceTier": &c.ServiceTier, "rewind": &c.Rewind,
	}
	err := jsonvalue.Members(value, func(name string, value []byte) {
		if name == "error" {
			c.Error = jsonvalue.String(value)
		}
		if at := members[name]; at != nil {
			*at = bytes.Clone(value)
		}
	})
	if err != nil {
		c.Error = err.Error()
	}
	return c
}

const (
	piContextTrees     = 500
	ompContextTreeSize = 150
	largestContextTree = 400
)

// A contextTree is a log for contexts, decided by its seed.
type contextTree struct {
	seed    uint64
	entries int
	opt     sessgen.ContextOptions
}

// contextTrees are pi's and native logs: of ten, four are native, and one each has
// version 1 and 2.
func contextTrees() []contextTree {
	var list []contextTree
	for seed := uint64(1); seed <= piContextTrees; seed++ {
		g := contextTreeOf(seed)
		switch n := seed % 10; n {
		case 1, 2:
			g.opt.Version = int(n)
		case 3, 5, 7, 9:
			g.opt.Native = true
		}
		list = append(list, g)
	}
	return list
}

// ompContextTrees are oh-my-pi's logs.
func ompContextTrees() []contextTree {
	var list []contextTree
	for seed := uint64(1); seed <= ompContextTreeSize; seed++ {
		g := contextTreeOf(100_000 + seed)
		g.opt.Omp = true
		list = append(list, g)
	}
	return list
}

// contextTreeOf spreads the sizes evenly over their logarithm.
func contextTreeOf(seed uint64) contextTree {
	r := rand.New(rand.NewPCG(seed, 3))
	size := math.Exp(r.Float64() * math.Log(largestContextTree))
	return contextTree{seed: seed, entries: max(int(size+0.5), 1)}
}

func (g contextTree) String() string {
	return fmt.Sprintf("context tree %d (%d entries, %+v)", g.seed, g.entries, g.opt)
}

func (g contextTree) log() []byte {
	return sessgen.ContextTree(rand.New(rand.NewPCG(g.seed, 4)), g.entries, &g.opt)
}

// request writes the log and asks for the contexts of its leaf and of up to two
// other tips and two entries anywhere.
func (g contextTree) request(t *testing.T, dir string) contextRequest {
	t.Helper()
	file := writeTree(t, dir, g.seed, g.log())
	q := contextRequest{File: file, Here: true}
	if g.opt.Version != 1 {
		q.Contexts = contextEntries(t, file, g.seed)
	}
	return q
}

func contextEntries(t *testing.T, file string, seed uint64) []string {
	t.Helper()
	all, inner := entriesOf(t, file)
	tips := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return inner[id] })
	r := rand.New(rand.NewPCG(seed, 5))
	var chosen []string
	for range 2 {
		chosen = append(chosen, tips[r.IntN(len(tips))], all[r.IntN(len(all))])
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// contextRequests writes the logs to a folder of the test's.
func contextRequests(t *testing.T, trees []contextTree) []contextRequest {
	t.Helper()
	dir := t.TempDir()
	var list []contextRequest
	for _, g := range trees {
		list = append(list, g.request(t, dir))
	}
	return list
}

// TestPeersAnswerContextTrees demands that pi takes all generated logs, and has
// messages for most entries: a log that it does not take compares nothing.
func TestPeersAnswerContextTrees(t *testing.T) {
	installed(t)
	checkContextAnswers(t, pi, contextTrees())
	if os.Getenv("OMP") != "" {
		checkContextAnswers(t, omp, ompContextTrees())
	}
}

func checkContextAnswers(t *testing.T, p peer, trees []contextTree) {
	t.Helper()
	requests := contextRequests(t, trees)
	empty, all := 0, 0
	for i, a := range p.askContexts(t, requests) {
		if a.Error != "" || len(a.Contexts) != len(requests[i].Contexts)+1 {
			t.Errorf("%s, %s: got %d contexts and error %q", p.name, trees[i], len(a.Contexts), a.Error)
		}
		for leaf, c := range a.Contexts {
			if all++; string(c.LLM) == "[]" {
				empty++
			}
			if c.Error != "" {
				t.Errorf("%s, %s at %q: %s", p.name, trees[i], leaf, c.Error)
			}
		}
	}
	if empty > all/4 {
		t.Errorf("%s: got no messages at %d of %d entries", p.name, empty, all)
	}
}

// TestCyclesHaveNoContext: pi would walk for ever.
func TestCyclesHaveNoContext(t *testing.T) {
	installed(t)
	file := filepath.Join(t.TempDir(), "cycle.jsonl")
	log := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/srv"}
{"type":"custom","customType":"x","id":"a","parentId":"b","timestamp":"2026-01-05T09:00:00.000Z"}
{"type":"custom","customType":"x","id":"b","parentId":"a","timestamp":"2026-01-05T09:00:00.000Z"}
`
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	a := pi.askContexts(t, []contextRequest{{File: file, Contexts: []string{"a"}, Here: true}})[0]
	if a.Contexts[""].Error != "cyclic" || a.Contexts["a"].Error != "cyclic" {
		t.Errorf("got %+v, want errors that say cyclic", a)
	}
}
