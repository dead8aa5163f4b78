package jsonvalue

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// FuzzAppendString compares with what ECMAScript says of JSON.stringify, rune by
// rune. TestJavaScriptLeavesLinesAlone in internal/peers asks JavaScript itself.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", `"\/`, "\x00\b\f\n\r\t\x1f\x7f", "<&>\u2028\u2029", "\xff", "a\xed\xa0\x80b", "\U0001F600\ufffd", "é\xc3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := string(AppendString([]byte("x"), s))[1:]
		if want := quoteJSON(s); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back != string([]rune(s)) {
			t.Errorf("%q: got %q back (%v)", s, back, err)
		}
		if back := String([]byte(got)); back != string([]rune(s)) {
			t.Errorf("%q: the reader gets %q", s, back)
		}
	})
}

// quoteJSON is QuoteJSONString.
func quoteJSON(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s { // what is no UTF-8 is U+FFFD, each byte
		switch i := strings.IndexRune("\b\t\n\f\r\"\\", r); {
		case i >= 0:
			out.WriteString(`\` + `btnfr"\`[i:i+1])
		case r < 0x20:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// FuzzAppendNumber compares with what ECMAScript says of numbers as strings.
func FuzzAppendNumber(f *testing.F) {
	for _, x := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1e21, 999999999999999900000, 1e-6, 9.999999e-7, 1e-7, 1.5e-10, 5e-324, 1e-100,
		math.MaxFloat64, math.NaN(), math.Inf(1), 1 << 53, 123456789012345680000, 1.5e300, 4.35, 100,
	} {
		f.Add(math.Float64bits(x))
		f.Add(math.Float64bits(-x))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		x := math.Float64frombits(bits)
		got := string(AppendNumber([]byte("x"), x))[1:]
		if want := numberString(x); got != want {
			t.Errorf("%b: got %s, want %s", x, got, want)
		}
		if back, err := strconv.ParseFloat(got, 64); got != "null" && (err != nil || back != x) {
			t.Errorf("%b: got %v back (%v)", x, back, err)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%b: %s is no JSON", x, got)
		}
	})
}

// numberString is Number::toString, but for null: digits are those of the shortest
// form, and the point stands behind n of them.
func numberString(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "null"
	case x == 0:
		return "0"
	case x < 0:
		return "-" + numberString(-x)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	e, _ := strconv.Atoi(exponent)
	k, n := len(digits), e+1
	switch {
	case k <= n && n <= 21:
		return digits + strings.Repeat("0", n-k)
	case 0 < n && n <= 21:
		return digits[:n] + "." + digits[n:]
	case -6 < n && n <= 0:
		return "0." + strings.Repeat("0", -n) + digits
	}
	if k > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	return fmt.Sprintf("%se%+d", digits, n-1)
}
