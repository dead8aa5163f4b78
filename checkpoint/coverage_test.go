package checkpoint_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/checkpoint"
)

// leftOut tells whether a plan names a path as left out, with a reason.
func (b *bench) leftOut(p *checkpoint.Plan, path, reason string) {
	b.Helper()
	if !slices.ContainsFunc(p.NotCovered, func(u checkpoint.Uncovered) bool { return u.Path == path && strings.Contains(u.Reason, reason) }) {
		b.Errorf("%q, %q is not named; only %q", path, reason, p.NotCovered)
	}
}

func (b *bench) planUndo() *checkpoint.Plan {
	b.Helper()
	p, err := b.f.Undo(b.Context(), checkpoint.Code, nil)
	b.must(err)
	return p
}

// TestWhatIsLeftOutIsNamed: right after the turn a plan says what it does not cover, and
// why, and what is left out stays as it is.
func TestWhatIsLeftOutIsNamed(t *testing.T) {
	b := newBench(t, &checkpoint.TrackOptions{Scan: true, MaxFile: 100})
	b.write(".gitignore", "*.log\nbuild/\n")
	b.write("a", "0")
	b.turn("go", func() {
		b.write("a", "1")
		for _, name := range []string{"x.log", "build/out", "node_modules/m/index.js", "nested/.git/HEAD", "nested/f", "module/f", ".env", "deploy.pem", ".ssh/id", "\xff"} {
			b.write(name, "new")
		}
		b.write("module/.git", "gitdir: ../.git/modules/module\n")
		b.write("large", strings.Repeat("x", 101))
	})
	p := b.planUndo()
	for path, reason := range map[string]string{
		"x.log": "ignored", "build/": "ignored", "node_modules/": "made again", "nested/": "repository", "module/": "repository", ".env": "secrets",
		"deploy.pem": "secrets", ".ssh/": "secrets", "large": "larger than", "\uFFFD": "not UTF-8",
	} {
		b.leftOut(p, path, reason)
	}
	after := tree(t, b.dir)
	b.commit(p, nil)
	b.has(strings.Replace(after, " a=1", " a=0", 1))
}

// TestWhatIsCoveredAgainIsNotNamed: the list is that of the last scan, and what it says
// already is not said again.
func TestWhatIsCoveredAgainIsNotNamed(t *testing.T) {
	b := newBench(t, scans)
	b.write(".gitignore", "*.log\n")
	b.write("x.log", "log")
	b.turn("one", func() { b.write("a", "1") })
	b.leftOut(b.planUndo(), "x.log", "ignored")
	b.must(os.Remove(b.path("x.log")))
	b.turn("two", func() { b.write("a", "2") })
	if p := b.planUndo(); len(p.NotCovered) != 0 {
		t.Errorf("still named: %q", p.NotCovered)
	}
	before := b.s.Leaf()
	b.must(b.f.TurnStart(t.Context()))
	b.must(b.f.TurnEnd(t.Context()))
	if b.s.Leaf() != before {
		t.Error("a turn in which nothing happened was recorded")
	}
}

func TestVeryMuchThatIsLeftOutIsCounted(t *testing.T) {
	b := newBench(t, scans)
	b.write(".gitignore", "*.log\n")
	for i := range 510 {
		b.write(fmt.Sprintf("%03d.log", i), "")
	}
	b.turn("one", func() { b.write("a", "1") })
	p := b.planUndo()
	b.leftOut(p, "499.log", "ignored")
	b.leftOut(p, ".", "10 more paths")
}

// TestEditsOutsideAreNamed: a tool changed something that no restore reaches, and the plan
// says so also after later scans, as long as it takes back that edit.
func TestEditsOutsideAreNamed(t *testing.T) {
	b := newBench(t, scans)
	outside := filepath.Join(t.TempDir(), "f")
	b.turn("one", func() { b.edit("a", "1") })
	b.turn("two", func() {
		b.edit("a", "2")
		b.named(func() { b.must(os.WriteFile(outside, []byte("x"), 0o600)) }, outside, ".git/config", "../f")
	})
	b.write(".env", "K=1")
	first := b.turn("three", func() { b.edit("a", "3") })
	p := b.plan("", checkpoint.Code)
	b.leftOut(p, outside, "outside")
	b.leftOut(p, "../f", "outside")
	b.leftOut(p, ".git/config", "git")
	b.leftOut(p, ".env", "secrets")
	if p := b.plan(first, checkpoint.Code); len(p.NotCovered) != 1 {
		t.Errorf("%q", p.NotCovered)
	}
	b.commit(p, nil)
	if data, err := os.ReadFile(outside); string(data) != "x" {
		t.Error(data, err)
	}
}

// TestOutOfTime: what a scan did not reach is named, and is neither absent nor changed.
// Tools' edits go back all the same.
func TestOutOfTime(t *testing.T) {
	b := newBench(t, scans)
	b.write("d/x", "0")
	b.write("a", "0")
	b.turn("one", func() { b.edit("a", "1") })
	b.opt = &checkpoint.TrackOptions{Scan: true, Budget: time.Nanosecond}
	b.reopen()
	b.turn("two", func() {
		b.edit("a", "2")
		b.shell("rm d/x; echo new > new")
	})
	p := b.planUndo()
	b.leftOut(p, ".", "the time for it was up")
	b.commit(p, nil)
	b.has("a=1 d/ new=new\n")
}

