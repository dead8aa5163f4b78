package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
)

type object = map[string]any

// plant appends a record as anybody may have written it.
func (b *bench) plant(kind string, data object) entries.ID {
	b.Helper()
	raw, err := json.Marshal(data)
	b.must(err)
	done, err := b.s.Append(b.Context(), entries.CustomDraft(kind, raw))
	b.must(err)
	return done.Leaf
}

func fileOf(text string) object {
	return object{"kind": "file", "mode": "0644", "size": len(text), "sha256": sum(text)}
}

var absent = object{"kind": "absent"}

// within puts the workspace below a folder that others own, with a file at each place where
// a path may lead.
func (b *bench) within() (around string) {
	b.Helper()
	around = b.TempDir()
	b.stop()
	b.dir = filepath.Join(around, "w", "s")
	for _, name := range []string{"x", "w/x", ".git/config", "w/s/.git/config", "w/s/.git/x", "w/s/sub/.GIT/x", "w/s/y"} {
		name = filepath.Join(around, name)
		b.must(os.MkdirAll(filepath.Dir(name), 0o755))
		b.must(os.WriteFile(name, []byte("theirs"), 0o644))
	}
	b.reopen()
	return around
}

// force goes to the root of the conversation, whatever is in the way.
func (b *bench) force() *checkpoint.Plan {
	b.Helper()
	p := b.plan("", checkpoint.Code)
	b.commit(p, &checkpoint.CommitOptions{Force: true})
	return p
}

// TestRecordedPathsThatLeadOut: such a path is no path, whatever is said of it: what is
// there is neither looked at nor changed.
func TestRecordedPathsThatLeadOut(t *testing.T) {
	for _, name := range []string{
		"../x", "../../x", "/etc/hostname", "a/../../x", "./y", "y/", "a//b", ".", "..", "", "y/../y", "sub/../../x",
		".git/config", ".GIT/x", ".git", ".Git./x", ".git /x", "sub/.git/x", "sub/.GIT/x", "git~1/x", "sub/GIT~2", ".g\u200cit/x", ".git\ufeff/x", ".git::$INDEX_ALLOCATION/x",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			around := b.within()
			evil, err := b.st.Put([]byte("evil"))
			b.must(err)
			b.prompt("go")
			full := filepath.Join(around, "w", "s", name)
			if filepath.IsAbs(name) {
				full = name
			}
			now := absent
			if data, err := os.ReadFile(full); err == nil {
				now = fileOf(string(data))
			}
			b.plant(entries.CustomFileSnapshot, object{"phase": "after", "source": "tool", "files": []object{
				{"path": name, "before": object{"kind": "file", "mode": "0777", "size": 4, "sha256": evil}, "state": now},
			}})
			b.edit("beside", "1")
			before := exact(t, around)
			p := b.plan("", checkpoint.Code)
			if len(p.Items) != 1 || p.Items[0].Path != "beside" {
				t.Errorf("the plan has %+v", p.Items)
			}
			b.force()
			if got := exact(t, around); got != strings.Replace(before, `"w/s/beside" -rw-r--r-- "1"`+"\n", "", 1) {
				t.Errorf("it was\n%s\nand is\n%s", before, got)
			}
		})
	}
}

// TestNamesOfWindows are names like others where they can be names, and lead nowhere else.
func TestNamesOfWindows(t *testing.T) {
	for _, name := range []string{`C:\x`, `C:x`, `..\x`, `a\..\..\x`, `\\host\share\x`, `\x`, `NUL`, `x.`} {
		if !filepath.IsLocal(name) {
			continue
		}
		b := newBench(t, nil)
		around := b.within()
		b.prompt("go")
		before := exact(t, around)
		b.edit(name, "1")
		b.undo(checkpoint.Code, nil)
		if got := exact(t, around); got != before {
			t.Errorf("%q: it was\n%s\nand is\n%s", name, before, got)
		}
	}
}

