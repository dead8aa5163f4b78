// Package syntax checks JSON text in place and finds the members of its objects,
// without decoding or allocating.
//
// Call [Text.Reset] with a line, then [Text.Object] or [Text.Value] at a position
// of it. Both accept exactly what JavaScript's JSON.parse accepts, so that this
// reader and the programs whose logs it reads agree on which lines are records.
// Bytes from 0x80 up are allowed in strings whatever they encode, since those
// programs replace invalid UTF-8 before they parse. Depth is limited by memory
// alone.
//
// Positions are returned as the index behind what was read; where the text is not
// valid JSON, the result is negative and [Failed] gives the index of the fault.
package syntax

import (
	"math/bits"

	"github.com/sessctl/sessctl/internal/jsonmask"
)

// maxMasked bounds the lines whose strings are found by bit masks: the masks take
// a quarter of the line's size, and longer lines are too rare to be worth it.
const maxMasked = 4 << 20

// A Text is one line of JSON with the buffers that checking it needs. The zero
// value is ready for Reset. It must not be used by several goroutines at once.
type Text struct {
	p           []byte
	quotes, odd []uint64 // see package jsonmask; unused unless masked
	masked      bool
	closers     []byte // the open containers of Value, innermost last
}

// Reset makes t check p from now on. It keeps p, and does not change it.
func (t *Text) Reset(p []byte) {
	t.p = p
	t.masked = jsonmask.Fast() && len(p) <= maxMasked
	if !t.masked {
		return
	}
	n := jsonmask.Words(len(p))
	if cap(t.quotes) < n {
		t.quotes, t.odd = make([]uint64, n+n/2), make([]uint64, n+n/2)
	}
	t.quotes, t.odd = t.quotes[:n], t.odd[:n]
	jsonmask.Strings(p, t.quotes, t.odd)
}

// Failed tells whether a result says that the text is not valid, and where.
func Failed(end int) (at int, failed bool) { return -1 - end, end < 0 }

func fail(at int) int { return -1 - at }

// A Visitor is called for each member of an object: with the raw bytes between the
// key's quotes, and the position of its value. It returns the end of the value,
// which it finds with Value or Object.
type Visitor func(key []byte, at int) (end int)

// Object checks the object that starts at position i and calls visit for each of
// its members in order. It returns the position behind the closing brace.
func (t *Text) Object(i int, visit Visitor) int {
	if t.at(i) != '{' {
		return fail(i)
	}
	i = t.space(i + 1)
	if t.at(i) == '}' {
		return i + 1
	}
	for {
		keyEnd := t.str(i)
		if keyEnd < 0 {
			return keyEnd
		}
		key := t.p[i+1 : keyEnd-1]
		if i = t.space(keyEnd); t.at(i) != ':' {
			return fail(i)
		}
		if i = visit(key, t.space(i+1)); i < 0 {
			return i
		}
		switch i = t.space(i); t.at(i) {
		case ',':
			i = t.space(i + 1)
		case '}':
			return i + 1
		default:
			return fail(i)
		}
	}
}

// Array checks the array that starts at position i and calls visit with the
// position of each element; visit returns the element's end.
func (t *Text) Array(i int, visit func(at int) (end int)) int {
	if t.at(i) != '[' {
		return fail(i)
	}
	i = t.space(i + 1)
	if t.at(i) == ']' {
		return i + 1
	}
	for {
		if i = visit(i); i < 0 {
			return i
		}
		switch i = t.space(i); t.at(i) {
		case ',':
			i = t.space(i + 1)
		case ']':
			return i + 1
		default:
			return fail(i)
		}
	}
}

// Value checks the value that starts at position i, which must not be white space,
// and returns the position behind it.
func (t *Text) Value(i int) int {
	open := t.closers[:0]
	defer func() { t.closers = open }()
	for {
		// Here a value starts at i.
		closer := byte(0)
		switch t.at(i) {
		case '{':
			closer = '}'
		case '[':
			closer = ']'
		default:
			i = t.scalar(i)
		}
		if i < 0 {
			return i
		}
		if closer != 0 {
			open = append(open, closer)
			if i = t.space(i + 1); t.at(i) != closer {
				if closer == ']' {
					continue
				}
				if i = t.key(i); i < 0 {
					return i
				}
				continue
			}
			i++
			open = open[:len(open)-1]
		}
		// Here a value has ended before i: close what it ends.
		for {
			if len(open) == 0 {
				return i
			}
			i = t.space(i)
			c := t.at(i)
			if c == ',' {
				break
			}
			if c != open[len(open)-1] {
				return fail(i)
			}
			open = open[:len(open)-1]
			i++
		}
		i = t.space(i + 1)
		if open[len(open)-1] == '}' {
			if i = t.key(i); i < 0 {
				return i
			}
		}
	}
}

