package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A printer writes entries as show does. What an entry says is indented, so that
// nothing in it can be taken for the line about another entry.
type printer struct {
	app   *app
	o     *term.Output
	flags *showFlags
	alone bool      // one entry, asked for by name: in full
	view  *sentView // what the model is sent; nil where that was not asked
}

const (
	indent     = "  "
	cutResult  = 12 // lines of a result
	cutThought = 6  // lines of thinking
)

func (p *printer) print(e entries.Entry) error {
	switch {
	case p.flags.raw:
		return p.raw(e)
	case p.flags.jsonl:
		return p.object(e)
	case p.flags.brief:
		p.brief(e)
	default:
		p.text(e)
	}
	return nil
}

func (p *printer) raw(e entries.Entry) error {
	raw, err := e.Raw()
	if err != nil {
		return err
	}
	_, err = p.o.Write(append(raw, '\n'))
	return err
}

func (p *printer) brief(e entries.Entry) {
	s := summarize(e)
	text := fmt.Sprintf("%s  %s  %s", short(e.ID), p.app.clock(e.Time), term.Line(s.kind))
	if p.view.unsent(e) {
		text += " (" + unsentMark + ")"
	}
	if body := term.OneLine(s.text); body != "" {
		text += "  " + body
	}
	fmt.Fprintln(p.o, p.o.Style(styleOf(e, s.bad), p.o.Cut(text, lineWidth(p.o))))
}

// lineWidth is how long a line may be that tells of something in short.
func lineWidth(o *term.Output) int {
	const glance = 160
	if o.Width == 0 {
		return glance
	}
	return o.Width
}

func styleOf(e entries.Entry, bad bool) term.Style {
	switch {
	case bad:
		return term.Red
	case e.Role == "user":
		return term.Bold
	case e.Type != entries.TypeMessage:
		return term.Dim
	}
	return ""
}

func (p *printer) text(e entries.Entry) {
	s := summarize(e)
	head := fmt.Sprintf("%s  %s  %s", term.Line(s.kind), short(e.ID), p.app.clock(e.Time))
	if s.bad {
		head += "  failed"
	}
	if p.view.unsent(e) {
		head += "  " + p.unsentMark(e)
	}
	fmt.Fprintln(p.o, p.o.Style(p.headStyle(e, s.bad), head))
	if e.Type == entries.TypeMessage {
		p.message(e, s)
	} else {
		p.block("", s.text, p.limit(cutResult))
	}
	fmt.Fprintln(p.o)
}

func (p *printer) headStyle(e entries.Entry, bad bool) term.Style {
	if style := styleOf(e, bad); style != "" {
		return style
	}
	return term.Cyan
}

// limit gives how many lines of something are shown; 0 is all.
func (p *printer) limit(lines int) int {
	if p.flags.full || p.alone {
		return 0
	}
	return lines
}

func (p *printer) message(e entries.Entry, s summary) {
	m, stored, err := messageOf(e)
	if err != nil {
		p.block("", s.text, 0)
		return
	}
	p.body(m)
	p.special(stored)
}

// body writes what a message says.
func (p *printer) body(m entries.Message) {
	limit := 0
	switch m.Role {
	case "toolResult", "bashExecution":
		limit = p.limit(cutResult)
	}
	if m.Command != "" {
		p.block("", "$ "+m.Command+"\n"+m.Output, limit)
	}
	p.contentBlocks(m.Content, limit)
	if m.Error != "" {
		p.block(m.StopReason+": ", m.Error, limit)
	}
}

func (p *printer) contentBlocks(content []byte, limit int) {
	for _, b := range entries.Blocks(content) {
		p.contentBlock(b, limit)
	}
}

func (p *printer) contentBlock(b entries.Block, limit int) {
	switch b.Type {
	case "text":
		p.block("", b.Text, limit)
	case "thinking":
		if !p.flags.noThought {
			p.block("(thinking) ", b.Text, p.limit(cutThought))
		}
	case "toolCall":
		p.block("-> "+b.Name+" ", string(b.Arguments), p.limit(cutResult))
	case "image":
		p.block("", fmt.Sprintf("[image %s, %d characters of base64]", b.MimeType, b.DataSize), 0)
	default:
		p.block("", fmt.Sprintf("[%s]", b.Type), 0)
	}
}

// block writes text indented, at most limit lines of it. A line of a result may be
// megabytes long, so that is cut too.
func (p *printer) block(lead, text string, limit int) {
	const longest = 2000
	if text == "" && lead == "" {
		return
	}
	all := lines(text)
	shown := all
	if limit > 0 && len(all) > limit {
		shown = all[:limit]
	}
	for i, l := range shown {
		if limit > 0 && len(l) > longest {
			l = strings.ToValidUTF8(l[:longest], "") + fmt.Sprintf(" ... %d more bytes", len(l)-longest)
		}
		l = term.Text(strings.TrimSuffix(l, "\r"))
		if i == 0 { // the lead may be a name out of the session, and stays in its line
			l = term.Line(lead) + l
		}
		p.line(l)
	}
	if n := len(all) - len(shown); n > 0 {
		fmt.Fprintln(p.o, p.o.Style(term.Dim, fmt.Sprintf("%s... %s (--full shows them)", indent, plural(n, "more line", "more lines"))))
	}
}

// line writes a safe line indented. On a terminal it is wrapped here: the terminal
// would go on at its left margin, where lines about entries stand.
func (p *printer) line(s string) {
	for _, part := range p.o.Wrap(s, room(p.o.Width, len(indent))) {
		fmt.Fprintf(p.o, "%s%s\n", indent, part)
	}
}

