package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

func TestWorkspace(t *testing.T) {
	d := newDesk(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	d.write(secret, "secret")
	d.write("twice", "a a")
	for link, to := range map[string]string{"dir": outside, "file": secret, "inside": "twice"} {
		d.must(os.Symlink(to, link))
	}
	var calls []any
	for i, path := range []string{"../secret", "x/../../secret", secret, "dir/secret", "dir/new", "file"} {
		n := string(rune('a' + i))
		calls = append(calls, use(n+"1", "read", "path", path), use(n+"2", "write", "path", path, "content", "x"), use(n+"3", "edit", "path", path, "old", "secret", "new", "x"))
	}
	calls = append(calls, use("t", "edit", "path", "twice", "old", "a", "new", "b"), use("u", "nothing"), use("v", "read", "path", "."))
	f := newFake(t, says(append(calls, use("ok", "read", "path", "inside"))...), says(text("Done.")))
	d.must(d.first("break out"))
	_, m := f.last()
	for i, b := range m.Content {
		if good := i == len(calls); b.IsError == good {
			t.Errorf("%s: %s", b.ToolUseID, b.raw)
		}
	}
	found, err := os.ReadDir(outside)
	d.must(err)
	data, err := os.ReadFile(secret)
	d.must(err)
	if len(found) != 1 || string(data) != "secret" {
		t.Errorf("outside there are %v, and the secret is %q", found, data)
	}
}

func TestReminder(t *testing.T) {
	d := newDesk(t)
	f := newFake(t, says(use("c", "checkpoint", "goal", "g")), says(text("I stop here.")), says(think("oh", "c2ln"), text("No need.")), says(text("Yes?")))
	d.must(d.first("look"))
	_, m := f.last()
	want(t, m.Content[0].Text, "still open")
	d.must(d.again("next")) // the checkpoint was given up: nobody is asked again
	if len(f.seen) != 4 {
		t.Errorf("%d requests", len(f.seen))
	}
}

func TestStops(t *testing.T) {
	d := newDesk(t)
	f := newFake(t,
		says(use("1", "bash", "command", "echo 1")), says(use("2", "bash", "command", "yes | head -c 60000")),
		reply{content: []any{text("I am"), use("3", "bash", "command", "touch cut")}, stop: "max_tokens"},
		reply{content: []any{}}, says(text("Done.")))
	if err := d.first("-rounds", "2", "count"); err == nil || len(f.seen) != 2 {
		t.Errorf("after %d requests: %v", len(f.seen), err)
	}
	if err := d.again(); err == nil || !strings.Contains(err.Error(), "max_tokens") {
		t.Errorf("got %v", err)
	}
	if r, m := f.last(); len(r.Messages) != 5 || len(m.Content[0].Content[0].Text) > 51_000 {
		t.Errorf("%d messages", len(r.Messages))
	}
	if _, err := os.Stat("cut"); err == nil {
		t.Error("a call that was cut off was run")
	}
	d.must(d.again("go on")) // the answer is empty, and left out of the next request
	d.must(d.again("go on!"))
}

// TestRemindedModelRewinds: the reminder leaves the context with the exploration.
func TestRemindedModelRewinds(t *testing.T) {
	d := newDesk(t)
	script := detour()
	script[1], script[2] = says(use("b", "bash", "command", "echo SECOND-STEP")), says(think("hm", "c2lnOQ=="), text("It is FIRST-STEP."))
	f := newFake(t, script...)
	d.must(d.first("find it"))
	r, _ := f.last()
	if m := f.seen[3].Messages[6]; !strings.Contains(m.Content[0].Text, "still open") {
		t.Errorf("got %v", raws(m.Content))
	}
	for _, b := range r.Messages[2].Content {
		if strings.Contains(b.raw, "still open") {
			t.Errorf("the reminder is still there: %s", b.raw)
		}
	}
	want(t, r.Messages[2].Content[2].Text, "FIRST-STEP") // the user was told so
}

// TestOtherSessions: a session that another program began, with images.
func TestOtherSessions(t *testing.T) {
	story, err := sessiontree.Read(filepath.Join("..", "..", "testdata", "story.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer story.Close()
	d := newDesk(t)
	cwd, err := os.Getwd()
	d.must(err)
	s, err := sessiontree.Fork(t.Context(), story, "", d.sessions, entries.Header{Cwd: cwd}, nil)
	d.must(err)
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	_, err = s.Append(t.Context(), entries.UserBlocks(entries.TextBlock("look"), entries.ImageBlock("image/png", pixel)),
		entries.AssistantMessage(entries.Assistant{Provider: "other", Model: "x", StopReason: "toolUse", Content: blocks(entries.ThinkingBlock("hm", "foreign"), entries.ToolCallBlock("i", "shot", []byte("{}")))}),
		entries.ToolResult("i", "shot", blocks(entries.ImageBlock("image/png", pixel)), false, nil))
	d.must(err)
	d.must(s.Close())
	f := newFake(t, says(text("Nice.")))
	d.must(d.again("what is it?"))
	r, m := f.last()
	before := r.Messages[len(r.Messages)-3].Content
	if m.Content[0].Content[0].Source.Data != pixel || before[len(before)-1].Source.Data != pixel {
		t.Errorf("no images: %v %v", raws(m.Content), raws(before))
	}
}

func blocks(list ...json.RawMessage) []json.RawMessage { return list }

// TestResumesFromEverywhere cuts the log of a rewind behind each of its lines, as a crash
// may, and goes on from there: no request is refused.
func TestResumesFromEverywhere(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "FIRST-STEP")
	f := newFake(t, detour(use("k", "bash", "command", "echo KEPT"))...)
	d.must(d.first("find it"))
	log, err := os.ReadFile(d.log())
	d.must(err)
	d.must(os.Remove(d.log()))
	lines := bytes.SplitAfter(log, []byte("\n"))
	for n := 1; n < len(lines); n++ {
		d.write(filepath.Join(d.sessions, "cut.jsonl"), string(bytes.Join(lines[:n], nil)))
		old := time.Now().Add(-time.Hour)
		d.must(os.Chtimes(filepath.Join(d.sessions, "cut.jsonl"), old, old))
		f.script = []reply{says(text("Yes?")), says(text("Yes."))} // the second where it is reminded
		if err := d.again("go on"); err != nil {
			t.Errorf("after line %d: %v", n, err)
		}
	}
}

// Without anything to do no session is made.
func TestNothingToDo(t *testing.T) {
	d := newDesk(t)
	if err := d.first(); err == nil || !strings.Contains(err.Error(), "say what to do") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(d.sessions); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
