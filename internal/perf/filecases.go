package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
)

// The cases of this file are of file states: of a folder that nothing changes in, of turns
// that change it, and of what brings files back.

func init() {
	for name, c := range fileCases {
		cases[name] = c
	}
}

// budget is no limit: a scan that gives up in the middle is fast for no good reason.
const budget = time.Hour

const (
	tenFiles = 10   // that a turn changes
	patch    = 1000 // bytes that a change overwrites
)

func restoredOf(s *session) int64 { return int64(restored(s.links)) }

// restored is how many files of a folder are restored.
func restored(files int) int { return min(1000, files/5) }

// turns is how many turns change a kilobyte of a folder each.
func turns(files int) int { return min(200, files/20) }

func turnsOf(s *session) int64 { return int64(turns(s.links)) }

func filesOf(s *session) int64 { return int64(s.links) }

func exactly(n int64) func(*session) int64 { return func(*session) int64 { return n } }

var fileCases = map[string]benchCase{
	"git-status": {procs: 2, sampled: gitStatus, want: exactly(0)},
	"git-add":    {procs: 2, sampled: gitAdd, want: exactly(0)},
	"look":       {procs: 2, sampled: lookAgain, want: exactly(0)},
	"look-anew":  {procs: 2, sampled: lookAnew, want: exactly(0)},
	"look-first": {procs: 2, sampled: lookFirst, want: filesOf},
	"look-ten":   {procs: 2, sampled: changeTen, want: exactly(tenFiles)},
	"turns":      {procs: 2, sampled: smallTurns, want: turnsOf},

	"copy":         {procs: 2, sampled: restoreCase(copying), want: restoredOf},
	"restore":      {procs: 2, sampled: restoreCase(committing), want: restoredOf},
	"plan-restore": {procs: 2, sampled: restoreCase(planning), want: restoredOf},
	"plan-all":     {procs: 2, sampled: planAll, want: filesOf},

	"track":     {procs: 2, sampled: trackEdited, want: exactly(1)},
	"plan-far":  {procs: 2, sampled: planEdited(false), want: func(s *session) int64 { return s.Files }},
	"plan-near": {procs: 2, sampled: planEdited(true), want: exactly(2)},
}

// gitStatus is the limit of a scan.
func gitStatus(path string) (got sample, err error) {
	cmd := git(filepath.Join(path, workDir), "status", "--porcelain")
	var out []byte
	got.NS, err = clock(func() error { out, err = cmd.Output(); return err })
	got.Result, got.Peak = int64(bytes.Count(out, []byte("\n"))), peakOf(cmd.ProcessState)
	return got, err
}

// gitAdd is the limit of a first scan: git reads, hashes, compresses and stores all files.
func gitAdd(path string) (got sample, err error) {
	path, err = filepath.Abs(path) // git goes into the folder
	if err != nil {
		return got, err
	}
	dir, err := os.MkdirTemp(path, "git-")
	if err != nil {
		return got, err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(path, workDir)
	if err := git(work, "init", "--quiet", "--bare", dir).Run(); err != nil {
		return got, err
	}
	cmd := git(work, "--git-dir="+dir, "--work-tree=.", "add", "--all")
	got.NS, err = clock(cmd.Run)
	got.Peak = peakOf(cmd.ProcessState)
	return got, err
}

// lookAgain scans in a process that has scanned before.
func lookAgain(path string) (sample, error) {
	return kept(path, func(w *shop) error { return w.f.TurnStart(context.Background()) })
}

// lookAnew scans in a process that has not, with what another one remembered.
func lookAnew(path string) (sample, error) { return kept(path, func(*shop) error { return nil }) }

// kept measures a scan of a folder that does not change, and what it leaves in the log.
func kept(path string, first func(w *shop) error) (got sample, err error) {
	w, err := keptShop(path)
	if err != nil {
		return got, err
	}
	defer w.close()
	if err := first(w); err != nil {
		return got, err
	}
	leaf, read := w.s.Leaf(), bytesRead()
	got.NS, err = clock(func() error { return w.f.TurnStart(context.Background()) })
	got.Read = bytesRead() - read
	if w.s.Leaf() != leaf {
		got.Result = 1
	}
	return got, err
}

// anew does some work in a folder with a session of its own, which knows nothing yet.
func anew(path string, work func(w *shop) error) error { return anewIn(path, "", work) }

// anewIn is anew with a store that is there; "" stands for a new one.
func anewIn(path, blobs string, work func(w *shop) error) error {
	home, err := os.MkdirTemp(path, "anew-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	w, err := newShop(path, filepath.Base(home), blobs)
	if err != nil {
		return err
	}
	return errors.Join(work(w), w.close())
}

// lookFirst scans a folder that no session has seen, and stores its files.
func lookFirst(path string) (got sample, err error) {
	return got, anew(path, func(w *shop) error {
		got.NS, err = clock(func() error { return w.f.TurnStart(context.Background()) })
		if err == nil {
			got.Result, _, err = w.stored()
		}
		return err
	})
}

// A changer overwrites pieces of a folder's files, and sums up what the new versions take
// compressed.
type changer struct {
	path  string
	r     *rand.Rand
	zstd  *zstd.Encoder
	takes int64
}

func newChanger(path string) (*changer, error) {
	z, err := zstd.NewWriter(nil)
	return &changer{path: path, r: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)), zstd: z}, err
}

func (c *changer) change(i int) error {
	name := fileNamed(c.path, i)
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	n := min(patch, len(data))
	copy(data[c.r.IntN(len(data)-n+1):], source(c.r, n))
	c.takes += int64(len(c.zstd.EncodeAll(data, nil)))
	return os.WriteFile(name, data, 0o644)
}