// TestRecordsThatMakeNoSense: what a record says that makes no sense is not known. Nothing
// is restored or removed for it, also by force.
func TestRecordsThatMakeNoSense(t *testing.T) {
	states := map[string]any{
		"no kind": object{}, "another kind": object{"kind": "door"}, "null": nil, "a number": 3, "a list": []int{1}, "a kind that is no text": object{"kind": 1},
		"a file without a sum": object{"kind": "file", "mode": "0644"}, "a sum that is a path": object{"kind": "file", "mode": "0644", "sha256": "../../../../etc/passwd"},
		"a sum in capitals": object{"kind": "file", "mode": "0644", "sha256": strings.Repeat("A", 64)}, "no mode": object{"kind": "file", "sha256": sum("x")},
		"a mode beyond": object{"kind": "file", "mode": "10644", "sha256": sum("x")}, "a mode that is none": object{"kind": "dir", "mode": "rwx"},
		"a negative size": object{"kind": "file", "mode": "0644", "size": -1, "sha256": sum("x")}, "a link to nothing": object{"kind": "symlink"},
		"a link with a NUL": object{"kind": "symlink", "target": "a\x00b"}, "a link that is too long": object{"kind": "symlink", "target": strings.Repeat("x", 1<<16)},
		"a content that is not there": fileOf("nowhere"),
	}
	for what, state := range states {
		t.Run(what, func(t *testing.T) {
			b := newBench(t, nil)
			b.write("a", "a")
			b.prompt("go")
			b.plant(entries.CustomFileSnapshot, object{"phase": "after", "source": "tool", "files": []object{{"path": "a", "before": state, "state": fileOf("a")}}})
			b.plant(entries.CustomFileSnapshot, object{"phase": "after", "source": "tool", "files": []object{{"path": "new", "before": state, "state": absent}}})
			b.edit("beside", "1")
			p := b.force()
			for _, name := range []string{"a", "new"} {
				if it := item(t, p, name); it.Action != checkpoint.ActUnknown || it.Reason == "" {
					t.Errorf("%s is %q: %q", name, it.Action, it.Reason)
				}
			}
			b.has("a=a")
		})
	}
	for what, data := range map[string]any{
		"text": "x", "null": nil, "files that are no list": object{"files": 3}, "a phase that is none": object{"phase": "sideways", "files": []object{{"path": "other"}}},
		"a list that is a path":      object{"phase": "after", "list": "../../x", "of": 2},
		"a list that is not there":   object{"phase": "after", "list": sum("no"), "of": 2},
		"an end that ends nothing":   object{"phase": "end", "begin": "nothing", "outcome": "done", "undoes": "nothing"},
		"a begin that goes nowhere":  object{"phase": "begin", "to": "nowhere", "move": object{"to": "nowhere", "reason": "x"}, "files": []object{{"path": "other"}}},
		"a begin that has no states": object{"phase": "begin", "files": []object{{"path": "../x", "from": absent, "to": absent}}},
	} {
		for _, kind := range []string{entries.CustomFileSnapshot, entries.CustomFileRestore} {
			t.Run(what+" in "+kind, func(t *testing.T) {
				b := newBench(t, nil)
				b.write("a", "a")
				b.prompt("one")
				raw, err := json.Marshal(data)
				b.must(err)
				_, err = b.s.Append(t.Context(), entries.CustomDraft(kind, raw))
				b.must(err)
				b.reopen()
				b.prompt("two")
				b.edit("a", "1")
				b.undo(checkpoint.Code, nil)
				b.has("a=a")
				b.redo(checkpoint.Code)
				b.has("a=1")
			})
		}
	}
}

// TestALogCannotWriteByBeingOpened: a restore that was cut short is finished in the folder
// in which it began, and nowhere else. A log that somebody hands on changes no file.
func TestALogCannotWriteByBeingOpened(t *testing.T) {
	for what, workspace := range map[string]any{
		"no workspace": nil, "another folder": object{"path": "/elsewhere", "dev": 1, "ino": 1}, "the path alone": object{"path": "DIR"},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t, nil)
			b.write("a", "a")
			evil, err := b.st.Put([]byte("evil"))
			b.must(err)
			b.prompt("go")
			if w, ok := workspace.(object); ok && w["path"] == "DIR" {
				w["path"] = b.dir
			}
			b.plant(entries.CustomFileRestore, object{"phase": "begin", "plan": "p", "to": "", "scope": "code", "workspace": workspace, "files": []object{
				{"path": "a", "from": fileOf("a"), "to": absent},
				{"path": ".bashrc", "from": absent, "to": object{"kind": "file", "mode": "0755", "size": 4, "sha256": evil}},
			}})
			b.reopen()
			b.has("a=a")
			if d := b.f.Finished(); d == nil || d.Count(checkpoint.Kept) != 2 {
				t.Errorf("the restore came to %+v", d)
			}
			b.edit("a", "1")
			b.undo(checkpoint.Code, nil)
			b.has("a=a")
		})
	}
}

