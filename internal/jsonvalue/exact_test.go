package jsonvalue

import (
	"testing"
	"unicode/utf8"
)

func TestExactKeepsHalves(t *testing.T) {
	for raw, want := range map[string]string{
		`"a\ud83d"`:        `"a\ud83d"`,
		`"\udc00 b"`:       `"\udc00 b"`,
		`"\ud83d\ude00"`:   `"😀"`,
		`"\u00e9\n\ud800"`: `"é\n\ud800"`,
		"\"\xed\xa0\x80\"": `"` + "\uFFFD\uFFFD\uFFFD" + `"`, // no JSON text has these bytes
		"\"\xed\"":         "\"\uFFFD\"",
		`"\ud83d\ud83d"`:   `"\ud83d\ud83d"`,
		`""`:               `""`,
	} {
		if got := string(AppendExact(nil, Exact([]byte(raw)))); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
	if got := string(AppendExact(nil, Exact([]byte(`"\ud83d"`))+Exact([]byte(`"\ude00"`)))); got != `"😀"` {
		t.Errorf("halves that come together: got %s", got)
	}
}

// The expectations are those of Node's TextDecoder and StringDecoder.
func TestValidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"caf\xc3\xa9":      "café",
		"\xe2\x82":         "\uFFFD",
		"\xe2\x82x":        "\uFFFDx",
		"\xf0\x9f\x98":     "\uFFFD",
		"\xf0\x9f\x98\xf0": "\uFFFD\uFFFD",
		"\xc0\xaf":         "\uFFFD\uFFFD",
		"\xe0\x80\x80":     "\uFFFD\uFFFD\uFFFD",
		"\xed\xa0\x80":     "\uFFFD\uFFFD\uFFFD",
		"\xf4\x90\x80\x80": "\uFFFD\uFFFD\uFFFD\uFFFD",
		"a\x80\xffb":       "a\uFFFD\uFFFDb",
	} {
		if got := string(ValidUTF8([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzExact(f *testing.F) {
	f.Add([]byte(`"\ud83d x \ude00\ud83d\ude00 é"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) == 0 || raw[0] != '"' || Check(raw) != nil || raw[len(raw)-1] != '"' {
			return
		}
		once := AppendExact(nil, Exact(raw))
		if Check(once) != nil || !utf8.Valid(once) {
			t.Fatalf("%s: got %s", raw, once)
		}
		if String(once) != String(ValidUTF8(raw)) {
			t.Fatalf("%s: reads as %q, want %q", raw, String(once), String(ValidUTF8(raw)))
		}
		if twice := AppendExact(nil, Exact(once)); string(twice) != string(once) {
			t.Fatalf("%s: %s became %s", raw, once, twice)
		}
	})
}
