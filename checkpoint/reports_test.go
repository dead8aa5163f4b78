package checkpoint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

// The tests of this file answer what users of comparable programs have reported.

// TestDirectoriesWithForeignFiles: what somebody put into a directory that is to go, or that
// took the place of a file, stays, by force too. The rest goes back.
func TestDirectoriesWithForeignFiles(t *testing.T) {
	for _, c := range []struct {
		name        string
		does, later func(b *bench)
		want        string
		action      checkpoint.Action
	}{
		{"a tool's directory", func(b *bench) { b.rm("p"); b.write("p/in/x", "1") }, func(b *bench) { b.write("p/in/theirs", "t") }, "beside=0 p/ p/in/ p/in/theirs=t", checkpoint.ActUnknown},
		{"a tool's new directory", func(b *bench) { b.write("new/x", "1") }, func(b *bench) { b.write("new/theirs", "t") }, "beside=0 new/ new/theirs=t p=0", checkpoint.ActSkip},
		{"their directory", func(b *bench) { b.write("p", "1") }, func(b *bench) { b.rm("p"); b.write("p/theirs", "t") }, "beside=0 p/ p/theirs=t", checkpoint.ActConflict},
		{"their empty directory", func(b *bench) { b.write("p", "1") }, func(b *bench) { b.rm("p"); b.mkdir("p", 0o755) }, "beside=0 p=0", checkpoint.ActConflict},
		{"their parent is a file", func(b *bench) { b.write("d/x", "1"); b.rm("d") }, func(b *bench) { b.write("d", "theirs") }, "beside=0 d=theirs p=0", checkpoint.ActSkip},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, scans)
			b.write("p", "0")
			b.write("beside", "0")
			b.turn("go", func() { b.write("beside", "1"); c.does(b) })
			c.later(b)
			p := b.planUndo()
			for _, it := range p.Items {
				if (it.Path == "p" || it.Path == "new" || it.Path == "d") && it.Action != c.action {
					t.Errorf("%s is %s: %s", it.Path, it.Action, it.Reason)
				}
			}
			b.commit(p, &checkpoint.CommitOptions{Force: true})
			b.has(c.want)
		})
	}
}

// TestGoingTwice: where everything is so already, there is nothing to do, and nothing is
// recorded.
func TestGoingTwice(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "0")
	b.prompt("one")
	b.edit("a", "1")
	b.edit("new", "1")
	b.commit(b.plan("", checkpoint.Code), nil)
	leaf := b.s.Leaf()
	p := b.plan("", checkpoint.Code)
	if !p.Nothing() {
		t.Errorf("%+v", p.Items)
	}
	done := b.commit(p, nil)
	if b.has("a=0"); b.s.Leaf() != leaf || done.Count(checkpoint.There) != 2 {
		t.Errorf("%+v", done)
	}
}

// TestStoreThatFails: where contents cannot be kept, neither an edit nor a turn is stopped, and
// nothing that is not kept is taken for absent or unchanged.
func TestStoreThatFails(t *testing.T) {
	b := newBench(t, scans)
	b.write("a", "0")
	b.write("shell", "0")
	for _, dir := range []string{"tmp", "sha256"} {
		b.must(os.RemoveAll(filepath.Join(b.st.Dir(), dir)))
		b.must(os.WriteFile(filepath.Join(b.st.Dir(), dir), nil, 0o600))
	}
	b.turn("go", func() {
		b.edit("a", "1")
		b.edit("new", "1")
		b.write("shell", "1")
	})
	p := b.planUndo()
	if it := item(t, p, "a"); it.Action != checkpoint.ActUnknown || !strings.Contains(it.Reason, "could not be stored") {
		t.Errorf("%s: %s", it.Action, it.Reason)
	}
	b.leftOut(p, "shell", "could not be stored")
	_, err := b.f.Commit(t.Context(), p, &checkpoint.CommitOptions{Force: true})
	if got := tree(t, b.dir); !strings.HasPrefix(got, "a=1 ") || !strings.HasSuffix(got, " shell=1") {
		t.Error(got, err)
	}
}

// TestFilesThatComeAndGo: made in one turn, edited in the next, removed in a third; empty is
// not absent.
func TestFilesThatComeAndGo(t *testing.T) {
	b := newBench(t, scans)
	states := []string{tree(t, b.dir)}
	for _, step := range []func(){
		func() { b.edit("f", "") }, func() { b.edit("f", "1") }, func() { b.shell("rm f") }, func() { b.edit("f", "") }, func() { b.shell("rm f; mkdir f") }, func() { b.shell("rmdir f") },
	} {
		b.turn("go", step)
		states = append(states, tree(t, b.dir))
	}
	for i := len(states) - 2; i >= 0; i-- {
		b.undo(checkpoint.Both, nil)
		b.has(states[i])
	}
	for _, want := range states[1:] {
		b.redo(checkpoint.Both)
		b.has(want)
	}
	b.commit(b.plan("", checkpoint.Code), nil)
	b.has(states[0])
}
