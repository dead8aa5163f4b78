package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

// sealed makes a native log of records.
func sealed(records ...string) string {
	var log strings.Builder
	prev := uint32(0)
	for _, r := range records {
		line, sum := entries.AppendSum([]byte(strings.TrimSuffix(r, "}")), 0, false, prev)
		log.Write(append(line, '\n'))
		prev = sum.Self
	}
	return log.String()
}

const nativeHead = `{"type":"session","version":3,"id":"01KBA0QM00EMBWZKTRW546VRAC","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p","format":"sessiontree/1","records":[]}`

// TestVouchedLinesAreNotTrusted: a right sum keeps a reader from looking inside a
// line, and anybody can write a right sum. What is there is shown all the same as
// what it is, and a document stays a document.
func TestVouchedLinesAreNotTrusted(t *testing.T) {
	record := func(rest string) string {
		return `{"type":"message","id":"01KBA0QM10BNJFM5M5VYEVCJQ3","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":` + rest + `}}`
	}
	for what, content := range map[string]string{
		"escapes in a string": "\"a\x1b[2J\u202e\"", "a carriage return": "\"a\",\r\"b\":1", "no JSON": `"a" "b"`, "a quote too many": `"a""`,
		"no UTF-8": "\"\x9b2J\xff\"", "an end too many": `"a"}`, "a NUL": "\"\x00\"",
	} {
		log := write(t, "log.jsonl", sealed(nativeHead, record(content)))
		for _, args := range append(contextArgs(), [][]string{
			{"branches", "--json"}, {"tree", "--all"}, {"tree", "--json"}, {"show"}, {"show", "--brief"}, {"show", "--json"}, {"show", "--jsonl"}, {"verify"}, {"verify", "--json"},
		}...) {
			r := sessctl(t, append(args, log)...)
			if r.code != exitOK && r.code != exitProblems {
				t.Errorf("%s, %v: got exit code %d: %s", what, args, r.code, r.stderr)
			}
			checkPrintable(t, what+strings.Join(args, " "), r.stdout+r.stderr)
			checkDocuments(t, what+" "+strings.Join(args, " "), args, r.stdout)
		}
	}
}

// contextArgs are ways to ask for a context, as text and as JSON.
func contextArgs() [][]string {
	list := [][]string{{"context"}, {"context", "--brief"}, {"context", "--rendered", "--brief"}}
	for _, args := range [][]string{
		{}, {"--repair"}, {"--rendered"}, {"--repair", "--rendered"}, {"--dialect", "omp"}, {"--dialect", "omp", "--rendered"}, {"--dialect", "omp", "--repair", "--rendered"},
		{"--mask-results", "0", "--no-images", "--no-thinking"}, {"--budget", "1", "--repair"}, {"--model", "acme/large", "--repair"},
	} {
		args = append([]string{"context"}, args...)
		list = append(list, append(args[:len(args):len(args)], "--full"), append(args[:len(args):len(args)], "--json"))
	}
	return list
}

// oddRecords hold a value wherever a context reads one, in front of a compaction that
// keeps them.
func oddRecords(value string) []string {
	text := func(s string) string { return strings.ReplaceAll(s, "V", value) }
	return []string{
		`{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"go on"}}`,
		text(`{"type":"message","id":"aaaa0002","parentId":"aaaa0001","message":{"role":"system","content":V,"sections":{"a":V},"toolsAdded":[{"name":V}],"toolsRemoved":V}}`),
		text(`{"type":"message","id":"aaaa0003","parentId":"aaaa0002","message":{"role":"user","content":V}}`),
		text(`{"type":"message","id":"aaaa0004","parentId":"aaaa0003","message":{"role":"assistant","content":[{"type":"text","text":V},{"type":"thinking","thinking":V,"thinkingSignature":V},{"type":V},{"type":"toolCall","id":"c","name":V,"arguments":V},{"type":"toolCall","id":V,"name":"x","arguments":{"a":V}}],"stopReason":V,"errorMessage":V,"usage":V}}`),
		text(`{"type":"message","id":"aaaa0005","parentId":"aaaa0004","message":{"role":"toolResult","toolCallId":V,"toolName":V,"content":[{"type":"image","data":V,"mimeType":V},V],"isError":V}}`),
		text(`{"type":"message","id":"aaaa0006","parentId":"aaaa0005","message":{"role":"bashExecution","command":V,"output":V,"exitCode":V,"excludeFromContext":V}}`),
		text(`{"type":"message","id":"aaaa0007","parentId":"aaaa0006","message":{"role":"pythonExecution","code":V,"output":V}}`),
		text(`{"type":"message","id":"aaaa0008","parentId":"aaaa0007","message":{"role":"fileMention","files":[{"path":V,"content":V},V]}}`),
		text(`{"type":"message","id":"aaaa0009","parentId":"aaaa0008","message":V}`),
		text(`{"type":"message","id":"aaaa0010","parentId":"aaaa0009","message":{"role":V,"content":V}}`),
		text(`{"type":"custom_message","id":"aaaa0011","parentId":"aaaa0010","customType":V,"content":V,"display":V,"details":V}`),
		text(`{"type":"branch_summary","id":"aaaa0012","parentId":"aaaa0011","summary":V,"fromId":V}`),
		text(`{"type":"context_edit","id":"aaaa0013","parentId":"aaaa0012","targetId":"aaaa0003","replacement":{"content":V}}`),
		text(`{"type":"context_edit","id":"aaaa0014","parentId":"aaaa0013","targetId":"aaaa0005","replacement":V}`),
		text(`{"type":"model_change","id":"aaaa0015","parentId":"aaaa0014","provider":V,"modelId":V,"model":V,"role":V}`),
		text(`{"type":"thinking_level_change","id":"aaaa0016","parentId":"aaaa0015","thinkingLevel":V,"configured":V}`),
		text(`{"type":"mode_change","id":"aaaa0017","parentId":"aaaa0016","mode":V,"data":V}`),
		text(`{"type":"compaction","id":"aaaa0018","parentId":"aaaa0017","timestamp":V,"summary":V,"firstKeptEntryId":"aaaa0002","tokensBefore":V,"details":V,"systemMessage":{"role":"system","content":V},"preserveData":{"snapcompact":V,"openaiRemoteCompaction":V,"anthropicCompaction":{"provider":"x","content":V}}}`),
		`{"type":"message","id":"aaaa0019","parentId":"aaaa0018","message":{"role":"user","content":"on"}}`,
	}
}

