package checkpoint_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

// TestSessionsOneAfterTheOther: each takes back its own turns, and what the other one made
// of a file since is a conflict.
func TestSessionsOneAfterTheOther(t *testing.T) {
	for _, scan := range []bool{false, true} {
		a := newBench(t, &checkpoint.TrackOptions{Scan: scan})
		b := a.beside(a.opt)
		a.write("shared", "0")
		a.turn("a", func() { a.edit("mine", "a"); a.edit("shared", "a") })
		b.turn("b", func() { b.edit("yours", "b"); b.edit("shared", "b") })
		p := a.planUndo()
		if it := item(t, p, "shared"); it.Action != checkpoint.ActConflict || len(p.Items) != 2 {
			t.Errorf("scan %v: %+v", scan, p.Items)
		}
		if _, err := a.f.Commit(t.Context(), p, nil); !errors.Is(err, checkpoint.ErrConflict) {
			t.Error(err)
		}
		a.has("mine=a shared=b yours=b")
		b.undo(checkpoint.Code, nil)
		a.has("mine=a shared=a")
		b.redo(checkpoint.Code)
		b.undo(checkpoint.Both, nil)
		// What b has put back is what a left.
		a.reopen()
		a.undo(checkpoint.Code, nil)
		a.has("shared=0")
		a.redo(checkpoint.Code)
		a.has("mine=a shared=a")
	}
}

// TestSessionsWhoseTurnsOverlap: a scan cannot know which of them changed a file. What a
// tool told of is its session's.
func TestSessionsWhoseTurnsOverlap(t *testing.T) {
	for _, order := range []string{"a b A B", "a b B A", "b a A B", "b a B A"} {
		t.Run(order, func(t *testing.T) {
			a := newBench(t, scans)
			b := a.beside(a.opt)
			a.write("shell-a", "0")
			a.write("shell-b", "0")
			for _, step := range strings.Fields(order) {
				switch step {
				case "a":
					a.must(a.f.TurnStart(t.Context()))
					a.prompt("a")
				case "b":
					b.must(b.f.TurnStart(t.Context()))
					b.prompt("b")
				case "A", "B":
					if step == order[4:5] { // the first that ends: both have worked
						a.edit("tool-a", "a")
						a.shell("echo a > shell-a")
						b.edit("tool-b", "b")
						b.shell("echo b > shell-b; echo b > new-b")
					}
					if step == "A" {
						a.must(a.f.TurnEnd(t.Context()))
					} else {
						b.must(b.f.TurnEnd(t.Context()))
					}
				}
			}
			const all = "new-b=b\n shell-a=a\n shell-b=b\n tool-a=a tool-b=b"
			a.has(all)
			p := a.planUndo()
			for _, name := range []string{"shell-a", "shell-b", "new-b", "tool-b"} {
				for _, it := range p.Items {
					if it.Path == name && it.Action != checkpoint.ActConflict {
						t.Errorf("%s is %s: %s", name, it.Action, it.Reason)
					}
				}
			}
			if it := item(t, p, "shell-a"); !strings.Contains(it.Reason, "another session") {
				t.Errorf("%s", it.Reason)
			}
			a.commit(p, &checkpoint.CommitOptions{Partial: true})
			a.has(strings.Replace(all, " tool-a=a", "", 1))
		})
	}
}

// TestSessionThatOnlyReads: the other one worked in between, and nothing of that is taken for
// this session's, whenever it looks.
func TestSessionThatOnlyReads(t *testing.T) {
	a := newBench(t, scans)
	b := a.beside(a.opt)
	a.turn("a", func() {})
	b.turn("b", func() { b.edit("x", "b"); b.shell("echo b > y") })
	a.turn("a", func() { a.edit("mine", "a") })
	a.commit(a.plan("", checkpoint.Code), &checkpoint.CommitOptions{Force: true})
	a.has("x=b y=b\n")
	b.undo(checkpoint.Both, nil)
	a.has("")
}

