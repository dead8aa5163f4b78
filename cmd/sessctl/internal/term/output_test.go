package term

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// environment is a getenv of "NAME=value" words.
func environment(words ...string) func(string) string {
	return func(name string) string {
		for _, w := range words {
			if n, v, _ := strings.Cut(w, "="); n == name {
				return v
			}
		}
		return ""
	}
}

func TestColor(t *testing.T) {
	for _, c := range []struct {
		color    string
		terminal bool
		env      string
		want     bool
	}{
		{"auto", true, "", true}, {"auto", false, "", false},
		{"auto", true, "NO_COLOR=1", false}, {"auto", true, "NO_COLOR=", true}, {"auto", true, "TERM=dumb", false}, {"auto", true, "TERM=xterm", true},
		{"always", false, "", true}, {"always", true, "NO_COLOR=1", true}, {"always", false, "TERM=dumb", true},
		{"never", true, "", false}, {"never", false, "", false},
	} {
		o := &Output{Terminal: c.terminal}
		if got := o.wantsColor(Options{Color: c.color, Getenv: environment(c.env)}); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestStyle(t *testing.T) {
	if got := (&Output{Color: true}).Style(Red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("got %q", got)
	}
	for _, o := range []*Output{{}, {Color: true}} {
		if got := o.Style(Red, ""); got != "" {
			t.Errorf("got %q of nothing", got)
		}
	}
	if got := (&Output{}).Style(Red, "x"); got != "x" {
		t.Errorf("got %q without colour", got)
	}
}

func TestLocale(t *testing.T) {
	for env, want := range map[string]bool{
		"": false, "LANG=C": false, "LANG=en_US.UTF-8": true, "LANG=C.utf8": true, "LANG=de_DE.ISO-8859-1": false, "LANG=POSIX": false,
		"LC_ALL=C LANG=en_US.UTF-8": false, "LC_CTYPE=C LANG=en_US.UTF-8": false, "LC_ALL=C.UTF-8 LC_CTYPE=C": true, "LC_CTYPE=UTF-8": true,
	} {
		if got := utf8Locale(environment(strings.Fields(env)...)); got != want {
			t.Errorf("%s: got %v, want %v", env, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s       string
		columns int
		unicode bool
		want    string
	}{
		{"hello", 0, true, "hello"}, {"hello", 5, true, "hello"}, {"hello", 4, true, "hel…"}, {"hello", 4, false, "h..."},
		{"hello", 1, true, "…"}, {"日本語", 6, true, "日本語"}, {"日本語", 5, true, "日本…"}, {"日本語", 4, true, "日…"}, {"日本語", 2, true, "…"},
		{"e\u0301e\u0301e\u0301", 3, true, "e\u0301e\u0301e\u0301"}, {"e\u0301e\u0301e\u0301", 2, true, "e\u0301…"}, {"", 3, true, ""},
	} {
		o := &Output{Unicode: c.unicode}
		if got := o.Cut(c.s, c.columns); got != c.want {
			t.Errorf("%q to %d: got %q, want %q", c.s, c.columns, got, c.want)
		}
	}
}

func TestCutLeft(t *testing.T) {
	for _, c := range []struct {
		s       string
		columns int
		unicode bool
		want    string
	}{
		{"/a/path", 0, true, "/a/path"}, {"/a/path", 7, true, "/a/path"}, {"/a/path", 5, true, "…path"}, {"/a/path", 5, false, "...th"},
		{"/日本/語", 6, true, "…本/語"}, {"/日本/語", 5, true, "… /語"}, {"/a/e\u0301e\u0301", 3, true, "…e\u0301e\u0301"}, {"", 3, true, ""},
	} {
		o := &Output{Unicode: c.unicode}
		if got := o.CutLeft(c.s, c.columns); got != c.want {
			t.Errorf("%q to %d: got %q, want %q", c.s, c.columns, got, c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{"hello", "日本語 text", "e\u0301e\u0301", "👨‍👩‍👧 family", "🇩🇪🇯🇵"} {
		f.Add(s, 4, true)
		f.Add(s, 3, false)
	}
	f.Fuzz(func(t *testing.T, s string, columns int, unicode bool) {
		s = Line(s)
		o := &Output{Unicode: unicode}
		got := o.Cut(s, columns)
		checkSafe(t, got, "")
		if columns <= 0 && got != s {
			t.Errorf("got %q, want %q uncut", got, s)
		}
		if n := runewidth.StringWidth(got); columns >= 3 && n > columns {
			t.Errorf("got %q with %d columns, want at most %d", got, n, columns)
		}
	})
}

func TestOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		color string
		want  bool
	}{{"auto", false}, {"always", true}, {"never", false}} {
		o, err := Open(Options{File: path, Color: c.color, Pager: true, Getenv: environment("PAGER=false")})
		if err != nil {
			t.Fatal(err)
		}
		if o.Color != c.want || o.Terminal || o.Width != 0 || !o.Unicode {
			t.Errorf("%s: got %+v", c.color, o)
		}
		o.WriteString("text")
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() != 4 || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("got %v (%v), want 4 bytes for the user alone", info, err)
		}
		if _, err := Open(Options{File: path, Getenv: environment()}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a file that is there: got %v, want ErrExist", err)
		}
		os.Remove(path)
	}
	if _, err := Open(Options{File: filepath.Join(path, "deeper"), Getenv: environment()}); err == nil {
		t.Error("no folder: got no error")
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestCloseTellsWhatFailed(t *testing.T) {
	o, err := Open(Options{Stdout: fullDisk{}, Getenv: environment()})
	if err != nil {
		t.Fatal(err)
	}
	o.WriteString("text")
	if err := o.Close(); err == nil || err.Error() != "full" {
		t.Errorf("got %v, want what the writer said", err)
	}
	var b bytes.Buffer
	o, _ = Open(Options{Stdout: &b, Color: "auto", Pager: true, Getenv: environment("LANG=C")})
	o.WriteString("text")
	if err := o.Close(); err != nil || b.String() != "text" || o.Color || !o.Unicode {
		t.Errorf("got %q (%v) into a buffer: %+v", &b, err, o)
	}
}
