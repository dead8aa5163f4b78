package peers

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
)

// generatedLines is how many lines JavaScript is asked about.
const generatedLines = 4000

// TestJavaScriptLeavesLinesAlone: a program in JavaScript that reads lines of ours
// and writes them again leaves their bytes as they were, and so their sums.
func TestJavaScriptLeavesLinesAlone(t *testing.T) {
	log := randomLines(rand.New(rand.NewPCG(4, 4)))
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, log, 0o600); err != nil {
		t.Fatal(err)
	}
	const program = `
		const lines = require("fs").readFileSync(process.argv[1], "utf8").split("\n").slice(0, -1);
		const changed = lines.filter((l) => JSON.stringify(JSON.parse(l)) !== l);
		console.log(JSON.stringify({ lines: lines.length, changed: changed.slice(0, 5) }));`
	out, err := exec.CommandContext(t.Context(), node(t), "-e", program, file).Output()
	var said struct {
		Lines   int
		Changed []string
	}
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil || said.Lines != generatedLines {
		t.Fatalf("%v, %d lines: %s", err, said.Lines, out)
	}
	for _, l := range said.Changed {
		t.Errorf("JavaScript would change %q", l)
	}
}

// node is any Node.
func node(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("node"); err == nil {
		return path
	}
	return pi.command(installed(t))
}

func randomLines(r *rand.Rand) (log []byte) {
	prev := uint32(0)
	for n := range generatedLines {
		start := len(log)
		var sum entries.Sum
		log = randomDraft(r).Append(log, entries.ID(randomText(r)), entries.ID(randomText(r)), time.UnixMilli(r.Int64N(1<<41)))
		log, sum = entries.AppendSum(log, start, n%3 == 0, prev)
		log, prev = append(log, '\n'), sum.Self
	}
	return log
}

func randomDraft(r *rand.Rand) entries.Draft {
	text := randomText(r)
	switch r.IntN(6) {
	case 0:
		return entries.UserMessage(text)
	case 1:
		return entries.AssistantMessage(entries.Assistant{
			Content: []json.RawMessage{entries.ThinkingBlock(text, randomText(r)), entries.ToolCallBlock(text, text, []byte(`{ "a": [true, null] }`))},
			Model:   randomText(r), Error: text,
			Usage: entries.Tokens{Input: randomNumber(r), Output: randomNumber(r), Cost: randomNumber(r)},
		})
	case 2:
		return entries.ToolResult(text, text, []json.RawMessage{entries.TextBlock(randomText(r))}, r.IntN(2) == 0, nil)
	case 3:
		return entries.CompactionDraft(text, "E1", randomNumber(r), nil)
	case 4:
		return entries.LabelDraft(entries.ID(text), randomText(r))
	}
	return entries.LeafDraft(entries.ID(text), randomText(r))
}

// randomText has all sorts of characters, and bytes that are none.
func randomText(r *rand.Rand) string {
	var out bytes.Buffer
	for range r.IntN(12) {
		switch r.IntN(5) {
		case 0:
			out.WriteByte(byte(r.IntN(256)))
		case 1:
			out.WriteRune(rune(r.IntN(0x20)))
		case 2:
			out.WriteRune(rune(r.IntN(0x110000))) // surrogates become U+FFFD
		case 3:
			out.WriteString([]string{"\u2028", "\u2029", "<", "&", `\`, `"`, "/", "\x7f", "\ufeff", "__proto__", "\ufffd", "\uffff"}[r.IntN(12)])
		default:
			out.WriteByte('a' + byte(r.IntN(26)))
		}
	}
	return out.String()
}

// randomNumber has all sizes; a compaction of NaN tokens writes null.
func randomNumber(r *rand.Rand) float64 {
	switch r.IntN(4) {
	case 0:
		return math.Float64frombits(r.Uint64())
	case 1:
		return float64(r.IntN(1 << 20))
	case 2:
		return math.Pow(10, float64(r.IntN(60)-30)) * float64(r.IntN(3)-1)
	}
	return r.Float64()
}
