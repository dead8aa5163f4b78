package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// The cases of this file write entries like those of a generated session, one by
// one, into a new file beside it. Only the writing is timed.

const (
	written = 20_000 // entries without fsync
	durable = 2_000  // entries with
	writers = 64     // that append at once
)

// A work is what a writing case needs before the clock starts.
type work struct {
	lines  [][]byte // as they are in the session
	drafts []entries.Draft
	dir    string
}

func newWork(path string, most int) (*work, error) {
	w := &work{}
	t, err := sessiontree.Read(path, nil)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	n, err := t.Len()
	if err != nil {
		return nil, err
	}
	n = min(most, n/2)
	for e, err := range t.Entries() {
		if err != nil || len(w.lines) == n {
			break
		}
		raw, err := e.Raw()
		if err != nil {
			return nil, err
		}
		body, _ := entries.Unsummed(raw)
		// Without its id it is no retry of an entry that is there.
		d := entries.Raw(append(bytes.Clone(body), '}')).WithID("")
		if d.Err() != nil {
			return nil, d.Err()
		}
		if d.Irrevocable() {
			continue // synced in every mode
		}
		w.drafts = append(w.drafts, d)
		w.lines = append(w.lines, append(raw, '\n'))
	}
	w.dir, err = os.MkdirTemp(filepath.Dir(path), "writing-")
	return w, err
}

// put is the limit: the bare write of the same bytes.
func put(path string, most int) (int64, time.Duration, error) {
	w, err := newWork(path, most)
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(w.dir)
	f, err := w.bareFile()
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	start := time.Now()
	for _, line := range w.lines {
		if _, err := f.Write(line); err != nil {
			return 0, 0, err
		}
	}
	return int64(len(w.lines)), time.Since(start), nil
}

func (w *work) bareFile() (*os.File, error) {
	return os.OpenFile(filepath.Join(w.dir, "bare"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// inTurn writes and syncs each entry twice: barely, and as an append. What an fsync
// takes changes by half and more from one moment to the next, so both are measured
// in the same moments; own tells which of the sums is wanted.
func inTurn(path string, most int, own bool) (int64, time.Duration, error) {
	w, err := newWork(path, most)
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(w.dir)
	f, err := w.bareFile()
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	s, err := sessiontree.Create(w.dir, entries.Header{Cwd: "/"}, nil)
	if err != nil {
		return 0, 0, err
	}
	var bare, ours time.Duration
	for i, line := range w.lines {
		start := time.Now()
		if _, err = f.Write(line); err == nil {
			err = f.Sync()
		}
		between := time.Now()
		if err == nil {
			_, err = s.Append(context.Background(), w.drafts[i])
		}
		if err != nil {
			return 0, 0, err
		}
		bare, ours = bare+between.Sub(start), ours+time.Since(between)
	}
	err = errors.Join(w.check(s), s.Close())
	if own {
		return int64(len(w.lines)), ours, err
	}
	return int64(len(w.lines)), bare, err
}

// appendEntries appends the drafts from a number of goroutines, one each time.
func appendEntries(path string, most int, mode sessiontree.SyncMode, goroutines int) (int64, time.Duration, error) {
	w, err := newWork(path, most)
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(w.dir)
	s, err := sessiontree.Create(w.dir, entries.Header{Cwd: "/"}, &sessiontree.Options{Sync: mode})
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	err = w.share(goroutines, func(d entries.Draft) error {
		_, err := s.Append(context.Background(), d)
		return err
	})
	took := time.Since(start)
	if err == nil {
		err = w.check(s)
	}
	return int64(len(w.drafts)), took, errors.Join(err, s.Close())
}

// share lets goroutines take the drafts in turn.
func (w *work) share(goroutines int, do func(entries.Draft) error) error {
	next := make(chan entries.Draft, len(w.drafts))
	for _, d := range w.drafts {
		next <- d
	}
	close(next)
	var all sync.WaitGroup
	failed := make([]error, goroutines)
	for g := range goroutines {
		all.Go(func() {
			for d := range next {
				if failed[g] = do(d); failed[g] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// check reads back what was written: a writer that loses half of it is fast for no
// good reason.
func (w *work) check(s *sessiontree.Session) error {
	t, err := s.Tree()
	if err != nil {
		return err
	}
	n, err := t.Len()
	if err == nil && (n != len(w.drafts) || len(t.Damage()) > 0) {
		err = fmt.Errorf("%d entries were written, %d can be read, with %v", len(w.drafts), n, t.Damage())
	}
	return err
}

// fromArchive reads single entries at random places of the session's archive, and
// gives the mean time of one.
func fromArchive(path string) (int64, time.Duration, error) {
	const reads = 200
	t, err := sessiontree.Read(path, nil)
	if err != nil {
		return 0, 0, err
	}
	var all []entries.Entry
	for e, err := range t.Entries() {
		if err != nil {
			return 0, 0, err
		}
		all = append(all, e)
	}
	src, err := openArchived(path)
	if err != nil {
		return 0, 0, err
	}
	defer src.Close()
	r := rand.New(rand.NewPCG(seed, reads))
	start := time.Now()
	for range reads {
		e := all[r.IntN(len(all))]
		if _, err := src.ReadAt(make([]byte, e.Size), e.Offset); err != nil {
			return 0, 0, err
		}
	}
	return int64(len(all)), time.Since(start) / reads, nil
}

// openArchived makes the session's archive, unless it is there.
func openArchived(path string) (store.Source, error) {
	at := path + store.ArchiveSuffix
	if _, err := os.Stat(at); err != nil {
		src, err := store.OpenFile(path)
		if err != nil {
			return nil, err
		}
		defer src.Close()
		f, err := os.Create(at + ".part")
		if err != nil {
			return nil, err
		}
		if err := errors.Join(store.CreateArchive(f, src, nil), f.Close(), os.Rename(at+".part", at)); err != nil {
			return nil, err
		}
	}
	return store.OpenFile(at)
}

// writeRows are the rows of writing.
func writeRows(s *session) []row {
	bare, bareSync, alone := job{"put", s}, job{"put-sync", s}, job{"append-sync", s}
	return []row{
		{"20,000 writes of entries (the limit)", bare, bare, nil},
		{"20,000 appends, SyncNever", job{"append", s}, bare, []target{atMost(2.5)}},
		{"2,000 writes, each with fsync (the limit)", bareSync, bareSync, nil},
		{"2,000 appends, SyncAlways", alone, bareSync, []target{atMost(1.15)}},
		{"2,000 appends by 64 goroutines, SyncAlways", job{"append-64", s}, alone, []target{faster(12)}},
		{"a random entry of the archive", job{"archive", s}, bare, []target{within(5 * time.Millisecond)}},
	}
}

// atMost wants at most so many times the time of what it is compared with.
func atMost(times float64) target {
	return target{text: fmt.Sprintf("≤ %.2f × the limit", times), judge: func(got, ref sample) (string, bool) {
		ratio := float64(got.NS) / float64(ref.NS)
		return fmt.Sprintf("%.2f × the limit", ratio), ratio <= times
	}}
}

// within wants at most a time.
func within(most time.Duration) target {
	return target{text: "≤ " + most.String(), judge: func(got, _ sample) (string, bool) {
		return time.Duration(got.NS).Round(time.Microsecond).String(), time.Duration(got.NS) <= most
	}}
}
