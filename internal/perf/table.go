package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"unicode/utf8"
)

var columns = []string{"session", "case", "ms", "GB/s", "peak MiB", "measured", "target", "reached"}

// print writes a table that is Markdown and can be read as it is.
func (b *bench) print(out io.Writer) {
	lines := [][]string{columns, nil}
	for _, r := range b.rows {
		lines = append(lines, b.lines(r)...)
	}
	widths := make([]int, len(columns))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i := range columns {
		lines[1] = append(lines[1], strings.Repeat("-", widths[i]))
	}
	for _, line := range lines {
		for i, cell := range line {
			fmt.Fprintf(out, "| %-*s ", widths[i], cell)
		}
		fmt.Fprintln(out, "|")
	}
	fmt.Fprintf(out, "\n%s %s/%s, %d processors, least of %d rounds\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.rounds)
}

// lines are a row's: one for each target, or one.
func (b *bench) lines(r row) [][]string {
	got, ran := b.best[r.job]
	first := append([]string{r.on.name(), r.title}, numbers(r, got, ran)...)
	if len(r.targets) == 0 {
		return [][]string{append(first, "", "", "")}
	}
	var lines [][]string
	for _, t := range r.targets {
		lines = append(lines, append(first, b.judge(r, t)...))
		first = make([]string, len(first))
	}
	return lines
}

func numbers(r row, got sample, ran bool) []string {
	if !ran {
		return []string{"not run", "", ""}
	}
	bandwidth := ""
	if r.readsAll() {
		bandwidth = fmt.Sprintf("%.2f", float64(r.on.Bytes)/float64(got.NS))
	}
	return []string{fmt.Sprintf("%.1f", float64(got.NS)/1e6), bandwidth, mebibytes(got.Peak)}
}

// readsAll tells whether the job reads all of the log.
func (j job) readsAll() bool {
	switch j.name {
	case "limit", "scan", "scan2", "walk", "path", "path2", "pi", "pi-context", "stream", "search", "search2", "grep", "jq":
		return true
	case "context", "context2":
		return j.on.shape != "" // without a compaction
	}
	return false
}

func mebibytes(n int64) string {
	if n == 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f", float64(n)/(1<<20))
}

func (b *bench) judge(r row, t target) []string {
	against := r.against
	if t.other != nil {
		against = *t.other
	}
	ref, ran := b.best[against]
	if !ran {
		return []string{"not run", t.text, ""}
	}
	shown, reached := t.judge(b.best[r.job], ref)
	verdict := "no"
	switch {
	case t.text == "":
		verdict = ""
	case reached:
		verdict = "yes"
	}
	return []string{shown, t.text, verdict}
}
