// Package term writes to terminals and files: text from a session so that it cannot
// act on the terminal, colours where they are wanted, long output through a pager.
//
// Call [Line] or [Text] for every string that comes from a session, a file name or
// an error; whatever [Output] is given is written as it is.
package term

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line makes a string safe to print within a line: control characters, escape
// sequences, line breaks, bidi controls and invalid bytes are shown as escapes.
func Line(s string) string { return safe(s, "") }

// OneLine makes text of a session fit into a row: safe, with its white space folded and
// without invalid bytes. It goes no further than any row shows: lists have thousands of them,
// and prompts may be megabytes.
func OneLine(s string) string {
	const most = 600 // characters
	var b strings.Builder
	gap := false
	for n := 0; s != "" && n < most; n++ {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch {
		case r == utf8.RuneError && size == 1:
		case unicode.IsSpace(r):
			gap = b.Len() > 0
		default:
			if gap {
				b.WriteByte(' ')
				gap = false
			}
			writeSafe(&b, r)
		}
	}
	return b.String()
}

func writeSafe(b *strings.Builder, r rune) {
	if harmful(r) {
		b.WriteString(escaped(r))
	} else {
		b.WriteRune(r)
	}
}

// Text makes a string of several lines safe to print. Newlines and tabs stay.
func Text(s string) string { return safe(s, "\n\t") }

func safe(s, keep string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return harmful(r) }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case harmful(r) && !strings.ContainsRune(keep, r):
			b.WriteString(escaped(r))
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// harmful tells whether a terminal may do anything but show the rune. U+FFFD stands
// for invalid bytes here, which are looked at one by one.
func harmful(r rune) bool {
	switch {
	case r < 0x20, 0x7f <= r && r < 0xa0, r == utf8.RuneError:
		return true
	}
	return Bidi(r) || r == 0x2028 || r == 0x2029 || 0xE0000 <= r && r < 0xE0080
}

// Bidi tells whether a rune changes the direction in which others are shown, which
// can make text look like another.
func Bidi(r rune) bool {
	switch {
	case r == 0x061c, r == 0x200e, r == 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
}

func escaped(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	case utf8.RuneError: // a real one: not invalid
		return string(r)
	}
	if r < 0x100 {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// JSON makes encoded JSON safe to print, and means the same: what a terminal might
// obey is written as an escape. Where it is no JSON at all, as a record may be whose
// sum is right all the same, it is made safe too.
func JSON(b []byte) []byte {
	if harmless(b) {
		return b
	}
	var out []byte
	kept := 0 // up to where b is in out
	inString, escaped := false, false
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if safe, ok := jsonRune(r, n, inString); !ok {
			if r == utf8.RuneError {
				n = invalidLen(b[i:])
			}
			out = append(append(out, b[kept:i]...), safe...)
			kept = i + n
		}
		if r == '"' && !escaped {
			inString = !inString
		}
		escaped = inString && r == '\\' && !escaped
		i += n
	}
	if kept == 0 {
		return b
	}
	return append(out, b[kept:]...)
}

// invalidLen counts the invalid bytes at the start of b that one U+FFFD stands for:
// those of a character that is cut short are one, as in JavaScript.
func invalidLen(b []byte) int {
	n := min(len(b), utf8.UTFMax-1)
	for n > 1 && utf8.FullRune(b[:n]) { // the beginning of a character is not full
		n--
	}
	return n
}

// harmless tells that nothing in b has to be escaped, wherever it stands: most JSON
// is such, and some of it is large.
func harmless(b []byte) bool {
	for {
		b = b[printable(b):]
		if len(b) == 0 {
			return true
		}
		r, n := utf8.DecodeRune(b)
		if harmful(r) {
			return false
		}
		b = b[n:]
	}
}

// printable counts the bytes at the start of b that are printable ASCII, eight at a
// time.
func printable(b []byte) (n int) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(b); n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		low := (w - ones*0x20) &^ w // the top bit of a byte below 0x20, or right above one
		del := w ^ ones*0x7f
		if (w|low|(del-ones)&^del)&tops != 0 {
			break
		}
	}
	for n < len(b) && b[n] >= 0x20 && b[n] < 0x7f {
		n++
	}
	return n
}

// jsonRune gives what is written for a rune of n bytes; ok tells that it may stay.
func jsonRune(r rune, n int, inString bool) (safe string, ok bool) {
	switch {
	case r == utf8.RuneError:
		return string(r), n > 1 // what every reader makes of invalid bytes
	case r < 0x20 && !inString:
		return " ", r == '\n' || r == '\t'
	case 0x20 <= r && r < 0x7f || !harmful(r):
		return "", true
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r), false
	}
	high, low := utf16.EncodeRune(r)
	return fmt.Sprintf(`\u%04x\u%04x`, high, low), false
}
