package jsonvalue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/syntax"
)

// texts keeps the buffers that checking JSON needs: most values are small.
var texts = sync.Pool{New: func() any { return new(syntax.Text) }}

// Members checks that raw is a JSON object and visits its members in order. Where
// a key is doubled the visitor sees both; the later assignment wins, as in
// JavaScript.
func Members(raw []byte, visit func(name string, value []byte)) error {
	return Spans(raw, func(key []byte, at, end int) { visit(Unquote(key), raw[at:end]) })
}

// Spans is Members with the raw bytes of the keys and the places of the values.
func Spans(raw []byte, visit func(key []byte, at, end int)) error {
	text := texts.Get().(*syntax.Text)
	defer texts.Put(text)
	text.Reset(raw)
	end := text.Object(text.Space(0), func(key []byte, at int) int {
		end := text.Value(at)
		if end >= 0 {
			visit(key, at, end)
		}
		return end
	})
	return objectEnds(text, end, raw)
}

// objectEnds tells whether an object that was read up to end is all of raw.
func objectEnds(text *syntax.Text, end int, raw []byte) error {
	at, failed := syntax.Failed(end)
	if !failed {
		at = text.Space(end)
	}
	if failed || at != len(raw) {
		return fmt.Errorf("not a JSON object (fault at byte %d)", at)
	}
	return nil
}

// Elements visits the elements of the array raw; anything else has none.
func Elements(raw []byte, visit func(value []byte)) {
	text := texts.Get().(*syntax.Text)
	defer texts.Put(text)
	text.Reset(raw)
	text.Array(text.Space(0), func(at int) int {
		end := text.Value(at)
		if end >= 0 {
			visit(raw[at:end])
		}
		return end
	})
}

// Check accepts what JavaScript's JSON.parse does.
func Check(value []byte) error {
	text := texts.Get().(*syntax.Text)
	defer texts.Put(text)
	text.Reset(value)
	end := text.Value(text.Space(0))
	if at, failed := syntax.Failed(end); failed {
		return fmt.Errorf("not JSON (fault at byte %d)", at)
	}
	if text.Space(end) != len(value) {
		return fmt.Errorf("not one JSON value (byte %d)", end)
	}
	return nil
}

// String decodes a JSON string; any other value gives "".
func String(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	return Unquote(value[1 : len(value)-1])
}

// Unquote decodes the bytes between a JSON string's quotes, which were checked to
// be right. What Go's strings cannot hold (half a surrogate pair, invalid UTF-8)
// becomes U+FFFD.
func Unquote(s []byte) string {
	i := bytes.IndexByte(s, '\\')
	if i < 0 {
		return validText(s)
	}
	out := make([]byte, 0, len(s))
	for ; i >= 0; i = bytes.IndexByte(s, '\\') {
		out = append(out, s[:i]...)
		out, s = unescape(out, s[i:])
	}
	return validText(append(out, s...))
}

// validText makes U+FFFD of every byte that is no UTF-8, as encoding/json does.
func validText(s []byte) string {
	if utf8.Valid(s) {
		return string(s)
	}
	return string([]rune(string(s)))
}

// unescape decodes the escape that s starts with, and gives what follows it.
func unescape(out, s []byte) (_, rest []byte) {
	switch s[1] {
	case 'b':
		return append(out, '\b'), s[2:]
	case 'f':
		return append(out, '\f'), s[2:]
	case 'n':
		return append(out, '\n'), s[2:]
	case 'r':
		return append(out, '\r'), s[2:]
	case 't':
		return append(out, '\t'), s[2:]
	case 'u':
		r, n := hexRune(s)
		return utf8.AppendRune(out, r), s[n:]
	}
	return append(out, s[1]), s[2:]
}

// hexRune decodes \uXXXX, or two of them that are a surrogate pair, and gives its
// length.
func hexRune(s []byte) (r rune, n int) {
	r = Hex4(s[2:6])
	if utf16.IsSurrogate(r) && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, Hex4(s[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6 // AppendRune makes U+FFFD of a surrogate
}

// Hex4 decodes the four hexadecimal digits of an escape.
func Hex4(b []byte) (r rune) {
	for _, c := range b {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		case c <= 'F':
			r |= rune(c - 'A' + 10)
		default:
			r |= rune(c - 'a' + 10)
		}
	}
	return r
}

// Number reads a number; any other value, and one that is too large, is 0.
func Number(value []byte) float64 {
	if n, ok := digits(value); ok {
		return n
	}
	var f float64
	if json.Unmarshal(value, &f) != nil {
		return 0
	}
	return f
}

// digits reads a whole number that a float64 holds, as nearly all are.
func digits(value []byte) (n float64, ok bool) {
	const exact = 15
	if len(value) == 0 || len(value) > exact || value[0] == '0' && len(value) > 1 {
		return 0, false
	}
	for _, c := range value {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + float64(c)
	}
	return n, true
}

// True tells whether a value is true.
func True(value []byte) bool { return string(value) == "true" }

// Null tells whether a value is null, or missing.
func Null(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// Inner gives the value of an object's member, as Get does, and where that is an
// object, visits its members with their places in raw; reset is called before, for
// each of several members of that name. It looks at raw once.
func Inner(raw []byte, name string, reset func(), visit func(key []byte, at, end int)) (value []byte, err error) {
	text := texts.Get().(*syntax.Text)
	defer texts.Put(text)
	text.Reset(raw)
	inner := func(key []byte, at int) int {
		end := text.Value(at)
		if end >= 0 {
			visit(key, at, end)
		}
		return end
	}
	end := text.Object(text.Space(0), func(key []byte, at int) (end int) {
		if !Is(key, name) {
			return text.Value(at)
		}
		reset()
		if at < len(raw) && raw[at] == '{' {
			end = text.Object(at, inner)
		} else {
			end = text.Value(at)
		}
		value = raw[at:max(at, end)]
		return end
	})
	if err := objectEnds(text, end, raw); err != nil {
		return nil, err
	}
	return value, nil
}
