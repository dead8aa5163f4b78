package checkpoint_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// calls appends an answer that calls a tool.
func (b *bench) calls(id, tool string) {
	b.Helper()
	call := fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":%q,"arguments":{}}]}`, id, tool)
	_, err := b.s.Append(b.Context(), entries.MessageDraft(json.RawMessage(call)))
	b.must(err)
}

func (b *bench) look() (*checkpoint.View, *sessiontree.Tree) {
	b.Helper()
	t, err := b.s.Tree()
	b.must(err)
	v, err := checkpoint.Look(t, b.root, b.st)
	b.must(err)
	return v, t
}

// told writes down what Turns gives, a line a step.
func (b *bench) told() string {
	b.Helper()
	_, t := b.look()
	var lines []string
	for turn, err := range checkpoint.Turns(t, t.Leaf(), b.st) {
		b.must(err)
		for _, s := range turn.Steps {
			line := fmt.Sprint(turn.Prompt != "", " ", s.Kind, " ", s.Source, s.Tool)
			for _, f := range s.Files {
				line += fmt.Sprint(" ", f.Path, ":", f.Before.Kind, f.Before.Size, ">", f.After.Kind, f.After.Size, f.Source, f.Result)
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestTurns(t *testing.T) {
	b := newBench(t, &checkpoint.TrackOptions{Scan: true})
	b.write("a", "1")
	b.must(b.f.TurnStart(t.Context()))
	first := b.prompt("one")
	b.calls("call", "write")
	b.edit("new", "x")
	b.write("made", "by a command")
	b.must(b.f.TurnEnd(t.Context()))
	b.write("a", "by hand")
	b.must(b.f.TurnStart(t.Context()))
	b.prompt("two")
	b.edit("new", "yy")
	v, tree := b.look()
	d, ok, err := checkpoint.Carried(tree, tree.Leaf(), first, b.st)
	if b.must(err); !ok {
		t.Fatal("nothing is carried along")
	}
	if got, want := b.told(), `true change toolwrite new:absent0>file1tool
true change scan made:absent0>file12scan
true change user a:file1>file7user
true change tool new:file1>file2tool`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	_, err = b.s.MoveLeaf(t.Context(), first, sessiontree.ReasonCheckout, d)
	b.must(err)
	if got, want := b.told(), `true carried tool a:file1>file7user made:absent0>file12scan new:absent0>file2tool`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if ok, err := v.Recorded(); !ok || err != nil {
		t.Errorf("nothing is recorded: %v", err)
	}
}

func TestTurnsOfOnePath(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "1")
	b.prompt("one")
	b.calls("call", "write")
	b.edit("a", "22")
	b.edit("a", "22") // changes nothing
	b.write("a", "by hand")
	b.edit("a", "333")
	b.undo(checkpoint.Code, &checkpoint.CommitOptions{Force: true})
	want := `true change toolwrite a:file1>file2tool
true change user a:file2>file7user
true change toolwrite a:file7>file3tool
true restore  a:file3>file1restored`
	if got := b.told(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func changesOf(list []checkpoint.Change) string {
	var all []string
	for _, c := range list {
		all = append(all, fmt.Sprintf("%s:%s%d>%s%d", c.Path, c.Before.Kind, c.Before.Size, c.After.Kind, c.After.Size))
	}
	return strings.Join(all, " ")
}

func TestCompareAndDrift(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "1")
	start := b.prompt("one")
	b.edit("a", "22")
	b.edit("new", "x")
	leaf := b.s.Leaf()
	b.write("a", "by hand")
	v, _ := b.look()
	for _, c := range []struct {
		from, to entries.ID
		want     string
	}{
		{start, leaf, "a:file1>file2 new:absent0>file1"},
		{leaf, "", "a:file2>file1 new:file1>absent0"},
		{leaf, leaf, ""},
	} {
		list, err := v.Compare(c.from, c.to)
		b.must(err)
		if got := changesOf(list); got != c.want {
			t.Errorf("%s to %s: got %q, want %q", c.from, c.to, got, c.want)
		}
	}
	for at, want := range map[entries.ID]string{leaf: "a:file2>file7", start: "a:file1>file7 new:absent0>file1"} {
		list, err := v.Drift(at)
		b.must(err)
		if got := changesOf(list); got != want {
			t.Errorf("at %s: got %q, want %q", at, got, want)
		}
		if data, err := v.Content("a", list[0].After); err != nil || string(data) != "by hand" {
			t.Errorf("its content on disk is %q (%v)", data, err)
		}
	}
	if _, err := v.Compare("nothere", leaf); err == nil {
		t.Error("an entry that is not there was compared")
	}
}

func TestRefusedIsWhatCommitRefuses(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "1")
	start := b.prompt("one")
	b.edit("a", "22")
	b.write("a", "by hand")
	p := b.plan(start, checkpoint.Code)
	for _, opt := range []*checkpoint.CommitOptions{nil, {Overwrite: []string{"b"}}, {Overwrite: []string{"a"}}} {
		refused := p.Refused(opt)
		_, err := b.f.Commit(t.Context(), p, opt)
		if (refused == nil) != (err == nil) || err != nil && err.Error() != refused.Error() {
			t.Errorf("%+v: Refused says %v, Commit %v", opt, refused, err)
		}
	}
	if !p.Has("a") || !p.Has(".") || p.Has("b") {
		t.Error("the plan has what it does not, or the other way round")
	}
}

// TestUnsettled: a restore that was cut short is told of, and what it would still do.
func TestUnsettled(t *testing.T) {
	for _, c := range []struct {
		begin  string
		spoken bool
		want   checkpoint.Cut
	}{
		{`{"phase":"begin","to":"aaaa","scope":"both","files":[{"path":"a"},{"path":"b"}]}`, false, checkpoint.Cut{To: "aaaa", Scope: checkpoint.Both, Files: 2}},
		{`{"phase":"begin","to":"","scope":"code","rewind":"bbbb"}`, false, checkpoint.Cut{Scope: checkpoint.Code, Rewind: "bbbb"}},
		{`{"phase":"begin","scope":"code"}`, true, checkpoint.Cut{Scope: checkpoint.Code, Late: true}},
	} {
		b := newBench(t, nil)
		b.prompt("one")
		v, _ := b.look()
		if u, err := v.Unsettled(); err != nil || u != (checkpoint.Unsettled{}) {
			t.Errorf("before: got %+v (%v)", u, err)
		}
		done, err := b.s.Append(t.Context(), entries.CustomDraft(entries.CustomFileRestore, json.RawMessage(c.begin)))
		b.must(err)
		if c.spoken {
			b.prompt("on")
		}
		v, _ = b.look()
		u, err := v.Unsettled()
		b.must(err)
		if c.want.Begin = done.Leaf; u.Cut == nil || *u.Cut != c.want {
			t.Errorf("%s: got %+v, want %+v", c.begin, u.Cut, c.want)
		}
	}
}

// TestUnknownIsTold: a tool changed something that is not kept.
func TestUnknownIsTold(t *testing.T) {
	b := newBench(t, nil)
	b.prompt("one")
	b.edit(".env", "KEY=1")
	if got, want := b.told(), "true change tool .env:unknown0>unknown0tool"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUnreadStep: a record that cannot be read is told of in its place.
func TestUnreadStep(t *testing.T) {
	b := newBench(t, nil)
	b.prompt("one")
	_, err := b.s.Append(t.Context(), entries.CustomDraft(entries.CustomFileSnapshot, json.RawMessage(`"x"`)))
	b.must(err)
	b.edit("a", "1")
	_, tree := b.look()
	for turn, err := range checkpoint.Turns(tree, tree.Leaf(), nil) {
		b.must(err)
		if len(turn.Steps) != 2 || turn.Steps[0].Kind != checkpoint.StepUnread || turn.Steps[0].Reason == "" {
			t.Errorf("got %+v", turn.Steps)
		}
	}
}

func TestKindsOfChanges(t *testing.T) {
	file := checkpoint.State{Kind: checkpoint.File, Mode: 0o644, Size: 1, SHA256: strings.Repeat("a", 64)}
	other, exec, link := file, file, checkpoint.State{Kind: checkpoint.Symlink, Target: "x"}
	other.SHA256, exec.Mode = strings.Repeat("b", 64), 0o755
	absent, unknown := checkpoint.State{Kind: checkpoint.Absent}, checkpoint.State{Kind: checkpoint.Unknown}
	for _, c := range []struct {
		before, after checkpoint.State
		want          checkpoint.ChangeKind
	}{
		{absent, file, checkpoint.Created}, {file, absent, checkpoint.Gone}, {file, other, checkpoint.Changed}, {file, exec, checkpoint.Mode},
		{file, link, checkpoint.Became}, {link, checkpoint.State{Kind: checkpoint.Symlink, Target: "y"}, checkpoint.Changed},
		{file, file, checkpoint.NoDiff}, {absent, absent, checkpoint.NoDiff},
		{unknown, unknown, checkpoint.Unclear}, {file, unknown, checkpoint.Unclear}, {checkpoint.State{}, file, checkpoint.Unclear},
	} {
		if got := (checkpoint.Change{Before: c.before, After: c.after}).Kind(); got != c.want {
			t.Errorf("%s to %s: got %s, want %s", c.before.Kind, c.after.Kind, got, c.want)
		}
	}
}

func TestRelative(t *testing.T) {
	b := newBench(t, nil)
	v, tree := b.look()
	alone, err := checkpoint.Look(tree, nil, nil)
	b.must(err)
	for name, want := range map[string]string{"a": "a", "./a/../b": "b", ".": ".", "..": "", "../a": "", b.path("d/a"): "d/a", t.TempDir(): ""} {
		if got, ok := v.Relative(name); got != want || ok != (want != "") {
			t.Errorf("%q: got %q (%t), want %q", name, got, ok, want)
		}
		if filepath.IsAbs(name) {
			want = ""
		}
		if got, ok := alone.Relative(name); got != want || ok != (want != "") {
			t.Errorf("%q, without a workspace: got %q (%t), want %q", name, got, ok, want)
		}
	}
}

func TestUsage(t *testing.T) {
	b := newBench(t, nil)
	b.prompt("one")
	b.edit("a", strings.Repeat("0123456789", 1000))
	_, err := b.st.Put([]byte("nobody's"))
	b.must(err)
	u, err := checkpoint.UsageOf(t.Context(), b.home)
	b.must(err)
	info, err := os.Stat(b.s.Path())
	b.must(err)
	if len(u.Logs) != 1 || u.Blobs != 2 || u.Garbage.Young != 1 || u.Size != info.Size() {
		t.Fatalf("got %+v", u)
	}
	if l := u.Logs[0]; l.Blobs != 1 || l.Own != 1 || l.OwnBytes != l.BlobBytes || l.BlobBytes+int64(len("nobody's")) != u.BlobBytes {
		t.Errorf("got %+v of %+v", l, u)
	}
	b.stop()
	data, err := os.ReadFile(b.s.Path())
	b.must(err)
	b.must(os.WriteFile(filepath.Join(b.home, "copy.jsonl"), data, 0o600))
	u, err = checkpoint.UsageOf(t.Context(), b.home)
	b.must(err)
	if slices.ContainsFunc(u.Logs, func(l checkpoint.LogUsage) bool { return l.Own != 0 || l.Blobs != 1 }) {
		t.Errorf("what two logs refer to is said to be one's: %+v", u.Logs)
	}
	plain := t.TempDir()
	b.must(os.WriteFile(filepath.Join(plain, "log.jsonl"), data, 0o600))
	if u, err = checkpoint.UsageOf(t.Context(), plain); err != nil || len(u.Logs) != 1 || u.Size != int64(len(data)) {
		t.Errorf("a folder without a store: got %+v (%v)", u, err)
	}
}

// TestUsageOfLooks: what only a scan remembers of a workspace is in the sum.
func TestUsageOfLooks(t *testing.T) {
	b := newBench(t, scans)
	b.write("seen", "by a scan alone")
	b.turn("one", func() { b.edit("a", "by the session") })
	u, err := checkpoint.UsageOf(t.Context(), b.home)
	b.must(err)
	if u.Looks != 1 || u.LooksBytes != int64(len("by a scan alone")) {
		t.Errorf("got %d, %d bytes", u.Looks, u.LooksBytes)
	}
	if l := u.Logs[0]; l.BlobBytes+u.LooksBytes+u.Garbage.Bytes != u.BlobBytes {
		t.Errorf("it is not all accounted for: %+v", u)
	}
}
