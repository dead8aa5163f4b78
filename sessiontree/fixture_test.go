package sessiontree

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

var update = flag.Bool("update", false, "rewrite the fixtures of testdata")

// The session that README shows: an agent looks for a bug, explores with a
// checkpoint, rewinds, and mends it; later somebody tries another way from an
// earlier answer, and goes back. {n} is the id of entry n, {T} a timestamp.
const story = `
header
message - user | {"role":"user","content":[{"type":"text","text":"go test fails since yesterday, find out why"}],"timestamp":1796040001000}
message 1 assistant | {"role":"assistant","content":[{"type":"text","text":"I will look around first; a checkpoint keeps the context small."},{"type":"toolCall","id":"call_1","name":"checkpoint","arguments":{"goal":"find the commit that broke the parser test"}}],META,"stopReason":"toolUse","timestamp":1796040002000}
message 2 toolResult | {"role":"toolResult","toolCallId":"call_1","toolName":"checkpoint","content":[{"type":"text","text":"Checkpoint {3}: find the commit that broke the parser test"}],"details":{"checkpoint":"{3}","goal":"find the commit that broke the parser test","startedAt":"2026-11-30T12:00:03.000Z"},"isError":false,"timestamp":1796040003000}
message 3 assistant | {"role":"assistant","content":[{"type":"toolCall","id":"call_2","name":"bash","arguments":{"command":"go test ./parser 2>&1 | tail -n 40"}},{"type":"toolCall","id":"call_3","name":"bash","arguments":{"command":"git log --oneline -n 20 -- parser"}}],META,"stopReason":"toolUse","timestamp":1796040004000}
message 4 toolResult | {"role":"toolResult","toolCallId":"call_2","toolName":"bash","content":[{"type":"text","text":"--- FAIL: TestQuotes (0.00s)\n    parser_test.go:41: got \"a\\\\\", want \"a\"\nFAIL\tcorp/parser\t0.004s"}],"isError":true,"timestamp":1796040005000}
message 5 toolResult | {"role":"toolResult","toolCallId":"call_3","toolName":"bash","content":[{"type":"text","text":"7d1f0aa trim the input before splitting\n51c93be accept single quotes\n0f2d6c1 parser: first version"}],"isError":false,"timestamp":1796040006000}
message 6 assistant | {"role":"assistant","content":[{"type":"toolCall","id":"call_4","name":"rewind","arguments":{"report":"Commit 51c93be accepts single quotes but keeps the backslash before a closing quote; parser/quote.go:27 has to drop it."}}],META,"stopReason":"toolUse","timestamp":1796040007000}
message 7 toolResult | {"role":"toolResult","toolCallId":"call_4","toolName":"rewind","content":[{"type":"text","text":"Report captured; it is applied at the end of the turn."}],"details":{"report":"Commit 51c93be accepts single quotes but keeps the backslash before a closing quote; parser/quote.go:27 has to drop it.","rewound":true},"isError":false,"timestamp":1796040008000}
branch_summary 3 more | "fromId":"{8}","summary":"Commit 51c93be accepts single quotes but keeps the backslash before a closing quote; parser/quote.go:27 has to drop it.","details":{"startedAt":"2026-11-30T12:00:03.000Z"}
custom_message 9 | "customType":"rewind-report","content":"The exploration since checkpoint {3} was left; its report is above. Two commands ran, no file was changed. 5 entries were dropped.","display":false,"details":{"checkpoint":"{3}","startedAt":"2026-11-30T12:00:03.000Z","rewoundAt":"2026-11-30T12:00:09.000Z","droppedEntries":5}
message 10 assistant | {"role":"assistant","content":[{"type":"toolCall","id":"call_5","name":"edit","arguments":{"path":"parser/quote.go","old":"b.WriteByte(c)","new":"if c != '\\\\' || !closing {\n\tb.WriteByte(c)\n}"}}],META,"stopReason":"toolUse","timestamp":1796040011000}
message 11 toolResult | {"role":"toolResult","toolCallId":"call_5","toolName":"edit","content":[{"type":"text","text":"1 replacement in parser/quote.go"}],"isError":false,"timestamp":1796040012000}
message 12 assistant | {"role":"assistant","content":[{"type":"text","text":"Mended: parser/quote.go drops the backslash before a closing quote. All tests pass."}],META,"stopReason":"stop","timestamp":1796040013000}
label 13 | "targetId":"{13}","label":"mended"
message 14 user | {"role":"user","content":[{"type":"text","text":"could we use strconv.Unquote instead?"}],"timestamp":1796040120000}
message 15 assistant | {"role":"assistant","content":[{"type":"thinking","thinking":"strconv.Unquote wants Go syntax; single quotes hold one rune there.","thinkingSignature":"c2ln"},{"type":"text","text":"No: it takes single quotes for runes. \"It's 日本語\" would fail."}],META,"stopReason":"stop","timestamp":1796040121000}
custom 13 | "customType":"leaf","data":{"from":"{16}","reason":"checkout"}
message 17 user | {"role":"user","content":[{"type":"text","text":"add a test for it, then commit"}],"timestamp":1796040240000}
message 18 assistant | {"role":"assistant","content":[{"type":"text","text":"Committed as 8ae1c02, with TestQuotes/backslash_before_quote."}],META,"stopReason":"stop","timestamp":1796040241000}
session_info 19 | "name":"quotes in the parser"
`

