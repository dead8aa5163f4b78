package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

// A desk is a workspace and a directory of sessions.
type desk struct {
	t        *testing.T
	sessions string
	out      bytes.Buffer
}

func newDesk(t *testing.T) *desk {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return &desk{t: t, sessions: t.TempDir()}
}

// log finds the only session.
func (d *desk) log() string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.sessions, "*.jsonl"))
	if err != nil || len(found) != 1 {
		d.t.Fatalf("sessions: %v, %v", found, err)
	}
	return found[0]
}

// first runs the program for a new session, again for the one that is there.
func (d *desk) first(args ...string) error {
	return run(d.t.Context(), append([]string{"-sessions", d.sessions}, args...), &d.out)
}

func (d *desk) again(args ...string) error {
	d.t.Helper()
	return run(d.t.Context(), append([]string{"-session", d.log()}, args...), &d.out)
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// context is what a model would be sent from the log.
func (d *desk) context() *modelcontext.Context {
	d.t.Helper()
	tree, err := sessiontree.Read(d.log(), nil)
	d.must(err)
	defer tree.Close()
	c, err := modelcontext.Build(tree, tree.Leaf(), nil)
	d.must(err)
	return c
}

func (d *desk) write(name, content string) {
	d.t.Helper()
	d.must(os.WriteFile(name, []byte(content), 0o644))
}

func want(t *testing.T, got, part string) {
	t.Helper()
	if !strings.Contains(got, part) {
		t.Errorf("got %q, which lacks %q", got, part)
	}
}

func TestPlainTurn(t *testing.T) {
	d, f := newDesk(t), newFake(t, says(text("Hello\x1b[31m.")), says(text("Still here.")))
	d.must(d.first("-model", "m", "say", "hello"))
	want(t, d.out.String(), "Hello\uFFFD[31m.")
	d.must(d.again("-model", "m", "and now?"))
	r, m := f.last()
	if len(r.Messages) != 3 || m.Content[0].Text != "and now?" || r.Model != "m" || r.MaxTokens != 16_000 {
		t.Errorf("got %+v", r)
	}
	want(t, string(r.System), "coding agent")
	answer := entries.ParseMessage(d.context().Messages[2].Raw)
	if answer.StopReason != "stop" || answer.ContextTokens() != 20 {
		t.Errorf("stored: %+v", answer)
	}
	if err := d.again(); err == nil || len(f.seen) != 2 {
		t.Errorf("without a prompt, after an answer: %v", err)
	}
}

func TestParallelCalls(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "alpha beta")
	f := newFake(t,
		says(think("I have to \"look\" <at> it\u2028.", "c2lnMQ=="), redacted("c2VjcmV0"), text("Looking."), use("1", "read", "path", "a.txt"), use("2", "write", "path", "d/b.txt", "content", "b")),
		says(think("", "c2lnMg=="), use("3", "edit", "path", "a.txt", "old", "beta", "new", "gamma"), use("4", "bash", "command", "cat a.txt; echo $ANTHROPIC_API_KEY; exit 3")),
		says(text("Done.")))
	d.must(d.first("-thinking", "change it"))
	for i, want := range [][]string{{"alpha beta", "(no output)"}, {"(no output)", "alpha gamma\n\nexit status 3"}} {
		results := f.seen[i+1].Messages[2*i+2].Content
		if len(results) != 2 || results[0].Content[0].Text != want[0] || results[1].Content[0].Text != want[1] || results[1].IsError != (i == 1) {
			t.Errorf("%d: got %v", i, raws(results))
		}
	}
	var starts []string
	for e, err := range d.entries() {
		d.must(err)
		if c, err := e.Custom(); err == nil && c.CustomType == entries.CustomToolExecutionStart {
			starts = append(starts, string(c.Data))
		}
	}
	if len(starts) != 3 { // reading has no effects
		t.Errorf("starts: %v", starts)
	}
}

func (d *desk) entries() func(func(entries.Entry, error) bool) {
	tree, err := sessiontree.Read(d.log(), nil)
	d.must(err)
	d.t.Cleanup(func() { tree.Close() })
	return tree.Entries()
}

// detour is a script: a checkpoint, two steps of exploration, a rewind, and an end.
func detour(more ...any) []reply {
	return []reply{
		says(think("first", "c2lnMQ=="), text("I will look around."), use("c", "checkpoint", "goal", "find it")),
		says(think("then", "c2lnMg=="), use("r", "read", "path", "a.txt")),
		says(use("b", "bash", "command", "echo SECOND-STEP; touch ran")),
		says(append([]any{think("found", "c2lnMw=="), use("w", "rewind", "report", "It is in a.txt.")}, more...)...),
		says(text("All done.")),
	}
}

// rewound checks the first request after a rewind: what came before the checkpoint, its
// call and its result are the same bytes as ever; the exploration is gone, and the report
// is there.
func rewound(t *testing.T, f *fake, before, after request) {
	t.Helper()
	n := len(before.Messages) - 1
	for i, m := range before.Messages[:n] {
		if !slices.Equal(raws(m.Content), raws(after.Messages[i].Content)) {
			t.Errorf("message %d is %v, was %v", i, raws(after.Messages[i].Content), raws(m.Content))
		}
	}
	was, is := raws(before.Messages[n].Content), raws(after.Messages[n].Content)
	if len(is) <= len(was) || !slices.Equal(was, is[:len(was)]) {
		t.Fatalf("the checkpoint's result is %v, was %v", is, was)
	}
	want(t, is[len(was)], "It is in a.txt.")
	all := strings.Join(raws(slices.Concat(content(after)...)), "\n")
	for _, gone := range []string{"FIRST-STEP", `"text":"SECOND-STEP`, "c2lnMg==", `"id":"w"`} {
		if strings.Contains(all, gone) {
			t.Errorf("%q is still there", gone)
		}
	}
}

