// Package jsonmask finds, 64 bytes at a time, the places in a line of JSON where
// strings begin and end and where their contents break the rules.
//
// Call Strings with a line and two slices of Words(len(line)) words. It promises
// the same masks on every machine, for any bytes, valid JSON or not; Fast says
// whether this machine makes them with vector instructions.
//
// It looks at single bytes and at backslashes, nothing else. Whether a byte lies
// inside a string is for the caller to tell from the quotes, and the hex digits
// of a \u escape are for the caller to check, which is why an escaped u counts
// as odd.
package jsonmask

// BlockSize is how many bytes one mask word stands for.
const BlockSize = 64

// Words returns how many mask words n bytes need.
func Words(n int) int { return (n + BlockSize - 1) / BlockSize }

// Fast reports whether Strings uses vector instructions on this machine.
func Fast() bool { return vectors }

// Strings sets the first Words(len(p)) words of both masks. Bit i of word w
// stands for p[64*w+i]; bits past the end of p are zero.
//
// In quotes a bit is set for a '"' that is not escaped. In odd a bit is set for
// a byte below 0x20, and for an escaped byte that is not one of
//
//	" \ / b f n r t
//
// A byte is escaped if an odd run of backslashes comes right before it. Runs
// count inside and outside strings alike, and p[0] is never escaped. A backslash
// that is the last byte of p and escapes nothing is in neither mask.
//
// Strings panics if either mask has fewer than Words(len(p)) words.
func Strings(p []byte, quotes, odd []uint64) {
	n := Words(len(p))
	if n == 0 {
		return
	}
	_, _ = quotes[n-1], odd[n-1]
	if !vectors {
		portable(p, quotes, odd)
		return
	}
	masks(&p[0], len(p), &quotes[0], &odd[0])
	if rest := len(p) % BlockSize; rest != 0 {
		// The space after a trailing backslash looks like a bad escape.
		odd[n-1] &= 1<<rest - 1
	}
}