func (c *changer) changeAll(n int) error {
	for i := range n {
		if err := c.change(i); err != nil {
			return err
		}
	}
	return nil
}

// tidied does some work that changes a folder's files, and puts them back, for git and for
// the session that has looked at them.
func tidied(path string, work func(c *changer) (sample, error)) (got sample, err error) {
	c, err := newChanger(path)
	if err != nil {
		return got, err
	}
	got, err = work(c)
	got.Peak = peakMemory()
	err = errors.Join(err, git(filepath.Join(path, workDir), "checkout", "--quiet", "--", ".").Run())
	w, e := keptShop(path)
	if e != nil {
		return got, errors.Join(err, e)
	}
	return got, errors.Join(err, w.f.TurnStart(context.Background()), w.close())
}

// changeTen scans after a turn that changed ten files; the log may get one entry.
func changeTen(path string) (sample, error) {
	return tidied(path, func(c *changer) (sample, error) {
		w, err := keptShop(path)
		if err != nil {
			return sample{}, err
		}
		got, err := w.changeTen(c)
		return got, errors.Join(err, w.close())
	})
}

func (w *shop) changeTen(c *changer) (got sample, err error) {
	if _, err := w.prompt(); err != nil {
		return got, err
	}
	before, beforeSize, err := w.stored()
	if err != nil {
		return got, err
	}
	if err := c.changeAll(tenFiles); err != nil {
		return got, err
	}
	leaf := w.s.Leaf()
	got.NS, err = clock(func() error { return w.f.TurnEnd(context.Background()) })
	if err == nil {
		err = w.oneEntry(leaf)
	}
	after, size, e := w.stored()
	got.Result, got.Grew, got.May = after-before, size-beforeSize, c.takes
	return got, errors.Join(err, e)
}

// oneEntry makes sure that the log grew by one entry.
func (w *shop) oneEntry(leaf entries.ID) error {
	t, err := w.s.Tree()
	if err != nil {
		return err
	}
	e, err := t.Entry(t.Leaf())
	if err == nil && e.Parent != leaf {
		err = fmt.Errorf("the turn left other than one entry below %s", leaf)
	}
	return err
}

// smallTurns is an agent that changes a kilobyte of one file a turn.
func smallTurns(path string) (sample, error) {
	return tidied(path, func(c *changer) (got sample, err error) {
		return got, anew(path, func(w *shop) error {
			got, err = w.smallTurns(c)
			return err
		})
	})
}

func (w *shop) smallTurns(c *changer) (got sample, err error) {
	if err := w.f.TurnStart(context.Background()); err != nil {
		return got, err
	}
	before, size, err := w.stored()
	if err != nil {
		return got, err
	}
	got.NS, err = clock(func() error { return w.turns(c) })
	if err != nil {
		return got, err
	}
	after, grown, err := w.stored()
	got.Result, got.Grew, got.May = after-before, grown-size, c.takes
	return got, err
}

func (w *shop) turns(c *changer) error {
	files, err := filesIn(c.path)
	if err != nil {
		return err
	}
	for i := range turns(files) {
		if _, err := w.prompt(); err != nil {
			return err
		}
		if err := c.change(i * 7 % files); err != nil {
			return err
		}
		if err := w.f.TurnEnd(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// filesIn counts a folder's files, by its name.
func filesIn(path string) (n int, err error) {
	_, err = fmt.Sscan(path[strings.LastIndexByte(path, '-')+1:], &n)
	return n, err
}

// planAll plans to take back a turn that changed the mode of every file. Its session is
// new, and its store the one that has the files.
func planAll(path string) (sample, error) {
	return tidied(path, func(*changer) (got sample, err error) {
		old, err := keptShop(path)
		if err != nil {
			return got, err
		}
		defer old.close()
		return got, anewIn(path, old.st.Dir(), func(w *shop) error {
			got, err = w.planAll(path)
			return err
		})
	})
}

func (w *shop) planAll(path string) (got sample, err error) {
	before, err := w.prompt()
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, chmodAll(path, 0o644)) }()
	if err := chmodAll(path, 0o600); err != nil {
		return got, err
	}
	if err := w.f.TurnEnd(context.Background()); err != nil {
		return got, err
	}
	got.NS, err = clock(func() error {
		p, err := w.f.Plan(context.Background(), before, checkpoint.Code, nil)
		if err == nil {
			got.Result = int64(p.Count(checkpoint.ActRestore))
		}
		return err
	})
	return got, err
}

func chmodAll(path string, mode os.FileMode) error {
	files, err := filesIn(path)
	for i := range files {
		err = errors.Join(err, os.Chmod(fileNamed(path, i), mode))
	}
	return err
}

// trackEdited follows the files of a log that was opened before.
func trackEdited(log string) (got sample, err error) {
	w, err := editedShop(log)
	if err != nil {
		return got, err
	}
	defer w.close()
	got.Result = 1
	got.NS, err = clock(w.track)
	return got, err
}

// planEdited plans to go to before the first entry, or to take back the last turn.
func planEdited(near bool) func(log string) (sample, error) {
	return func(log string) (got sample, err error) {
		w, err := editedShop(log)
		if err != nil {
			return got, err
		}
		defer w.close()
		got.NS, err = clock(func() error {
			p, err := w.plan(near)
			if err == nil {
				got.Result = int64(p.Count(checkpoint.ActRestore) + p.Count(checkpoint.ActRemove))
			}
			return err
		})
		return got, err
	}
}

func (w *shop) plan(near bool) (*checkpoint.Plan, error) {
	if near {
		return w.f.Undo(context.Background(), checkpoint.Code, nil)
	}
	return w.f.Plan(context.Background(), "", checkpoint.Code, nil)
}
