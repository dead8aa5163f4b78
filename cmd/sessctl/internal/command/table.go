package command

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
)

// A table aligns rows in columns. The last column takes what is left of the
// terminal's width. Cells must be safe to print.
type table struct {
	o     *term.Output
	right []bool // aligned to the right
	width []int
	rows  []row
}

type row struct {
	cells []string
	note  string // in place of cells
	style term.Style
}

// newTable starts a table; a title that starts with ">" aligns its column to the
// right.
func newTable(o *term.Output, titles ...string) *table {
	t := &table{o: o, right: make([]bool, len(titles)), width: make([]int, len(titles))}
	for i, title := range titles {
		titles[i], t.right[i] = strings.CutPrefix(title, ">")
	}
	t.add(term.Dim, titles...)
	return t
}

func (t *table) add(style term.Style, cells ...string) {
	for i, c := range cells {
		t.width[i] = max(t.width[i], runewidth.StringWidth(c))
	}
	t.rows = append(t.rows, row{cells: cells, style: style})
}

// note adds a line below the row before it.
func (t *table) note(s string) { t.rows = append(t.rows, row{note: s}) }

func (t *table) write() {
	const indent = 4
	for _, r := range t.rows {
		if r.note != "" {
			fmt.Fprintf(t.o, "%*s%s\n", indent, "", t.o.Style(term.Yellow, t.o.Cut(r.note, room(t.o.Width, indent))))
			continue
		}
		t.o.WriteString(t.o.Style(r.style, t.line(r.cells)) + "\n")
	}
}

func room(width, taken int) int {
	if width == 0 {
		return 0
	}
	return max(width-taken, 20)
}

// line joins cells; columns that are empty in every row, their title aside, stay.
func (t *table) line(cells []string) string {
	var b strings.Builder
	taken := 0
	for i, c := range cells {
		if i > 0 {
			b.WriteString("  ")
			taken += 2
		}
		if i == len(cells)-1 {
			b.WriteString(t.o.Cut(c, t.last(taken)))
			break
		}
		fill := strings.Repeat(" ", t.width[i]-runewidth.StringWidth(c))
		if t.right[i] {
			c = fill + c
		} else {
			c += fill
		}
		b.WriteString(c)
		taken += t.width[i]
	}
	return strings.TrimRight(b.String(), " ")
}

// last is how wide the last column may be: what the terminal has left, or enough
// for a glance where there is none.
func (t *table) last(taken int) int {
	const glance = 60
	if t.o.Width == 0 {
		return glance
	}
	return room(t.o.Width, taken)
}
