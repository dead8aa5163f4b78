package checkpoint_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
)

func (b *bench) turn(prompt string, do func()) (before entries.ID) {
	b.Helper()
	b.must(b.f.TurnStart(b.Context()))
	before = b.s.Leaf()
	b.prompt(prompt)
	do()
	b.must(b.f.TurnEnd(b.Context()))
	return before
}

func (b *bench) shell(command string) {
	b.Helper()
	c := exec.Command("sh", "-c", command)
	c.Dir = b.dir
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", command, err, out)
	}
}

var scans = &checkpoint.TrackOptions{Scan: true}

func TestShellChangesAreSeen(t *testing.T) {
	b := newBench(t, scans)
	b.write("a", "one\n")
	b.write("gone", "bye")
	b.write("d/x", "x")
	b.write("mv", "moved")
	b.must(os.Chmod(b.path("mv"), 0o600))
	b.must(os.Symlink("a", b.path("link")))
	start := tree(t, b.dir)
	b.turn("go", func() {
		b.shell(`sed -i s/one/two/ a && rm gone && rm -r d && mv mv there && mkdir -p new/empty && echo z > new/z && ln -sfn gone link && chmod 755 a`)
	})
	end := tree(t, b.dir)
	b.undo(checkpoint.Code, nil)
	b.has(start)
	b.redo(checkpoint.Code)
	b.has(end)
	b.reopen()
	b.undo(checkpoint.Both, nil)
	b.has(start)
}

func TestWhatIsLeftOutStays(t *testing.T) {
	b := newBench(t, scans)
	b.write(".gitignore", "data/\n*.log\n")
	b.write("data/big", "precious")
	b.write("x.log", "log")
	b.write("sub/.git/HEAD", "ref")
	b.write("sub/file", "nested")
	b.write(".env", "KEY=1")
	b.turn("go", func() {
		b.shell(`rm .gitignore && echo new > new && echo more >> x.log && echo 2 >> sub/file && echo K=2 >> .env && echo 9 > data/other`)
	})
	b.undo(checkpoint.Code, nil)
	b.has(".env=KEY=1K=2\n .gitignore=data/\n*.log\n data/ data/big=precious data/other=9\n sub/ sub/.git/ sub/.git/HEAD=ref sub/file=nested2\n x.log=logmore\n")
}

func TestHandEditsAreConflicts(t *testing.T) {
	b := newBench(t, scans)
	b.write("a", "0")
	b.turn("one", func() { b.edit("a", "1") })
	b.write("a", "hand")
	b.turn("two", func() { b.edit("b", "2") })
	p, err := b.f.Undo(b.Context(), checkpoint.Code, nil)
	b.must(err)
	for _, it := range p.Items {
		t.Log(it.Path, it.Action, it.Reason)
	}
	b.commit(p, nil)
	b.has("a=hand")
	p, err = b.f.Undo(b.Context(), checkpoint.Code, nil)
	b.must(err)
	if p.Count(checkpoint.ActConflict) != 1 {
		t.Error(p.Items)
	}
	if _, err := b.f.Commit(b.Context(), p, nil); err == nil {
		t.Error("done")
	}
	b.has("a=hand")
	b.commit(p, &checkpoint.CommitOptions{Force: true})
	b.has("a=0")
	b.redo(checkpoint.Code)
	b.has("a=hand")
}
