package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
)

// A table aligns rows in columns. The last column takes what is left of the
// terminal's width. Cells must be safe to print.
type table struct {
	o     *term.Output
	cols  []column
	rows  []row
	below bool // the last column has a line of its own: the terminal is narrow
}

type column struct {
	right    bool // aligned to the right
	flexible bool // may be cut at its beginning
	used     bool // some cell is not empty, the title aside
	width    int
}

type row struct {
	cells []string
	note  string // in place of cells
	style term.Style
}

// newTable starts a table. A title that starts with ">" aligns its column to the
// right, one with "<" lets it be cut at its beginning where a terminal is narrow.
func newTable(o *term.Output, titles ...string) *table {
	t := &table{o: o, cols: make([]column, len(titles))}
	for i, title := range titles {
		title, t.cols[i].right = strings.CutPrefix(title, ">")
		titles[i], t.cols[i].flexible = strings.CutPrefix(title, "<")
	}
	t.add(term.Dim, titles...)
	return t
}

func (t *table) add(style term.Style, cells ...string) {
	for i, c := range cells[:len(cells)-1] { // the last one takes what is left
		t.cols[i].width = max(t.cols[i].width, runewidth.StringWidth(c))
		t.cols[i].used = t.cols[i].used || c != "" && len(t.rows) > 0
	}
	t.rows = append(t.rows, row{cells: cells, style: style})
}

// note adds a line below the row before it.
func (t *table) note(s string) { t.rows = append(t.rows, row{note: s}) }

const (
	noteIndent = 4
	leastLast  = 20 // columns of the screen below which the last column says nothing
)

func (t *table) write() {
	t.fit()
	for i, r := range t.rows {
		if r.note != "" {
			t.line(r.note, term.Yellow)
			continue
		}
		t.o.WriteString(t.o.Style(r.style, t.join(r.cells)) + "\n")
		if last := r.cells[len(r.cells)-1]; t.below && i > 0 && last != "" {
			t.line(last, r.style)
		}
	}
}

// line writes an indented line below a row.
func (t *table) line(s string, style term.Style) {
	fmt.Fprintf(t.o, "%*s%s\n", noteIndent, "", t.o.Style(style, t.o.Cut(s, room(t.o.Width, noteIndent))))
}

func room(width, taken int) int {
	if width == 0 {
		return 0
	}
	return max(width-taken, leastLast)
}

// fit makes room for the last column on a narrow terminal: columns without a cell
// go, then what may be cut is cut, and at last it gets a line below.
func (t *table) fit() {
	missing := func() int {
		if t.o.Width == 0 {
			return 0
		}
		return leastLast - (t.o.Width - t.taken())
	}
	if missing() > 0 {
		for i := len(t.cols) - 2; i > 0; i-- {
			if !t.cols[i].used {
				t.drop(i)
			}
		}
	}
	const least = 16
	for i := range t.cols {
		if c := &t.cols[i]; c.flexible && missing() > 0 {
			c.width = max(c.width-missing(), min(c.width, least))
		}
	}
	t.below = missing() > 0
}

// taken is the width of all columns but the last one.
func (t *table) taken() (n int) {
	for _, c := range t.cols[:len(t.cols)-1] {
		n += c.width + len("  ")
	}
	return n
}

func (t *table) drop(i int) {
	t.cols = slices.Delete(t.cols, i, i+1)
	for r := range t.rows {
		if t.rows[r].cells != nil {
			t.rows[r].cells = slices.Delete(t.rows[r].cells, i, i+1)
		}
	}
}

// join makes a line of the cells of a row.
func (t *table) join(cells []string) string {
	var b strings.Builder
	for i, c := range cells[:len(cells)-1] {
		col := t.cols[i]
		c = t.o.CutLeft(c, col.width)
		fill := strings.Repeat(" ", col.width-runewidth.StringWidth(c))
		if col.right {
			c = fill + c
		} else {
			c += fill
		}
		b.WriteString(c + "  ")
	}
	if !t.below {
		b.WriteString(t.o.Cut(cells[len(cells)-1], t.last()))
	}
	return strings.TrimRight(b.String(), " ")
}

// last is how wide the last column may be: what the terminal has left, or enough
// for a glance where there is none.
func (t *table) last() int {
	const glance = 60
	if t.o.Width == 0 {
		return glance
	}
	return room(t.o.Width, t.taken())
}
