package checkpoint_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

// gits writes down everything of any git in a folder, with its times.
func gits(t *testing.T, dir string) (text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.Contains(strings.ToLower(name), ".git") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(name)
		text += fmt.Sprintf("%s %v %v %q\n", name, info.Mode(), info.ModTime(), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestNothingOfGitChanges (G15): of the repository, of those inside it, of worktrees and of
// submodules, whatever the environment says of git, and where there is none.
func TestNothingOfGitChanges(t *testing.T) {
	b := newBench(t, scans)
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/index": "DIRC", ".git/config": "[core]\n", ".git/refs/heads/main": strings.Repeat("0", 40),
		".git/modules/module/HEAD": "x", "nested/.git/HEAD": "x", "nested/f": "0", "deep/er/.git/HEAD": "x", "tree/.git": "gitdir: ../.git/worktrees/tree\n",
		"tree/f": "0", "module/.git": "gitdir: ../.git/modules/module\n", "module/f": "0", "bare.git/HEAD": "x", ".gitmodules": "[submodule]\n", "a": "0",
	} {
		b.write(name, text)
	}
	b.link(".git/config", "config")
	b.link(".git", "git")
	outside := t.TempDir()
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"} {
		t.Setenv(name, filepath.Join(outside, name))
	}
	t.Setenv("PATH", "")
	before := gits(t, b.dir)
	b.turn("go", func() {
		b.named(func() { b.write("a", "1") }, "a", ".git/config", "config", "git/config", "nested/.git/HEAD", "tree/.git", ".git")
		b.write("new", "1")
		b.write("nested/f", "1")
		b.write("tree/f", "1")
	})
	p := b.planUndo()
	for _, name := range []string{"nested/", "deep/er/", "tree/", "module/"} {
		b.leftOut(p, name, "repository")
	}
	for _, name := range []string{".git/config", "nested/.git/HEAD", "tree/.git", ".git"} {
		b.leftOut(p, name, "git")
	}
	for range 2 {
		b.undo(checkpoint.Both, nil)
		b.redo(checkpoint.Both)
	}
	b.undo(checkpoint.Code, nil)
	if after := gits(t, b.dir); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	for name, want := range map[string]string{"a": "0", "nested/f": "1", "tree/f": "1"} {
		if got, err := os.ReadFile(b.path(name)); string(got) != want {
			t.Errorf("%s is %q: %v", name, got, err)
		}
	}
	if list, err := os.ReadDir(outside); len(list) != 0 || err != nil {
		t.Error(list, err)
	}
}

// TestEditsInANestedRepository: a tool may name what is in a repository inside the workspace: its files are files, and
// only its .git is left alone.
func TestEditsInANestedRepository(t *testing.T) {
	b := newBench(t, scans)
	b.write("nested/.git/HEAD", "x")
	b.write("nested/f", "0")
	b.turn("go", func() { b.edit("nested/f", "1"); b.edit("nested/new", "1") })
	b.undo(checkpoint.Code, nil)
	b.has("nested/ nested/.git/ nested/.git/HEAD=x nested/f=0")
}

var (
	ignoredNames = []string{"a", "b", "c.txt", "d.log", "foo", "Bar", "x y", "\u00e9", "build", "[z]", "#h", "!b", "tail ", "a.b.c", "keep", "-f", "foobar"}
	ignoreRules  = []string{
		"a", "*.txt", "/foo", "foo/", "**/b", "a/**", "a/**/c.txt", "!*.log", "!foo/", "b*", "?", "[a-c]*", "[!a]", "\\#h", "\\!b", "*/", "build/*", "!build/keep",
		"tail\\ ", "foo  ", "# comment", "", "/**", "foo/**", "**/foo/**", "foo**bar", "*", "!*", "!*/", "x y", "x\\ y", "[[:upper:]]*", "[^b]ar", "B*", "\u00e9", "/*", "!/foo",
		"!/a/", "a/b", "/a/b", "a/*/c.txt", "*.{txt,log}", "\\[z\\]", "[[]z]", "d.log\t", "a/", "**", "**/", "*.*", "!c.txt", "!**/keep", "build/", "/build/**/keep", "foo?ar", "-f",
		"a//b", "./a", "../a", "!", "/", "\\a", "fo[o-o]", "[a-]", "a.b.*", "**a", "a**", "***", "/a*", "!b/**", "\\\\", "foo/*/", "[]a]", "[z-a]", "[", "\\",
	}
)

// growTree makes a folder with random files and random rules.
func (b *bench) growTree(r *rand.Rand, dir string, depth int) (files []string) {
	b.must(os.MkdirAll(b.path(dir), 0o755))
	if depth == 3 || r.IntN(4) == 0 {
		end := []string{"\n", "\n", "\n", "\r\n"}[r.IntN(4)]
		var rules []string
		for range 1 + r.IntN(4) {
			rules = append(rules, ignoreRules[r.IntN(len(ignoreRules))])
		}
		b.write(dir+"/.gitignore", []string{"", "", "", "\xef\xbb\xbf"}[r.IntN(4)]+strings.Join(rules, end)+[]string{end, ""}[r.IntN(2)])
	}
	for _, i := range r.Perm(len(ignoredNames))[:5] {
		name := dir + "/" + ignoredNames[i]
		if depth > 0 && r.IntN(2) == 0 {
			files = append(files, b.growTree(r, name, depth-1)...)
			continue
		}
		b.write(name, "0")
		files = append(files, name)
	}
	return files
}

// TestRulesAreThoseOfGit: of random trees with random rules, scans leave out exactly what
// `git check-ignore` says, where git is there to ask.
func TestRulesAreThoseOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		return // nobody to ask; what scans leave out is tested elsewhere
	}
	b := newBench(t, scans)
	r := rand.New(rand.NewPCG(3, 4))
	var files []string
	for i := range 15 {
		files = append(files, b.growTree(r, fmt.Sprintf("%03d", i), 3)...)
	}
	b.turn("go", func() {
		for _, name := range files {
			b.write(name, "1")
		}
	})
	covered := map[string]bool{}
	for _, it := range b.planUndo().Items {
		covered[it.Path] = true
	}
	ignored := gitIgnores(t, git, b.dir, files)
	for _, name := range files {
		if covered[name] == ignored[name] {
			t.Errorf("%q: git ignores it: %v%s", name, ignored[name], b.rulesAbove(name))
		}
	}
	if len(ignored) < 100 || len(ignored) > len(files)-100 {
		t.Errorf("%d of %d are ignored", len(ignored), len(files))
	}
}

func gitIgnores(t *testing.T, git, dir string, files []string) map[string]bool {
	t.Helper()
	run := func(in string, args ...string) string {
		c := exec.Command(git, args...)
		c.Dir, c.Stdin = dir, strings.NewReader(in)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR="+filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir)
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, errs.String())
		}
		return out.String()
	}
	run("", "init", "-q", "--template=")
	out := run(strings.Join(files, "\x00"), "-c", "core.excludesFile=", "-c", "core.ignoreCase=false", "check-ignore", "--no-index", "-z", "--stdin")
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(out, "\x00") {
		if name != "" {
			ignored[name] = true
		}
	}
	return ignored
}

// rulesAbove gives the rules that a path is under.
func (b *bench) rulesAbove(name string) (text string) {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if rules, err := os.ReadFile(b.path(dir + "/.gitignore")); err == nil {
			text += fmt.Sprintf("\n\t%s: %q", dir, rules)
		}
	}
	return text
}