const meta = `"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-5","usage":{"input":412,"output":96,"cacheRead":8120,"cacheWrite":310,"totalTokens":8938,"cost":{"input":0.001236,"output":0.00144,"cacheRead":0.002436,"cacheWrite":0.0011625,"total":0.0062745}}`

// storyID makes ids that look like real ones: a time, and digits that differ.
func storyID(n int) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	id := fmt.Sprintf("01KBA0Q%c%c0", digits[20+n/32], digits[n%32])
	for _, b := range sha256.Sum256([]byte{byte(n)}) {
		id += string(digits[b%32])
	}
	return id[:26]
}

// buildStory makes the log of the story, with its sums.
func buildStory() []byte {
	var out []byte
	prev := uint32(0)
	for n, line := range strings.Split(strings.TrimSpace(story), "\n") {
		start := len(out)
		body, more := storyLine(n, line)
		out = append(out, body...)
		var sum entries.Sum
		out, sum = entries.AppendSum(out, start, more, prev)
		out, prev = append(out, '\n'), sum.Self
	}
	return out
}

// storyLine gives a record without its closing brace.
func storyLine(n int, line string) (body string, more bool) {
	if n == 0 {
		return `{"type":"session","version":3,"id":"` + storyID(0) + `","timestamp":"2026-11-30T12:00:00.000Z","cwd":"/home/u/parser","titleSource":"user","format":"sessiontree/1","records":[]`, false
	}
	head, rest, _ := strings.Cut(line, " | ")
	fields := strings.Fields(head)
	parent := "null"
	if fields[1] != "-" {
		var p int
		fmt.Sscan(fields[1], &p)
		parent = `"` + storyID(p) + `"`
	}
	rest = strings.ReplaceAll(rest, "META", meta)
	for i := 30; i > 0; i-- {
		rest = strings.ReplaceAll(rest, fmt.Sprintf("{%d}", i), storyID(i))
	}
	if fields[0] == "message" {
		rest = `"message":` + rest
	}
	minute, second := n/60, n%60
	if n >= 14 { // the prompts that came later
		minute = 2 * (1 + (n-14)/3)
	}
	return fmt.Sprintf(`{"type":"%s","id":"%s","parentId":%s,"timestamp":"2026-11-30T12:%02d:%02d.000Z",%s`,
		fields[0], storyID(n), parent, minute, second, rest), len(fields) > 2 && fields[2] == "more"
}

const storyPath = "../testdata/story.jsonl"

func TestStoryFixtureIsWhatItsRecipeMakes(t *testing.T) {
	want := buildStory()
	if *update {
		if err := os.WriteFile(storyPath, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(storyPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the recipe makes; go test ./sessiontree -run Story -update rewrites it", filepath.Base(storyPath))
	}
	tree, err := Read(storyPath, &ReadOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	v, err := tree.Verify()
	if err != nil || !v.OK || len(v.Damage) > 0 || v.Checksums != ChecksumsOK {
		t.Errorf("the fixture is not sound: %+v, %v", v, err)
	}
}