// TestLinksAmongParents: nothing is looked for, or made, below a link.
func TestLinksAmongParents(t *testing.T) {
	for _, target := range []string{"OUTSIDE", "real", "."} {
		t.Run(target, func(t *testing.T) {
			b := newBench(t, nil)
			around := b.within()
			if target == "OUTSIDE" {
				target = around
			}
			b.write("real/x", "theirs")
			b.link(target, "l")
			for _, name := range []string{"x", "y", "real/x"} {
				b.must(os.WriteFile(filepath.Join(around, filepath.Base(name)), []byte("theirs"), 0o644))
			}
			_, err := b.st.Put([]byte("evil"))
			b.must(err)
			b.prompt("go")
			b.plant(entries.CustomFileSnapshot, object{"phase": "after", "source": "tool", "files": []object{
				{"path": "l/x", "before": absent, "state": fileOf("theirs")},
				{"path": "l/y", "before": fileOf("evil"), "state": fileOf("theirs")},
				{"path": "l/new", "before": fileOf("evil"), "state": absent},
			}})
			before := exact(t, around)
			p := b.force()
			if it := item(t, p, "l/new"); it.Action != checkpoint.ActUnknown || !strings.Contains(it.Reason, "link") {
				t.Errorf("%s: %s", it.Action, it.Reason)
			}
			if got := exact(t, around); got != before {
				t.Errorf("it was\n%s\nand is\n%s", before, got)
			}
		})
	}
}

// TestParentBecomesALinkAfterThePlan: what was planned is refused, with a fresh plan.
func TestParentBecomesALinkAfterThePlan(t *testing.T) {
	b := newBench(t, nil)
	outside := t.TempDir()
	b.must(os.WriteFile(filepath.Join(outside, "x"), []byte("1"), 0o644))
	b.write("d/x", "0")
	b.prompt("go")
	b.edit("d/x", "1")
	b.edit("d/new", "1")
	p := b.planUndo()
	b.mv("d", "moved")
	b.link(outside, "d")
	before := exact(t, outside) + exact(t, b.dir)
	var stale *checkpoint.StaleError
	if _, err := b.f.Commit(t.Context(), p, nil); !errors.As(err, &stale) {
		t.Fatal(err)
	}
	b.commit(stale.Fresh, &checkpoint.CommitOptions{Force: true})
	if got := exact(t, outside) + exact(t, b.dir); got != before {
		t.Errorf("it was\n%s\nand is\n%s", before, got)
	}
}

// TestParentIsSwappedAllTheTime: a goroutine swaps a directory and a link to another folder
// while restores go on. Whatever becomes of these, the other folder stays.
func TestParentIsSwappedAllTheTime(t *testing.T) {
	b := newBench(t, nil)
	outside := t.TempDir()
	for _, name := range []string{"x", "y"} {
		b.must(os.WriteFile(filepath.Join(outside, name), []byte("1"), 0o644))
	}
	before := exact(t, outside)
	b.write("d/x", "0")
	b.prompt("go")
	b.edit("d/x", "1")
	b.edit("d/y", "1")
	b.must(os.Symlink(outside, b.path("link")))
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(b.path("d"), b.path("away"))
			os.Rename(b.path("link"), b.path("d"))
			os.Rename(b.path("d"), b.path("link"))
			os.Rename(b.path("away"), b.path("d"))
		}
	}()
	for range 30 {
		for _, plan := range []func() (*checkpoint.Plan, error){
			func() (*checkpoint.Plan, error) { return b.f.Undo(t.Context(), checkpoint.Code, nil) },
			func() (*checkpoint.Plan, error) { return b.f.Redo(t.Context(), checkpoint.Code, nil) },
		} {
			if p, err := plan(); err == nil {
				_, _ = b.f.Commit(t.Context(), p, &checkpoint.CommitOptions{Force: true}) // may fail
			}
		}
	}
	close(stop)
	<-stopped
	if got := exact(t, outside); got != before {
		t.Errorf("it was\n%s\nand is\n%s", before, got)
	}
}

