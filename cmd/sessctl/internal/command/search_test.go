package command

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/search"
)

// TestSearchHeading: the name of a session is shortened to what its line has room for, and
// hides neither its id nor its directory.
func TestSearchHeading(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("name ", 40))
	for _, tc := range []struct {
		width           int
		cwd, name, want string
	}{
		{0, "/p", "name", "pi session s1  /p  name"},
		{0, "", "name", "pi session s1  name"},
		{0, "/p", "two\n  lines", "pi session s1  /p  two lines"},
		{0, "/p/" + strings.Repeat("d", 200), long, "pi session s1  /p/" + strings.Repeat("d", 200) + "  name name name na..."},
		{40, "/p", long, "pi session s1  /p  name name name nam..."},
		{40, "/a/long/directory/of/some/depth", "name", "pi session s1  ...ry/of/some/depth  name"},
		{40, "/a/long/directory/of/some/depth", long, "pi session s1  ...some/depth  name na..."},
	} {
		var b bytes.Buffer
		p := &hitPrinter{o: &term.Output{Writer: bufio.NewWriter(&b), Width: tc.width}}
		p.heading(&search.Session{ID: "s1", Agent: "pi", Cwd: tc.cwd, Name: tc.name})
		if err := p.o.Flush(); err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSuffix(b.String(), "\n")
		if got != tc.want || tc.width > 0 && runewidth.StringWidth(got) > tc.width {
			t.Errorf("%d columns, %s, %.20s: got %q, want %q", tc.width, tc.cwd, tc.name, got, tc.want)
		}
	}
}
