package claude_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/formats/internal/transcript/transcripttest"
)

// TestSpent: Claude Code's own sums of what models cost are in the header; of one that
// grew, and was written several times, the largest.
func TestSpent(t *testing.T) {
	m := &maker{}
	sum := func(run, models string) string {
		return `{"type":"cost-state","sessionId":"s1","startTime":` + run + `,"modelUsage":` + models + `}`
	}
	tree := read(t, file(t, m.user("u1", "", "q"), m.says("a1", "u1", "a"),
		sum("17", `{"claude-x":{"costUSD":0.25},"claude-y":{"costUSD":0}}`), sum("17", `{"claude-x":{"costUSD":0.75}}`),
		sum("18", `{"claude-x":{"costUSD":0.5},"claude-y":{"inputTokens":3,"costUSD":2}}`),
		sum(`"x"`, `[]`), sum("19", `{"claude-x":7}`), `{"type":"cost-state","sessionId":"s1"}`))
	transcripttest.Expect(t, "entries", list(t, tree), "user u1<: q\nassistant a1<u1: a")
	_, spent, _ := strings.Cut(string(tree.Header().Raw()), `"spent":`)
	transcripttest.Expect(t, "spent", spent, `[{"run":"17","model":"anthropic/claude-x","cost":0.75},`+
		`{"run":"18","model":"anthropic/claude-x","cost":0.5},{"run":"18","model":"anthropic/claude-y","cost":2}]}`)
}
