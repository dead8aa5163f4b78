package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLineAndText(t *testing.T) {
	for in, want := range map[string][2]string{ // of Line and of Text
		"":                         {"", ""},
		"plain é 日本 🎉 e\u0301":     {"plain é 日本 🎉 e\u0301", "plain é 日本 🎉 e\u0301"},
		"a\nb\tc\r":                {`a\nb\tc\r`, "a\nb\tc" + `\r`},
		"\x1b[31mred\x07":          {`\x1b[31mred\x07`, `\x1b[31mred\x07`},
		"\x00\x7f":                 {`\x00\x7f`, `\x00\x7f`},
		"\u009b2J\u0085":           {`\x9b2J\x85`, `\x9b2J\x85`},
		"\x9b2J":                   {`\x9b2J`, `\x9b2J`}, // a byte that is no UTF-8
		"\xff\xfe":                 {`\xff\xfe`, `\xff\xfe`},
		"\ufffd":                   {"\ufffd", "\ufffd"},
		"\u202egnp.exe":            {`\u202egnp.exe`, `\u202egnp.exe`},
		"\u2066\u2069\u200f\u061c": {`\u2066\u2069\u200f\u061c`, `\u2066\u2069\u200f\u061c`},
		"\u2028\u2029":             {`\u2028\u2029`, `\u2028\u2029`},
		"\U000e0041":               {`\ue0041`, `\ue0041`},
		"שלום":                     {"שלום", "שלום"}, // letters that run to the left are text
	} {
		if got := [2]string{Line(in), Text(in)}; got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// checkSafe fails where a terminal could take s for anything but text.
func checkSafe(t *testing.T, s, allowed string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("got %q, which is no UTF-8", s)
	}
	for _, r := range s {
		if (unicode.IsControl(r) || Bidi(r) || r == '\u2028' || r == '\u2029') && !strings.ContainsRune(allowed, r) {
			t.Errorf("got %q, which has %U", s, r)
		}
	}
}

var hostile = []string{
	"", "text", "\x1b[2J\x9b", "\u009b\u202e\U000e0041\ufffd\xff", "a\nb\r\n\tc", `{"a":"\u001b"}`, "{\"a\":\"\x1b\u202e\"}", "{\"a\":1,\r\"\\\x1b\":\"\\\"\x9b\"}",
	"\"\U000e0041😀\\ud83d\\ude00\xf0\x9f\"", "\"\\\\\"\x1b\"", "[\u0085\x00]", "\"a\tb\"",
}

func FuzzText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkSafe(t, Text(s), "\n\t")
		checkSafe(t, Line(s), "")
		if got := Line(s); utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return harmful(r) && r != utf8.RuneError }) && got != s {
			t.Errorf("got %q of %q, which was safe", got, s)
		}
		if got := Text(Line(s)); got != Line(s) {
			t.Errorf("got %q of what was made safe already: %q", got, Line(s))
		}
	})
}

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b \u001b 日本 😀"}`:                 `{"a":"b \u001b 日本 😀"}`,
		"{\n\t\"a\": 1}\n":                      "{\n\t\"a\": 1}\n",
		"\"\u009b\u202e\u2028\"":                `"\u009b\u202e\u2028"`,
		"\"\U000e0041\"":                        `"\udb40\udc41"`,
		"\"\x7f\"":                              `"\u007f"`,
		"\"\xff\"":                              "\"\ufffd\"",
		"\"\xe2\x82 \xf0\x9f\x98\x80\xff\xfe\"": "\"\ufffd 😀\ufffd\ufffd\"", // as JavaScript counts them
		"{\"a\":1,\r\"b\":2}":                   "{\"a\":1, \"b\":2}",       // a terminal would go back to the line's start
		"\"a\x1b[2J\tb\"":                       `"a\u001b[2J\u0009b"`,      // no JSON, but it may stand in a log
		"{\x1b}":                                "{ }",
		"\"\\\"\x1b\",\x1b\"\\\\\"\x1b":         `"\"\u001b", "\\" `,
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

var runs = regexp.MustCompile("\uFFFD+")

func FuzzJSON(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		got := JSON(b)
		checkSafe(t, string(got), "\n\t")
		if !bytes.Equal(b, before) {
			t.Errorf("it changed its argument %q to %q", before, b)
		}
		var want, value any
		if json.Unmarshal(b, &want) != nil {
			return
		}
		// Go makes a U+FFFD of every invalid byte, JavaScript sometimes of several.
		if err := json.Unmarshal(got, &value); err != nil || runs.ReplaceAllString(fmt.Sprintf("%#v", value), "\uFFFD") != runs.ReplaceAllString(fmt.Sprintf("%#v", want), "\uFFFD") {
			t.Errorf("got %q (%v), which means another thing than %q", got, err, b)
		}
	})
}

// TestOneLine: it is what folding, leaving out and escaping one after the other give.
func TestOneLine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	parts := []string{"a", "word", " ", "\n\t ", "\u00a0", "\x1b[2J", "\xff", "\xe4\xb8", "世界", "\u202e", "\ufffd", "\u2028", "é", "\x00"}
	for range 5000 {
		s := ""
		for range r.IntN(30) {
			s += parts[r.IntN(len(parts))]
		}
		want := Line(strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " "))
		if got := OneLine(s); got != want {
			t.Fatalf("%q is %q as one line, want %q", s, got, want)
		}
	}
	for _, s := range []string{strings.Repeat("世", 10_000), strings.Repeat("long ", 10_000)} {
		if got := OneLine(s); !strings.HasPrefix(s, got) || len(got) < 500 || len(got) > 3000 {
			t.Errorf("%d bytes are left of %d", len(got), len(s))
		}
	}
}
