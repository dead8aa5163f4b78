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
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/sessgen"
)

// A session is a generated log, and what the generator says is in it. It may also be a
// folder of files, which has a session.
type session struct {
	format string // native or pi; "" of a folder
	shape  string // "" is like a coding agent's
	mb     int64
	links  int // entries of a chain or an edited log, which have no mb; files of a folder
	path   string

	sessgen.Stats
	Recent   int64 // entries from the leaf up to the latest compaction
	Messages int64 // of the leaf's context
	Files    int64 // that an edited log is about
}

const (
	flat  = "flat"  // like a coding agent's, without compactions
	chain = "chain" // small entries, each under the one before
)

const seed = 1

// name is what the table calls the session.
func (s *session) name() string {
	switch s.shape {
	case folder:
		return fmt.Sprintf("%s files, %d MB", thousands(s.links), s.mb)
	case chain, edited:
		return fmt.Sprintf("%s %s of %s", s.format, s.shape, thousands(s.links))
	case farm:
		return thousands(s.links) + " sessions"
	case flat:
		return fmt.Sprintf("%s %d MB flat", s.format, s.mb)
	}
	return fmt.Sprintf("%s %d MB", s.format, s.mb)
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func (s *session) file() string {
	return strings.NewReplacer(" MB", "MB", " ", "-", ",", "").Replace(s.name()) + ".jsonl"
}

// make writes the session into dir unless it is there already.
func (s *session) make(dir string) error {
	switch s.shape {
	case folder:
		return s.makeFolder(dir)
	case edited:
		return s.makeEdited(dir)
	case farm:
		return s.makeFarm(dir)
	}
	s.path = filepath.Join(dir, s.file())
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
	opt := &sessgen.Options{Format: sessgen.Native, Seed: seed, NoCompaction: s.shape == flat}
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
	s.Stats, err = s.generate(w, s.mb*1e6, s.links)
	return errors.Join(err, w.Flush(), file.Close())
}

// generate writes a session of a size, or of so many links. What a chain has in it
// the generator does not say: describe counts it.
func (s *session) generate(w io.Writer, size int64, links int) (sessgen.Stats, error) {
	if s.shape == transcript {
		return writeTranscript(w, size)
	}
	if s.shape == chain {
		return sessgen.Stats{}, sessgen.Chain(w, links, s.format == "native")
	}
	return sessgen.Write(w, size, s.options())
}

// describe keeps the statistics beside the log.
func (s *session) describe() error {
	if err := s.count(); err != nil {
		return err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(s.about(), data, 0o644)
}

// kept tells whether the log is there, whole, and what today's generator writes.
func (s *session) kept() bool {
	data, err := os.ReadFile(s.about())
	if err != nil || json.Unmarshal(data, s) != nil || s.Messages == 0 {
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
	if _, err := s.generate(&want, min(1e6, s.mb*1e6), min(1000, s.links)); err != nil {
		return false
	}
	got := make([]byte, want.Len())
	_, err = io.ReadFull(file, got)
	return err == nil && bytes.Equal(got, want.Bytes())
}
