package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// This file counts what cases have to find, by a plain reading that shares no code
// with the packages that are measured.

// A line is an entry as this count sees it.
type line struct {
	ID, ParentID, Type, Summary string
	FirstKeptEntryID            string
}

// A place is what is kept of a line.
type place struct {
	parent   string
	kept     string // of a compaction
	compacts bool
	speaks   bool // it is a message of a context
}

func (l *line) place() place {
	p := place{parent: l.ParentID, kept: l.FirstKeptEntryID, compacts: l.Type == "compaction"}
	switch l.Type {
	case "message", "custom_message":
		p.speaks = true
	case "branch_summary":
		p.speaks = l.Summary != ""
	}
	return p
}

// count finds out how far the latest compaction is from the leaf, how many messages
// the leaf's context has, and of a chain the rest.
func (s *session) count() error {
	if s.shape == transcript {
		return s.countTranscript()
	}
	places, last, err := placesOf(s.path)
	if err != nil {
		return err
	}
	if s.shape == chain {
		info, err := os.Stat(s.path)
		if err != nil {
			return err
		}
		s.Entries, s.Depth, s.Leaf, s.Bytes = int64(len(places)), int64(len(places)), last, info.Size()
	}
	s.Recent = 0
	for id := s.Leaf; id != ""; id = places[id].parent {
		s.Recent++
		if id == s.LastCompaction {
			break
		}
	}
	s.Messages, err = messages(places, s.Leaf)
	return err
}

// messages counts those of the context at leaf, as pi 1.6.0 has it: the path, or of a
// path with compactions the latest one's summary, what it keeps of the path above it,
// and what is below. Generated sessions have neither edits nor system messages.
func messages(places map[string]place, leaf string) (n int64, err error) {
	compaction, kept := "", ""
	for id := leaf; id != ""; {
		p := places[id]
		switch {
		case p.compacts && compaction == "":
			compaction, kept = id, p.kept
			n++
		case p.speaks:
			n++
		}
		if compaction != "" && id == kept {
			return n, nil
		}
		id = p.parent
	}
	if compaction != "" {
		err = fmt.Errorf("compaction %s keeps from %s on, which is not above it", compaction, kept)
	}
	return n, err
}

// placesOf reads a log as anybody would, and gives its last entry too.
func placesOf(path string) (places map[string]place, last string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	places = map[string]place{}
	for d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20)); ; {
		var l line
		err := d.Decode(&l)
		if err == io.EOF {
			return places, last, nil
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", path, err)
		}
		if l.Type != "session" {
			places[l.ID], last = l.place(), l.ID
		}
	}
}
