package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// ourContext is this library's context in the form of a peer's.
func ourContext(t *testing.T, tree *sessiontree.Tree, leaf string, d modelcontext.Dialect) peerContext {
	t.Helper()
	at := entries.ID(leaf)
	if leaf == "" {
		at = tree.Leaf()
	}
	c, err := modelcontext.Build(tree, at, &modelcontext.Options{Dialect: d, Lookback: -1})
	if err != nil {
		return peerContext{Error: err.Error()}
	}
	if !c.Complete {
		t.Errorf("%s at %s: the settings are not complete, with the whole log to look at", tree.File(), leaf)
	}
	out := peerContext{Messages: arrayOfMessages(c.Messages), LLM: arrayOfMessages(c.Render()), ThinkingLevel: jsonOf(c.Thinking)}
	if c.Dialect == modelcontext.Omp {
		ompSettings(&out, c)
		out.Model = json.RawMessage("null") // oh-my-pi has models by role
		return out
	}
	out.Model = modelJSON(c.Model.Provider, c.Model.ID)
	return out
}

func modelJSON(provider, id string) json.RawMessage {
	if provider == "" && id == "" {
		return json.RawMessage("null")
	}
	return jsonOf([]string{provider, id})
}

// typed gives a peer's settings as this library has them: what should be text and is
// not is empty. docs/context.md, "Settings".
func (c peerContext) typed() peerContext {
	c.ThinkingLevel = jsonOf(jsonvalue.String(c.ThinkingLevel))
	c.Model = modelJSON(jsonvalue.String(jsonvalue.Get(c.Model, "provider")), jsonvalue.String(jsonvalue.Get(c.Model, "modelId")))
	return c
}

func ompSettings(out *peerContext, c *modelcontext.Context) {
	models, rules := c.Models, c.InjectedRules
	if models == nil {
		models = map[string]string{}
	}
	if rules == nil {
		rules = []string{}
	}
	out.Models, out.InjectedTtsrRules, out.Mode = jsonOf(models), jsonOf(rules), jsonOf(c.Mode)
	if c.Configured != "" {
		out.ConfiguredThinking = jsonOf(c.Configured)
	}
	out.ModeData = c.ModeData
}

func jsonOf(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings
	}
	return raw
}

func arrayOfMessages(list []modelcontext.Message) json.RawMessage {
	out := []byte{'['}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, m.Raw...)
	}
	return append(out, ']')
}

// contextDifferences says where two contexts are not the same.
func contextDifferences(got, want peerContext) (list []string) {
	if got.Error != want.Error {
		return []string{fmt.Sprintf("error: got %q, want %q", got.Error, want.Error)}
	}
	for _, part := range []struct {
		name      string
		got, want json.RawMessage
	}{
		{"messages", got.Messages, want.Messages}, {"rendered", got.LLM, want.LLM}, {"model", got.Model, want.Model},
		{"models", got.Models, want.Models}, {"thinking level", got.ThinkingLevel, want.ThinkingLevel},
		{"configured level", got.ConfiguredThinking, want.ConfiguredThinking}, {"mode", got.Mode, want.Mode},
		{"mode's data", got.ModeData, want.ModeData}, {"rules", got.InjectedTtsrRules, want.InjectedTtsrRules},
	} {
		if d := differentJSON(orNull(part.got), orNull(part.want)); d != "" {
			list = append(list, part.name+": "+d)
		}
	}
	return list
}

func orNull(raw json.RawMessage) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// compareContexts compares all contexts of an answer: as they are built from the
// log's end up, each with a tree of its own, and after a whole scan.
func compareContexts(t *testing.T, name string, d modelcontext.Dialect, a contextAnswer, file string) (compared int) {
	t.Helper()
	whole := read(t, file)
	if err := whole.Scan(); err != nil {
		t.Fatal(err)
	}
	for leaf, want := range a.Contexts {
		if want.Error != "" {
			t.Errorf("%s at %q: the peer fails: %s", name, leaf, want.Error)
			continue
		}
		scanned := ourContext(t, whole, leaf, d)
		for _, diff := range contextDifferences(scanned, want.typed()) {
			t.Errorf("%s at %q: %s", name, leaf, diff)
		}
		if compared++; compared < mostFromEnd {
			compareFromEnd(t, name, d, leaf, file, scanned)
		}
	}
	return compared
}

// mostFromEnd is how many contexts of a log are built from its end up, too.
const mostFromEnd = 100

func compareFromEnd(t *testing.T, name string, d modelcontext.Dialect, leaf, file string, scanned peerContext) {
	t.Helper()
	tree := read(t, file)
	defer tree.Close()
	tail := ourContext(t, tree, leaf, d)
	if !bytes.Equal(tail.Messages, scanned.Messages) || !bytes.Equal(tail.LLM, scanned.LLM) {
		t.Errorf("%s at %q: from the end up the context is another one", name, leaf)
	}
}

