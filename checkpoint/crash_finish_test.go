package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/sessiontree"
)

// middles are computers on which the commit died, at some of the operations that it was
// in the middle of.
func (x *crashTest) middles(every int) (list []computer) {
	n := 0
	c := x.start.killed()
	_, err := x.commit(c, func(op durable.Op) error {
		if strings.HasPrefix(op.Name, workDir) && mutates(op) && op.Kind != durable.Open {
			if n++; n%every == 0 {
				list = append(list, c.killed())
			}
		}
		return nil
	})
	must(err)
	return list
}

// outcome is what became of a path, by what Finished tells.
func (d *Done) outcome(name string) (o Outcome) {
	for _, f := range d.Files {
		if f.Path == name {
			return f
		}
	}
	return o
}

func (x *crashTest) fails(err error, what string, values ...any) {
	x.Helper()
	if err != nil {
		x.Errorf("%s, %s: %v", x.name, fmt.Sprintf(what, values...), err)
	}
}

// TestFailedCompletions lets each operation fail while a restore that was cut short is
// finished: what fails then is reported, path by path, or tried again.
func TestFailedCompletions(t *testing.T) {
	t.Parallel()
	var states atomic.Int64
	floor(t, &states, 200)
	for i, y := range []story{stories[1], stories[5], stories[6]} {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			x := newCrashTest(t, y, false, uint64(i))
			for _, c := range x.middles(9) {
				states.Add(x.failingCompletion(c))
			}
		})
	}
}

func (x *crashTest) failingCompletion(c computer) (states int64) {
	for n := 1; !x.Failed(); n += 1 + x.r.IntN(16) {
		again := c.killed()
		var at durable.Op
		fault := durable.FailNth("", n, syscall.EIO)
		faulty := &durable.Faulty{FS: again.disk, Fault: func(op durable.Op) error {
			err := fault(op)
			if err != nil {
				at = op
			}
			return err
		}}
		l, err := again.open(faulty)
		if at.Kind == "" {
			return states
		}
		states++
		if l == nil || err != nil {
			x.cuts(again, false, 1, "completed, %s failed", at)
			continue
		}
		x.fails(x.told(l), "completed, %s failed", at)
		must(l.s.Close())
	}
	return states
}

// told checks that each path is as planned, or reported, and nothing else is there.
func (x *crashTest) told(l *life) error {
	done := l.f.Finished()
	if done == nil {
		return x.finished(l, false)
	}
	for name := range differing(l.files(), x.after) {
		if r := done.outcome(name).Result; r != Failed && r != Conflict && done.outcome(path.Dir(name)).Result != Failed {
			return fmt.Errorf("%s is not as planned, and reported %q", name, r)
		}
	}
	var failed []string
	for _, f := range done.Files {
		if f.Result == Failed || f.Result == Conflict {
			failed = append(failed, f.Path)
		}
	}
	return errors.Join(l.computer.among(x.before, x.after), l.clean(), l.fold(failed...))
}

// differing lists the paths that are not the same in both.
func differing(a, b map[string]string) map[string]bool {
	names := map[string]bool{}
	for _, m := range []map[string]string{a, b} {
		for name := range m {
			if a[name] != b[name] {
				names[name] = true
			}
		}
	}
	return names
}

// TestCompletionAfterAMessage: once the conversation went on nothing is written.
func TestCompletionAfterAMessage(t *testing.T) {
	t.Parallel()
	for i, y := range toldStories() {
		x := newCrashTest(t, y, false, uint64(i))
		for _, c := range x.middles(11) {
			s, err := sessiontree.Open(c.log, c.options(c.disk))
			must(err)
			_, err = s.Append(context.Background(), entries.UserMessage("and on"))
			must(err)
			must(s.Close())
			left := withoutTemps(c.files())
			l := c.start()
			x.fails(x.given(l, left), "a message followed")
			must(l.s.Close())
			x.fails(l.again(), "a message followed")
		}
	}
}

func withoutTemps(files map[string]string) map[string]string {
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.Contains(name, ".sessctl-") })
	return files
}

