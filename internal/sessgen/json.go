package sessgen

import (
	"math"
	"strconv"
	"time"
)

const hexDigits = "0123456789abcdef"

// shortEscapes holds the escapes that JSON.stringify prefers to \u00xx.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

func appendString(b []byte, s string) []byte {
	return append(appendEscaped(append(b, '"'), s), '"')
}

// appendEscaped escapes as JSON.stringify does: nothing above U+001F but the
// quote and the backslash, so U+2028 and < stay raw.
func appendEscaped(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case shortEscapes[c] != 0:
			b = append(b, '\\', shortEscapes[c])
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// appendNumber writes f as JavaScript does: the shortest digits, and an
// exponent (without leading zeros) only below 1e-6 and from 1e21 on.
func appendNumber(b []byte, f float64) []byte {
	size := math.Abs(f)
	if size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, f+0, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') {
		b = append(b[:n-2], b[n-1])
	}
	return b
}

func appendTime(b []byte, ms int64) []byte {
	b = append(b, '"')
	b = time.UnixMilli(ms).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z07:00")
	return append(b, '"')
}

func appendHex32(b []byte, v uint32) []byte {
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[v>>shift&15])
	}
	return b
}
