package jsonvalue

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JavaScript's strings may hold half a surrogate pair, which UTF-8 cannot. Text
// that is taken apart and put together again goes through the functions here, which
// keep such halves: in the string that Exact gives they are the three bytes that
// UTF-8 would have for them (WTF-8).

// Exact is String for text that will be JSON again, by AppendExact.
func Exact(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	s := value[1 : len(value)-1]
	i := bytes.IndexByte(s, '\\')
	if i < 0 {
		return string(ValidUTF8(s))
	}
	out := make([]byte, 0, len(s))
	for ; i >= 0; i = bytes.IndexByte(s, '\\') {
		out = append(out, ValidUTF8(s[:i])...)
		out, s = unescapeExact(out, s[i:])
	}
	return string(append(out, ValidUTF8(s)...))
}

func unescapeExact(out, s []byte) (_, rest []byte) {
	if s[1] == 'u' {
		if r, n := hexRune(s); n == 6 && utf16.IsSurrogate(r) {
			return append(out, 0xED, byte(0x80|r>>6&0x3F), byte(0x80|r&0x3F)), s[n:]
		}
	}
	return unescape(out, s)
}

// AppendExact appends a string that Exact gave, or several that were put together,
// as JSON. Two halves that have come together are one character, as in JavaScript.
func AppendExact(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		i := nextHalf(s)
		dst = appendInner(dst, s[:i])
		if i == len(s) {
			return append(dst, '"')
		}
		r, low := half(s[i:]), rune(0)
		if s = s[i+3:]; nextHalf(s) == 0 {
			low = half(s)
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			dst, s = utf8.AppendRune(dst, pair), s[3:]
			continue
		}
		const hex = "0123456789abcdef"
		dst = append(dst, '\\', 'u', 'd', hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
}

// nextHalf finds the first half of a pair in s; len(s) where there is none.
func nextHalf(s string) int {
	for from := 0; ; from++ {
		i := strings.IndexByte(s[from:], 0xED)
		if i < 0 || from+i+2 >= len(s) {
			return len(s)
		}
		if from += i; s[from+1] >= 0xA0 {
			return from
		}
	}
}

// half decodes the half of a pair that s starts with.
func half(s string) rune {
	if len(s) < 3 {
		return 0
	}
	return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
}

// ValidUTF8 puts U+FFFD in place of what is no UTF-8, as JavaScript programs do
// that read a file (the "maximal subparts" of the Unicode standard, 3.9): one for a
// character that is cut short. Valid bytes are returned as they are.
func ValidUTF8(s []byte) []byte {
	if utf8.Valid(s) {
		return s
	}
	out := make([]byte, 0, len(s)+8)
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			n = subpart(s)
			out = append(out, "\uFFFD"...)
		} else {
			out = append(out, s[:n]...)
		}
		s = s[n:]
	}
	return out
}

// subpart counts the bytes at the start of s, which is invalid, that could have begun
// a character.
func subpart(s []byte) int {
	n := min(len(s), utf8.UTFMax-1)
	for n > 1 && utf8.FullRune(s[:n]) { // the beginning of a character is not full
		n--
	}
	return n
}
