package formats_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestStrangeRecordsAreBounded: a file of nothing but records that nobody knows does not
// take a hundred times its size; those that are not kept are counted.
func TestStrangeRecordsAreBounded(t *testing.T) {
	const all = 250_000
	for name, head := range map[string]string{"claude": claudeLine + claudeSaid, "codex": codexMeta + codexSaid} {
		path := file(t, name+".jsonl", head+strings.Repeat("{\"type\":\"x\"}\n", all))
		tree, err := formats.Read(path, &sessiontree.ReadOptions{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		n, err := tree.Len()
		if err != nil {
			t.Fatal(err)
		}
		left, kept := noted(tree, "left-out"), noted(tree, "unknown-record")
		if kept < 100_000 || kept > 220_000 || n < kept || n > kept+2 || left+kept != all {
			t.Errorf("%s: %d entries, %d left out, %d unknown", name, n, left, kept)
		}
	}
}

// TestBlocksAreBounded: of a message of very many blocks the first are read, and it is told
// that there are more; but not where the record is kept as it is.
func TestBlocksAreBounded(t *testing.T) {
	blocks := strings.Repeat(`{"type":"text","text":"a"},`, 70_000) + `{"type":"text","text":"end"}`
	said := strings.Replace(claudeSaid, `{"type":"text","text":"a"}`, blocks, 1)
	for name, c := range map[string]struct {
		line        string
		blocks, led int
	}{
		"answer":        {said, 65_536, 1},
		"side":          {strings.Replace(said, `"isSidechain":false`, `"isSidechain":true`, 1), 0, 0},
		"message again": {strings.Replace(said, `},"uuid"`, `},"message":{"id":"m","content":"b"},"uuid"`, 1), 1, 0},
	} {
		tree, err := formats.Read(file(t, "s1.jsonl", claudeLine+c.line), &sessiontree.ReadOptions{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		e, err := tree.Entry("a1")
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if m, err := e.Message(); err == nil {
			got = len(m.Blocks())
		}
		if got != c.blocks || noted(tree, "left-out") != c.led {
			t.Errorf("%s: %d blocks, %d messages told of; want %d and %d", name, got, noted(tree, "left-out"), c.blocks, c.led)
		}
	}
}

// noted counts the records that are told of with a kind of damage.
func noted(tree *sessiontree.Tree, kind sessiontree.DamageKind) (n int) {
	for _, d := range tree.Damage() {
		if d.Kind == kind {
			n += d.Count
		}
	}
	return n
}

// TestMemoryIsBounded: what is allocated in all for a transcript that was made to take much
// is less than a hundred times its size, and what any one may take.
func TestMemoryIsBounded(t *testing.T) {
	long, ones := strings.Repeat("x", 100_000), strings.TrimSuffix(strings.Repeat("1,", 300_000), ",")
	user := func(id, up, more, content string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"%s","parentUuid":"%s","sessionId":"s1","timestamp":"2026-01-01T00:00:00.000Z"%s,"message":{"content":%s}}`+"\n", id, up, more, content)
	}
	results := "[" + strings.TrimSuffix(strings.Repeat(`{"type":"tool_result","tool_use_id":"t"},`, 5000), ",") + "]"
	codex := func(payload string) string {
		return `{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":` + payload + "}\n"
	}
	for name, text := range map[string]string{
		"results of a long uuid":  claudeLine + user(long, "u1", "", results),
		"behind a long uuid":      claudeLine + `{"type":"system","uuid":"` + long + `","parentUuid":"u1"}` + "\n" + numbered(3000, user("N", "u1", "", `"N"`)),
		"behind a long time":      claudeLine + strings.Replace(user("b", "u1", "", `"a"`), "2026", long, 1) + strings.Repeat("{\"type\":\"x\"}\n", 5000) + user("c", "b", "", `"b"`),
		"results of a long name":  claudeLine + strings.Replace(claudeSaid, `{"type":"text","text":"a"}`, `{"type":"tool_use","id":"t","name":"`+long+`"}`, 1) + user("r", "a1", "", results),
		"notices":                 claudeLine + user("b", "u1", `,"isMeta":true`, "["+ones+"]"),
		"answers of a long model": codexMeta + `{"timestamp":"2026-01-01T00:00:01.000Z","type":"turn_context","payload":{"model":"` + long + `"}}` + "\n" + strings.Repeat(codex(`{"type":"message","role":"assistant","content":"a"}`)+codexSaid, 2000),
		"elements of an answer":   codexMeta + codex(`{"type":"message","role":"assistant","content":[`+ones+`]}`),
		"elements of a prompt":    codexMeta + codex(`{"type":"message","role":"user","content":[`+ones+`]}`),
	} {
		path := file(t, "s1.jsonl", text)
		before := allocated()
		tree, err := formats.Read(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Branches(); err != nil {
			t.Error(name, err)
		}
		tree.Close()
		if used, most := allocated()-before, uint64(128<<20+100*len(text)); used > most {
			t.Errorf("%s: %d MiB are allocated for %d KiB, want at most %d MiB", name, used>>20, len(text)>>10, most>>20)
		}
	}
}

// numbered repeats a line with a number for N.
func numbered(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "N", fmt.Sprint("n", i)))
	}
	return b.String()
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestManyAtOneMoment: many children that are written at one moment are told apart by one
// look each.
func TestManyAtOneMoment(t *testing.T) {
	const children = 20_000
	line := strings.NewReplacer(`"u1"`, `"N"`, `"parentUuid":null`, `"parentUuid":"u1"`, `"q"`, `"says N"`).Replace(claudeLine)
	src := &counting{text: claudeLine + numbered(children, line) + strings.ReplaceAll(line, "N", "n7") + strings.Replace(strings.ReplaceAll(line, "N", "n7"), `"n7"`, `"other"`, 1)}
	tree, err := formats.From(src, "s1.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := tree.Len()
	if err != nil || n != children+1 || src.reads > 4*children {
		t.Errorf("%d entries of %d, %d reads (%v)", n, children+1, src.reads, err)
	}
}

// counting is a transcript that counts how often it is read, and may become shorter.
type counting struct {
	text  string
	reads int
	cut   bool // it is empty after the first reads
}

func (s *counting) ReadAt(p []byte, at int64) (int, error) {
	if s.reads++; s.cut && s.reads > 4 {
		return 0, errors.New("gone")
	}
	return strings.NewReader(s.text).ReadAt(p, at)
}

func (s *counting) Size() (int64, error) { return int64(len(s.text)), nil }
func (s *counting) Close() error         { return nil }

// TestRepetitionsOfALostFile: what cannot be compared any more is an error, and not counted
// twice.
func TestRepetitionsOfALostFile(t *testing.T) {
	src := &counting{text: claudeLine + claudeSaid + claudeLine + claudeSaid, cut: true}
	for s := *src; ; s.reads++ { // the reads of the scan may be any number of these
		one := s
		tree, err := formats.From(&one, "s1.jsonl", nil)
		if err != nil {
			if !strings.Contains(err.Error(), "gone") || strings.Count(err.Error(), "s1.jsonl") != 1 {
				t.Error(err)
			}
			return
		}
		if n, err := tree.Len(); err == nil && n != 2 {
			t.Fatalf("%d entries, want 2", n)
		}
		if s.reads > 10 {
			t.Fatal("nothing was read again")
		}
	}
}
