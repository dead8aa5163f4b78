package sessgen

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

func TestNumbersAreJavaScripts(t *testing.T) {
	for text, f := range map[string]float64{
		"0": math.Copysign(0, -1), "1": 1, "0.1": 0.1, "0.000001": 1e-6, "1e-7": 1e-7, "2.5e-7": 2.5e-7,
		"100000000000000000000": 1e20, "1e+21": 1e21, "-1.5e+300": -1.5e300, "5e-324": 5e-324, "1.5e-10": 1.5e-10,
		"1767603600000": 1767603600000, "0.30000000000000004": 0.30000000000000004,
	} {
		if got := string(appendNumber(nil, f)); got != text {
			t.Errorf("%v is written as %s, want %s", f, got, text)
		}
		if text != "0" {
			checkJSNumber(t, text)
		}
	}
}

func TestStringsAreJavaScripts(t *testing.T) {
	in := "a\"\\\b\f\n\r\t\x00\x1b\x7f<>&\u2028é🎉"
	want := `"a\"\\\b\f\n\r\t\u0000\u001b` + "\x7f<>&\u2028é🎉\""
	got := appendString(nil, in)
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal(got, &back); err != nil || back != in {
		t.Errorf("read back as %q, %v", back, err)
	}
}

func TestPoolsAreCutBetweenLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, pool := range []*textPool{codePool(), prosePool()} {
		for n := -5; n < 300000; n = n*2 + 7 {
			text := pool.take(r, n)
			if len(text) > max(n, 400) || len(text) < n-400 {
				t.Errorf("asked for %d, got %d", n, len(text))
			}
			if !json.Valid([]byte(`"` + string(text) + `"`)) {
				t.Errorf("%d bytes of text are cut inside an escape", n)
			}
		}
	}
}
