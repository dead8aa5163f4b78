package entries_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

var update = flag.Bool("update", false, "write the fixture anew")

const fixture = "testdata/native/small.jsonl"

// fixtureLines are the objects of a small native log without their closing brace;
// a batch of two (a rewind) stands in it.
var fixtureLines = []struct {
	object string
	more   bool
}{
	{`{"type":"session","version":3,"id":"01KB0000000000000000000SES","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/srv/app","titleSource":"user","format":"sessiontree/1","records":["tool_execution_start"]`, false},
	{`{"type":"message","id":"01KB0000000000000000000001","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"find it, café 🎉","timestamp":1767603601000}`, false},
	{`{"type":"message","id":"01KB0000000000000000000002","parentId":"01KB0000000000000000000001","timestamp":"2026-01-05T09:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"looking"}],"timestamp":1767603602000}`, false},
	{`{"type":"branch_summary","id":"01KB0000000000000000000003","parentId":"01KB0000000000000000000001","timestamp":"2026-01-05T09:00:03.000Z","fromId":"01KB0000000000000000000002","summary":"it is in a.go"`, true},
	{`{"type":"custom_message","id":"01KB0000000000000000000004","parentId":"01KB0000000000000000000003","timestamp":"2026-01-05T09:00:03.000Z","customType":"rewind-report","content":"Rewound.","display":false`, false},
	{`{"type":"custom","id":"01KB0000000000000000000005","parentId":"01KB0000000000000000000001","timestamp":"2026-01-05T09:00:04.000Z","customType":"leaf","data":{"from":"01KB0000000000000000000004","reason":"undo"}`, false},
}

func makeFixture() (log []byte) {
	prev := uint32(0)
	for _, line := range fixtureLines {
		start := len(log)
		log = append(log, line.object...)
		var sum entries.Sum
		log, sum = entries.AppendSum(log, start, line.more, prev)
		log, prev = append(log, '\n'), sum.Self
	}
	return log
}

// TestFixtureOfSums holds the format: what this package writes is, byte for byte,
// the log in testdata, which must never change.
func TestFixtureOfSums(t *testing.T) {
	if *update {
		if err := os.WriteFile(fixture, makeFixture(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	if got := makeFixture(); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	checkSums(t, want)
}

// TestCorpusSums reads a log that was written by hand to the format's words.
func TestCorpusSums(t *testing.T) {
	dir := os.Getenv("SESSCTL_CORPUS")
	if dir == "" {
		t.Skip("SESSCTL_CORPUS is not set")
	}
	log, err := os.ReadFile(filepath.Join(dir, "native", "rewind.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, log)
}

// checkSums computes the sums of a sound native log with the standard library.
func checkSums(t *testing.T, log []byte) {
	t.Helper()
	table := crc32.MakeTable(crc32.Castagnoli)
	prev := uint32(0)
	for i, line := range bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n")) {
		body, sum, ok := entries.SplitSum(line)
		if !ok || !sum.Matches(body) {
			t.Fatalf("line %d: split %v, matches %v, want both", i+1, ok, sum.Matches(body))
		}
		want := crc32.Checksum(body, table)
		if sum.Self != want || sum.Prev != prev {
			t.Errorf("line %d: got sum %08x%08x, want %08x%08x", i+1, sum.Self, sum.Prev, want, prev)
		}
		if got := string(body) + fmt.Sprintf(`,"crc":"%08x%08x"}`, want, prev); got != string(line) {
			t.Errorf("line %d: got %s, want %s", i+1, got, line)
		}
		prev = want
	}
}

func TestSplitSumRefuses(t *testing.T) {
	for _, line := range []string{
		``, `{}`, `{"a":1}`, `,"crc":"0123456789abcdef"`, `{"a":1,"crc":"0123456789abcde"}`, `{"a":1,"crc":"0123456789abcdefg"}`,
		`{"a":1,"crc":"0123456789abcdeg"}`, `{"a":1,"crc":"0123456789abcdef"} `, `{"a":1,"crc": "0123456789abcdef"}`,
		`{"a":1,"crc":"0123456789abcdef",}`, `{"a":1,"CRC":"0123456789abcdef"}`, `{"crc":"0123456789abcdef"}`,
	} {
		if body, sum, ok := entries.SplitSum([]byte(line)); ok {
			t.Errorf("%s: got %q and %+v, want none", line, body, sum)
		}
	}
}

func TestMoreMark(t *testing.T) {
	for object, more := range map[string]bool{`{"a":1`: false, `{"a":{"more":true}`: false, `{"a":",\"more\":true"`: false, `{"more":true,"a":1`: false} {
		for _, set := range []bool{false, true} {
			line, _ := entries.AppendSum([]byte(object), 0, set, 7)
			body, sum, ok := entries.SplitSum(line)
			if !ok || entries.HasMore(body) != (more || set) || sum.Prev != 7 {
				t.Errorf("%s: got more %v, previous %d, want %v, 7", line, entries.HasMore(body), sum.Prev, set)
			}
		}
	}
}

// TestUnmarked: a field of another program's that looks like a batch's mark is none
// in a copy, and nothing is lost.
func TestUnmarked(t *testing.T) {
	for _, body := range []string{`{"id":"a","more":true`, `{"id":"a","more":false`, `{"id":"a"`} {
		line, _ := entries.AppendSum(entries.Unmarked([]byte(body)), 0, false, 7)
		got, _, ok := entries.SplitSum(line)
		if !ok || entries.HasMore(got) || strings.TrimSpace(string(got)) != body {
			t.Errorf("%s: got %s", body, line)
		}
	}
}

// TestUnsummed: what is copied keeps all but its sum and mark, wherever they are.
func TestUnsummed(t *testing.T) {
	sealed, _ := entries.AppendSum([]byte(`{"id":"a","x":{"crc":"y","more":true}`), 0, true, 7)
	for _, test := range []struct {
		raw, want string
		more      bool
	}{
		{string(sealed), `{"id":"a","x":{"crc":"y","more":true}`, true},
		{string(sealed[:len(sealed)-1]) + `,"omp":1}`, `{"id":"a","x":{"crc":"y","more":true},"omp":1`, true},
		{`{"id":"a"}`, `{"id":"a"`, false},
		{`{"id":"a","more":true}`, `{"id":"a","more":true`, false},
		{`{"id":"a","crc":"no sum","b":1,"crc":2}`, `{"id":"a","crc":"no sum","b":1,"crc":2`, false},
		{`{"crc":"first","id":"a"}`, `{"crc":"first","id":"a"`, false},
		{`{ "id" : "a" }`, `{ "id" : "a" `, false},
	} {
		if got, more := entries.Unsummed([]byte(test.raw)); string(got) != test.want || more != test.more {
			t.Errorf("%s: got %s, %v, want %s, %v", test.raw, got, more, test.want, test.more)
		}
	}
}
