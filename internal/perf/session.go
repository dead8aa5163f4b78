package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/sessgen"
)

// A session is a generated log, and what the generator says is in it.
type session struct {
	format string // native or pi
	mb     int64
	path   string

	sessgen.Stats
	Recent int64 // entries from the leaf up to the latest compaction
}

const seed = 1

// make writes the session into dir unless it is there already.
func (s *session) make(dir string) error {
	s.path = filepath.Join(dir, fmt.Sprintf("%s-%dMB.jsonl", s.format, s.mb))
	if s.kept() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := s.write(s.path + ".part"); err != nil {
		return err
	}
	// The statistics come last: they vouch for the log.
	if err := os.Rename(s.path+".part", s.path); err != nil {
		return err
	}
	return s.describe()
}

func (s *session) about() string { return s.path + ".stats" }

func (s *session) options() *sessgen.Options {
	opt := &sessgen.Options{Format: sessgen.Native, Seed: seed}
	if s.format == "pi" {
		opt.Format = sessgen.Pi
	}
	return opt
}

func (s *session) write(path string) (err error) {
	if err := os.RemoveAll(s.about()); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	s.Stats, err = sessgen.Write(w, s.mb*1e6, s.options())
	return errors.Join(err, w.Flush(), file.Close())
}

// describe keeps the statistics beside the log. How far the latest compaction is
// from the leaf is counted here, by a reader without the package that is measured.
func (s *session) describe() error {
	parents, err := parentsOf(s.path)
	if err != nil {
		return err
	}
	s.Recent = 0
	for id := s.Leaf; id != ""; id = parents[id] {
		s.Recent++
		if id == s.LastCompaction {
			break
		}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(s.about(), data, 0o644)
}

// parentsOf reads a log as anybody would.
func parentsOf(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	parents := map[string]string{}
	for d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20)); ; {
		var entry struct{ ID, ParentID string }
		err := d.Decode(&entry)
		if err == io.EOF {
			return parents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		parents[entry.ID] = entry.ParentID
	}
}

// kept tells whether the log is there, whole, and what today's generator writes.
func (s *session) kept() bool {
	data, err := os.ReadFile(s.about())
	if err != nil || json.Unmarshal(data, s) != nil {
		return false
	}
	info, err := os.Stat(s.path)
	return err == nil && info.Size() == s.Bytes && s.beginsAsGenerated()
}

// beginsAsGenerated compares the first MB: a changed generator writes other bytes.
func (s *session) beginsAsGenerated() bool {
	file, err := os.Open(s.path)
	if err != nil {
		return false
	}
	defer file.Close()
	var want bytes.Buffer
	if _, err := sessgen.Write(&want, min(1e6, s.mb*1e6), s.options()); err != nil {
		return false
	}
	got := make([]byte, want.Len())
	_, err = io.ReadFull(file, got)
	return err == nil && bytes.Equal(got, want.Bytes())
}
