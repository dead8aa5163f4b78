package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table writes Markdown that can be read as it is. The first line has the columns' names;
// numbers stand to the right.
func table(out io.Writer, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 4)
		}
	}
	for n, line := range lines {
		for i, cell := range line {
			fmt.Fprintf(out, "| %s ", padded(cell, widths[i], i > 0))
		}
		fmt.Fprintln(out, "|")
		if n == 0 {
			rule(out, widths)
		}
	}
	fmt.Fprintln(out)
}

func rule(out io.Writer, widths []int) {
	for i, w := range widths {
		end := "-"
		if i > 0 {
			end = ":"
		}
		fmt.Fprintf(out, "| %s%s ", strings.Repeat("-", w-1), end)
	}
	fmt.Fprintln(out, "|")
}

func padded(cell string, width int, right bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if right {
		return space + cell
	}
	return cell + space
}

// print writes the tables of docs/rewind.md, and what they say.
func (b *bench) print(out io.Writer, rows []row, points []point, findings []string) {
	fmt.Fprintf(out, "Cost beside that of sending everything (* the context is over the window of %s tokens):\n\n", thousands(b.terms.window))
	table(out, b.ratios(rows))
	fmt.Fprintf(out, "The smallest exploration that pays: calls, and thousands of tokens that they bring in. A dash: none of up to %d calls.\n\n", b.explored)
	table(out, b.breakEvenTable(points))
	for _, f := range findings {
		fmt.Fprintf(out, "- %s\n", f)
	}
	fmt.Fprintf(out, "\nTokens in thousands, cost in thousands of input tokens (cached %g, not cached %g, output %g):\n\n", b.costs.read, b.costs.write, b.costs.output)
	table(out, b.details(rows))
}

func (b *bench) ratios(rows []row) [][]string {
	first := []string{"trace"}
	for _, w := range ways[1:] {
		first = append(first, w.name)
	}
	lines := [][]string{append(first, "everything is")}
	for _, r := range rows {
		line := []string{r.trace.name()}
		all := b.costs.cost(r.of(everything))
		for _, t := range r.took[1:] {
			line = append(line, fmt.Sprintf("%.2f%s", b.costs.cost(t)/all, b.star(t)))
		}
		lines = append(lines, append(line, kilo(int(all))+b.star(r.took[0])))
	}
	return lines
}

// star marks what no model of this window can be sent.
func (b *bench) star(t totals) string {
	if t.peak > b.terms.window {
		return "*"
	}
	return ""
}

func (b *bench) details(rows []row) [][]string {
	lines := [][]string{{"trace", "way", "requests", "input", "cached", "not cached", "output added", "peak", "cuts", "cost", "cost without a cache"}}
	for _, r := range rows {
		for i, t := range r.took {
			lines = append(lines, []string{
				r.trace.name(), ways[i].name, fmt.Sprint(t.requests), kilo(t.input()), kilo(t.cached), kilo(t.fresh), fine(t.output),
				kilo(t.peak) + b.star(t), fmt.Sprint(t.cuts), kilo(int(b.costs.cost(t))), kilo(int(b.costs.uncached().cost(t))),
			})
		}
	}
	return lines
}

func (c *config) breakEvenTable(points []point) [][]string {
	columns := len(points) / len(contexts) / len(c.laters)
	lines := [][]string{{"before, later calls"}}
	for _, p := range points[:columns] {
		lines[0] = append(lines[0], p.column())
	}
	for at := 0; at < len(points); at += columns {
		line := []string{fmt.Sprintf("%s, %d", kilo(points[at].before), points[at].later)}
		for _, p := range points[at : at+columns] {
			line = append(line, p.cell())
		}
		lines = append(lines, line)
	}
	return lines
}

func (p point) column() string {
	if p.uncached {
		return p.way.name + ", no cache"
	}
	return p.way.name
}

func (p point) cell() string {
	if p.calls == 0 {
		return "–"
	}
	return fmt.Sprintf("%d (%s)", p.calls, fine(p.drops))
}

// kilo gives thousands.
func kilo(n int) string { return thousands((n + 500) / 1000) }

func fine(n int) string { return fmt.Sprintf("%.1f", float64(n)/1000) }

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
