//go:build unix

package checkpoint_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

// A change is something that a turn does: what there is before, and what it does to it.
type change struct {
	name   string
	before func(b *bench)
	does   func(b *bench)
	paths  string // that the tool names
}

func content(name string, before, after []byte) change {
	return change{name, func(b *bench) { b.put("f", before, 0o644) }, func(b *bench) { b.put("f", after, 0o644) }, "f"}
}

func random(n int) []byte {
	data := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(data)
	return data
}

func mode(from, to fs.FileMode) change {
	return change{
		"mode " + checkpoint.FormatMode(from) + " " + checkpoint.FormatMode(to),
		func(b *bench) { b.put("f", []byte("x"), from) }, func(b *bench) { b.rm("f"); b.put("f", []byte("y"), to) }, "f",
	}
}

func linkTo(name, target string) change {
	return change{name, func(b *bench) { b.write("there/x", "x"); b.link(target, "l") }, func(b *bench) { b.link("elsewhere", "l") }, "l"}
}

// swaps are the things that can stand at one path; each becomes each.
func swaps() (list []change) {
	things := []struct {
		name string
		make func(b *bench)
	}{
		{"nothing", func(b *bench) {}},
		{"an empty file", func(b *bench) { b.put("p", nil, 0o644) }},
		{"a file", func(b *bench) { b.put("p", []byte("text"), 0o750) }},
		{"a link", func(b *bench) { b.link("other", "p") }},
		{"an empty directory", func(b *bench) { b.mkdir("p", 0o700) }},
		{"a directory", func(b *bench) { b.write("p/in/x", "1"); b.link("in", "p/l") }},
	}
	for _, from := range things {
		for _, to := range things {
			list = append(list, change{
				from.name + " becomes " + to.name, func(b *bench) { b.write("other", "o"); from.make(b) },
				func(b *bench) { b.rm("p"); to.make(b) }, "p p/in p/in/x p/l",
			})
		}
	}
	return list
}

var oddNames = []string{
	"e\u0301", "\u00e9", "new\nline", ":colon", "-rf", "--", " space ", "quo\"te", "it's", "back\\slash", "tab\t", "\x1b[31m", "%2e", "*", "~",
	"..dots", "...", "CON", strings.Repeat("n", 255), strings.Repeat("deep/", 60) + "end", "\u202egpj", ".sessctl-x", "a..b/c",
}

// odd edits files with odd names, and makes others.
func odd() change {
	all := func(text string) func(b *bench) {
		return func(b *bench) {
			for _, name := range oddNames {
				b.write(name, text)
				b.write("in/"+name, text)
			}
		}
	}
	does := func(b *bench) {
		all("1")(b)
		for _, name := range oddNames {
			b.write("new/"+name, "1")
			b.rm("in/" + name)
		}
	}
	return change{"odd names", all("0"), does, ""}
}

// named are the paths that a tool names.
func (c *change) named() (list []string) {
	if c.name != "odd names" {
		return strings.Fields(c.paths)
	}
	for _, name := range oddNames {
		list = append(list, name, "in/"+name, "new/"+name)
	}
	return list
}

