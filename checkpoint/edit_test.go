package checkpoint_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

// TestEditsOfAllSorts: what a tool names is taken back and done again, whatever it did.
func TestEditsOfAllSorts(t *testing.T) {
	for name, c := range map[string]struct {
		paths []string
		do    func(b *bench)
	}{
		"a directory removed": {[]string{"d"}, func(b *bench) { b.must(os.RemoveAll(b.path("d"))) }},
		"a directory moved": {[]string{"d", "there/new"}, func(b *bench) {
			b.must(os.MkdirAll(b.path("there"), 0o755))
			b.must(os.Rename(b.path("d"), b.path("there/new")))
		}},
		"a directory filled":         {[]string{"made"}, func(b *bench) { b.write("made/x/y", "1"); b.write("made/z", "2") }},
		"a file in new directories":  {[]string{"p/q/r"}, func(b *bench) { b.write("p/q/r", "1") }},
		"a file made a directory":    {[]string{"a"}, func(b *bench) { b.must(os.Remove(b.path("a"))); b.write("a/in", "1") }},
		"a directory made a file":    {[]string{"d"}, func(b *bench) { b.must(os.RemoveAll(b.path("d"))); b.write("d", "1") }},
		"a link written through":     {[]string{"link"}, func(b *bench) { b.write("link", "through") }},
		"a link replaced":            {[]string{"link"}, func(b *bench) { b.must(os.Remove(b.path("link"))); b.write("link", "a file") }},
		"a link made":                {[]string{"new"}, func(b *bench) { b.must(os.Symlink("a", b.path("new"))) }},
		"a file below a link":        {[]string{"dirlink/x"}, func(b *bench) { b.write("d/x", "changed") }},
		"an absolute path":           {[]string{"ABS/a"}, func(b *bench) { b.write("a", "changed") }},
		"a mode":                     {[]string{"a"}, func(b *bench) { b.must(os.Chmod(b.path("a"), 0o600)) }},
		"nothing":                    {[]string{"a", "d", "none"}, func(*bench) {}},
		"several, one inside other":  {[]string{"d", "d/x", "a"}, func(b *bench) { b.write("d/x", "1"); b.write("d/new", "2"); b.must(os.Remove(b.path("a"))) }},
		"an edit that failed midway": {[]string{"a", "none/b"}, func(b *bench) { b.write("a", "half") }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.write("a", "0")
			b.write("d/x", "x")
			b.write("d/e/y", "y")
			b.must(os.Symlink("a", b.path("link")))
			b.must(os.Symlink("d", b.path("dirlink")))
			for i, p := range c.paths {
				if rest, ok := strings.CutPrefix(p, "ABS/"); ok {
					c.paths[i] = b.path(rest)
				}
			}
			start := tree(t, b.dir)
			b.prompt("go")
			b.must(b.f.BeforeEdit(b.Context(), "call", c.paths...))
			c.do(b)
			b.must(b.f.AfterEdit(b.Context(), "call", c.paths...))
			end := tree(t, b.dir)
			for range 2 {
				b.undo(checkpoint.Both, nil)
				b.has(start)
				b.redo(checkpoint.Both)
				b.has(end)
			}
			p := b.plan(b.s.Leaf(), checkpoint.Code)
			for _, it := range p.Items {
				if it.Action != checkpoint.ActSkip {
					t.Errorf("a plan to where the files are: %s %s %s", it.Action, it.Path, it.Reason)
				}
			}
		})
	}
}
