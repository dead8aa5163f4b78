package search

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// spell writes text as the inside of a JSON string, each character in one of the ways
// that JSON has for it.
func spell(dice *rand.Rand, text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"' || r == '\\' || r < 0x20 || dice.IntN(4) == 0:
			b.WriteString(escapeOf(dice, r))
		case r == '/' && dice.IntN(2) == 0:
			b.WriteString(`\/`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escapeOf(dice *rand.Rand, r rune) string {
	if short := strings.IndexRune("\"\\/\b\f\n\r\t", r); short >= 0 && dice.IntN(2) == 0 {
		return `\` + `"\/bfnrt`[short:short+1]
	}
	form := `\u%04x`
	if dice.IntN(2) == 0 {
		form = `\u%04X`
	}
	if r > 0xFFFF {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(form+form, high, low)
	}
	return fmt.Sprintf(form, r)
}

// alphabet is what random texts are made of: characters that are often taken for each
// other, that have to be escaped, or have cases of several lengths.
var alphabet = []rune("aAbu0019ekKK\u212asSſéÉßẞ設🎉😀Жж \"\\/\n\t\u0001\u2028")

func randomText(dice *rand.Rand, n int) string {
	runes := make([]rune, n)
	for i := range runes {
		runes[i] = alphabet[dice.IntN(len(alphabet))]
	}
	return string(runes)
}

func otherCase(dice *rand.Rand, text string) string {
	return strings.Map(func(r rune) rune {
		if dice.IntN(2) == 0 {
			return unicode.SimpleFold(r)
		}
		return r
	}, text)
}

func foundAt(t *testing.T, p *Pattern, log string, block int) []span {
	t.Helper()
	list, err := p.candidates(context.Background(), memory{bytes.NewReader([]byte(log))}, block)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// memory is a log in memory.
type memory struct{ *bytes.Reader }

func (m memory) Size() (int64, error) { return m.Reader.Size(), nil }
func (memory) Close() error           { return nil }

// TestNoSpellingIsMissed: whatever the text, and however JSON spells it, its line is a
// candidate, wherever blocks end.
func TestNoSpellingIsMissed(t *testing.T) {
	for seed := range uint64(3000) {
		dice := rand.New(rand.NewPCG(seed, 1))
		text := randomText(dice, 1+dice.IntN(6))
		q := Query{Text: text, IgnoreCase: seed%2 == 0}
		p, err := Compile(q)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.needles) == 0 {
			continue
		}
		stored := text
		if q.IgnoreCase {
			stored = otherCase(dice, text)
		}
		before := `{"a":"` + spell(dice, randomText(dice, dice.IntN(9)))
		line := before + spell(dice, stored) + spell(dice, randomText(dice, dice.IntN(9))) + `"}`
		var v map[string]string
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		log := "{}\n" + line + "\n{}\n"
		list := foundAt(t, p, log, 1+dice.IntN(40))
		if len(list) != 1 || list[0].from < 3 || list[0].to != int64(len(log)-4) {
			t.Fatalf("seed %d: %q in %s: got %v, want its line", seed, text, line, list)
		}
	}
}

// TestJSONInAString: what a string of JSON escapes once more is found too.
func TestJSONInAString(t *testing.T) {
	for _, text := range []string{"café", "a😀b", "say", "設"} {
		inner := strings.NewReplacer("é", `\u00e9`, "😀", `\ud83d\ude00`, "設", `\u8a2d`).Replace(`{"cmd":"` + text + `"}`)
		outer := string(jsonvalue.AppendString(nil, inner))
		p, err := Compile(Query{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if list := foundAt(t, p, outer, blockSize); len(list) != 1 {
			t.Errorf("%s in %s: got %v, want a candidate", text, outer, list)
		}
	}
}

// TestOneCandidateALine: a line that has the text again and again is one candidate, and
// the next one is found all the same.
func TestOneCandidateALine(t *testing.T) {
	log := strings.Repeat("x and x and x\n", 50) + "none\n" + "x without an end"
	p, err := Compile(Query{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for block := range 60 {
		list := foundAt(t, p, log, block+1)
		if len(list) != 51 || list[50].to != int64(len(log)) {
			t.Fatalf("blocks of %d: got %d candidates, want 51: %v", block+1, len(list), list)
		}
		for i, s := range list[:50] {
			if s.from != int64(14*i) || s.to != int64(14*i+13) {
				t.Fatalf("blocks of %d: candidate %d is %v", block+1, i, s)
			}
		}
	}
}

func TestFewFalseCandidates(t *testing.T) {
	p, err := Compile(Query{Text: "needle", IgnoreCase: true})
	if err != nil {
		t.Fatal(err)
	}
	log := strings.Repeat("nee dle NEEDL needlé \\u006eeedl\\n\n", 100)
	if list := foundAt(t, p, log, blockSize); len(list) != 0 {
		t.Errorf("got %d candidates, want none", len(list))
	}
}

func TestRequired(t *testing.T) {
	for expr, want := range map[string]string{
		`foo`: "foo", `a+foo\d`: "foo", `(foo|bar)baz`: "baz", `(foo|bar)b`: "foo,bar", `(foo|b)quux`: "quux", `\d+`: "", `foo?`: "fo", `(?i)Foo`: "foo", `x{2,}yes`: "yes",
		`(?m)^func (\w+)`: "func ", `a|\d`: "", `a*`: "", `[ab]c`: "c", `"\\n"|x`: "\"\\n\",x", `(abc)+`: "abc", `abc{0,2}`: "ab",
	} {
		var got []string
		for _, l := range required(expr) {
			got = append(got, strings.ToLower(string(l.runes)))
		}
		if s := strings.Join(got, ","); s != want {
			t.Errorf("%s: got %q, want %q", expr, s, want)
		}
	}
}

// FuzzNeedle: a spelling that was found is in the line, or may be; one that is in the
// line is found.
func FuzzNeedle(f *testing.F) {
	f.Add("café", `caf\u00e9`, true)
	f.Add("u0031", `\\u0031`, false)
	f.Add("1", `\u0031`, false)
	f.Add("😀", `\ud83d\uDE00`, false)
	f.Fuzz(func(t *testing.T, text, raw string, fold bool) {
		p, err := Compile(Query{Text: text, IgnoreCase: fold})
		if err != nil || len(p.needles) == 0 || strings.ContainsRune(raw, '\n') {
			return
		}
		var stored string
		if json.Unmarshal([]byte(`"`+raw+`"`), &stored) != nil {
			return
		}
		from, _ := p.next(stored, 0)
		if list := foundAt(t, p, raw, max(7, p.overlap()/4)); from >= 0 && len(list) == 0 {
			t.Errorf("%q stands in %q, spelled %s, and was not found", text, stored, raw)
		}
	})
}
