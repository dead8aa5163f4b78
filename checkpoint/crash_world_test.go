package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/sessiontree"
)

// A life is a process with a session and its files, on a computer.
type life struct {
	computer
	s  *sessiontree.Session
	st *Store
	f  *Tracker
}

// newComputer makes a computer with an empty workspace and a session.
func newComputer() computer {
	d := durable.NewDisk()
	c := computer{disk: d, started: d.Now()}
	c.folder(workDir)
	for _, dir := range []string{sumsDir, tempDir} {
		c.folder(path.Join(blobsDir, dir))
	}
	s, err := sessiontree.Create(homeDir, entries.Header{Cwd: workDir}, c.options(d))
	must(err)
	c.log = s.Path()
	must(s.Close())
	syncWhole(d, "/")
	return c
}

// store opens the store as OpenStore does.
func (c computer) store(fsys durable.FS) *Store {
	st := &Store{dir: blobsDir, fsys: subtree{fsys, blobsDir}, now: c.disk.Now, synced: map[string]bool{}}
	if c.whole {
		st.fsys = wholeTree{subtree{fsys, blobsDir}, c.disk}
	}
	st.removeLeftovers()
	return st
}

// open starts a process. Where only the tracker fails, the rest is there.
func (c computer) open(fsys durable.FS) (l *life, err error) {
	l = &life{computer: c, st: c.store(fsys)}
	if l.s, err = sessiontree.Open(c.log, c.options(fsys)); err != nil {
		return nil, err
	}
	l.f, err = l.track(fsys)
	return l, err
}

func (l *life) track(fsys durable.FS) (*Tracker, error) {
	ws := &workspace{dirs: treeDirs{subtree{fsys, workDir}}, id: identity{Path: workDir}, most: defaultMaxFile}
	opt := (&TrackOptions{Logger: slog.New(slog.DiscardHandler)}).withDefaults()
	return track(context.Background(), l.s, ws, l.st, opt)
}

// start opens what has to open.
func (c computer) start() *life {
	l, err := c.open(c.disk)
	must(err)
	return l
}

func (l *life) prompt(text string) entries.ID {
	done, err := l.s.Append(context.Background(), entries.UserMessage(text))
	must(err)
	return done.Leaf
}

// tool changes paths as an edit tool does. What it wrote is certain, so that only what
// comes later is cut.
func (l *life) tool(do func(c computer), paths ...string) {
	must(l.f.BeforeEdit(context.Background(), "call", paths...))
	do(l.computer)
	syncWhole(l.disk, "/")
	must(l.f.AfterEdit(context.Background(), "call", paths...))
}

func (l *life) commit(p *Plan, err error) {
	must(err)
	_, err = l.f.Commit(context.Background(), p, nil)
	must(err)
}

// history folds the path to the leaf.
func (l *life) history() *history {
	h, err := l.f.history()
	must(err)
	return h
}

// fold checks that the log knows what is on disk, but for what could not be read, which it
// may say.
func (l *life) fold(unread ...string) error {
	h := l.history()
	for name := range h.paths {
		known, _ := h.last(name, len(h.ids))
		if now := l.f.ws.state(name, nil); !now.Same(known) && !(known.Kind == Unknown && slices.Contains(unread, name)) {
			return fmt.Errorf("%s is %+v on disk, and the log says %+v", name, now.bare(), known)
		}
	}
	return nil
}

// restores lists the restores of the log by their begin, with how they ended, in their
// order.
func (l *life) restores() (list []string) {
	tree, err := l.s.Tree()
	must(err)
	for e, err := range tree.Entries() {
		must(err)
		r, ok, err := readRecord(e, l.st)
		must(err)
		switch {
		case ok && r.Phase == phaseBegin:
			list = append(list, "cut")
		case ok && r.Phase == phaseEnd:
			list[len(list)-1] = string(r.Outcome)
		}
	}
	return list
}

// clean checks that nothing is left over in the workspace.
func (c computer) clean() error {
	for name := range c.files() {
		if strings.Contains(name, ".sessctl-") {
			return fmt.Errorf("%s was left over", name)
		}
	}
	return nil
}

// among checks that each path is as it was before or as it is after. One that becomes a
// directory, or was one, may be gone for now.
func (c computer) among(before, after map[string]string) error {
	now := c.files()
	for name, is := range now {
		if is != before[name] && is != after[name] {
			return fmt.Errorf("%s is %q: neither %q nor %q", name, is, before[name], after[name])
		}
	}
	for name, was := range before {
		swapped := strings.HasPrefix(was, "directory") != strings.HasPrefix(after[name], "directory")
		if now[name] == "" && after[name] != "" && !swapped {
			return fmt.Errorf("%s is gone", name)
		}
	}
	return nil
}

// stored checks that contents are in the store.
func stored(st *Store, sums []string) error {
	var failed error
	for _, sum := range sums {
		_, err := st.Get(sum)
		failed = errors.Join(failed, err)
	}
	return failed
}
