package modelcontext_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
)

// build gives the context at a leaf, with the settings of the whole path.
func build(t testing.TB, tree *sessiontree.Tree, leaf entries.ID) *modelcontext.Context {
	t.Helper()
	c, err := modelcontext.Build(tree, leaf, &modelcontext.Options{Lookback: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// same tells whether two contexts are one: messages, settings, and what was left out.
func same(t *testing.T, what string, a, b *modelcontext.Context) {
	t.Helper()
	if a.Hash() != b.Hash() {
		t.Fatalf("%s: %d messages against %d, with other bytes", what, len(a.Messages), len(b.Messages))
	}
	if x, y := fmt.Sprintf("%+v", a.Settings), fmt.Sprintf("%+v", b.Settings); x != y {
		t.Fatalf("%s: settings %s against %s", what, x, y)
	}
	if x, y := fmt.Sprint(a.Report.Dropped), fmt.Sprint(b.Report.Dropped); x != y {
		t.Fatalf("%s: left out are %s against %s", what, x, y)
	}
}

// A life is a session on which operations are tried at random.
type life struct {
	t    *testing.T
	r    *rand.Rand
	s    *sessiontree.Session
	path string
	all  []entries.ID
	call string // the latest call without a result
}

func newLife(t *testing.T, seed uint64) *life {
	t.Helper()
	opt := &sessiontree.Options{Sync: sessiontree.SyncNever}
	s, err := sessiontree.Create(t.TempDir(), entries.Header{Cwd: "/p", Records: []string{entries.CustomToolExecutionStart}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return &life{t: t, r: rand.New(rand.NewPCG(seed, 21)), s: s, path: s.Path()}
}

func (l *life) append(drafts ...entries.Draft) {
	l.t.Helper()
	done, err := l.s.Append(context.Background(), drafts...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.all = append(l.all, done.IDs...)
}

func (l *life) any() entries.ID { return l.all[l.r.IntN(len(l.all))] }

func (l *life) text() json.RawMessage {
	return entries.TextBlock([]string{"look", "é 🎉", "a\u2028b", " ", "done"}[l.r.IntN(5)])
}

// step does one thing that a harness, a model, or a person does.
func (l *life) step() {
	l.t.Helper()
	ctx := context.Background()
	switch n := l.r.IntN(16); {
	case n < 3 || len(l.all) == 0:
		l.append(entries.UserMessage("go on"))
	case n < 6:
		l.answer()
	case n < 8:
		l.append(entries.ToolResult(l.call, "bash", []json.RawMessage{l.text()}, l.r.IntN(4) == 0, nil))
	case n == 8:
		l.append(entries.CompactionDraft("so far", l.any(), 1000, nil))
	case n == 9:
		_, err := l.s.MoveLeaf(ctx, l.any(), sessiontree.ReasonCheckout)
		l.check(err)
	case n == 10:
		_, err := l.s.MoveLeafWithSummary(ctx, l.any(), "left that")
		l.check(err)
	case n == 11:
		l.append(entries.Raw(json.RawMessage(fmt.Sprintf(`{"type":"context_edit","targetId":%q,"replacement":%s}`,
			l.any(), []string{"null", `{"content":"other"}`}[l.r.IntN(2)]))))
	case n == 12:
		l.rewind(ctx)
	case n == 13:
		l.append(entries.ThinkingLevelDraft([]string{"low", "high"}[l.r.IntN(2)]), entries.ModelChangeDraft("acme", "m2"))
	case n == 14:
		l.append(entries.LabelDraft(l.any(), "here"), entries.CustomMessageDraft("note", json.RawMessage(`"mind the gap"`), false, nil))
	default:
		l.fork(ctx)
	}
}

func (l *life) check(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// answer is a model's, with a call or two, or one that was cut off.
func (l *life) answer() {
	l.t.Helper()
	l.call = fmt.Sprintf("call_%d", len(l.all))
	content := []json.RawMessage{entries.ThinkingBlock("hm", "c2ln"), l.text()}
	stop := []string{"stop", "toolUse", "toolUse", "aborted", "error"}[l.r.IntN(5)]
	if stop != "stop" {
		content = append(content, entries.ToolCallBlock(l.call, "bash", json.RawMessage(`{"command":"ls"}`)))
	}
	l.append(entries.AssistantMessage(entries.Assistant{Content: content, API: "a", Provider: "acme", Model: "m1", StopReason: stop,
		Usage: entries.Tokens{Input: 100, Output: 10}}))
	if l.r.IntN(3) == 0 {
		l.append(entries.CustomDraft(entries.CustomToolExecutionStart, json.RawMessage(`{"toolCallId":"`+l.call+`"}`)))
	}
}

// rewind goes back to an entry with a summary and a hidden report, in one batch. The
// bytes of the context up to there stay what they were there.
func (l *life) rewind(ctx context.Context) {
	l.t.Helper()
	to := l.any()
	tree := l.tree()
	before := build(l.t, tree, to)
	done, err := l.s.AppendTo(ctx, to, entries.BranchSummaryDraft(tree.Leaf(), "nothing found", nil),
		entries.CustomMessageDraft(entries.CustomRewindReport, json.RawMessage(`"the report"`), false, nil))
	l.check(err)
	_, err = l.s.MoveLeaf(ctx, done.IDs[len(done.IDs)-1], sessiontree.ReasonCheckout)
	l.check(err)
	l.all = append(l.all, done.IDs...)
	after := build(l.t, l.tree(), l.tree().Leaf())
	if len(after.Messages) != len(before.Messages)+2 {
		l.t.Fatalf("got %d messages after a rewind to where there were %d", len(after.Messages), len(before.Messages))
	}
	for i, m := range before.Messages {
		if !bytes.Equal(m.Raw, after.Messages[i].Raw) {
			l.t.Fatalf("message %d changed by a rewind", i)
		}
	}
}

// fork copies the path: the fork's context has the same bytes.
func (l *life) fork(ctx context.Context) {
	l.t.Helper()
	tree := l.tree()
	f, err := sessiontree.Fork(ctx, tree, "", l.t.TempDir(), entries.Header{}, nil)
	l.check(err)
	defer f.Close()
	forked, err := f.Tree()
	l.check(err)
	want, got := build(l.t, tree, tree.Leaf()), build(l.t, forked, forked.Leaf())
	if want.Hash() != got.Hash() {
		l.t.Fatalf("a fork has another context: %d messages against %d", len(got.Messages), len(want.Messages))
	}
}

func (l *life) tree() *sessiontree.Tree {
	l.t.Helper()
	tree, err := l.s.Tree()
	l.check(err)
	return tree
}

func (l *life) read() *sessiontree.Tree {
	l.t.Helper()
	tree, err := sessiontree.Read(l.path, nil)
	l.check(err)
	l.t.Cleanup(func() { tree.Close() })
	return tree
}

// compare demands that the live session, the file read from its end up, and the file
// read as a whole give one context, and that its repair is valid.
func (l *life) compare() {
	l.t.Helper()
	live := l.tree()
	leaf := live.Leaf()
	if len(l.all) > 0 && l.r.IntN(3) == 0 {
		leaf = l.any()
	}
	want := build(l.t, live, leaf)
	tail, whole := l.read(), l.read()
	l.check(whole.Scan())
	same(l.t, "from the end up", build(l.t, tail, leaf), want)
	same(l.t, "after a whole scan", build(l.t, whole, leaf), want)
	checkRepaired(l.t, "live", want)
}

// crash cuts the log somewhere in its last bytes, as a crash would, and goes on with
// what is left.
func (l *life) crash() {
	l.t.Helper()
	l.check(l.s.Close())
	log, err := os.ReadFile(l.path)
	l.check(err)
	head := bytes.IndexByte(log, '\n') + 1
	cut := len(log) - l.r.IntN(min(len(log)-head, 900)+1)
	l.path = filepath.Join(l.t.TempDir(), "session.jsonl")
	l.check(os.WriteFile(l.path, log[:cut], 0o600))
	old := time.Now().Add(-time.Hour) // nobody is writing to it
	l.check(os.Chtimes(l.path, old, old))
	l.s, err = sessiontree.Open(l.path, &sessiontree.Options{Sync: sessiontree.SyncNever})
	l.check(err)
	l.all = nil
	for e, err := range l.read().Entries() {
		l.check(err)
		l.all = append(l.all, e.ID)
	}
}

func TestContextsOfRandomLives(t *testing.T) {
	t.Parallel()
	seeds := uint64(40)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newLife(t, seed)
			for n := range 60 {
				l.step()
				if n%3 == 0 {
					l.compare()
				}
				if n == 25 || n == 45 {
					l.crash()
					l.compare()
				}
			}
			l.check(l.s.Close())
		})
	}
}

// TestContextIsThePathAlone takes away what is not on a path, and shuffles the lines
// so that parents still come before their children: the context stays.
func TestContextIsThePathAlone(t *testing.T) {
	t.Parallel()
	seeds := uint64(120)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 22))
		log := sessgen.ContextTree(r, 5+r.IntN(120), &sessgen.ContextOptions{Omp: seed%4 == 0})
		tree := readLog(t, log)
		for _, leaf := range leaves(t, tree, r, 4) {
			want := build(t, tree, leaf)
			same(t, fmt.Sprintf("seed %d at %s, the path alone", seed, leaf), build(t, readLog(t, pathAlone(t, tree, log, leaf)), leaf), want)
			same(t, fmt.Sprintf("seed %d at %s, shuffled", seed, leaf), build(t, readLog(t, shuffled(t, tree, log, r)), leaf), want)
		}
	}
}

// preamble gives the lines before the first entry.
func preamble(t *testing.T, tree *sessiontree.Tree, log []byte) []byte {
	t.Helper()
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(log[:e.Offset])
	}
	return bytes.Clone(log)
}

func line(t *testing.T, e entries.Entry) []byte {
	t.Helper()
	raw, err := e.Raw()
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

func pathAlone(t *testing.T, tree *sessiontree.Tree, log []byte, leaf entries.ID) []byte {
	t.Helper()
	out := preamble(t, tree, log)
	for e, err := range tree.Path(leaf) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line(t, e)...)
	}
	return out
}

// shuffled writes the entries in another order: of those whose parents are written,
// any may be next.
func shuffled(t *testing.T, tree *sessiontree.Tree, log []byte, r *rand.Rand) []byte {
	t.Helper()
	out := preamble(t, tree, log)
	ready, err := tree.Roots()
	for len(ready) > 0 && err == nil {
		n := r.IntN(len(ready))
		id := ready[n]
		ready = append(ready[:n:n], ready[n+1:]...)
		e, err := tree.Entry(id)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, line(t, e)...)
		kids, err := tree.Children(id)
		if err != nil {
			t.Fatal(err)
		}
		ready = append(ready, kids...)
	}
	return out
}
