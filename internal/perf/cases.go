package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// A benchCase is some work on a session. Its result is checked against what the
// generator wrote: a reader that skips half of a log is fast for no good reason.
type benchCase struct {
	procs int // GOMAXPROCS
	run   func(path string) (result int64, err error)
	// sampled, where set, stands for run and timed, and measures more than the time.
	sampled func(path string) (sample, error)
	// timed, where set, stands for run and takes the time itself: it has to prepare.
	timed func(path string) (result int64, took time.Duration, err error)
	want  func(s *session) int64
}

var cases = map[string]benchCase{
	"limit": {procs: 1, run: readOnce, want: func(s *session) int64 { return s.Bytes }},
	"scan":  {procs: 1, run: scan, want: func(s *session) int64 { return s.Entries }},
	"scan2": {procs: 2, run: scanTwo, want: func(s *session) int64 { return s.Entries }},
	"tail":  {procs: 1, run: toCompaction, want: func(s *session) int64 { return s.Recent }},
	"leaf":  {procs: 1, run: leafOnly, want: func(*session) int64 { return 1 }},
	"walk":  {procs: 1, run: walk, want: func(s *session) int64 { return s.Depth }},
	"path":  {procs: 1, run: path, want: func(s *session) int64 { return s.Depth }},
	"path2": {procs: 2, run: pathTwo, want: func(s *session) int64 { return s.Depth }},

	"context":  {procs: 1, run: buildContext, want: func(s *session) int64 { return s.Messages }},
	"context2": {procs: 2, run: buildContextTwo, want: func(s *session) int64 { return s.Messages }},

	"search":  {procs: 1, run: searchAll, want: soughtText},
	"search2": {procs: 2, run: searchAll, want: soughtText},
	"grep":    {procs: 1, timed: grepCase, want: soughtLines},
	"jq":      {procs: 1, timed: jqCase, want: soughtLines},

	"branches":  {procs: 1, run: foreignBranches, want: func(s *session) int64 { return s.Depth }},
	"branches2": {procs: 2, run: foreignBranches, want: func(s *session) int64 { return s.Depth }},
	"stats":     {procs: 1, run: foreignStats, want: func(s *session) int64 { return s.Messages }},
	"stats2":    {procs: 2, run: foreignStats, want: func(s *session) int64 { return s.Messages }},
	"jq-types":  {procs: 1, timed: jqTypes, want: func(s *session) int64 { return s.Entries }},

	"ls-bare": {procs: 1, run: bareReads, want: sessionsOf},
	"ls":      {procs: 1, run: listAll, want: sessionsOf},
	"ls2":     {procs: 2, run: listAll, want: sessionsOf},
	"ls-20":   {procs: 1, run: listTwenty, want: func(s *session) int64 { return int64(min(20, s.links)) }},

	"put":         {procs: 1, timed: putCase, want: wrote(written)},
	"put-sync":    {procs: 1, timed: turnCase(false), want: wrote(durable)},
	"append":      {procs: 1, timed: appendCase(written, sessiontree.SyncNever, 1), want: wrote(written)},
	"append-sync": {procs: 1, timed: turnCase(true), want: wrote(durable)},
	"append-64":   {procs: 2, timed: appendCase(durable, sessiontree.SyncAlways, writers), want: wrote(durable)},
	"archive":     {procs: 1, timed: fromArchive, want: func(s *session) int64 { return s.Entries }},
}

type timedCase = func(path string) (int64, time.Duration, error)

func putCase(path string) (int64, time.Duration, error) { return put(path, written) }

func turnCase(own bool) timedCase {
	return func(path string) (int64, time.Duration, error) { return inTurn(path, durable, own) }
}

func appendCase(most int, mode sessiontree.SyncMode, goroutines int) timedCase {
	return func(path string) (int64, time.Duration, error) {
		return appendEntries(path, most, mode, goroutines)
	}
}

func sessionsOf(s *session) int64 { return int64(s.links) }

func wrote(most int64) func(s *session) int64 {
	return func(s *session) int64 { return min(most, s.Entries/2) }
}

func caseNamed(name string) (benchCase, error) {
	c, ok := cases[name]
	if !ok {
		return c, fmt.Errorf("there is no case %q", name)
	}
	return c, nil
}

// readOnce is the physical limit: what reading the file costs without looking at it.
func readOnce(path string) (n int64, err error) {
	src, err := store.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	block := make([]byte, 1<<20)
	for {
		got, err := src.ReadAt(block, n)
		n += int64(got)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func scan(path string) (int64, error)    { return scanWith(path, 1) }
func scanTwo(path string) (int64, error) { return scanWith(path, 2) }

// scanWith reads all entries. The sessions are sound, so any damage is a fault of
// the reader, or a sum that was not checked right.
func scanWith(path string, workers int) (int64, error) {
	t, err := sessiontree.Read(path, &sessiontree.ReadOptions{Workers: workers})
	if err != nil {
		return 0, err
	}
	defer t.Close()
	n, err := t.Len()
	if damage := t.Damage(); err == nil && len(damage) > 0 {
		err = fmt.Errorf("%s: the reader found %v", path, damage[0])
	}
	return int64(n), err
}

// toCompaction reads what resuming a session needs: the leaf, and its path up to
// the latest compaction.
func toCompaction(path string) (int64, error) {
	return climb(path, func(e *entries.Entry) bool { return e.Type == entries.TypeCompaction })
}

func walk(path string) (int64, error) {
	return climb(path, func(*entries.Entry) bool { return false })
}

// climb counts the entries from the leaf up to the first one that is the last.
func climb(path string, last func(*entries.Entry) bool) (n int64, err error) {
	t, err := sessiontree.Read(path, nil)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	for e, err := range t.Ancestors(t.Leaf()) {
		if err != nil {
			return n, err
		}
		if n++; last(&e) {
			break
		}
	}
	return n, nil
}

func buildContext(path string) (int64, error)    { return buildWith(path, 1) }
func buildContextTwo(path string) (int64, error) { return buildWith(path, 2) }

// buildWith makes what a model is sent at the leaf, and counts its messages. The
// sessions are sound, so anything that is left out is a fault.
func buildWith(path string, workers int) (int64, error) {
	t, err := sessiontree.Read(path, &sessiontree.ReadOptions{Workers: workers})
	if err != nil {
		return 0, err
	}
	defer t.Close()
	c, err := modelcontext.Build(t, t.Leaf(), nil)
	if err != nil {
		return 0, err
	}
	if dropped := c.Report.Dropped; len(dropped) > 0 {
		err = fmt.Errorf("%s: the context leaves out %v", path, dropped[0])
	}
	return int64(len(c.Messages)), err
}

func leafOnly(path string) (int64, error) {
	t, err := sessiontree.Read(path, nil)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	if t.Leaf() == "" {
		return 0, nil
	}
	return 1, nil
}

func path(path string) (int64, error)    { return pathWith(path, 1) }
func pathTwo(path string) (int64, error) { return pathWith(path, 2) }

// pathWith is walk by way of a whole scan, which gives the entries from the root
// down.
func pathWith(path string, workers int) (n int64, err error) {
	t, err := sessiontree.Read(path, &sessiontree.ReadOptions{Workers: workers})
	if err != nil {
		return 0, err
	}
	defer t.Close()
	if err := t.Scan(); err != nil {
		return 0, err
	}
	for _, err := range t.Path(t.Leaf()) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