// oddLog is a log of such records.
func oddLog(t *testing.T, value string) string {
	t.Helper()
	const head = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}`
	return write(t, "log.jsonl", strings.Join(append([]string{head}, oddRecords(value)...), "\n")+"\n")
}

// TestOddContexts: whatever stands in the places that a context reads, the text is
// fit for a terminal, and JSON is JSON.
func TestOddContexts(t *testing.T) {
	for what, value := range map[string]string{
		"escape sequences": `"a\u001b[2J\u001b]0;x\u0007\u202e\u009b2J\u0000\r\nassistant  aaaa0002"`, "raw controls": "\"a\u202e\u2066\u009b2J\x7f\"",
		"no UTF-8": "\"\x9b2J\xff\xed\xa0\x80\"", "half a character at the end": "\"\xe2\x82\"", "lone surrogates": `"\ud83d \udc00\ud83d"`,
		"a doubled key": `{"type":"text","type":"image","text":"a","text":"b","data":1,"data":"x"}`, "doubled keys around": `"a","role":"user","content":[],"role":"assistant","type":"text"`,
		"a long line": `"` + strings.Repeat("x", 1<<16) + `"`, "null": "null", "a number": "1e999", "an empty object": "{}", "blocks that are none": `[null,1,"a",[],{}]`,
	} {
		log := oddLog(t, value)
		for _, args := range append(contextArgs(), []string{"show"}, []string{"show", "--brief"}, []string{"show", "--jsonl"}, []string{"show", "--json"}) {
			checkOdd(t, what, log, args)
		}
	}
}

// TestDeepContexts: values that are nested deeper than encoding/json goes.
func TestDeepContexts(t *testing.T) {
	deep := 20_000
	all := [][]string{
		{"context", "--repair", "--rendered", "--json"}, {"context", "--json"}, {"context", "--dialect", "omp", "--rendered", "--json"}, {"context"}, {"show", "--json"},
	}
	if testing.Short() { // with the race detector all of it takes minutes
		deep, all = 11_000, all[:1] // encoding/json goes to 10,000
	}
	for what, value := range map[string]string{
		"arrays": strings.Repeat("[", deep) + strings.Repeat("]", deep), "objects": strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep),
		"blocks": strings.Repeat(`[{"type":"text","content":`, deep/2) + "1" + strings.Repeat("}]", deep/2),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			log := oddLog(t, value)
			for _, args := range all {
				checkOdd(t, what, log, args)
			}
		})
	}
}

func checkOdd(t *testing.T, what, log string, args []string) {
	t.Helper()
	what += ": " + strings.Join(args, " ")
	r := sessctl(t, append(args[:len(args):len(args)], log)...)
	if r.code != exitOK {
		t.Errorf("%s: got exit code %d: %s", what, r.code, r.stderr)
	}
	checkPrintable(t, what, r.stdout+r.stderr)
	checkDocuments(t, what, args, r.stdout)
	checkMessages(t, what, args, r.stdout)
	if strings.Contains("\n"+r.stdout, "\nassistant  aaaa0002") {
		t.Errorf("%s: what a message says stands where headings do", what)
	}
}

// checkMessages: the document of a context has an id for each message, and no message
// but objects.
func checkMessages(t *testing.T, what string, args []string, out string) {
	t.Helper()
	var doc struct {
		EntryIDs []string
		Messages []map[string]json.RawMessage
	}
	if args[0] != "context" || args[len(args)-1] != "--json" || !json.Valid([]byte(out)) {
		return
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.EntryIDs == nil || doc.Messages == nil {
		t.Errorf("%s: got no document of a context: %v", what, err)
	}
	if len(doc.EntryIDs) != len(doc.Messages) {
		t.Errorf("%s: got %d messages of %d entries", what, len(doc.Messages), len(doc.EntryIDs))
	}
	for i, m := range doc.Messages {
		if m == nil {
			t.Errorf("%s: message %d is null", what, i)
		}
	}
}
