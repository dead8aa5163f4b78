package command

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
)

func TestParseTime(t *testing.T) {
	time.Local = time.FixedZone("", 2*3600)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"2d": "2026-11-28T12:00:00Z", "1w": "2026-11-23T12:00:00Z", "3h": "2026-11-30T09:00:00Z", "90m": "2026-11-30T10:30:00Z", "1h30m": "2026-11-30T10:30:00Z",
		"0.5d": "2026-11-30T00:00:00Z", "0d": "2026-11-30T12:00:00Z", "30s": "2026-11-30T11:59:30Z",
		"2026-11-30": "2026-11-29T22:00:00Z", "2026-11-30T15:04": "2026-11-30T13:04:00Z", "2026-11-30 15:04": "2026-11-30T13:04:00Z",
		"2026-11-30T15:04:05Z": "2026-11-30T15:04:05Z", "2026-11-30T15:04:05+09:00": "2026-11-30T06:04:05Z", "2026-11-30T15:04:05.5Z": "2026-11-30T15:04:05Z",
		"":          "0001-01-01T00:00:00Z",
		"yesterday": "", "2": "", "d": "", "w": "", "-2d": "", "-3h": "", "2 d": "", "2dd": "", "infd": "", "nand": "", "1e99w": "", "1e400d": "", "99999999d": "",
		"2026-13-01": "", "2026-11-31": "", " ": "", "3x": "", "tomorrow": "",
	} {
		got, err := parseTime(in, now)
		if usage := (usageError{}); (want == "") != errors.As(err, &usage) || want != "" && got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q: got %s (%v), want %s", in, got.UTC().Format(time.RFC3339), err, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 999: "999 B", 1000: "1.0 kB", 1234: "1.2 kB", 9949: "9.9 kB", 999_949: "999.9 kB", 999_999: "1.0 MB", 1_000_000: "1.0 MB",
		5_400_000_000: "5.4 GB", 1 << 60: "1152921.5 TB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for n, want := range map[int]string{0: "-", 1: "1", 9999: "9999", 10_000: "10k", 10_499: "10k", 10_500: "11k", 166_990: "167k", 2_147_483_647: "2147484k"} {
		if got := tokens(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " a \n\n b\t": "a b", "a\x1b[0m": `a\x1b[0m`, "\u00a0x\u2028y": "x y", "a\xffb": "ab", "日本\r\n語": "日本 語",
	} {
		if got := term.OneLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	long := term.OneLine(strings.Repeat("日", 1000))
	if !utf8.ValidString(long) || len(long) > 2000 {
		t.Errorf("got %d bytes of a long line, want at most 2000 whole characters", len(long))
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 2: "2 entries"} {
		if got := plural(n, "entry", "entries"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]int{"": 1, "\n": 1, "a": 1, "a\n\n": 1, "a\n\nb\n": 3} {
		if got := len(lines(in)); got != want {
			t.Errorf("%q: got %d, want %d", in, got, want)
		}
	}
}

// TestTable aligns by columns of the screen, not by bytes; where it is narrow empty
// columns go, paths are cut, and then the last column stands below.
func TestTable(t *testing.T) {
	for width, want := range map[int]string{
		0: `
NAME     N  EMPTY  WHERE                TEXT
日本     1         /home/u/projects/a   short
éa    1000         /home/u/projects/bb  a text that is longer than the screen
    a note that is longer than the screen is wide
`,
		70: `
NAME     N  EMPTY  WHERE                TEXT
日本     1         /home/u/projects/a   short
éa    1000         /home/u/projects/bb  a text that is longer than th…
    a note that is longer than the screen is wide
`,
		54: `
NAME     N  WHERE                TEXT
日本     1  /home/u/projects/a   short
éa    1000  /home/u/projects/bb  a text that is longe…
    a note that is longer than the screen is wide
`,
		51: `
NAME     N  WHERE              TEXT
日本     1  …ome/u/projects/a  short
éa    1000  …me/u/projects/bb  a text that is long…
    a note that is longer than the screen is wide
`,
		40: `
NAME     N  WHERE
日本     1  …me/u/projects/a
    short
éa    1000  …e/u/projects/bb
    a text that is longer than the scre…
    a note that is longer than the scre…
`,
	} {
		var b strings.Builder
		o, err := term.Open(term.Options{Stdout: &b, Color: "never", Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		o.Width = width
		table := newTable(o, "NAME", ">N", "EMPTY", "<WHERE", "TEXT")
		table.add("", "日本", "1", "", "/home/u/projects/a", "short")
		table.add("", "éa", "1000", "", "/home/u/projects/bb", "a text that is longer than the screen")
		table.note("a note that is longer than the screen is wide")
		table.write()
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if b.String() != want[1:] {
			t.Errorf("%d columns: got\n%s\nwant%s", width, &b, want)
		}
	}
}