func TestTooManyFiles(t *testing.T) {
	b := newBench(t, &checkpoint.TrackOptions{Scan: true, MaxFiles: 5})
	for i := range 6 {
		b.write(fmt.Sprint(i), "0")
	}
	b.turn("one", func() {
		b.edit("0", "1")
		b.shell("rm 5; echo new > new")
	})
	p := b.planUndo()
	b.leftOut(p, ".", "more than 5")
	b.commit(p, nil)
	b.has("0=0 1=0 2=0 3=0 4=0 new=new\n")
}

// TestRulesThatChangeInATurn: a rule that comes hides nothing that was covered, and one that
// goes does not make what it hid look new: it is never deleted, not even by force.
func TestRulesThatChangeInATurn(t *testing.T) {
	force := &checkpoint.CommitOptions{Force: true}
	start := func(t *testing.T) *bench {
		b := newBench(t, scans)
		b.write(".gitignore", "data\nsub/*.bin\n")
		b.write("data", "precious")
		b.write("sub/y.bin", "precious")
		b.write("covered", "0")
		return b
	}
	const before = ".gitignore=data\nsub/*.bin\n covered=0 data=precious sub/ sub/y.bin=precious"
	t.Run("a rule comes", func(t *testing.T) {
		b := start(t)
		b.turn("one", func() { b.shell("echo covered >> .gitignore; echo 1 > covered; echo x > new.bin") })
		b.undo(checkpoint.Code, nil)
		b.has(before)
	})
	for _, how := range []string{"rm .gitignore", ": > .gitignore", "echo '!data' >> .gitignore", "echo '!*.bin' > sub/.gitignore; echo > .gitignore"} {
		t.Run(how, func(t *testing.T) {
			b := start(t)
			b.turn("one", func() { b.shell(how) })
			b.turn("two", func() { b.shell("echo 1 > covered") })
			b.turn("three", func() { b.shell("echo 2 > covered; echo changed > data") })
			b.commit(b.plan("", checkpoint.Code), force)
			got := tree(t, b.dir)
			if !strings.Contains(got, "covered=0 data=") || !strings.HasSuffix(got, "y.bin=precious") || !strings.HasPrefix(got, before[:20]) {
				t.Errorf("the workspace is %q", got)
			}
		})
	}
	t.Run("a person removes a rule", func(t *testing.T) {
		b := start(t)
		b.turn("one", func() { b.shell("echo 1 > covered") })
		b.write(".gitignore", "")
		b.turn("two", func() { b.shell("echo 2 > covered; echo changed > data") })
		b.undo(checkpoint.Code, nil)
		b.has(".gitignore= covered=1\n data=precious sub/ sub/y.bin=precious")
		b.commit(b.plan("", checkpoint.Code), force)
		b.has(".gitignore= covered=0 data=precious sub/ sub/y.bin=precious")
	})
}

// TestRepositoryMadeInATurn: what is in a repository that a turn makes is not covered from
// then on, and not taken for gone.
func TestRepositoryMadeInATurn(t *testing.T) {
	b := newBench(t, scans)
	b.write("sub/f", "0")
	b.write("a", "0")
	b.turn("one", func() { b.shell("mkdir sub/.git; echo x > sub/.git/HEAD; echo 1 > a") })
	p := b.planUndo()
	b.leftOut(p, "sub/", "repository")
	b.commit(p, nil)
	b.has("a=0 sub/ sub/.git/ sub/.git/HEAD=x\n sub/f=0")
}

// TestSecretsAreKeptOnlyOnRequest: no content of a file that may hold secrets gets into the
// store, through a tool or a scan, unless that is asked for.
func TestSecretsAreKeptOnlyOnRequest(t *testing.T) {
	for _, asked := range []bool{false, true} {
		b := newBench(t, &checkpoint.TrackOptions{Scan: true, Secrets: asked})
		b.write(".env", "secret=0")
		b.write("id_rsa", "key 0")
		b.turn("one", func() {
			b.edit(".env", "secret=1")
			b.write("id_rsa", "key 1")
		})
		p := b.planUndo()
		it := item(t, p, ".env")
		if asked != (it.Action == checkpoint.ActRestore) || !asked && !strings.Contains(it.Reason, "secrets") {
			t.Errorf("asked %v: %s: %s", asked, it.Action, it.Reason)
		}
		b.commit(p, nil)
		if asked {
			b.has(".env=secret=0 id_rsa=key 0")
		} else {
			b.has(".env=secret=1 id_rsa=key 1")
		}
		for _, text := range []string{"secret=0", "key 0", "secret=1", "key 1"} {
			if b.st.Has(sum(text)) != asked {
				t.Errorf("asked %v: %q is kept: %v", asked, text, !asked)
			}
		}
	}
}

func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
