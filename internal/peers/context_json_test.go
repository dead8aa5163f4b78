package peers

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsValue is a JSON value as JavaScript holds it: numbers are float64, strings
// UTF-16, of doubled keys the last counts.
type jsValue struct {
	kind    byte // its first byte; 0 for numbers
	raw     string
	number  float64
	text    string // UTF-16, two bytes a unit
	list    []jsValue
	members map[string]jsValue
}

// differentJSON compares two JSON values as JavaScript would that has written them
// with JSON.stringify: what is out of range is null, and the order of members counts
// for nothing. It gives "" where they are equal, else where they first differ and
// both sides. There is no limit to how deep values may be.
func differentJSON(got, want []byte) string {
	a, err := parseJS(got)
	if err != nil {
		return fmt.Sprintf("got no JSON: %v", err)
	}
	b, err := parseJS(want)
	if err != nil {
		return fmt.Sprintf("want is no JSON: %v", err)
	}
	path, sides := a.difference(b)
	switch {
	case sides == "":
		return ""
	case len(path) > 200:
		path = path[:60] + " … " + path[len(path)-100:]
	}
	return path + ": " + sides
}

// difference gives the place of the first difference, and both sides.
func (v jsValue) difference(w jsValue) (path, sides string) {
	switch {
	case v.kind != w.kind:
		return "", bothSides(v.raw, w.raw)
	case v.kind == '{':
		return v.memberDifference(w)
	case v.kind == '[':
		return v.listDifference(w)
	case v.number != w.number || v.text != w.text:
		return "", bothSides(v.raw, w.raw)
	}
	return "", ""
}

func (v jsValue) listDifference(w jsValue) (path, sides string) {
	for i := range min(len(v.list), len(w.list)) {
		if path, sides := v.list[i].difference(w.list[i]); sides != "" {
			return fmt.Sprintf("[%d]%s", i, path), sides
		}
	}
	if n := min(len(v.list), len(w.list)); len(v.list) != len(w.list) {
		return fmt.Sprintf("[%d]", n), bothSides(v.from(n), w.from(n))
	}
	return "", ""
}

func (v jsValue) from(i int) string {
	if i < len(v.list) {
		return v.list[i].raw
	}
	return "nothing"
}

func (v jsValue) memberDifference(w jsValue) (path, sides string) {
	for _, key := range slices.Sorted(maps.Keys(v.members)) {
		a := v.members[key]
		b, ok := w.members[key]
		if !ok {
			return "." + keyText(key), bothSides(a.raw, "nothing")
		}
		if path, sides := a.difference(b); sides != "" {
			return "." + keyText(key) + path, sides
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.members)) {
		if _, ok := v.members[key]; !ok {
			return "." + keyText(key), bothSides("nothing", w.members[key].raw)
		}
	}
	return "", ""
}

func keyText(key string) string {
	var units []uint16
	for i := 0; i < len(key); i += 2 {
		units = append(units, binary.BigEndian.Uint16([]byte(key[i:])))
	}
	return string(utf16.Decode(units))
}

// bothSides shows two values from shortly before where their texts part.
func bothSides(got, want string) string {
	same := 0
	for same < len(got) && same < len(want) && got[same] == want[same] {
		same++
	}
	return fmt.Sprintf("got %s, want %s", around(got, same), around(want, same))
}

func around(s string, at int) string {
	from, to := max(0, at-40), min(len(s), at+80)
	lead, trail := "", ""
	if from > 0 {
		lead = "…"
	}
	if to < len(s) {
		trail = "…"
	}
	return lead + strings.ToValidUTF8(s[from:to], "") + trail
}

// A jsParser reads JSON that is right, or fails; it is no check of every rule.
type jsParser struct {
	text string
	at   int
}

func parseJS(text []byte) (v jsValue, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v in %s", fault, around(string(text), 0))
		}
	}()
	p := &jsParser{text: string(text)}
	v = p.value()
	if p.space(); p.at != len(p.text) {
		p.fail()
	}
	return v, nil
}

func (p *jsParser) fail() { panic(fmt.Sprintf("fault at byte %d", p.at)) }

func (p *jsParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek gives the next byte behind spaces, 0 at the end.
func (p *jsParser) peek() byte {
	if p.space(); p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *jsParser) take(c byte) {
	if p.peek() != c {
		p.fail()
	}
	p.at++
}

func (p *jsParser) value() (v jsValue) {
	v.kind = p.peek()
	start := p.at
	switch v.kind {
	case '{':
		v.members = p.object()
	case '[':
		v.list = p.array()
	case '"':
		v.text = p.string()
	case 't', 'f', 'n':
		p.word(map[byte]string{'t': "true", 'f': "false", 'n': "null"}[v.kind])
	default:
		v.kind, v.number = p.number()
	}
	v.raw = p.text[start:p.at]
	return v
}

func (p *jsParser) word(word string) {
	if !strings.HasPrefix(p.text[p.at:], word) {
		p.fail()
	}
	p.at += len(word)
}

// number takes what is out of range for null, as JSON.stringify does.
func (p *jsParser) number() (kind byte, f float64) {
	start := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789eE", p.text[p.at]) >= 0 {
		p.at++
	}
	f, err := strconv.ParseFloat(p.text[start:p.at], 64)
	if numError, ok := err.(*strconv.NumError); ok && numError.Err == strconv.ErrRange {
		return 'n', 0
	}
	if err != nil {
		p.at = start
		p.fail()
	}
	return 0, f
}

