package syntax

import (
	"encoding/json"
	"strings"
	"testing"
)

var cases = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `1.5e+3`, `1E9`, `"x"`, `{"a":[1,{"b":null}],"c":"d"}`,
	` { "a" : 1 , "b" : [ ] } `, `"\u00e9\n\"\\\/"`, `{"a":"` + strings.Repeat(`\n\"x`, 200) + `"}`,
	``, `{`, `}`, `[1,]`, `{"a":1,}`, `{"a"}`, `{a:1}`, `01`, `1.`, `.5`, `-`, `1e`, `+1`, `tru`, `nul`, `"`, `"\x"`, `"\u12g4"`, `"\u12"`,
	"\"a\tb\"", "\"a\x00b\"", `{"a":1}{"b":2}`, `{"a":1} x`, `[[[[`, `{"a":[}]`, `"abc\`, "\"\xff\xfe\"", `{"a":1,,"b":2}`, `[1 2]`, `{"a":1 "b":2}`,
}

// valid is what the tests compare with: the standard library's checker accepts the
// same grammar.
func check(t *Text, s string) bool {
	t.Reset([]byte(s))
	end := t.Value(t.Space(0))
	return end >= 0 && t.Space(end) == len(s)
}

func TestValueAgreesWithEncodingJSON(t *testing.T) {
	var text Text
	for _, s := range cases {
		if got, want := check(&text, s), json.Valid([]byte(s)); got != want {
			t.Errorf("%q: valid %v, want %v", s, got, want)
		}
		long := `["` + strings.Repeat("x", 70) + `",` + s + `]`
		if got, want := check(&text, long), json.Valid([]byte(long)); got != want {
			t.Errorf("%q: valid %v, want %v", long, got, want)
		}
	}
}

// In a block of lines a value ends before a newline or not at all.
func TestLinesAreTexts(t *testing.T) {
	var text Text
	for _, s := range cases {
		for _, after := range []string{"\n", "\n1", "\n}", "\n\"", "\n:1}", "\n,1]", "\n \"x\"}"} {
			block := "[\"\n" + s
			if !text.ResetLines([]byte(block + after)) {
				t.Skip("no masks on this machine")
			}
			end := text.Value(text.Space(3))
			if got, want := end >= 0 && text.Space(end) == len(block), json.Valid([]byte(s)); got != want {
				t.Errorf("%q: valid %v, want %v", block+after, got, want)
			}
		}
	}
}

func TestStops(t *testing.T) {
	var text Text
	s := strings.Repeat(`{"a":"\"b\n"}`+"\x01", 20)
	if !text.ResetLines([]byte(s)) {
		t.Skip("no masks on this machine")
	}
	for i := range s {
		for end := i; end <= len(s); end++ {
			want := strings.Count(s[i:end], `"`) + strings.Count(s[i:end], "\x01")
			want -= strings.Count(s[max(i-1, 0):end], `\"`) // whose quote is in between
			if got := text.Stops(i, end); got != want {
				t.Fatalf("%d to %d: %d stops, want %d", i, end, got, want)
			}
		}
	}
	if got := text.Stops(0, len(s)+1); got != -1 {
		t.Errorf("behind the end: %d stops, want -1", got)
	}
}

func TestDepthIsNotLimited(t *testing.T) {
	const depth = 1_000_000
	var text Text
	if !check(&text, strings.Repeat("[", depth)+strings.Repeat("]", depth)) {
		t.Error("a million arrays inside each other: not valid, want valid")
	}
	if check(&text, strings.Repeat(`{"a":`, depth)) {
		t.Error("unclosed objects: valid, want not")
	}
}

func TestObjectVisitsMembersInOrder(t *testing.T) {
	var text Text
	s := `{ "a" : [1,2] , "b\"":"x","a":{}}`
	text.Reset([]byte(s))
	var got []string
	end := text.Object(0, func(key []byte, at int) int {
		end := text.Value(at)
		got = append(got, string(key)+"="+s[at:end])
		return end
	})
	if want := `a=[1,2] b\"="x" a={}`; strings.Join(got, " ") != want || end != len(s) {
		t.Errorf("members %q, end %d; want %q, end %d", got, end, want, len(s))
	}
}

func TestFailedNamesThePlace(t *testing.T) {
	var text Text
	text.Reset([]byte(`{"a":1,"b":?}`))
	at, failed := Failed(text.Object(0, func(_ []byte, at int) int { return text.Value(at) }))
	if !failed || at != 11 {
		t.Errorf("fault at %d (%v), want 11", at, failed)
	}
}

func FuzzValue(f *testing.F) {
	for _, s := range cases {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var text Text
		// The standard library refuses nesting over 10,000; we do not.
		if strings.Count(s, "[")+strings.Count(s, "{") > 9000 {
			return
		}
		if got, want := check(&text, s), json.Valid([]byte(s)); got != want {
			t.Errorf("%q: valid %v, want %v", s, got, want)
		}
	})
}
