package modelcontext

import (
	"strings"
	"testing"
)

// TestDates: the expectations are Node's, where the local zone is UTC.
func TestDates(t *testing.T) {
	for in, want := range map[string]string{
		`"2026-01-05T09:00:01.234Z"`: "1767603601234", `"2026-01-05T09:00:01+01:00"`: "1767600001000", `"2026-01-05"`: "1767571200000",
		`"2026-01-05T09:00:01"`: "1767603601000", `"2026-01"`: "1767225600000", `"yesterday"`: "null", `""`: "null", "": "null",
		"null": "0", "true": "1", "false": "0", "12.9": "12", "-1.5": "-1", "1e300": "null", "8.64e15": "8640000000000000", "[]": "null", "{}": "null",
	} {
		var value []byte
		if in != "" {
			value = []byte(in)
		}
		if got := string(milliseconds(value)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestInterpolated(t *testing.T) {
	for in, want := range map[string]string{
		"": "undefined", "null": "null", `"a"`: "a", "1.50": "1.5", "1e400": "Infinity", "-1e400": "-Infinity", "1e21": "1e+21", "true": "true",
		"{}": "[object Object]", `[1,null,["a",{}]]`: "1,,a,[object Object]", "-0": "0",
	} {
		var value []byte
		if in != "" {
			value = []byte(in)
		}
		if got := interpolated(value); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := interpolated([]byte(strings.Repeat("[", 50000) + strings.Repeat("]", 50000))); got != "" {
		t.Errorf("deep arrays: got %q, want nothing", got)
	}
}

func TestTruthy(t *testing.T) {
	for in, want := range map[string]bool{
		"": false, "null": false, "false": false, `""`: false, "0": false, "-0": false, "0.0": false, "0e9": false,
		"true": true, `"0"`: true, "1": true, "1e400": true, "[]": true, "{}": true,
	} {
		if got := truthy([]byte(in)); got != want {
			t.Errorf("%s: got %v, want %v", in, got, want)
		}
	}
}