// TestUntouchedFilesAreUntouched (G9): what no turn touched keeps bytes, times and inodes, and
// so does what has the right content already.
func TestUntouchedFilesAreUntouched(t *testing.T) {
	b := newBench(t, scans)
	names := []string{"untracked", "sub/user", "ignored.log", "node_modules/x", ".env", "same", ".git/index", "sub/.git/index"}
	for _, name := range names {
		b.write(name, "0")
	}
	b.write(".gitignore", "*.log\n")
	b.write("a", "0")
	before := map[string]os.FileInfo{}
	look := func(name string) os.FileInfo {
		info, err := os.Lstat(b.path(name))
		b.must(err)
		return info
	}
	b.turn("one", func() {
		b.edit("a", "1")
		b.edit("same", "1")
		b.shell("echo 1 > new; rm a; mkdir d; echo 1 > d/x")
	})
	b.write("same", "0")
	b.write("by-hand", "h")
	names = append(names, "by-hand", ".gitignore")
	for _, name := range names {
		before[name] = look(name)
	}
	b.undo(checkpoint.Both, nil)
	for _, name := range names {
		if got, want := look(name), before[name]; !os.SameFile(got, want) || !got.ModTime().Equal(want.ModTime()) || got.Mode() != want.Mode() {
			t.Errorf("%s was %v %v and is %v %v", name, want.Mode(), want.ModTime(), got.Mode(), got.ModTime())
		}
	}
	if data, err := os.ReadFile(b.path("a")); string(data) != "0" {
		t.Error(string(data), err)
	}
}

// TestModeAloneKeepsTheTime: where only the mode is wrong, the file is not written.
func TestModeAloneKeepsTheTime(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	before, err := os.Lstat(b.path("a"))
	b.must(err)
	b.prompt("go")
	b.tool("a", func() { b.must(os.Chmod(b.path("a"), 0o755)) })
	b.undo(checkpoint.Code, nil)
	if after, err := os.Lstat(b.path("a")); err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) || after.Mode() != before.Mode() {
		t.Error(after, err)
	}
}

// TestGenerators (G14): what commands do in a turn is taken back.
func TestGenerators(t *testing.T) {
	for _, command := range []string{
		"sed -i s/0/1/ a", "rm a", "rm -r d", "mv a b", "mv d e", "for i in 1 2 3; do mkdir -p gen/$i; echo $i > gen/$i/out; done", "ln -s a l", "chmod 600 a",
		"cp a b && rm a && cp b a", ": > a", "mkdir d/empty", "touch a", "mv d/x a", "rm a && mkdir a && echo x > a/x", "printf '\\0\\1' > bin",
		"mv a A", "tar cf t.tar d && rm -r d && tar xf t.tar && rm t.tar", "ln a hard && rm a && mv hard a", "echo 1 >> d/x; rm a; echo 1 >> d/x",
	} {
		t.Run(command, func(t *testing.T) {
			b := newBench(t, scans)
			b.write("a", "0\n")
			b.write("d/x", "x")
			b.write("d/e/y", "y")
			b.mkdir("hollow", 0o750)
			before := exact(t, b.dir)
			b.turn("go", func() { b.shell(command) })
			after := exact(t, b.dir)
			if p, err := b.f.Undo(t.Context(), checkpoint.Code, nil); err == nil {
				b.commit(p, nil)
			} else if before != after {
				t.Fatal(err)
			}
			if got := exact(t, b.dir); got != before {
				t.Errorf("the workspace is\n%s\nwant\n%s", got, before)
			}
		})
	}
}