// key reads a member's key and colon, and returns where its value starts.
func (t *Text) key(i int) int {
	i = t.str(i)
	if i < 0 {
		return i
	}
	if i = t.space(i); t.at(i) != ':' {
		return fail(i)
	}
	return t.space(i + 1)
}

// at gives the byte at i, or 0, which no JSON token starts with, behind the end.
func (t *Text) at(i int) byte {
	if i < len(t.p) {
		return t.p[i]
	}
	return 0
}

func (t *Text) space(i int) int {
	for i < len(t.p) {
		switch t.p[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// Space returns the position of the first byte from i on that is not white space.
func (t *Text) Space(i int) int { return t.space(i) }

func (t *Text) scalar(i int) int {
	switch c := t.at(i); c {
	case '"':
		return t.str(i)
	case 't':
		return t.literal(i, "true")
	case 'f':
		return t.literal(i, "false")
	case 'n':
		return t.literal(i, "null")
	default:
		return t.number(i)
	}
}

func (t *Text) literal(i int, word string) int {
	if len(t.p)-i < len(word) || string(t.p[i:i+len(word)]) != word {
		return fail(i)
	}
	return i + len(word)
}

func (t *Text) number(i int) int {
	if t.at(i) == '-' {
		i++
	}
	if t.at(i) == '0' {
		i++
	} else if i = t.digits(i); i < 0 {
		return i
	}
	if t.at(i) == '.' {
		if i = t.digits(i + 1); i < 0 {
			return i
		}
	}
	if c := t.at(i); c == 'e' || c == 'E' {
		i++
		if c := t.at(i); c == '+' || c == '-' {
			i++
		}
		return t.digits(i)
	}
	return i
}

// digits reads one digit or more.
func (t *Text) digits(i int) int {
	start := i
	for '0' <= t.at(i) && t.at(i) <= '9' {
		i++
	}
	if i == start {
		return fail(i)
	}
	return i
}

// str reads the string whose opening quote is at i.
func (t *Text) str(i int) int {
	if t.at(i) != '"' {
		return fail(i)
	}
	if t.masked {
		return t.maskedString(i + 1)
	}
	return t.plainString(i + 1)
}

// maskedString finds the closing quote by the masks, and looks only at the bytes
// that the masks call odd.
func (t *Text) maskedString(i int) int {
	quotes, odds := t.quotes, t.odd[:len(t.quotes)]
	w := i >> 6
	if w >= len(quotes) {
		return fail(len(t.p))
	}
	from := ^uint64(0) << (i & 63)
	quote, odd := quotes[w]&from, odds[w]&from
	for {
		for quote|odd == 0 { // a long string spends its time here
			if w++; w >= len(quotes) {
				return fail(len(t.p))
			}
			quote, odd = quotes[w], odds[w]
		}
		// Odd bytes behind the closing quote are none of this string's.
		if at, bad := t.firstBad(w, odd&(quote&-quote-1)); bad {
			return fail(at)
		}
		if quote != 0 {
			return w<<6 + bits.TrailingZeros64(quote) + 1
		}
		odd = 0
	}
}

// firstBad looks at the odd bytes of a block: of them only an escaped u with its
// four digits belongs into a string.
func (t *Text) firstBad(w int, odd uint64) (at int, bad bool) {
	for ; odd != 0; odd &= odd - 1 {
		at = w<<6 + bits.TrailingZeros64(odd)
		if t.p[at] != 'u' || !t.hex4(at+1) {
			return at, true
		}
	}
	return 0, false
}

func (t *Text) plainString(i int) int {
	for i < len(t.p) {
		c := t.p[i]
		switch {
		case plain[c]:
			i++
		case c == '"':
			return i + 1
		case c == '\\':
			if i = t.escape(i + 1); i < 0 {
				return i
			}
		default:
			return fail(i)
		}
	}
	return fail(i)
}

// plain marks the bytes of a string that need no thought.
var plain = func() (set [256]bool) {
	for c := 0x20; c < 256; c++ {
		set[c] = c != '"' && c != '\\'
	}
	return set
}()

// escape reads what follows a backslash.
func (t *Text) escape(i int) int {
	switch t.at(i) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if t.hex4(i + 1) {
			return i + 5
		}
	}
	return fail(i)
}

func (t *Text) hex4(i int) bool {
	if i+4 > len(t.p) {
		return false
	}
	for _, c := range t.p[i : i+4] {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
			return false
		}
	}
	return true
}
