package formats_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestOnSeveralProcessors: a large transcript, some of whose lines are damaged, is the same
// session on however many processors it is read.
func TestOnSeveralProcessors(t *testing.T) {
	for name, raw := range map[string][]byte{"claude": largeClaude(), "codex": largeCodex()} {
		path := file(t, name+".jsonl", string(raw))
		want, damage := session(t, path, 1)
		if len(want) < 5000 {
			t.Fatalf("%s: %d entries", name, len(want))
		}
		for _, workers := range []int{2, 4} {
			got, also := session(t, path, workers)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(also, damage) {
				t.Errorf("%s on %d processors: %d entries and %d damages, or others than the %d and %d on one", name, workers, len(got), len(also), len(want), len(damage))
			}
		}
	}
}

func session(t *testing.T, path string, workers int) (list []string, damage []sessiontree.Damage) {
	t.Helper()
	last, total := int64(0), int64(0)
	opt := &sessiontree.ReadOptions{Workers: workers, Progress: func(done, of int64) {
		if done < last {
			t.Errorf("%d bytes are done after %d", done, last)
		}
		last, total = done, of
	}}
	tree, err := formats.Read(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if info, err := os.Stat(path); err != nil || last != total || total != info.Size() {
		t.Errorf("%d of %d bytes are done at the end (%v)", last, total, err)
	}
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		raw, err := e.Raw()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(e.WithBody(nil), string(raw)))
	}
	return list, tree.Damage()
}

// odd are lines that are not one record.
var odd = []string{"", "\x00\x00", "{\"type\":\"us", "[1]", "{}{}", "\r"}

// large repeats lines, with a number for N, until they are several blocks, some of them tiny.
func large(head string, lines ...string) []byte {
	b := bytes.NewBufferString(head)
	for n := 1; b.Len() < 6<<20; n++ {
		for _, line := range lines {
			b.WriteString(strings.ReplaceAll(line, "N", fmt.Sprint(n)) + "\n")
		}
		b.WriteString(odd[n%len(odd)] + "\n")
	}
	for range 20_000 {
		b.WriteString("{}\n")
	}
	return b.Bytes()
}

func largeClaude() []byte {
	long := strings.Repeat("long ", 200)
	return large(claudeLine,
		`{"type":"user","uuid":"pN","parentUuid":"u1","sessionId":"s1","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"`+long+`"}}`,
		` {"type":"assistant","uuid":"aN","parentUuid":"pN","timestamp":"2026-01-01T00:00:01.000Z","message":{"id":"mN","content":[{"type":"tool_use","id":"tN","name":"Read","input":{"file_path":"/N"}}],"usage":{"input_tokens":N}}} `,
		`{"type":"user","uuid":"rN","parentUuid":"aN","timestamp":"2026-01-01T00:00:02.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"tN","content":"`+long+`"}]}}`)
}

func largeCodex() []byte {
	long := strings.Repeat("long ", 200)
	return large(codexMeta,
		`{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"N `+long+`"}]}}`,
		`{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{\"a\": N}","call_id":"cN"}}`,
		`{"timestamp":"2026-01-01T00:00:03.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"cN","output":"`+long+`"}}`)
}