func fidelity() []change {
	list := []change{
		content("random bytes", random(5000), random(4999)),
		content("NULs", make([]byte, 300), []byte("a\x00b")),
		content("CRLF", []byte("a\r\nb\r\n"), []byte("a\nb\n")),
		content("mixed line ends", []byte("a\r\nb\nc\r"), []byte("a\r\nb\nc\rd")),
		content("no final newline", []byte("a\nb"), []byte("a\nb\n")),
		content("GB18030", []byte("\xd6\xd0\xce\xc4\x81\x30\x81\x30"), []byte("\xd6\xd0")),
		content("byte order marks", []byte("\xef\xbb\xbfa"), []byte("\xff\xfea\x00")),
		content("not UTF-8", []byte("\xff\xfe\xfd"), []byte("\xc3\x28")),
		content("same size", []byte("aaaa"), []byte("aaab")),
		content("compressible", bytes.Repeat([]byte("line\n"), 9000), bytes.Repeat([]byte("enil\n"), 9000)),
		content("no change", []byte("a"), []byte("a")),
		{"sparse", func(b *bench) { b.sparse("f", 1<<20) }, func(b *bench) { b.sparse("f", 1<<20+5) }, "f"},
		{"only the mode", func(b *bench) { b.put("f", []byte("x"), 0o644) }, func(b *bench) { b.must(os.Chmod(b.path("f"), 0o755)) }, "f"},
		{"setgid", func(b *bench) { b.put("f", []byte("x"), 0o755|fs.ModeSetgid) }, func(b *bench) { b.put("f", []byte("y"), 0o755) }, "f"},
		linkTo("a link", "there/x"), linkTo("a dangling link", "nowhere"), linkTo("a link to a directory", "there"),
		linkTo("a link outside", "../../outside"), linkTo("an absolute link", "/nowhere/at/all"), linkTo("a link to itself", "l"), linkTo("a link to the root", "."),
		{"a mode of a directory", func(b *bench) { b.mkdir("d", 0o700); b.write("d/x", "0") }, func(b *bench) { b.mkdir("d", 0o755); b.write("d/x", "1") }, "d d/x"},
		{"a sticky directory", func(b *bench) { b.mkdir("d", 0o777|fs.ModeSticky) }, func(b *bench) { b.rm("d") }, "d"},
		{"a read-only directory goes", func(b *bench) { b.write("d/e/x", "0"); b.mkdir("d/e", 0o555) }, func(b *bench) { b.mkdir("d/e", 0o755); b.rm("d") }, "d d/e d/e/x"},
		{"a read-only directory comes", func(b *bench) {}, func(b *bench) { b.write("d/e/x", "0"); b.mkdir("d/e", 0o555) }, "d d/e d/e/x"},
		{"a directory becomes read-only", func(b *bench) { b.write("d/x", "0") }, func(b *bench) { b.write("d/x", "1"); b.write("d/y", "1"); b.mkdir("d", 0o555) }, "d d/x d/y"},
		{"only the case of a name", func(b *bench) { b.write("Name", "0") }, func(b *bench) { b.mv("Name", "name") }, "Name name"},
		{"composed and decomposed", func(b *bench) { b.write("\u00e9", "0") }, func(b *bench) { b.mv("\u00e9", "e\u0301") }, "\u00e9 e\u0301"},
		{"a chain of renames", func(b *bench) { b.write("a", "A"); b.write("b", "B"); b.write("c", "C") }, func(b *bench) {
			b.mv("c", "d")
			b.mv("b", "c")
			b.mv("a", "b")
		}, "a b c d"},
		{"two names change places", func(b *bench) { b.write("a", "A"); b.write("b", "B") }, func(b *bench) {
			b.mv("a", "t")
			b.mv("b", "a")
			b.mv("t", "b")
		}, "a b t"},
		{"a directory is renamed", func(b *bench) { b.write("d/x", "x"); b.mkdir("d/e", 0o700) }, func(b *bench) { b.mv("d", "n") }, "d d/x d/e n n/x n/e"},
		{"a hard link that the writer breaks", func(b *bench) { b.write("f", "0"); b.must(os.Link(b.path("f"), b.path("g"))) }, func(b *bench) {
			b.write("t", "1")
			b.mv("t", "f")
		}, "f t"},
	}
	for _, m := range []fs.FileMode{0o600, 0o755, 0o444, 0o000, 0o755 | fs.ModeSetgid} {
		list = append(list, mode(m, 0o644), mode(0o644, m), mode(m, 0o640))
	}
	return append(append(list, swaps()...), odd())
}

func (b *bench) sparse(name string, size int64) {
	b.Helper()
	b.put(name, []byte("start"), 0o644)
	b.must(os.Truncate(b.path(name), size))
}

// ways are how changes come to the log.
var ways = map[string]func(b *bench, c change){
	"tool": func(b *bench, c change) {
		b.prompt("go")
		b.named(func() { c.does(b) }, c.named()...)
	},
	"scan": func(b *bench, c change) { b.turn("go", func() { c.does(b) }) },
}

