package syntax

import "math/bits"

// str reads the string whose opening quote is at i.
func (t *Text) str(i int) int {
	if t.at(i) != '"' {
		return Fail(i)
	}
	if t.masked {
		return t.maskedString(i + 1)
	}
	return t.plainString(i + 1)
}

// maskedString finds the closing quote by the masks, and looks only at the bytes
// that the masks name.
func (t *Text) maskedString(i int) int {
	stops := t.stops
	w := i >> 6
	if w >= len(stops) {
		return Fail(len(t.p))
	}
	stop := stops[w] & (^uint64(0) << (i & 63))
	for {
		for stop == 0 { // a long string spends its time here
			if w++; w >= len(stops) {
				return Fail(len(t.p))
			}
			stop = stops[w]
		}
		at := w<<6 + bits.TrailingZeros64(stop)
		switch t.p[at] {
		case '"':
			return at + 1
		case 'u': // of an escape; the only stop that belongs into a string
			if t.hex4(at + 1) {
				stop &= stop - 1
				continue
			}
		}
		return Fail(at)
	}
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
			return Fail(i)
		}
	}
	return Fail(i)
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
	return Fail(i)
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
