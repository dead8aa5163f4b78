package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// In an edited log every hundredth entry begins a turn, in which two files are edited:
// a record before, and one after.
const (
	perTurn     = 100
	editedFiles = 500
	editedDirs  = 20
)

// makeEdited makes the log, and the files, unless they are there already.
func (s *session) makeEdited(dir string) error {
	home := filepath.Join(dir, fmt.Sprintf("edited-%d", s.links))
	s.path = filepath.Join(home, "session.jsonl")
	if !s.keptEdited() {
		if err := os.RemoveAll(home); err != nil {
			return err
		}
		if err := s.writeEdited(home); err != nil {
			return err
		}
		if err := os.WriteFile(s.about(), nil, 0o644); err != nil {
			return err
		}
	}
	info, err := os.Stat(s.path)
	if err == nil {
		s.Bytes, s.Entries = info.Size(), int64(s.links/perTurn*perTurn)
	}
	files, e := filepath.Glob(filepath.Join(home, workDir, "*", "*.go"))
	s.Files = int64(len(files))
	return errors.Join(err, e)
}

func (s *session) keptEdited() bool {
	_, err := os.Stat(s.about())
	return err == nil
}

func (s *session) writeEdited(home string) error {
	work := filepath.Join(home, workDir)
	for i := range editedDirs {
		if err := os.MkdirAll(filepath.Join(work, fmt.Sprintf("d%d", i)), 0o755); err != nil {
			return err
		}
	}
	log, err := sessiontree.Create(home, entries.Header{Cwd: work}, &sessiontree.Options{Sync: sessiontree.SyncNever})
	if err != nil {
		return err
	}
	w, err := enter(log, work, filepath.Join(home, "blobs"))
	if err != nil {
		return err
	}
	e := &editor{w, work, rand.New(rand.NewPCG(seed, 0))}
	for range s.links / perTurn {
		if err := e.turn(); err != nil {
			return err
		}
	}
	return errors.Join(w.close(), os.Rename(log.Path(), s.path))
}

// An editor writes turns as an agent would.
type editor struct {
	*shop
	work string
	r    *rand.Rand
}

func (e *editor) turn() error {
	ctx := context.Background()
	if _, err := e.s.Append(ctx, entries.UserMessage("go on")); err != nil {
		return err
	}
	i := e.r.IntN(editedFiles)
	names := []string{editedName(i), editedName((i + 1) % editedFiles)}
	if err := e.f.BeforeEdit(ctx, "call", names...); err != nil {
		return err
	}
	for _, name := range names {
		if err := writeAnew(filepath.Join(e.work, name), source(e.r, 2000)); err != nil {
			return err
		}
	}
	if err := e.f.AfterEdit(ctx, "call", names...); err != nil {
		return err
	}
	return e.talk(perTurn - 3)
}

// editedName is in one of few directories, which are there before.
func editedName(i int) string { return fmt.Sprintf("d%d/f%d.go", i%editedDirs, i) }

// talk appends entries that are about no file.
func (e *editor) talk(n int) error {
	drafts := make([]entries.Draft, n)
	for i := range drafts {
		drafts[i] = entries.AssistantMessage(entries.Assistant{
			Content: []json.RawMessage{entries.TextBlock(string(source(e.r, 300)))}, API: "x", Provider: "x", Model: "x", StopReason: "stop",
		})
	}
	_, err := e.s.Append(context.Background(), drafts...)
	return err
}

// editedShop opens an edited log.
func editedShop(log string) (*shop, error) {
	return openShop(log, filepath.Join(filepath.Dir(log), workDir))
}