// given checks a restore that was given up: nothing was written, and all is reported.
func (x *crashTest) given(l *life, left map[string]string) error {
	ends := l.restores()
	done := l.f.Finished()
	switch {
	case !maps.Equal(l.files(), left):
		return fmt.Errorf("something was written: %v", differing(l.files(), left))
	case ends[len(ends)-1] != string(outcomeAborted):
		return fmt.Errorf("the log says %q", ends)
	case done == nil:
		return errors.New("it is not reported")
	case len(l.said()) != len(x.said)+1:
		return fmt.Errorf("the conversation moved: %v", l.said())
	}
	for name := range differing(x.before, x.after) {
		if o := done.outcome(name); o.Result == "" && x.opt == nil || o.Result == Kept && left[name] != x.before[name] {
			return fmt.Errorf("%s is reported %q", name, o.Result)
		}
	}
	return l.fold()
}

// TestCompletionLeavesHandEdits: what was changed after the crash is somebody's.
func TestCompletionLeavesHandEdits(t *testing.T) {
	t.Parallel()
	for i, y := range stories[:7] {
		x := newCrashTest(t, y, false, uint64(i))
		for _, c := range x.middles(7) {
			c.put("a", "by hand", 0o644)
			l := c.start()
			got, want := l.files(), maps.Clone(x.after)
			want["a"] = "0644 by hand"
			switch o := l.f.Finished().outcome("a"); {
			case !maps.Equal(got, want):
				t.Errorf("%s: %v", x.name, differing(got, want))
			case o.Result != Conflict:
				t.Errorf("%s: it is reported %q", x.name, o.Result)
			}
			x.fails(errors.Join(l.fold(), l.clean()), "changed by hand")
			must(l.s.Close())
			x.fails(l.again(), "changed by hand")
		}
	}
}

// removedFolder is a story in which a person removed a folder that nobody recorded.
var removedFolder = story{name: "a folder is gone", opt: &CommitOptions{Force: true}, plan: toStart(Code), tell: func(l *life) {
	l.put("d/x", "first", 0o644)
	l.put("d/y", "first", 0o644)
	syncWhole(l.disk, "/")
	l.prompt("one")
	l.tool(func(c computer) { c.put("d/x", "second", 0o644); c.put("d/y", "second", 0o644) }, "d/x", "d/y")
	l.drop("d")
}}

// TestFolderThatCannotBeMade: nothing goes into the folder above it instead.
func TestFolderThatCannotBeMade(t *testing.T) {
	t.Parallel()
	x := newCrashTest(t, removedFolder, false, 1)
	c := x.start.killed()
	noFolders := func(op durable.Op) error {
		if op.Kind == durable.Mkdir && strings.HasPrefix(op.Name, workDir) {
			return syscall.EIO
		}
		return nil
	}
	l, err := x.commit(c.killed(), noFolders)
	if !errors.Is(err, ErrAborted) || !maps.Equal(l.files(), x.before) {
		t.Errorf("%v, and the files are %v", err, l.files())
	}
	c = x.middles(1)[0]
	l, err = c.open(&durable.Faulty{FS: c.disk, Fault: noFolders})
	must(err)
	if !maps.Equal(l.files(), x.before) {
		t.Errorf("the files are %v", l.files())
	}
	for _, name := range []string{"d/x", "d/y"} {
		if o := l.f.Finished().outcome(name); o.Result != Failed {
			t.Errorf("%s is reported %q", name, o.Result)
		}
	}
}

// TestModesAreSynced: a mode is certain only once its file, or directory, is synced, which
// a simulated disk does not show.
func TestModesAreSynced(t *testing.T) {
	t.Parallel()
	for i, y := range stories[:7] {
		x := newCrashTest(t, y, false, uint64(i))
		c := x.start.killed()
		modes, changed := map[string]bool{}, 0
		watch := func(op durable.Op) error {
			switch {
			case op.Kind == durable.Chmod && strings.HasPrefix(op.Name, workDir):
				modes[op.Name] = true
				changed++
			case op.Kind == durable.Sync, op.Kind == durable.SyncDir:
				delete(modes, path.Clean(op.Name))
			case op.Kind == durable.Write && op.Name == c.log && len(modes) > 0:
				t.Errorf("%s: the end is written, and these were not synced: %v", x.name, modes)
			}
			return nil
		}
		_, err := x.commit(c, watch)
		must(err)
		if changed == 0 {
			t.Errorf("%s changes no mode", x.name)
		}
		for _, c := range x.middles(3) {
			if c.files()["mode"] != x.before["mode"] {
				modes[path.Join(workDir, "mode")] = true // the dead process changed it
			}
			l, err := c.open(&durable.Faulty{FS: c.disk, Fault: watch})
			must(err)
			must(l.s.Close())
		}
	}
}