// TestStoreIsTamperedWith: what is no blob with its own bytes is not there. It is not
// followed, and what the session itself stores takes its place.
func TestStoreIsTamperedWith(t *testing.T) {
	bomb := func() []byte {
		e, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return e.EncodeAll(make([]byte, 40<<20), nil)
	}()
	outside := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(outside, "x"), []byte("0"), 0o644))
	before := exact(t, outside)
	for what, tamper := range map[string]func(blob, dir string){
		"other bytes":      func(blob, _ string) { must(os.WriteFile(blob, []byte("evil"), 0o600)) },
		"nothing":          func(blob, _ string) { must(os.Remove(blob)) },
		"empty":            func(blob, _ string) { must(os.Truncate(blob, 0)) },
		"a link":           func(blob, _ string) { must(os.Remove(blob)); must(os.Symlink(filepath.Join(outside, "x"), blob)) },
		"a directory":      func(blob, _ string) { must(os.Remove(blob)); must(os.Mkdir(blob, 0o700)) },
		"a bomb":           func(blob, _ string) { must(os.Remove(blob)); must(os.WriteFile(blob+".zst", bomb, 0o600)) },
		"no zstd":          func(blob, _ string) { must(os.Remove(blob)); must(os.WriteFile(blob+".zst", []byte("evil"), 0o600)) },
		"a linked folder":  func(_, dir string) { must(os.RemoveAll(dir)); must(os.Symlink(outside, dir)) },
		"a file in place":  func(_, dir string) { must(os.RemoveAll(dir)); must(os.WriteFile(dir, nil, 0o600)) },
		"unreadable later": func(blob, _ string) { must(os.Remove(blob)); must(os.Symlink(filepath.Base(blob), blob)) },
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t, nil)
			b.write("a", "0")
			b.prompt("go")
			b.edit("a", "1")
			b.edit("beside", "1")
			dir := filepath.Join(b.st.Dir(), "sha256", sum("0")[:2])
			tamper(filepath.Join(dir, sum("0")[2:]), dir)
			if _, err := b.st.Get(sum("0")); !errors.Is(err, checkpoint.ErrNoBlob) {
				t.Error(err)
			}
			b.reopen()
			p := b.planUndo()
			b.commit(p, nil)
			b.has("a=1")
			if got := exact(t, outside); got != before {
				t.Errorf("it was\n%s\nand is\n%s", before, got)
			}
			_, err := b.st.Put([]byte("0"))
			if _, e := b.st.Get(sum("0")); (err == nil) != (e == nil) {
				t.Errorf("stored: %v; there: %v", err, e)
			}
			if got := exact(t, outside); got != before {
				t.Errorf("it was\n%s\nand is\n%s", before, got)
			}
		})
	}
}

// TestBombsAreNotUnpacked: a small file that would unpack to much more than a blob of its
// name can be is refused without the memory for it.
func TestBombsAreNotUnpacked(t *testing.T) {
	b := newBench(t, nil)
	e, err := zstd.NewWriter(nil)
	b.must(err)
	name := filepath.Join(b.st.Dir(), "sha256", sum("0")[:2], sum("0")[2:]+".zst")
	b.must(os.MkdirAll(filepath.Dir(name), 0o700))
	b.must(os.WriteFile(name, e.EncodeAll(make([]byte, 128<<20), nil), 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := b.st.Get(sum("0")); !errors.Is(err, checkpoint.ErrNoBlob) {
		t.Error(err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("%d bytes were allocated", after.TotalAlloc-before.TotalAlloc)
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 34<<20/16)
	sum, err := b.st.Put(large)
	b.must(err)
	if got, err := b.st.Get(sum); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