func (p *jsParser) array() (list []jsValue) {
	p.take('[')
	for p.peek() != ']' {
		if len(list) > 0 {
			p.take(',')
		}
		list = append(list, p.value())
	}
	p.at++
	return list
}

func (p *jsParser) object() map[string]jsValue {
	members := map[string]jsValue{}
	p.take('{')
	for first := true; p.peek() != '}'; first = false {
		if !first {
			p.take(',')
		}
		if p.peek() != '"' {
			p.fail()
		}
		key := p.string()
		p.take(':')
		members[key] = p.value()
	}
	p.at++
	return members
}

// string gives UTF-16, so that it is the same whether a character was escaped.
func (p *jsParser) string() string {
	var units []byte
	for p.at++; ; {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		switch {
		case n == 0 || r < ' ':
			p.fail()
		case r == '"':
			p.at++
			return string(units)
		case r == '\\':
			units = binary.BigEndian.AppendUint16(units, p.escape())
			continue
		}
		p.at += n
		for _, unit := range utf16.AppendRune(nil, r) {
			units = binary.BigEndian.AppendUint16(units, unit)
		}
	}
}

func (p *jsParser) escape() uint16 {
	rest := p.text[p.at+1:]
	if rest != "" && rest[0] == 'u' && len(rest) > 4 {
		unit, err := strconv.ParseUint(rest[1:5], 16, 16)
		if err != nil {
			p.fail()
		}
		p.at += 6
		return uint16(unit)
	}
	plain := map[byte]uint16{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
	if rest == "" || plain[rest[0]] == 0 {
		p.fail()
	}
	p.at += 2
	return plain[rest[0]]
}

func TestSameJSON(t *testing.T) {
	deep := strings.Repeat(`[{"a":`, 50_000) + "1" + strings.Repeat("}]", 50_000)
	for _, pair := range [][2]string{
		{`{"a":1,"b":[true,null]}`, ` { "b" : [ true , null ] , "a" : 1.0 } `},
		{"12345678901234567890", "12345678901234567000"},
		{"1e400", "null"}, {"-0", "0"}, {"1E21", "1e+21"}, {"5e-325", "0"},
		{`"\ud83c\udf89\u000a\/"`, `"🎉\n/"`}, {`"\uD83C"`, `"\ud83c"`}, {`""`, `""`},
		{`{"a":{"x":1},"\u0061":2}`, `{"a":2}`}, {`{"__proto__":1}`, `{"__proto__":1}`},
		{"[]", "[ ]"}, {"{}", "{ }"}, {deep, deep},
	} {
		if d := differentJSON([]byte(pair[0]), []byte(pair[1])); d != "" {
			t.Errorf("%.80s and %.80s: got %s, want them equal", pair[0], pair[1], d)
		}
	}
}

func TestDifferentJSON(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ got, want, difference string }{
		{`{"a":[1,{"b":"x"}]}`, `{"a":[1,{"b":"y"}]}`, `.a[1].b: got "x", want "y"`},
		{`[1,2]`, `[1]`, `[1]: got 2, want nothing`},
		{`[]`, `[{}]`, `[0]: got nothing, want {}`},
		{`{"a":null}`, `{}`, `.a: got null, want nothing`},
		{`{}`, `{"é":1}`, `.é: got nothing, want 1`},
		{`"1"`, `1`, `: got "1", want 1`},
		{`true`, `false`, `: got true, want false`},
		{`"\ud83c"`, `"\ufffd"`, `: got "\ud83c", want "\ufffd"`},
		{`"` + long + `a"`, `"` + long + `b"`, `: got …` + long[:40] + `a", want …` + long[:40] + `b"`},
		{`[1,]`, `1`, `got no JSON: fault at byte 3 in [1,]`},
		{`1`, `1 2`, `want is no JSON: fault at byte 2 in 1 2`},
		{`{"a" 1}`, `1`, `got no JSON: fault at byte 5 in {"a" 1}`},
		{`"\x"`, `1`, `got no JSON: fault at byte 1 in "\x"`},
		{``, `1`, `got no JSON: fault at byte 0 in `},
	} {
		if got := differentJSON([]byte(c.got), []byte(c.want)); got != c.difference {
			t.Errorf("%.40s and %.40s: got %s, want %s", c.got, c.want, got, c.difference)
		}
	}
}

func TestDeepDifferenceIsShort(t *testing.T) {
	deep := func(s string) []byte { return []byte(strings.Repeat("[", 20_000) + s + strings.Repeat("]", 20_000)) }
	if got := differentJSON(deep("1"), deep("2")); len(got) > 300 || !strings.HasSuffix(got, "[0]: got 1, want 2") {
		t.Errorf("got %d bytes: %.300s", len(got), got)
	}
}
