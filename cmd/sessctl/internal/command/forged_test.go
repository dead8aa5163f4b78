package command

import (
	"strings"
	"testing"
)

// TestNamesMakeNoLines: whatever a name holds, no line of stderr but ours begins as
// ours do.
func TestNamesMakeNoLines(t *testing.T) {
	const evil = "x\nsessctl: forged.jsonl"
	for _, args := range [][]string{
		{"show", evil}, {"show", story(t), evil}, {"ls", evil}, {"verify", evil}, {"branches", "--" + evil}, {evil},
	} {
		r := sessctl(t, args...)
		if n := strings.Count("\n"+r.stderr, "\nsessctl: "); n != 1 {
			t.Errorf("%q: %d lines begin as ours:\n%s", args, n, r.stderr)
		}
	}
}
