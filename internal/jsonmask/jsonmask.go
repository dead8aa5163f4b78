// Package jsonmask finds, 64 bytes at a time, the places in JSON where strings begin
// and end and where their contents break the rules.
//
// Call Strings with a text and a slice of Words(len(text)) words. It promises the
// same mask on every machine, for any bytes, valid JSON or not; Fast says whether
// this machine makes it with vector instructions.
//
// It looks at single bytes and at backslashes, nothing else. Whether a byte lies
// inside a string is for the caller to tell from the quotes, and the hex digits
// of a \u escape are for the caller to check, which is why an escaped u is marked.
package jsonmask

// BlockSize is how many bytes one mask word stands for.
const BlockSize = 64

// Words returns how many mask words n bytes need.
func Words(n int) int { return (n + BlockSize - 1) / BlockSize }

// Fast reports whether Strings uses vector instructions on this machine.
func Fast() bool { return vectors }

// Strings sets the first Words(len(p)) words of the mask. Bit i of word w stands
// for p[64*w+i]; bits past the end of p are zero.
//
// A bit is set for a '"' that is not escaped, for a byte below 0x20, and for an
// escaped byte that is not one of
//
//	" \ / b f n r t
//
// so that of the bytes marked, those that are a '"' are not escaped. A byte is
// escaped if an odd run of backslashes comes right before it. Runs count inside
// and outside strings alike, and p[0] is never escaped. A backslash that is the
// last byte of p and escapes nothing is not marked.
//
// Strings panics if the mask has fewer than Words(len(p)) words.
func Strings(p []byte, stops []uint64) {
	n := Words(len(p))
	if n == 0 {
		return
	}
	_ = stops[n-1]
	if !vectors {
		portable(p, stops)
		return
	}
	masks(&p[0], len(p), &stops[0])
	if rest := len(p) % BlockSize; rest != 0 {
		// The space after a trailing backslash looks like a bad escape.
		stops[n-1] &= 1<<rest - 1
	}
}
