package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
)

// The cases of this file restore files, beside copying as many.

// copyFiles is the limit of a restore: each file read, written anew, synced and put in
// place, and then the directories synced.
func copyFiles(path string, from, to int) error {
	dirs := map[string]bool{}
	for i := from; i < to; i++ {
		name := fileNamed(path, i)
		dirs[filepath.Dir(name)] = true
		if err := copyFile(name); err != nil {
			return err
		}
	}
	return syncDirs(dirs)
}

func copyFile(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, bytes.NewReader(data))
	return errors.Join(err, f.Sync(), f.Close(), os.Rename(name+".tmp", name))
}

func syncDirs(dirs map[string]bool) error {
	for dir := range dirs {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}

// What a restoring case gives the time of.
type timeOf int

const (
	copying timeOf = iota
	committing
	planning // and committing
)

// restoreCase changes files in a turn and takes that back. Half as many other files are
// copied before that, and half after: what an fsync takes changes by twice and more from
// one moment to the next, so all is measured in the same moments, and want tells whose
// time is wanted. It puts the folder into the state that it was in.
func restoreCase(want timeOf) func(path string) (sample, error) {
	return func(path string) (sample, error) {
		return tidied(path, func(c *changer) (got sample, err error) {
			return got, anew(path, func(w *shop) error {
				before, err := w.changed(c)
				if err == nil {
					got, err = w.goBack(path, before, want)
				}
				return err
			})
		})
	}
}

// changed is a turn that changes files; it gives the entry before.
func (w *shop) changed(c *changer) (before entries.ID, err error) {
	files, err := filesIn(c.path)
	if err != nil {
		return "", err
	}
	if before, err = w.prompt(); err != nil {
		return "", err
	}
	if err := c.changeAll(restored(files)); err != nil {
		return "", err
	}
	return before, w.f.TurnEnd(context.Background())
}

// goBack restores the files of an entry, between the halves of copying as many.
func (w *shop) goBack(path string, to entries.ID, want timeOf) (got sample, err error) {
	files, err := filesIn(path)
	if err != nil {
		return got, err
	}
	n := restored(files)
	half := func(from, to int) (ns int64) {
		if err == nil {
			ns, err = clock(func() error { return copyFiles(path, from, to) })
		}
		return ns
	}
	copied := half(n, n+n/2)
	var plan, commit int64
	if err == nil {
		got.Result, plan, commit, err = w.restore(to)
	}
	copied += half(n+n/2, 2*n)
	got.NS = map[timeOf]int64{copying: copied, committing: commit, planning: plan + commit}[want]
	return got, err
}

// restore takes the times of a plan and of its commit, and counts what it restored.
func (w *shop) restore(to entries.ID) (n, plan, commit int64, err error) {
	var p *checkpoint.Plan
	plan, err = clock(func() (err error) {
		p, err = w.f.Plan(context.Background(), to, checkpoint.Code, nil)
		return err
	})
	if err != nil {
		return 0, 0, 0, err
	}
	commit, err = clock(func() error {
		done, err := w.f.Commit(context.Background(), p, nil)
		if err == nil {
			n = int64(done.Count(checkpoint.Restored))
		}
		return err
	})
	return n, plan, commit, err
}
