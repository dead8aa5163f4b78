package modelcontext_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Inputs that once went wrong, each with what is right.

func promisingHeader() string {
	return strings.Replace(piHeader, `"cwd"`, `"format":"sessiontree/1","records":["tool_execution_start"],"cwd"`, 1)
}

// states gives the states of pending calls at a leaf.
func states(t *testing.T, tree *sessiontree.Tree, leaf entries.ID) (list []modelcontext.CallState) {
	t.Helper()
	pending, err := modelcontext.PendingCalls(tree, leaf)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pending {
		list = append(list, p.State)
	}
	return list
}

// TestNeverStartedIsNotGuessed: a start that stands on another branch, or that may have
// stood where the log is damaged or was not copied, is none that never was.
func TestNeverStartedIsNotGuessed(t *testing.T) {
	dir := t.TempDir()
	s, err := sessiontree.Create(dir, entries.Header{Cwd: "/p", Records: []string{entries.CustomToolExecutionStart}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	done, err := s.Append(ctx, entries.UserMessage("clean up"), entries.AssistantMessage(entries.Assistant{
		Content: []json.RawMessage{entries.ToolCallBlock("c1", "bash", json.RawMessage(`{"command":"rm -rf build"}`))}, StopReason: "toolUse",
	}))
	if err != nil {
		t.Fatal(err)
	}
	answer := done.Leaf
	check := func(what string, tree *sessiontree.Tree, leaf entries.ID, want modelcontext.CallState) {
		t.Helper()
		if got := states(t, tree, leaf); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %v, want %s", what, got, want)
		}
	}
	live := func() *sessiontree.Tree {
		tree, err := s.Tree()
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	check("nothing has followed", live(), answer, modelcontext.NeverStarted)
	if done, err = s.Append(ctx, entries.ToolExecutionStart("c1", "bash")); err != nil {
		t.Fatal(err)
	}
	check("it was started", live(), done.Leaf, modelcontext.MayHaveRun)
	check("seen from the answer alone", live(), answer, modelcontext.Interrupted)
	if done, err = s.MoveLeaf(ctx, answer, sessiontree.ReasonCheckout); err != nil {
		t.Fatal(err)
	}
	check("the leaf was moved back", live(), done.Leaf, modelcontext.Interrupted)
	f, err := sessiontree.Fork(ctx, live(), answer, t.TempDir(), entries.Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	forked, err := f.Tree()
	if err != nil {
		t.Fatal(err)
	}
	check("a fork at the answer", forked, forked.Leaf(), modelcontext.Interrupted)

	lines := []string{promisingHeader(), user("a", "", "1"), assistant("b", "a", call("1"), "toolUse"), `{"type":"custom","id":"c","parentId":"b","custo`}
	damaged := readLog(t, logOf(lines...))
	check("the last line is damaged", damaged, damaged.Leaf(), modelcontext.Interrupted)
}

// TestPendingCallsEndAtAReset: what the user cleared is not to be answered any more.
func TestPendingCallsEndAtAReset(t *testing.T) {
	tree := readLog(t, logOf(ompHeader, user("a", "", "1"), assistant("b", "a", call("1"), "toolUse"), entry("reset_boundary", "r", "b", `"x":1`), user("c", "r", "2")))
	if got := states(t, tree, tree.Leaf()); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
	tree = readLog(t, logOf(ompHeader, user("a", "", "1"), assistant("b", "a", call("1"), "toolUse")))
	if got := states(t, tree, tree.Leaf()); len(got) != 1 {
		t.Errorf("without a reset: got %v, want the call", got)
	}
}

func TestRepairOfOddLists(t *testing.T) {
	swapped := []string{user("a", "", "1"),
		assistant("b", "a", `{"type":"toolCall","id":"\ud800","name":"read","arguments":{"path":"A"}},{"type":"toolCall","id":"\ud801","name":"read","arguments":{"path":"B"}}`, "toolUse"),
		entry("message", "c", "b", `"message":{"role":"toolResult","toolCallId":"\ud801","toolName":"read","content":[{"type":"text","text":"of B"}]}`),
		entry("message", "d", "c", `"message":{"role":"toolResult","toolCallId":"\ud800","toolName":"read","content":[{"type":"text","text":"of A"}]}`)}
	c := contextOf(t, nil, append([]string{piHeader}, swapped...)...)
	checkRepaired(t, "ids that are half a pair", c)
	fixed := c.Repair().Messages
	if a, b := string(fixed[2].Raw), string(fixed[3].Raw); !strings.Contains(a, "of A") || !strings.Contains(b, "of B") {
		t.Errorf("results of ids that differ in half a pair: got %s and %s", a, b)
	}
	for name, blocks := range map[string]string{
		"a call that says it is redacted": call("x") + `,{"type":"toolCall","id":"x","name":"a","arguments":{},"redacted":true}`,
		"redacted thinking without data":  `{"type":"redactedThinking"},` + hi,
	} {
		checkRepaired(t, name, contextOf(t, nil, piHeader, user("a", "", "1"), assistant("b", "a", blocks, "toolUse")))
	}
	bare := contextOf(t, nil, piHeader, entry("message", "s", "", `"message":{"role":"system","content":"","sections":{},"toolsAdded":[]}`), user("a", "s", "1")).Repair()
	if shape(bare) != "a:user" {
		t.Errorf("a system message of nothing: got %s", shape(bare))
	}
	broken := strings.ReplaceAll(png, "AAAA", `AAAA\n`)
	lined := contextOf(t, nil, piHeader, entry("message", "a", "", `"message":{"role":"user","content":[`+hi+`,{"type":"image","data":"`+broken+`","mimeType":"image/png"}]}`)).Repair()
	if !strings.Contains(string(lined.Messages[0].Raw), png) {
		t.Errorf("base64 with line breaks: got %s", lined.Messages[0].Raw)
	}
}

// TestApplyKeepsWhoSpeaksFirst: in omp's dialect a custom message with an image is the
// user's, and without it the developer's.
func TestApplyKeepsWhoSpeaksFirst(t *testing.T) {
	c := contextOf(t, nil, ompHeader, entry("custom_message", "a", "", `"customType":"n","content":[{"type":"image","data":"`+png+`","mimeType":"image/png"}],"display":true`),
		assistant("b", "a", hi, "stop")).Repair()
	got := c.Apply(modelcontext.Policy{NoImages: true})
	if found := checkProvider(rawMessages(got.Render()), nil); len(found) > 0 {
		t.Errorf("got %v in %s", found, shape(got))
	}
}

// TestOnlyMasksAreMasks: a tool cannot keep its output by how that begins.
func TestOnlyMasksAreMasks(t *testing.T) {
	long := "[result left out: see below]\n" + strings.Repeat("X", 5000) + " bytes]"
	c := contextOf(t, nil, piHeader, user("a", "", "1"), assistant("b", "a", call("1"), "toolUse"), result("c", "b", "1", long), user("d", "c", "2"))
	if got := c.Apply(modelcontext.Policy{MaskResults: true, KeepTurns: 1}); len(got.Messages[2].Raw) > 500 {
		t.Errorf("got %d bytes", len(got.Messages[2].Raw))
	}
}

func TestHashTellsDialects(t *testing.T) {
	lines := []string{piHeader, user("a", "", "1"), entry("branch_summary", "b", "a", `"summary":"s","fromId":"x"`)}
	if contextOf(t, nil, lines...).Hash() == contextOf(t, &modelcontext.Options{Dialect: modelcontext.Omp}, lines...).Hash() {
		t.Error("two dialects, which are rendered otherwise, have one hash")
	}
}

func TestBlobReferencesOfAnyForm(t *testing.T) {
	reads := 0
	blob := func(string) ([]byte, error) { reads++; return []byte("hello"), nil }
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	image := func(reference string) string {
		return `{"type":"image","data": "blob:sha256:` + reference + `","mimeType":"image/png"}`
	}
	c := contextOf(t, &modelcontext.Options{Blob: blob}, ompHeader, entry("message", "a", "", `"message":{"role":"user","content":[`+image(sum)+","+image(sum)+","+image("../../x")+","+image(strings.ToUpper(sum))+`]}`))
	if got := string(c.Messages[0].Raw); strings.Count(got, `"aGVsbG8="`) != 2 || reads != 1 || reasons(c) != "a:missing-blob a:missing-blob" {
		t.Errorf("got %s (%s), %d reads", got, reasons(c), reads)
	}
}

// TestLargeLists would take many minutes if a step were quadratic, and then end by the
// test binary's own limit.
func TestLargeLists(t *testing.T) {
	n := 30_000
	if testing.Short() {
		n = 3000
	}
	var calls, thoughts []string
	turn := []string{piHeader, user("u", "", "1")}
	parent := "u"
	for i := range n {
		calls = append(calls, call(fmt.Sprint("c", i)))
		thoughts = append(thoughts, signed)
		if i < n/3 { // ids that begin anew in each turn
			a, r := fmt.Sprint("a", i), fmt.Sprint("r", i)
			turn = append(turn, assistant(a, parent, call("call_0"), "toolUse"), result(r, a, "call_0", "x"))
			parent = r
		}
	}
	for name, lines := range map[string][]string{
		"calls of one answer":      {piHeader, user("a", "", "1"), assistant("b", "a", strings.Join(calls, ","), "toolUse")},
		"calls without ids":        {piHeader, user("a", "", "1"), assistant("b", "a", strings.Repeat(call("")+",", n)+hi, "toolUse")},
		"thoughts at the end":      {piHeader, user("a", "", "1"), assistant("b", "a", hi+","+strings.Join(thoughts, ","), "stop")},
		"the same id every turn":   turn,
		"tools of a system prompt": {piHeader, entry("message", "s", "", `"message":{"role":"system","content":"x","toolsAdded":[`+manyTools(n)+`]}`)},
	} {
		c := contextOf(t, nil, lines...)
		if len(c.Repair().Messages) == 0 {
			t.Errorf("%s: nothing is left", name)
		}
		if tools := c.System().Tools; strings.HasPrefix(name, "tools") && len(tools) != n {
			t.Errorf("%s: got %d tools, want %d", name, len(tools), n)
		}
	}
}

func manyTools(n int) string {
	var tools []string
	for i := range n {
		tools = append(tools, fmt.Sprintf(`{"name":"tool%d"}`, i))
	}
	return strings.Join(tools, ",")
}
