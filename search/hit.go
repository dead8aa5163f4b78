package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/entries"
)

// A Hit is an entry that has what was looked for.
type Hit struct {
	Entry entries.Entry
	// Tip is the branch that the entry is on, by its tip: the active one where that has
	// it, else the first of those that do. Active tells that the entry is on the path to
	// the leaf.
	Tip    entries.ID
	Active bool
	// Lines counts the lines of the entry that match; Matches are the first of them.
	Lines   int
	Matches []Match
}

// A Match is a line of text that has what was looked for.
type Match struct {
	Tool string // as in Part
	// Line is the line, or the lines where a match has several; of long ones what is
	// near the match. Line[From:To] is the match.
	Line          string
	From, To      int
	CutLeft       bool // the line begins before Line
	CutRight      bool // the line goes on behind Line
	Before, After []string
}

const (
	mostMatches = 3   // of one hit; the entry itself has all of them
	mostBytes   = 400 // of one line
	aroundMatch = 120 // bytes of a long line in front of a match
)

// hit looks for matches in an entry; ok is false where it has none. What cannot be read
// has none either: that is for verify to tell.
func (p *Pattern) hit(e entries.Entry) (h Hit, ok bool) {
	if !p.wants(&e) {
		return h, false
	}
	parts, err := Parts(e)
	if err != nil {
		return h, false
	}
	h.Entry = e
	for _, part := range parts {
		if len(p.query.Tools) == 0 || part.Tool != "" && slices.Contains(p.query.Tools, part.Tool) {
			p.addMatches(&h, part)
		}
	}
	return h, h.Lines > 0 && p.wantsExit(e)
}

// wantsExit comes after everything else, since it reads the entry once more.
func (p *Pattern) wantsExit(e entries.Entry) bool {
	if p.query.ExitCode == nil {
		return true
	}
	code, ok := ExitCode(e)
	return ok && code == *p.query.ExitCode
}

// addMatches adds the matching lines of a text, one match each.
func (p *Pattern) addMatches(h *Hit, part Part) {
	for line := 0; line <= len(part.Text); {
		from, to := p.next(part.Text, line)
		if from < 0 {
			return
		}
		end := lineEnd(part.Text, to)
		if h.Lines++; len(h.Matches) < mostMatches {
			h.Matches = append(h.Matches, p.match(part, from, to, end))
		}
		line = end + 1
	}
}

// match makes a Match of the lines around text[from:to], the last of which ends at end.
func (p *Pattern) match(part Part, from, to, end int) Match {
	text := part.Text
	start := strings.LastIndexByte(text[:from], '\n') + 1
	m := Match{Tool: part.Tool}
	if n := p.query.Around; n > 0 {
		m.Before, m.After = linesBefore(text[:start], n), linesAfter(text[end:], n)
	}
	left, right := start, end
	if end-start > mostBytes {
		left = boundary(text, max(start, from-aroundMatch))
		right = boundary(text, min(end, max(to, left+mostBytes)))
		right = min(right, boundary(text, left+4*mostBytes))
	}
	m.Line, m.From, m.To = strings.Clone(text[left:right]), from-left, min(to, right)-left
	m.CutLeft, m.CutRight = left > start, right < end
	return m
}

// boundary moves i back to where a character starts.
func boundary(s string, i int) int {
	i = min(i, len(s))
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// linesBefore gives the last n lines of a text that ends in a newline, or is empty.
func linesBefore(s string, n int) []string {
	if s == "" {
		return nil
	}
	s = s[:len(s)-1]
	at := len(s)
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexByte(s[:at], '\n')
	}
	return shortLines(s[at+1:])
}

// linesAfter gives the first n lines of a text that begins with a newline, or is empty.
func linesAfter(s string, n int) []string {
	if s == "" {
		return nil
	}
	s = s[1:]
	end := -1
	for ; n > 0 && end < len(s); n-- {
		end = lineEnd(s, end+1)
	}
	return shortLines(strings.TrimSuffix(s[:end], "\n"))
}

func shortLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Clone(line[:boundary(line, mostBytes)])
	}
	return lines
}
