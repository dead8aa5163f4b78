package demo

import (
	"fmt"
	"slices"
	"strings"
)

// A gotest is a simulated run of the workspace's tests. What it says depends on the
// files that are there: TestLikeGo compares it with what Go says.
type gotest struct {
	verbose bool
	only    string // -run
	skips   bool   // split.go skips the second quote of a doubled one
	trims   bool   // lines.go takes carriage returns away

	out    strings.Builder
	failed []string
}

// test runs the one command that there is: go test [-v] [-run NAME] ./...
func (w *workspace) test(command string) (text, outcome string, err error) {
	g, err := parseTest(command)
	if err != nil {
		return "", "", err
	}
	split, err := w.root.ReadFile("parser/split.go")
	if err != nil {
		return "", "", err
	}
	lines, err := w.root.ReadFile("parser/lines.go")
	if err != nil {
		return "", "", err
	}
	export, err := w.root.ReadFile("testdata/export.csv")
	if err != nil {
		return "", "", err
	}
	g.skips = strings.Contains(string(split), "\t\t\ti++\n")
	g.trims = strings.Contains(string(lines), `"\r\n"`)
	outcome = "ok"
	if text = g.run(string(export)); len(g.failed) > 0 {
		outcome = "FAIL: " + strings.Join(g.failed, ", ")
	}
	return text, outcome + large(text), nil
}

func parseTest(command string) (*gotest, error) {
	words, ok := strings.CutPrefix(command, "go test ")
	rest, ok2 := strings.CutSuffix(words, "./...")
	g := &gotest{}
	flags := strings.Fields(rest)
	if len(flags) > 0 && flags[0] == "-v" {
		g.verbose, flags = true, flags[1:]
	}
	if len(flags) == 2 && flags[0] == "-run" {
		g.only, flags = flags[1], nil
	}
	if !ok || !ok2 || len(flags) > 0 {
		return nil, fmt.Errorf("%s: the demo has no such command", command)
	}
	return g, nil
}

func (g *gotest) run(export string) string {
	g.check("TestPlain", 18, "1,bolt,4.20", "1", "bolt", "4.20")
	g.check("TestQuotedComma", 22, `1,"bolt, M6",4.20`, "1", "bolt, M6", "4.20")
	g.check("TestDoubledQuote", 26, `1,"5"" bolt",4.20`, "1", `5" bolt`, "4.20")
	g.export(export)
	const timing = "\texample.com/csv/parser\t0.002s\n"
	switch {
	case len(g.failed) > 0:
		g.out.WriteString("FAIL\nFAIL" + timing + "FAIL\n")
	case g.verbose:
		g.out.WriteString("PASS\nok  " + timing)
	default:
		g.out.WriteString("ok  " + timing)
	}
	return g.out.String()
}

// check is a test of one line, at a line of split_test.go.
func (g *gotest) check(name string, at int, line string, want ...string) {
	if g.only != "" && g.only != name {
		return
	}
	g.tell("=== RUN   %s\n", name)
	got := g.split(line)
	if slices.Equal(got, want) {
		g.tell("--- PASS: %s (0.00s)\n", name)
		return
	}
	g.failed = append(g.failed, name)
	head, log := fmt.Sprintf("--- FAIL: %s (0.00s)\n", name), fmt.Sprintf("    split_test.go:%d: got %q, want %q\n", at, got, want)
	if g.verbose { // then Go prints as it goes
		head, log = log, head
	}
	g.out.WriteString(head + log)
}

// export is TestExport, which has nothing to say against the export.
func (g *gotest) export(text string) {
	if g.only != "" && g.only != "TestExport" {
		return
	}
	if g.trims {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	g.tell("=== RUN   TestExport\n")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		g.tell("=== RUN   TestExport/line_%d\n    split_test.go:37: %q\n", i+1, g.split(line))
	}
	g.tell("--- PASS: TestExport (0.00s)\n")
	for i := range lines {
		g.tell("    --- PASS: TestExport/line_%d (0.00s)\n", i+1)
	}
}

func (g *gotest) tell(format string, values ...any) {
	if g.verbose {
		fmt.Fprintf(&g.out, format, values...)
	}
}

// split is the workspace's Split, as it is there or fixed.
func (g *gotest) split(line string) (fields []string) {
	var field strings.Builder
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"' && quoted && i+1 < len(line) && line[i+1] == '"':
			field.WriteByte('"')
			if g.skips {
				i++
			}
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			fields = append(fields, field.String())
			field.Reset()
		default:
			field.WriteByte(c)
		}
	}
	return append(fields, field.String())
}
