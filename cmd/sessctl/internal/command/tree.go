package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

func (a *app) tree() *cobra.Command {
	var all bool
	var depth int
	cmd := &cobra.Command{
		Use:   "tree S",
		Short: "Draw the entry tree of a session",
		Long: `tree draws all entries of a session. The line that goes straight down is the
active branch, or what was written last; other branches stand beside it, at the
entry where they fork off. Runs of entries are folded into one line each: prompts,
compactions, summaries, checkpoints, labelled entries, forks and tips stay.`,
		Example: "  sessctl tree latest\n  sessctl tree session.jsonl --all",
		Args:    needs(1, 1, aSession),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := a.whole(args[0])
			if err != nil {
				return err
			}
			defer t.Close()
			if depth < 0 {
				return usagef("--depth is 0 or more, not %d", depth)
			}
			d := &drawing{t: t, all: all, depth: depth}
			if err := d.prepare(); err != nil {
				return err
			}
			return a.write(true, func(o *term.Output) error {
				if a.flags.json {
					return d.json(o)
				}
				if err := a.heading(o, t); err != nil {
					return err
				}
				return d.draw(o)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show every entry")
	cmd.Flags().IntVar(&depth, "depth", 0, "show branches nested at most `N` deep; deeper ones are counted (0: all)")
	return cmd
}

// A drawing is the tree on its way to the screen.
type drawing struct {
	t      *sessiontree.Tree
	o      *term.Output
	all    bool
	depth  int
	labels map[entries.ID]string
	active map[entries.ID]bool // the entries on the path to the leaf

	folded fold
}

// A fold counts entries that are not shown.
type fold struct {
	n     int
	last  entries.ID
	kinds map[string]int
}

// A stretch is a line of entries still to be drawn, from one entry down to where it
// ends or forks.
type stretch struct {
	from   entries.ID
	prefix string // before every line
	branch bool   // its first line hangs at the stretch to its left
	depth  int
}

func (d *drawing) prepare() (err error) {
	if d.labels, err = d.t.Labels(); err != nil {
		return err
	}
	d.active = map[entries.ID]bool{}
	for e, err := range d.t.Ancestors(d.t.Leaf()) {
		if err != nil {
			return err
		}
		d.active[e.ID] = true
	}
	return nil
}

func (d *drawing) draw(o *term.Output) error {
	d.o = o
	roots, err := d.t.Roots()
	if err != nil {
		return err
	}
	var todo []stretch
	for _, r := range slices.Backward(roots) {
		todo = append(todo, stretch{from: r})
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, err := d.stretch(s)
		if err != nil {
			return err
		}
		todo = append(todo, next...)
	}
	return nil
}

// stretch draws entries down to the next fork and gives what follows, last first.
func (d *drawing) stretch(s stretch) ([]stretch, error) {
	for id := s.from; ; {
		kids, err := d.t.Children(id)
		if err != nil {
			return nil, err
		}
		if err := d.entry(&s, id, len(kids)); err != nil {
			return nil, err
		}
		switch len(kids) {
		case 0:
			d.unfold(&s)
			return nil, nil
		case 1:
			id = kids[0]
		default:
			d.unfold(&s)
			return d.fork(s, kids), nil
		}
	}
}

// fork gives the stretches below a fork: the straight one at the bottom.
func (d *drawing) fork(s stretch, kids []entries.ID) []stretch {
	main := len(kids) - 1
	for i, k := range kids {
		if d.active[k] {
			main = i
		}
	}
	next := []stretch{{from: kids[main], prefix: s.prefix, depth: s.depth}}
	if d.depth > 0 && s.depth+1 > d.depth {
		d.line(&s, d.glyph("├─", "|-")+" "+plural(len(kids)-1, "branch", "branches")+" deeper", "")
		return next
	}
	for i, k := range slices.Backward(kids) {
		if i != main {
			next = append(next, stretch{from: k, prefix: d.indent(s), branch: true, depth: s.depth + 1})
		}
	}
	return next
}

// indent is the prefix of a branch beside s. It stops growing where nobody could
// follow it any more.
func (d *drawing) indent(s stretch) string {
	const deepest = 24
	if s.depth >= deepest {
		return s.prefix
	}
	return s.prefix + d.glyph("│ ", "| ")
}

func (d *drawing) glyph(unicode, ascii string) string {
	if d.o.Unicode {
		return unicode
	}
	return ascii
}

// entry draws an entry, or folds it away.
func (d *drawing) entry(s *stretch, id entries.ID, kids int) error {
	e, err := d.t.Entry(id)
	if err != nil {
		return err
	}
	checkpoint := isCheckpoint(e)
	if !d.all && kids == 1 && !checkpoint && !d.stands(e) {
		d.folded.add(e)
		return nil
	}
	d.unfold(s)
	d.show(s, e, checkpoint)
	return nil
}

// show draws the line of one entry.
func (d *drawing) show(s *stretch, e entries.Entry, checkpoint bool) {
	id := e.ID
	sum := summarize(e)
	if checkpoint {
		sum.kind = "checkpoint"
	}
	mark, style := d.glyph("○", "o"), term.Dim
	if d.active[id] {
		mark, style = d.glyph("●", "*"), ""
	}
	text := fmt.Sprintf("%s %s %s", mark, short(id), term.Line(sum.kind))
	if label := d.labels[id]; label != "" {
		text += " [" + term.OneLine(label) + "]"
	}
	if id == d.t.Leaf() {
		text += d.glyph(" ← leaf", " <- leaf")
		style = term.Green
	}
	if internal(e) {
		sum.text = "" // a whole record, in JSON
	}
	d.line(s, text+"  "+term.OneLine(sum.text), style)
}

// stands tells whether an entry is worth a line of its own.
func (d *drawing) stands(e entries.Entry) bool {
	switch e.Type {
	case entries.TypeCompaction, entries.TypeBranchSummary:
		return true
	case entries.TypeCustomMessage:
		c, err := e.CustomMessage()
		return err == nil && c.CustomType == entries.CustomRewindReport
	case entries.TypeCustom:
		return isLeafMarker(e)
	case entries.TypeMessage:
		if e.Role == "user" {
			return true
		}
	}
	return d.labels[e.ID] != "" || e.ID == d.t.Leaf()
}

// isLeafMarker tells whether an entry moved the leaf. Only small bodies are read:
// such a marker is two fields.
func isLeafMarker(e entries.Entry) bool {
	const most = 1 << 10
	if e.Size > most {
		return false
	}
	_, ok, _ := e.LeafMarker()
	return ok
}

// isCheckpoint tells whether an entry is the result of a checkpoint call. Only
// small bodies are read: such a result is a few lines.
func isCheckpoint(e entries.Entry) bool {
	const most = 8 << 10
	if e.Role != "toolResult" || e.Size > most {
		return false
	}
	m, err := e.Message()
	return err == nil && m.ToolName == "checkpoint" && !m.IsError
}

func (f *fold) add(e entries.Entry) {
	if f.kinds == nil {
		f.kinds = map[string]int{}
	}
	f.n++
	f.last = e.ID
	f.kinds[kindName(e)]++
}

// unfold draws the line that stands for folded entries. A single one is drawn as it
// is: folding it would save nothing.
func (d *drawing) unfold(s *stretch) {
	if d.folded.n == 0 {
		return
	}
	if e, err := d.t.Entry(d.folded.last); err == nil && d.folded.n == 1 {
		d.folded = fold{}
		d.show(s, e, false)
		return
	}
	var kinds []string
	for k, n := range d.folded.kinds {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, term.Line(k)))
	}
	slices.Sort(kinds)
	d.line(s, d.glyph("┆ ", ": ")+plural(d.folded.n, "entry", "entries")+": "+strings.Join(kinds, ", "), term.Dim)
	d.folded = fold{}
}

// line writes one line of a stretch; the first one shows where a branch hangs.
func (d *drawing) line(s *stretch, text string, style term.Style) {
	const glance = 120
	prefix := s.prefix
	if s.branch {
		prefix = strings.TrimSuffix(prefix, d.glyph("│ ", "| ")) + d.glyph("├─", "|-")
		s.branch = false
	}
	width := d.o.Width
	if width == 0 {
		width = glance
	}
	text = d.o.Cut(strings.TrimRight(text, " "), max(width-2*s.depth, 20))
	fmt.Fprintf(d.o, "%s%s\n", prefix, d.o.Style(style, text))
}

type jsonTree struct {
	Schema  string          `json:"schema"`
	Session jsonSession     `json:"session"`
	Leaf    *entries.ID     `json:"leaf"`
	Scanned string          `json:"scanned"`
	Entries []jsonTreeEntry `json:"entries"`
	Damage  []jsonDamage    `json:"damage"`
}

type jsonTreeEntry struct {
	jsonEntry
	Size       int64   `json:"size"`
	Active     bool    `json:"active"`
	Label      *string `json:"label"`
	Checkpoint bool    `json:"checkpoint"`
}

func (d *drawing) json(o *term.Output) error {
	session, err := sessionJSON(d.t)
	if err != nil {
		return err
	}
	doc := jsonTree{
		Schema: "sessctl.tree/1", Session: session, Leaf: optionalID(d.t.Leaf()), Scanned: scanned(d.t),
		Entries: []jsonTreeEntry{}, Damage: damageJSON(d.t.Damage()),
	}
	for e, err := range d.t.Entries() {
		if err != nil {
			return err
		}
		doc.Entries = append(doc.Entries, jsonTreeEntry{
			jsonEntry: entryJSON(e),
			Size:      e.Size, Active: d.active[e.ID], Label: optional(d.labels[e.ID]), Checkpoint: isCheckpoint(e),
		})
	}
	return writeJSON(o, doc, false)
}
