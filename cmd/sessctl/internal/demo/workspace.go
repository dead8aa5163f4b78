package demo

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/sessctl/sessctl/checkpoint"
)

// The files that the agent works on: a parser with a mistake, and tests. They are Go,
// and `go test ./...` says of them what the simulated one does.
const (
	readme = `# csv

Takes lines of comma-separated values apart. "go test ./..." runs the tests;
testdata/export.csv is an export from the shop.
`
	goMod = "module example.com/csv\n\ngo 1.21\n"

	linesGo = `package parser

import "strings"

// Lines takes a file apart into its lines.
func Lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
`
	splitGo = `package parser

import "strings"

// Split takes a line apart at its commas. A field may stand in quotes; there a comma
// is a comma, and a doubled quote is a quote.
func Split(line string) (fields []string) {
	var field strings.Builder
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"' && quoted && i+1 < len(line) && line[i+1] == '"':
			field.WriteByte('"')
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
`
	splitTestGo = `package parser

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

func check(t *testing.T, line string, want ...string) {
	t.Helper()
	if got := Split(line); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlain(t *testing.T) {
	check(t, "1,bolt,4.20", "1", "bolt", "4.20")
}

func TestQuotedComma(t *testing.T) {
	check(t, "1,\"bolt, M6\",4.20", "1", "bolt, M6", "4.20")
}

func TestDoubledQuote(t *testing.T) {
	check(t, "1,\"5\"\" bolt\",4.20", "1", "5\" bolt", "4.20")
}

func TestExport(t *testing.T) {
	text, err := os.ReadFile("../testdata/export.csv")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range Lines(string(text)) {
		t.Run(fmt.Sprintf("line_%d", i+1), func(t *testing.T) {
			fields := Split(line)
			t.Logf("%q", fields)
			if len(fields) != 4 {
				t.Errorf("got %d fields, want 4", len(fields))
			}
		})
	}
}
`
)

// export is the file that a model should not have to keep in mind.
func export() string {
	var b strings.Builder
	for i := range 240 {
		fmt.Fprintf(&b, "%d,\"bolt, M%d x %d, zinc plated\",%d.%02d,2026-%02d-%02d\r\n", 1000+i, 3+i%10, 10+5*(i%17), 1+i%7, 7*i%100, 1+i%12, 1+i%28)
	}
	return b.String()
}

func writeWorkspace(dir string) error {
	for name, text := range map[string]string{
		"README.md": readme, "go.mod": goMod, "testdata/export.csv": export(),
		"parser/lines.go": linesGo, "parser/split.go": splitGo, "parser/split_test.go": splitTestGo,
	} {
		file := dir + "/" + name
		if err := os.MkdirAll(path.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// A workspace is what the agent's tools work on, and nothing outside it.
type workspace struct {
	root  *os.Root
	blobs *checkpoint.Store // the contents that its files had
}

func openWorkspace(dir string) (*workspace, error) {
	root, err := os.OpenRoot(dir)
	return &workspace{root: root}, err
}

func (w *workspace) close() {
	w.root.Close()
	if w.blobs != nil {
		w.blobs.Close()
	}
}

// run is one of the agent's tools: the text is for the model, the outcome for the story.
func (w *workspace) run(c call) (text, outcome string, err error) {
	switch c.name {
	case "read":
		return w.read(c.args.Path)
	case "edit":
		return w.edit(c.args)
	case "bash":
		return w.test(c.args.Command)
	}
	return "", "", fmt.Errorf("no tool %q", c.name)
}

func (w *workspace) read(name string) (text, outcome string, err error) {
	b, err := w.root.ReadFile(name)
	text = string(b)
	return text, fmt.Sprintf("%d lines%s", strings.Count(text, "\n"), large(text)), err
}

// edit replaces a text that stands in a file once.
func (w *workspace) edit(a args) (text, outcome string, err error) {
	b, err := w.root.ReadFile(a.Path)
	if err != nil {
		return "", "", err
	}
	before, after, _ := strings.Cut(string(b), a.OldText)
	if strings.Count(string(b), a.OldText) != 1 {
		return "", "", errors.New(a.Path + ": the old text does not stand there once")
	}
	if err := w.root.WriteFile(a.Path, []byte(before+a.NewText+after), 0o600); err != nil {
		return "", "", err
	}
	return "Edited " + a.Path + ".", "done", nil
}

// large tells the size of what takes room in a context.
func large(text string) string {
	const least = 4 << 10
	if len(text) < least {
		return ""
	}
	return fmt.Sprintf(", %d kB", (len(text)+500)/1000)
}