// TestFidelity: whatever a turn did is taken back and brought back exactly, whether a tool
// told of it or a scan found it.
func TestFidelity(t *testing.T) {
	for _, user := range users() {
		for way, do := range ways {
			for _, c := range fidelity() {
				if user == ordinary() && strings.Contains(c.name, "0000") || user != users()[0] && !strings.Contains(c.name, "mode") && !strings.Contains(c.name, "read-only") {
					continue // what may not be read is refused: TestWhatCannotBeReadIsRefused
				}
				t.Run(user.name+"/"+way+"/"+c.name, func(t *testing.T) {
					b := newBench(t, &checkpoint.TrackOptions{Scan: way == "scan"})
					user.become(b)
					b.readable(t)
					c.before(b)
					before := b.exact()
					do(b, c)
					after := b.exact()
					b.goes(b.f.Undo, before, after)
					b.goes(b.f.Redo, after, before)
				})
			}
		}
	}
}

// A refusal is a path that a plan leaves alone, with the reason; what stands beside it in
// the turn goes back all the same.
type refusal struct {
	change
	action checkpoint.Action
	reason string
	opt    checkpoint.TrackOptions
	user   bool // an ordinary user may not do it
}

func refusals() []refusal {
	small := checkpoint.TrackOptions{MaxFile: 10}
	large := func(b *bench) { b.write("f", "larger than ten") }
	fine := func(b *bench) { b.write("f", "0") }
	return []refusal{
		{change{"too large before", large, fine, "f"}, checkpoint.ActUnknown, "larger than", small, false},
		{change{"too large after", fine, large, "f"}, checkpoint.ActUnknown, "larger than", small, false},
		{change{"too large and removed", large, func(b *bench) { b.rm("f") }, "f"}, checkpoint.ActUnknown, "larger than", small, false},
		{change{"too large and new", func(b *bench) {}, large, "f"}, checkpoint.ActUnknown, "larger than", small, false},
		{change{"a pipe comes", fine, func(b *bench) { b.rm("f"); b.fifo("f") }, "f"}, checkpoint.ActUnknown, "a pipe", checkpoint.TrackOptions{}, false},
		{change{"a pipe goes", func(b *bench) { b.fifo("f") }, func(b *bench) { b.rm("f"); b.write("f", "1") }, "f"}, checkpoint.ActUnknown, "a pipe", checkpoint.TrackOptions{}, false},
		{change{"a socket", fine, func(b *bench) { b.rm("f"); b.socket("f") }, "f"}, checkpoint.ActUnknown, "a socket", checkpoint.TrackOptions{}, false},
		{change{"unreadable before", func(b *bench) { b.put("f", []byte("x"), 0) }, func(b *bench) { b.rm("f"); b.write("f", "1") }, "f"}, checkpoint.ActUnknown, "cannot be read", checkpoint.TrackOptions{}, true},
		{change{"unreadable after", fine, func(b *bench) { b.must(os.Chmod(b.path("f"), 0)) }, "f"}, checkpoint.ActUnknown, "cannot be read", checkpoint.TrackOptions{}, true},
		{change{"a hard link that stays", func(b *bench) { fine(b); b.must(os.Link(b.path("f"), b.path("g"))) }, func(b *bench) { b.write("f", "1") }, "f g"}, checkpoint.ActConflict, "hard links", checkpoint.TrackOptions{}, false},
	}
}

func (b *bench) fifo(name string) { b.Helper(); b.must(syscall.Mkfifo(b.path(name), 0o644)) }

func (b *bench) socket(name string) {
	b.Helper()
	b.Chdir(b.dir) // a socket's path must be short
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	b.must(err)
	l.SetUnlinkOnClose(false)
	b.must(l.Close())
}

// TestWhatCannotBeReadIsRefused: a path whose content is not kept is left alone, with the
// reason, and never taken for absent or empty. The rest goes back.
func TestWhatCannotBeReadIsRefused(t *testing.T) {
	for way, do := range ways {
		for _, r := range refusals() {
			t.Run(way+"/"+r.name, func(t *testing.T) {
				r.opt.Scan = way == "scan"
				b := newBench(t, &r.opt)
				if r.user {
					ordinary().become(b)
				}
				r.before(b)
				b.write("beside", "0")
				does := r.does
				r.does = func(b *bench) { does(b); b.write("beside", "1") }
				r.paths += " beside"
				do(b, r.change)
				is := b.exact()
				p, err := b.f.Undo(b.Context(), checkpoint.Code, nil)
				b.must(err)
				for _, name := range strings.Fields(r.paths) {
					it := item(t, p, name)
					if name != "beside" && (it.Action != r.action || !strings.Contains(it.Reason, r.reason)) {
						t.Errorf("%s is %q: %q", it.Path, it.Action, it.Reason)
					}
				}
				b.commit(p, &checkpoint.CommitOptions{Partial: true})
				if want := strings.Replace(is, `"beside" -rw-r--r-- "1"`, `"beside" -rw-r--r-- "0"`, 1); b.exact() != want || want == is {
					t.Errorf("the workspace is\n%s\nwant\n%s", b.exact(), want)
				}
			})
		}
	}
}