func content(r request) (list [][]wireBlock) {
	for _, m := range r.Messages {
		list = append(list, m.Content)
	}
	return list
}

func TestRewind(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "FIRST-STEP")
	f := newFake(t, detour()...)
	d.must(d.first("-thinking", "find it"))
	want(t, d.out.String(), "left the context")
	rewound(t, f, f.seen[1], f.seen[4])
	if n := len(f.seen[4].Messages); n != 3 {
		t.Errorf("%d messages after the rewind", n)
	}
}

func TestRewindKeepsWhatRanBesideIt(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "FIRST-STEP")
	f := newFake(t, detour(use("k", "bash", "command", "echo KEPT"))...)
	d.must(d.first("find it"))
	rewound(t, f, f.seen[1], f.seen[4])
	_, m := f.last()
	if len(m.Content) != 1 || m.Content[0].ToolUseID != "k" || m.Content[0].Content[0].Text != "KEPT\n" {
		t.Errorf("got %v", raws(m.Content))
	}
}

// TestKilledBeforeTheEndOfTheTurn: the process is gone after the model called rewind; all
// that is left is the log.
func TestKilledBeforeTheEndOfTheTurn(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "FIRST-STEP")
	f := newFake(t, detour()...)
	session, err := openSession("", filepath.Join(d.sessions, "killed"))
	d.must(err)
	defer session.Close()
	files, err := os.OpenRoot(".")
	d.must(err)
	defer files.Close()
	ctx := t.Context()
	a := &agent{session: session, control: tool.New(session, nil), files: files, client: anthropic.NewClient(), out: &d.out, model: "m"}
	d.must(a.introduce(ctx))
	_, err = session.Append(ctx, entries.UserMessage("find it"))
	d.must(err)
	for range 3 {
		_, err := a.round(ctx)
		d.must(err)
	}
	answer, err := a.ask(ctx)
	d.must(err)
	d.must(a.runCall(ctx, "rewind", "w", answer.Content[1].Input))

	log, err := os.ReadFile(session.Path())
	d.must(err)
	d.write(filepath.Join(d.sessions, "left.jsonl"), string(log))
	d.must(d.again("-model", "m"))
	rewound(t, f, f.seen[1], f.seen[4])
}

// interrupted runs the program until a command has made the file "ran", and then
// interrupts it.
func (d *desk) interrupted(args ...string) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat("ran"); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if err := run(ctx, append([]string{"-sessions", d.sessions}, args...), &d.out); !errors.Is(err, context.Canceled) {
		d.t.Fatalf("got %v", err)
	}
}

func TestInterruptedCall(t *testing.T) {
	d := newDesk(t)
	f := newFake(t, says(use("1", "bash", "command", "touch ran; exec sleep 60"), use("2", "write", "path", "x", "content", "x")), says(text("I see.")))
	d.interrupted("wait")
	d.must(d.again("go on, but do not wait"))
	_, m := f.last()
	if len(m.Content) != 3 || !m.Content[0].IsError || !m.Content[1].IsError || m.Content[2].Text != "go on, but do not wait" {
		t.Fatalf("got %v", raws(m.Content))
	}
	want(t, m.Content[0].Content[0].Text, "may have had effects")
	want(t, m.Content[1].Content[0].Text, "did not run")
}

// TestInterruptedBesideRewind: one of the calls beside a rewind has no result.
func TestInterruptedBesideRewind(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "FIRST-STEP")
	script := detour(use("k", "bash", "command", "touch ran; exec sleep 60"))
	script[2] = says(use("b", "read", "path", "a.txt"))
	f := newFake(t, script...)
	d.interrupted("find it")
	d.must(d.again("and?"))
	rewound(t, f, f.seen[1], f.seen[4])
	_, m := f.last()
	if len(m.Content) != 2 || m.Content[0].ToolUseID != "k" || !m.Content[0].IsError || m.Content[1].Text != "and?" {
		t.Errorf("got %v", raws(m.Content))
	}
}

func TestInterruptedRequest(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(t, reply{hang: cancel}, says(text("Here.")))
	if err := run(ctx, []string{"-sessions", d.sessions, "hello"}, &d.out); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	stored := d.context().Messages
	if m := entries.ParseMessage(stored[len(stored)-1].Raw); m.StopReason != "aborted" {
		t.Errorf("stored: %+v", m)
	}
	d.must(d.again())
	if r, _ := f.last(); len(r.Messages) != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestErrorThenRetry(t *testing.T) {
	d, f := newDesk(t), newFake(t, reply{status: 529, message: "Overloaded"}, says(text("Here.")), reply{stop: "refusal", content: []any{text("I")}}, says(text("Fine.")))
	err := d.first("hello")
	if err == nil {
		t.Fatal("no error")
	}
	want(t, err.Error(), "Overloaded")
	stored := d.context().Messages
	if m := entries.ParseMessage(stored[len(stored)-1].Raw); m.StopReason != "error" || !strings.Contains(m.Error, "Overloaded") {
		t.Errorf("stored: %+v", m)
	}
	d.must(d.again())
	if !slices.Equal(raws(f.seen[0].Messages[0].Content), raws(f.seen[1].Messages[0].Content)) || len(f.seen[1].Messages) != 1 {
		t.Errorf("the second request is another: %+v", f.seen[1])
	}
	if err := d.again("what you will not do"); err == nil || !strings.Contains(err.Error(), "refusal") {
		t.Errorf("got %v", err)
	}
	d.must(d.again("something else"))
	if _, m := f.last(); len(m.Content) != 2 { // both prompts; half an answer is no answer
		t.Errorf("got %v", raws(m.Content))
	}
}