// TestPlanIsWhatIsDone (G8): every path has one action, and the counts of plan, outcome and
// disk agree.
func TestPlanIsWhatIsDone(t *testing.T) {
	b := newBench(t, &checkpoint.TrackOptions{Scan: true, MaxFile: 100})
	for _, name := range []string{"edited", "gone", "conflict", "already", "large"} {
		b.write(name, "0")
	}
	b.turn("go", func() {
		for _, name := range []string{"edited", "conflict", "already", "new"} {
			b.edit(name, "1")
		}
		b.shell("rm gone")
		b.write("large", strings.Repeat("x", 101))
	})
	b.write("conflict", "by hand")
	b.write("already", "0")
	p := b.planUndo()
	want := map[string]checkpoint.Action{
		"edited": checkpoint.ActRestore, "gone": checkpoint.ActRestore, "new": checkpoint.ActRemove, "already": checkpoint.ActSkip,
		"conflict": checkpoint.ActConflict, "large": checkpoint.ActUnknown,
	}
	if len(p.Items) != len(want) {
		t.Errorf("%+v", p.Items)
	}
	for name, action := range want {
		if it := item(t, p, name); it.Action != action || it.Reason == "" && action != checkpoint.ActRestore && action != checkpoint.ActRemove {
			t.Errorf("%s: %s %q", name, it.Action, it.Reason)
		}
	}
	done := b.commit(p, &checkpoint.CommitOptions{Partial: true})
	results := map[string]checkpoint.Result{
		"edited": checkpoint.Restored, "gone": checkpoint.Restored, "new": checkpoint.Removed, "already": checkpoint.There,
		"conflict": checkpoint.Conflict, "large": checkpoint.Failed,
	}
	for _, o := range done.Files {
		if o.Result != results[o.Path] {
			t.Errorf("%s: %s", o.Path, o.Result)
		}
	}
	if len(done.Files) != len(results) {
		t.Errorf("%+v", done.Files)
	}
	b.has("already=0 conflict=by hand edited=0 gone=0 large=" + strings.Repeat("x", 101))
}

// TestConflictsStopBothLegs (G11): where a file cannot go, neither do the others, nor the
// conversation.
func TestConflictsStopBothLegs(t *testing.T) {
	b := newBench(t, nil)
	b.prompt("go")
	b.edit("a", "1")
	b.edit("b", "1")
	b.write("a", "by hand")
	leaf := b.s.Leaf()
	p, err := b.f.Undo(t.Context(), checkpoint.Both, nil)
	b.must(err)
	if _, err := b.f.Commit(t.Context(), p, nil); !errors.Is(err, checkpoint.ErrConflict) || !strings.Contains(err.Error(), "a: its content changed") {
		t.Error(err)
	}
	if b.has("a=by hand b=1"); b.s.Leaf() != leaf {
		t.Error("the leaf moved")
	}
	done := b.commit(p, &checkpoint.CommitOptions{Overwrite: []string{"a"}})
	if b.has(""); done.Leaf == leaf || b.s.Leaf() != done.Leaf {
		t.Error("the leaf stayed")
	}
	b.redo(checkpoint.Both)
	b.has("a=by hand b=1")
}

// TestPlanDoesNotOutliveAChange: between plan and commit anything may change, and then nothing
// is done, also by force.
func TestPlanDoesNotOutliveAChange(t *testing.T) {
	for what, change := range map[string]func(b *bench){
		"content":     func(b *bench) { b.write("a", "2") },
		"mode":        func(b *bench) { b.must(os.Chmod(b.path("a"), 0o600)) },
		"gone":        func(b *bench) { b.rm("a") },
		"kind":        func(b *bench) { b.rm("a"); b.mkdir("a", 0o755) },
		"a new file":  func(b *bench) { b.write("d/other", "x") },
		"a new entry": func(b *bench) { b.prompt("more") },
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t, nil)
			b.write("a", "0")
			b.prompt("go")
			b.edit("a", "1")
			b.edit("d/x", "1")
			p := b.planUndo()
			change(b)
			is, leaf := tree(t, b.dir), b.s.Leaf()
			var stale *checkpoint.StaleError
			if _, err := b.f.Commit(t.Context(), p, &checkpoint.CommitOptions{Force: true}); !errors.As(err, &stale) || stale.Fresh.ID == p.ID {
				t.Error(err)
			}
			if b.has(is); b.s.Leaf() != leaf {
				t.Error("the leaf moved")
			}
		})
	}
}