// TestOneDirectoryThatCannotBeRead is named and left alone, and everything else is covered:
// new files are known to be new, and what is gone is known to be.
func TestOneDirectoryThatCannotBeRead(t *testing.T) {
	b := newBench(t, scans)
	ordinary().become(b)
	b.readable(t)
	b.write("locked/x", "0")
	b.write("later/x", "0")
	b.write("gone", "0")
	b.mkdir("locked", 0)
	before := b.exact()
	b.turn("one", func() { b.write("new", "1"); b.rm("gone"); b.write("d/new", "1") })
	b.leftOut(b.planUndo(), "locked/", "cannot be read")
	b.undo(checkpoint.Code, nil)
	if got := b.exact(); got != before {
		t.Errorf("the workspace is\n%s\nwant\n%s", got, before)
	}
	b.turn("two", func() { b.write("later/new", "1"); b.mkdir("later", 0) })
	b.leftOut(b.planUndo(), "later/", "cannot be read")
	b.undo(checkpoint.Code, nil)
	b.mkdir("later", 0o755)
	b.must(os.Remove(b.path("later/new")))
	if got := b.exact(); got != before {
		t.Errorf("the workspace is\n%s\nwant\n%s", got, before)
	}
}

// TestAFailureInTheMiddleChangesNothing: where one directory cannot be written, neither leg is
// half done, and the log says that it was tried.
func TestAFailureInTheMiddleChangesNothing(t *testing.T) {
	for _, scope := range []checkpoint.Scope{checkpoint.Code, checkpoint.Both} {
		t.Run(string(scope), func(t *testing.T) {
			b := newBench(t, nil)
			ordinary().become(b)
			b.readable(t)
			for _, name := range []string{"a", "locked/x", "z"} {
				b.write(name, "0")
			}
			b.prompt("one")
			for _, name := range []string{"a", "b/new", "locked/x", "z"} {
				b.edit(name, "1")
			}
			b.mkdir("locked", 0o555)
			before := b.exact()
			p, err := b.f.Undo(b.Context(), scope, nil)
			b.must(err)
			if _, err := b.f.Commit(b.Context(), p, nil); !errors.Is(err, checkpoint.ErrAborted) || !strings.Contains(err.Error(), "locked/x") {
				t.Error(err)
			}
			if got := b.exact(); got != before {
				t.Errorf("the workspace is\n%s\nwant\n%s", got, before)
			}
			b.mkdir("locked", 0o755)
			b.reopen()
			b.undo(scope, nil)
			b.has("a=0 locked/ locked/x=0 z=0")
			b.redo(scope)
			b.has("a=1 b/ b/new=1 locked/ locked/x=1 z=1")
		})
	}
}

// TestModesWhateverTheUmask: what is restored has the mode that it had, and is never open to
// more readers on the way.
func TestModesWhateverTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o777} {
		b := newBench(t, nil)
		for _, m := range []fs.FileMode{0o600, 0o640, 0o755, 0o777} {
			b.put("f"+checkpoint.FormatMode(m), []byte("x"), m)
			b.mkdir("d"+checkpoint.FormatMode(m)+"/in", 0o755)
			b.mkdir("d"+checkpoint.FormatMode(m), m|0o700)
		}
		before := exact(t, b.dir)
		b.prompt("go")
		var names []string
		for line := range strings.Lines(before) {
			names = append(names, strings.Split(line, `"`)[1])
		}
		b.named(func() {
			for _, name := range names {
				b.rm(name)
			}
		}, names...)
		old := syscall.Umask(umask)
		p, err := b.f.Undo(t.Context(), checkpoint.Code, nil)
		if err == nil {
			_, err = b.f.Commit(t.Context(), p, nil)
		}
		syscall.Umask(old)
		b.must(err)
		if got := exact(t, b.dir); got != before {
			t.Errorf("umask %04o: the workspace is\n%s\nwant\n%s", umask, got, before)
		}
	}
}
