package modelcontext

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// The programs whose contexts are rebuilt here are written in JavaScript, and do not
// check what they read. Where a stored value is not of the type that it should be,
// they go on with what their language makes of it; this file does the same. A nil
// value stands for a member that is missing (undefined).

// truthy tells whether JavaScript takes a value for true.
func truthy(value []byte) bool {
	switch {
	case jsonvalue.Null(value) || string(value) == "false" || string(value) == `""`:
		return false
	case isNumber(value):
		f, err := strconv.ParseFloat(string(value), 64)
		return err != nil || f != 0 // what is out of range is infinite
	}
	return true
}

func isNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}

func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }
func isArray(value []byte) bool  { return len(value) > 0 && value[0] == '[' }
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// interpolated is what a template literal makes of a value, as jsonvalue.Exact
// gives text.
func interpolated(value []byte) string { return interpolatedTo(value, 0) }

// mostNested bounds the arrays in arrays that are written out: JavaScript fails on
// deep ones, and each level is looked at once more.
const mostNested = 32

func interpolatedTo(value []byte, depth int) string {
	switch {
	case value == nil:
		return "undefined"
	case isString(value):
		return jsonvalue.Exact(value)
	case isObject(value):
		return "[object Object]"
	case isArray(value):
		return interpolatedArray(value, depth)
	case isNumber(value):
		return numberText(value)
	}
	return string(value)
}

// interpolatedArray joins elements by commas; null is empty among them.
func interpolatedArray(value []byte, depth int) string {
	if depth == mostNested {
		return ""
	}
	var parts []string
	for _, v := range blocks(value) {
		part := ""
		if !jsonvalue.Null(v) {
			part = interpolatedTo(v, depth+1)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

func numberText(value []byte) string {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil { // out of range
		if f < 0 {
			return "-Infinity"
		}
		return "Infinity"
	}
	return string(jsonvalue.AppendNumber(nil, f))
}

// milliseconds is new Date(value).getTime(), as JSON: null where value is no time.
func milliseconds(value []byte) []byte {
	ms, ok := 0.0, false
	switch {
	case value == nil:
	case string(value) == "null" || string(value) == "false":
		ok = true
	case string(value) == "true":
		ms, ok = 1, true
	case isNumber(value):
		f, err := strconv.ParseFloat(string(value), 64)
		ms, ok = math.Trunc(f), err == nil
	case isString(value):
		ms, ok = parseDate(jsonvalue.String(value))
	}
	const furthest = 8.64e15 // of JavaScript's times
	if !ok || math.Abs(ms) > furthest {
		return []byte("null")
	}
	return jsonvalue.AppendNumber(nil, ms)
}

// dateForms are the forms that every JavaScript reads alike. One without a zone and
// with a time of day is local time there; here it is UTC, so that contexts are the
// same everywhere.
var dateForms = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02", "2006-01", "2006",
}

func parseDate(s string) (ms float64, ok bool) {
	for _, form := range dateForms {
		if t, err := time.Parse(form, s); err == nil {
			return float64(t.UnixMilli()), true
		}
	}
	return 0, false
}
