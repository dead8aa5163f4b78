package command

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/search"
	"github.com/sessctl/sessctl/sessiontree"
)

// A hitPrinter writes hits in one of the forms of search, as they come.
type hitPrinter struct {
	app   *app
	o     *term.Output
	flags *searchFlags
	// describe tells the first prompt of a session that is a file; else it is nil.
	describe func(path string) sessiontree.Info

	session *search.Session // of the last hit
	count   int             // of its hits; -1 before the first
	written int
	err     error // of the output
}

type jsonHit struct {
	Session   string            `json:"session"`
	Path      string            `json:"path"`
	Agent     sessiontree.Agent `json:"agent"`
	Entry     entries.ID        `json:"entry"`
	Branch    *entries.ID       `json:"branch"`
	Active    bool              `json:"active"`
	Type      entries.Type      `json:"type"`
	Role      *string           `json:"role"`
	Tool      *string           `json:"tool"`
	Timestamp *string           `json:"timestamp"`
	Lines     int               `json:"lines"`
	Snippet   string            `json:"snippet"`
}

func hitJSON(s *search.Session, h search.Hit) jsonHit {
	m := h.Matches[0]
	return jsonHit{
		Session: s.ID, Path: s.Path, Agent: s.Agent, Entry: h.Entry.ID, Branch: optionalID(h.Tip), Active: h.Active,
		Type: h.Entry.Type, Role: optional(h.Entry.Role), Tool: optional(m.Tool), Timestamp: optionalTime(h.Entry.Time),
		Lines: h.Lines, Snippet: strings.Join(append(append(m.Before, m.Line), m.After...), "\n"),
	}
}

// begin starts the document. Where there is none to come, since what was named is no
// session, nothing is written.
func (p *hitPrinter) begin() {
	_, p.err = p.o.WriteString("{\n  \"schema\": \"sessctl.search/1\",\n  \"hits\": [")
}

func (p *hitPrinter) end(searched int) error {
	p.finishCount()
	if p.app.flags.json && !p.app.flags.quiet {
		if p.written == 0 {
			p.begin()
		}
		_, p.err = fmt.Fprintf(p.o, "],\n  \"searched\": %d\n}\n", searched)
	}
	return p.err
}

func (p *hitPrinter) add(s *search.Session, h search.Hit) {
	first := p.session != s
	if first {
		p.finishCount()
		p.session, p.count = s, 0
	}
	p.count++
	switch {
	case p.flags.count:
		return
	case p.flags.names:
		_, p.err = fmt.Fprintln(p.o, term.Line(s.Path))
	case p.flags.jsonl:
		p.err = writeJSON(p.o, hitJSON(s, h), true)
	case p.app.flags.json:
		p.element(hitJSON(s, h))
	default:
		p.text(s, h, first)
	}
	p.written++
	if p.err == nil {
		p.err = p.o.Flush() // a search may take long, and its hits are wanted now
	}
}

func (p *hitPrinter) finishCount() {
	if p.flags.count && p.count > 0 {
		_, p.err = fmt.Fprintf(p.o, "%6d  %s\n", p.count, term.Line(p.session.Path))
	}
}

// element writes one hit of the document.
func (p *hitPrinter) element(h jsonHit) {
	var b bytes.Buffer
	if p.err = writeJSON(&b, h, true); p.err != nil {
		return
	}
	lead := ",\n    "
	if p.written == 0 {
		p.begin()
		lead = "\n    "
	}
	_, p.err = p.o.WriteString(lead + strings.TrimSuffix(b.String(), "\n"))
}

func (p *hitPrinter) text(s *search.Session, h search.Hit, first bool) {
	if first {
		if p.written > 0 {
			fmt.Fprintln(p.o)
		}
		p.heading(s)
	}
	where := "active"
	if !h.Active {
		where = "branch " + short(h.Tip)
	}
	kind := kindName(h.Entry)
	if h.Entry.Role == "toolResult" {
		kind += " " + h.Matches[0].Tool
	}
	head := fmt.Sprintf("%s  %s  %s  %s", short(h.Entry.ID), term.Line(kind), p.app.clock(h.Entry.Time), where)
	fmt.Fprintln(p.o, p.o.Style(term.Cyan, head))
	for i, m := range h.Matches {
		if i > 0 && p.flags.query.Around > 0 {
			fmt.Fprintln(p.o, indent+p.o.Style(term.Dim, "--"))
		}
		p.match(h.Entry, m)
	}
	if more := h.Lines - len(h.Matches); more > 0 {
		_, p.err = fmt.Fprintln(p.o, indent+p.o.Style(term.Dim, "and "+plural(more, "more line", "more lines")))
	}
}

// heading tells the session: its id, its directory and, in what is left of the line, what
// it is about, as ls has it. Of a directory that leaves too little the end is kept.
func (p *hitPrinter) heading(s *search.Session) {
	line, title := string(s.Agent)+" session "+tail(s.ID), term.OneLine(p.title(s))
	if dir := term.Line(s.Cwd); dir != "" {
		room := p.o.Width - runewidth.StringWidth(line+"    "+title)
		line += "  " + p.o.CutLeft(dir, max(room, p.o.Width/3))
	}
	if title != "" {
		const least = 20 // of a title behind a long directory, where no terminal limits the line
		line += "  " + p.o.Cut(title, max(lineWidth(p.o)-runewidth.StringWidth(line)-2, least))
	}
	fmt.Fprintln(p.o, p.o.Style(term.Bold, p.o.Cut(line, p.o.Width)))
}

// title is the name of a session, or else its first prompt, which is near the beginning of
// its file.
func (p *hitPrinter) title(s *search.Session) string {
	if s.Name != "" || p.describe == nil {
		return s.Name
	}
	return p.describe(s.Path).FirstPrompt
}

// match writes a line that matches and those around it, indented, so that none can be
// taken for the line about another hit.
func (p *hitPrinter) match(e entries.Entry, m search.Match) {
	p.around(m.Before)
	before, found, after := m.Line[:m.From], m.Line[m.From:m.To], m.Line[m.To:]
	if m.CutLeft {
		before = "..." + before
	}
	if m.CutRight {
		after += "..."
	}
	call := ""
	if e.Role == "assistant" && m.Tool != "" {
		call = "-> " + term.Line(m.Tool) + "  "
	}
	line := call + safeLines(before) + p.marked(safeLines(found)) + safeLines(after)
	_, p.err = fmt.Fprintln(p.o, indent+strings.TrimRight(line, " \t"))
	p.around(m.After)
}

// marked shows a match in colour, line by line.
func (p *hitPrinter) marked(s string) string {
	lines := strings.Split(s, "\n"+indent)
	for i, line := range lines {
		lines[i] = p.o.Style(term.Red, line)
	}
	return strings.Join(lines, "\n"+indent)
}

func (p *hitPrinter) around(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(p.o, indent+p.o.Style(term.Dim, term.Line(line)))
	}
}

// safeLines makes text safe to print, its lines indented.
func safeLines(s string) string {
	return strings.ReplaceAll(term.Text(s), "\n", "\n"+indent)
}