// TestContextsLikePi compares the contexts of generated logs.
func TestContextsLikePi(t *testing.T) {
	installed(t)
	trees := contextTrees()
	requests := contextRequests(t, trees)
	n := 0
	for i, a := range pi.askContexts(t, requests) {
		n += compareContexts(t, trees[i].String(), modelcontext.Pi, a, requests[i].File)
	}
	if n < 3*len(trees) {
		t.Errorf("only %d contexts were compared", n)
	}
}

// contextDeviations are the logs of the corpus of whose contexts docs/context.md says
// that they differ.
var contextDeviations = map[string]string{
	"odd/cycle.jsonl":       "pi goes round it for ever",
	"odd/torn-middle.jsonl": "pi loses the record behind a torn one, and with it what is above",
}

// TestCorpusContextsLikePi compares the contexts of every branch of the corpus' logs.
func TestCorpusContextsLikePi(t *testing.T) {
	dir, names := corpus(t)
	installed(t)
	requests := corpusContexts(t, dir, names)
	n := 0
	for i, a := range pi.askContexts(t, requests) {
		switch {
		case a.Error != "":
			if _, known := refused[names[i]]; !known {
				t.Errorf("%s: pi does not open it: %s", names[i], a.Error)
			}
		case contextDeviations[names[i]] != "":
		default:
			n += compareContexts(t, names[i], modelcontext.Pi, a, requests[i].File)
		}
	}
	if n < 8000 { // one log alone has 8,000 branches
		t.Errorf("only %d contexts were compared", n)
	}
}

// corpusContexts asks for the contexts of the leaf and of every branch's tip.
func corpusContexts(t *testing.T, dir string, names []string) []contextRequest {
	t.Helper()
	var list []contextRequest
	for _, name := range names {
		q := contextRequest{File: filepath.Join(dir, name), Here: true}
		q.Contexts = branchTips(t, q.File)
		list = append(list, q)
	}
	return list
}

// branchTips lists the tips of a log's branches; none where it is of version 1, whose
// ids are made up, or no log.
func branchTips(t *testing.T, file string) (tips []string) {
	t.Helper()
	tree, err := sessiontree.Read(file, nil)
	if errors.Is(err, sessiontree.ErrNoSession) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	branches, err := tree.Branches()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range branches {
		if !strings.HasPrefix(string(b.Tip), "v1-") {
			tips = append(tips, string(b.Tip))
		}
	}
	return tips
}

// TestContextsLikeOmp compares with oh-my-pi itself: its own logs, generated ones,
// and, with its dialect forced on them, the corpus.
func TestContextsLikeOmp(t *testing.T) {
	if os.Getenv("OMP") == "" {
		t.Skip("OMP=1 runs oh-my-pi, after internal/peers/install omp")
	}
	for _, s := range ompContextSubjects(t) {
		a := omp.askContexts(t, s.requests)
		for i := range a {
			if a[i].Error != "" || ompContextDeviations[s.names[i]] != "" {
				continue
			}
			if s.foreign {
				maps.DeleteFunc(a[i].Contexts, func(_ string, c peerContext) bool { return c.Error != "" })
			}
			compareContexts(t, s.names[i], modelcontext.Omp, a[i], s.requests[i].File)
		}
	}
}

// ompContextDeviations are logs of whose contexts docs/context.md says that they
// differ from oh-my-pi's.
var ompContextDeviations = map[string]string{
	"odd/cycle.jsonl":       "omp's walk ends where it comes to an entry again",
	"odd/torn-middle.jsonl": "omp loses the record behind a torn one",
}

type contextSubjects struct {
	names    []string
	requests []contextRequest
	foreign  bool // logs of pi's, of which some make oh-my-pi fail
}

func ompContextSubjects(t *testing.T) (list []contextSubjects) {
	t.Helper()
	var own contextSubjects
	for _, file := range ompLogs(t) {
		own.names = append(own.names, "omp/"+filepath.Base(file))
		own.requests = append(own.requests, contextRequest{File: file, Here: true, Contexts: branchTips(t, file)})
	}
	trees := ompContextTrees()
	generated := contextSubjects{requests: contextRequests(t, trees)}
	for _, g := range trees {
		generated.names = append(generated.names, g.String())
	}
	list = append(list, own, generated, foreignContexts(t))
	if os.Getenv("SESSCTL_CORPUS") != "" {
		dir, names := corpus(t)
		list = append(list, contextSubjects{names: names, requests: corpusContexts(t, dir, names)})
	}
	return list
}

// foreignContexts are generated logs of pi's, read in oh-my-pi's dialect.
func foreignContexts(t *testing.T) contextSubjects {
	t.Helper()
	const most = 60
	trees := contextTrees()[:most]
	s := contextSubjects{requests: contextRequests(t, trees), foreign: true}
	for _, g := range trees {
		s.names = append(s.names, "pi's "+g.String())
	}
	return s
}
