package command

import (
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
		for _, args := range [][]string{{"branches", "--json"}, {"tree", "--all"}, {"tree", "--json"}, {"show"}, {"show", "--brief"}, {"show", "--json"}, {"show", "--jsonl"}, {"verify"}, {"verify", "--json"}} {
			r := sessctl(t, append(args, log)...)
			if r.code != exitOK && r.code != exitProblems {
				t.Errorf("%s, %v: got exit code %d: %s", what, args, r.code, r.stderr)
			}
			checkPrintable(t, what+strings.Join(args, " "), r.stdout+r.stderr)
			checkDocuments(t, what+" "+strings.Join(args, " "), args, r.stdout)
		}
	}
}
