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

// maxMasked bounds the texts whose strings are found by bit masks: the masks take
// an eighth of the text's size, and longer lines are too rare to be worth it.
const maxMasked = 4 << 20

// A Text is JSON with the buffers that checking it needs. The zero value is ready
// for Reset. It must not be used by several goroutines at once.
type Text struct {
	p       []byte
	stops   []uint64 // see package jsonmask; unused unless masked
	masked  bool
	lines   bool   // a newline is no white space
	closers []byte // the open containers of Value, innermost last
}

// Reset makes t check p from now on. It keeps p, and does not change it.
func (t *Text) Reset(p []byte) {
	t.p, t.lines = p, false
	t.masked = jsonmask.Fast() && len(p) <= maxMasked
	if t.masked {
		t.mask()
	}
}

// ResetLines is Reset for a block of many lines, each of them a text. No value goes
// on over a newline, so that one which starts where a line does shows, by its end,
// where the line ends: nobody has to look for newlines first. It reports false
// where that would be no faster than Reset with each line, and does nothing.
func (t *Text) ResetLines(p []byte) bool {
	if !jsonmask.Fast() || len(p) > maxMasked {
		return false
	}
	t.p, t.lines, t.masked = p, true, true
	t.mask()
	return true
}

// Stops counts, after ResetLines, the bytes from position i on and before end at
// which a string ends or starts, and those that may not stand in one. Where it
// cannot tell it gives -1.
func (t *Text) Stops(i, end int) (n int) {
	if !t.masked || end > len(t.p) {
		return -1
	}
	for w := i >> 6; w<<6 < end; w++ {
		stops := t.stops[w]
		if w == i>>6 {
			stops &= ^uint64(0) << (i & 63)
		}
		if end-w<<6 < 64 {
			stops &= 1<<(end&63) - 1
		}
		n += bits.OnesCount64(stops)
	}
	return n
}

func (t *Text) mask() {
	n := jsonmask.Words(len(t.p))
	if cap(t.stops) < n {
		t.stops = make([]uint64, n+n/4)
	}
	t.stops = t.stops[:n]
	jsonmask.Strings(t.p, t.stops)
}

// Failed tells whether a result says that the text is not valid, and where.
func Failed(end int) (at int, failed bool) { return -1 - end, end < 0 }

// Fail is what a visitor returns that ends the reading.
func Fail(at int) int { return -1 - at }

// A Visitor is called for each member of an object: with the raw bytes between the
// key's quotes, and the position of its value. It returns the end of the value,
// which it finds with Value or Object.
type Visitor func(key []byte, at int) (end int)

// Object checks the object that starts at position i and calls visit for each of
// its members in order. It returns the position behind the closing brace.
func (t *Text) Object(i int, visit Visitor) int {
	if t.at(i) != '{' {
		return Fail(i)
	}
	if i = t.token(i + 1); t.at(i) == '}' {
		return i + 1
	}
	if i = t.member(i, visit); i < 0 {
		return i
	}
	return t.Rest(i, visit)
}

// Rest is Object for the members of an object that follow the one before i.
func (t *Text) Rest(i int, visit Visitor) int {
	for {
		switch i = t.token(i); t.at(i) {
		case ',':
			if i = t.member(t.token(i+1), visit); i < 0 {
				return i
			}
		case '}':
			return i + 1
		default:
			return Fail(i)
		}
	}
}

func (t *Text) member(i int, visit Visitor) int {
	end := t.str(i)
	if end < 0 {
		return end
	}
	at := t.colon(end)
	if at < 0 {
		return at
	}
	return visit(t.p[i+1:end-1], at)
}

// Array checks the array that starts at position i and calls visit with the
// position of each element; visit returns the element's end.
func (t *Text) Array(i int, visit func(at int) (end int)) int {
	if t.at(i) != '[' {
		return Fail(i)
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
			return Fail(i)
		}
	}
}

// Value checks the value that starts at position i, which must not be white space,
// and returns the position behind it.
func (t *Text) Value(i int) int {
	t.closers = t.closers[:0]
	for {
		// Here a value starts at i.
		switch c := t.at(i); c {
		case '"':
			i = t.str(i)
		case '{', '[':
			var empty bool
			if i, empty = t.enter(i, c); !empty {
				if i < 0 {
					return i
				}
				continue
			}
		default:
			i = t.scalar(i)
		}
		if i < 0 {
			return i
		}
		// Here a value has ended before i.
		if i = t.next(i); i < 0 {
			return i
		}
		if len(t.closers) == 0 {
			return i
		}
	}
}

// enter opens the container whose bracket c is at i and returns where its first
// value starts; of one that is empty, where it ends.
func (t *Text) enter(i int, c byte) (at int, empty bool) {
	closer := c + 2 // so do the brackets stand in ASCII
	i = t.token(i + 1)
	if t.at(i) == closer {
		return i + 1, true
	}
	t.closers = append(t.closers, closer)
	if closer == '}' {
		return t.key(i), false
	}
	return i, false
}

// next closes the containers that end behind the value before i, and returns where
// the next value starts; where no container is left open, the position behind.
func (t *Text) next(i int) int {
	for n := len(t.closers); n > 0; {
		closer := t.closers[n-1]
		i = t.token(i)
		switch t.at(i) {
		case ',':
			if i = t.token(i + 1); closer == '}' {
				return t.key(i)
			}
			return i
		case closer:
			n--
			t.closers = t.closers[:n]
			i++
		default:
			return Fail(i)
		}
	}
	return i
}

// key reads a member's key and colon, and returns where its value starts.
func (t *Text) key(i int) int {
	if i = t.str(i); i < 0 {
		return i
	}
	return t.colon(i)
}

// colon reads what is between a key and its value.
func (t *Text) colon(i int) int {
	if i = t.token(i); t.at(i) != ':' {
		return Fail(i)
	}
	return t.token(i + 1)
}

// at gives the byte at i, or 0, which no JSON token starts with, behind the end.
func (t *Text) at(i int) byte {
	if i < len(t.p) {
		return t.p[i]
	}
	return 0
}

// token is space for the usual case, which is none; it is inlined.
func (t *Text) token(i int) int {
	if i < len(t.p) && t.p[i] > ' ' {
		return i
	}
	return t.space(i)
}

func (t *Text) space(i int) int {
	for i < len(t.p) {
		switch c := t.p[i]; {
		case c == ' ', c == '\t', c == '\r', c == '\n' && !t.lines:
			i++
		default:
			return i
		}
	}
	return i
}

// Space returns the position of the first byte from i on that is not white space.
func (t *Text) Space(i int) int { return t.space(i) }

// scalar reads any value but a string.
func (t *Text) scalar(i int) int {
	switch t.at(i) {
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
		return Fail(i)
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
	for i < len(t.p) && t.p[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return Fail(i)
	}
	return i
}
