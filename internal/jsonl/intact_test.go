package jsonl

import (
	"bytes"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

// chain makes native lines, the first of them a header.
func chain(n int) (lines [][]byte) {
	prev := uint32(0)
	for i := range n {
		body := []byte(`{"type":"custom","id":"e` + string(rune('0'+i)) + `","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","customType":"c"`)
		if i == 0 {
			body = []byte(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/","format":"sessiontree/1"`)
		}
		line, sum := entries.AppendSum(body, 0, i == 2, prev)
		lines, prev = append(lines, append(line, '\n')), sum.Self
	}
	return lines
}

func TestIntact(t *testing.T) {
	lines := chain(5)
	foreign := []byte(`{"type":"message","id":"f","parentId":null,"message":{"role":"user","content":"x"}}` + "\n")
	for name, test := range map[string]struct {
		change func(lines [][]byte) [][]byte
		line   int // that is not intact
		kind   Kind
	}{
		"whole":           {func(l [][]byte) [][]byte { return l }, 5, ""},
		"a hole":          {func(l [][]byte) [][]byte { l[2] = make([]byte, len(l[2])); return l }, 2, NUL},
		"a line less":     {func(l [][]byte) [][]byte { return append(l[:2], l[3:]...) }, 2, Order},
		"a line twice":    {func(l [][]byte) [][]byte { l[4] = l[3]; return l }, 4, Order},
		"a foreign line":  {func(l [][]byte) [][]byte { l[3] = foreign; return l }, 3, ForeignLine},
		"one at the end":  {func(l [][]byte) [][]byte { return append(l, foreign) }, 5, ForeignLine},
		"no JSON":         {func(l [][]byte) [][]byte { l[3] = []byte("xyz\n"); return l }, 3, NotJSON},
		"a changed line":  {func(l [][]byte) [][]byte { l[3] = bytes.Replace(l[3], []byte("e3"), []byte("e9"), 1); return l }, 3, BadChecksum},
		"glued to zeros":  {func(l [][]byte) [][]byte { l[3] = append(make([]byte, 9), l[3]...); return l }, 3, NUL},
		"two on one line": {func(l [][]byte) [][]byte { l[3] = bytes.TrimSuffix(l[3], []byte("\n")); return l }, 5, ""},
	} {
		changed := test.change(bytes.Split(bytes.Join(bytes.SplitAfter(bytes.Join(lines, nil), []byte("\n"))[:5], []byte("|")), []byte("|")))
		log := bytes.Join(changed, nil)
		want := int64(len(bytes.Join(changed[:test.line], nil)))
		src := bytes.NewReader(log)
		head, err := ReadHead(src, int64(len(log)))
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []int64{0, int64(len(lines[0]))} {
			at, kind, err := Intact(src, head, from, int64(len(log)))
			if at != want || kind != test.kind || err != nil {
				t.Errorf("%s, from %d: got %d, %s (%v), want %d, %s", name, from, at, kind, err, want, test.kind)
			}
		}
	}
}