// contextMessage writes one message, as show does an entry.
func (p *printer) contextMessage(m modelcontext.Message) {
	body := entries.ParseMessage(m.Raw)
	kind := "(no role)"
	if m.Role != "" {
		kind = term.Line(m.Role)
	}
	for _, name := range []string{body.CustomType, body.ToolName} {
		if name != "" {
			kind += " " + term.Line(name)
		}
	}
	failed := body.Failed()
	unsent := !p.view.sent[m.Entry]
	style := styleOf(entries.Entry{Type: entries.TypeMessage, Role: m.Role}, failed)
	if p.flags.brief {
		text := short(m.Entry) + "  " + kind
		if unsent {
			text += " (" + unsentMark + ")"
		}
		text = strings.TrimSpace(text + "  " + term.OneLine(messageText(m, body)))
		fmt.Fprintln(p.o, p.o.Style(style, p.o.Cut(text, lineWidth(p.o))))
		return
	}
	head := kind + "  " + short(m.Entry)
	if failed {
		head += "  failed"
	}
	if unsent {
		head += "  " + unsentMark
	}
	if style == "" {
		style = term.Cyan
	}
	fmt.Fprintln(p.o, p.o.Style(style, head))
	p.body(body)
	p.special(m)
	fmt.Fprintln(p.o)
}

// special writes what messages of some roles say elsewhere than in their content.
func (p *printer) special(m modelcontext.Message) {
	limit := p.limit(cutResult)
	switch m.Role {
	case modelcontext.RoleBranchSummary, modelcontext.RoleCompactionSummary:
		p.block("", textMember(m, "summary"), 0)
		archive := m.Field("blocks")
		if archive == nil { // which has the images among the rest
			archive = m.Field("images")
		}
		p.contentBlocks(archive, limit)
	case modelcontext.RoleBashExecution:
		p.contentBlocks(m.Field("images"), limit)
	case modelcontext.RolePythonExecution:
		p.block("", ">>> "+textMember(m, "code")+"\n"+textMember(m, "output"), limit)
	case modelcontext.RoleFileMention:
		for _, f := range filesOf(m) {
			p.block("", "[file "+f.Path+"]\n"+f.Content, limit)
		}
	case modelcontext.RoleSystem:
		sections, tools := systemParts(m)
		for _, s := range sections {
			p.block("", s, limit)
		}
		for _, t := range tools {
			p.block("", t, 0)
		}
	}
}

// jsonEntry is the envelope of an entry.
type jsonEntry struct {
	ID        entries.ID   `json:"id"`
	ParentID  *entries.ID  `json:"parentId"`
	Type      entries.Type `json:"type"`
	Role      *string      `json:"role"`
	Timestamp *string      `json:"timestamp"`
	Line      int          `json:"line"`
	Offset    int64        `json:"offset"`
}

// shownEntry is what show says of an entry besides its record.
type shownEntry struct {
	jsonEntry
	InContext *bool                `json:"inContext"`
	NotSent   *modelcontext.Reason `json:"notSent"`
}

// shown tells whether the model is sent an entry, null for one that never becomes a
// message, and why not.
func (p *printer) shown(e entries.Entry) shownEntry {
	out := shownEntry{jsonEntry: entryJSON(e)}
	if p.view == nil {
		return out
	}
	in := p.view.sent[e.ID] // oh-my-pi's notes are of a type that is not spoken
	if in || spoken(e.Type) {
		out.InContext = &in
	}
	if p.view.unsent(e) {
		reason := p.view.why(e)
		out.NotSent = &reason
	}
	return out
}

func entryJSON(e entries.Entry) jsonEntry {
	return jsonEntry{e.ID, optionalID(e.Parent), e.Type, optional(e.Role), optionalTime(e.Time), e.Line, e.Offset}
}

// object writes an entry as one line of JSON: its envelope, and its record as it is
// in the log, which may be nested deeper than encoding/json would go. Of a record
// that is none inside, which only its sum vouched for, there is null: the line has
// to stay JSON.
func (p *printer) object(e entries.Entry) error {
	envelope, err := json.Marshal(p.shown(e))
	if err != nil {
		return err
	}
	raw, err := e.Raw()
	if err != nil {
		return err
	}
	if e.Fields(func(string, []byte) {}) != nil {
		raw = []byte("null")
	}
	line := append(bytes.TrimSuffix(envelope, []byte("}")), `,"entry":`...)
	line = append(append(line, bytes.ToValidUTF8(raw, []byte("\uFFFD"))...), "}\n"...)
	_, err = p.o.Write(term.JSON(line))
	return err
}

// document writes entries as one JSON document.
func (p *printer) document(t *sessiontree.Tree, list []entries.Entry) error {
	session, err := sessionJSON(t)
	if err != nil {
		return err
	}
	var head bytes.Buffer
	err = writeJSON(&head, struct {
		Schema  string       `json:"schema"`
		Session jsonSession  `json:"session"`
		Leaf    *entries.ID  `json:"leaf"`
		Scanned string       `json:"scanned"`
		Damage  []jsonDamage `json:"damage"`
	}{"sessctl.show/1", session, optionalID(t.Leaf()), scanned(t), damageJSON(t.Damage())}, true)
	if err != nil {
		return err
	}
	p.o.Write(bytes.TrimSuffix(head.Bytes(), []byte("}\n")))
	p.o.WriteString(",\"entries\":[\n")
	for i, e := range list {
		if i > 0 {
			p.o.WriteString(",")
		}
		if err := p.object(e); err != nil {
			return err
		}
	}
	_, err = p.o.WriteString("]}\n")
	return err
}
