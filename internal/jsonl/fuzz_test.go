package jsonl

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/sessgen"
)

func tree(seed uint64, n int, opt sessgen.TreeOptions) []byte {
	return sessgen.Tree(rand.New(rand.NewPCG(seed, 1)), n, &opt)
}

// FuzzForwardBackward: all ways of reading agree, on any bytes.
func FuzzForwardBackward(f *testing.F) {
	a, b := msg("a", ""), msg("b", "a")
	for _, log := range []string{
		"", "\n", "\x00", "\ufeff", "{}", join(piHeader, a, b), join(piHeader) + a + b[:40], join(titleSlot, piHeader, a),
		join(seal(nativeHeader, a, batch(b))...), join(seal(nativeHeader, a, b)...) + a[:90] + b + nuls, a[:60] + b + "x" + a + `,`,
		join(piHeader, strings.ReplaceAll(a, ",", ",\n"), strings.ReplaceAll(b, ":", ":\r\n"), a, b), join(piHeader, a+"\r", b+" ", " "+a, "{", "}"),
		join(piHeader, a+nuls+b) + a[:len(a)-1], strings.ReplaceAll(join(seal(nativeHeader, batch(a), b)...), "\n", "\r\n"),
	} {
		f.Add([]byte(log))
	}
	for seed := range uint64(6) {
		f.Add(tree(seed, 8, sessgen.TreeOptions{Native: seed%2 == 0, Damage: true, Duplicates: true}))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		x := agree(t, string(log))
		deep := forward(t, string(log), Options{Deep: true})
		if !slices.Equal(x.ids, deep.ids) {
			t.Errorf("deep: got %v, want %v", deep.ids, x.ids)
		}
	})
}

// mutate cuts, splices, doubles and overwrites parts of a log, as bytes say.
func mutate(log, ops []byte) []byte {
	next := func(n int) int { // of [0, n)
		if len(ops) < 2 || n == 0 {
			ops = nil
			return 0
		}
		v := int(ops[0])<<8 | int(ops[1])
		ops = ops[2:]
		return v * n >> 16
	}
	for len(ops) >= 6 {
		kind, at := ops[0]%6, 0
		ops = ops[1:]
		at = next(len(log) + 1)
		size := min(next(400), len(log)-at)
		part := bytes.Clone(log[at : at+size])
		switch kind {
		case 0: // cut out
			log = slices.Delete(log, at, at+size)
		case 1: // a crash of the file system
			log = slices.Insert(log, at, make([]byte, size)...)
		case 2:
			clear(log[at : at+size])
		case 3: // splice somewhere else
			log = slices.Insert(log, next(len(log)+1), part...)
		case 4: // flip a bit
			if at < len(log) {
				log[at] ^= 1 << (size % 8)
			}
		case 5: // torn
			log = log[:max(len(log)-size, 0)]
		}
	}
	return log
}

// batches is a native log of entries that are written in batches of random sizes.
func batches(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	objects := []string{nativeHeader}
	for i := range 12 {
		object := msg(string(rune('a'+i)), "")
		if r.IntN(2) == 0 && i < 11 {
			object = batch(object)
		}
		objects = append(objects, object)
	}
	return []byte(join(seal(objects...)...))
}

// FuzzCutSplice: whatever happened to a log, every line that was not touched is
// read, unless it belongs to the void batch at the end.
func FuzzCutSplice(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for seed := range uint64(60) {
		ops := make([]byte, 7*(1+r.IntN(5)))
		for i := range ops {
			ops[i] = byte(r.Uint32())
		}
		f.Add(seed, ops)
	}
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		log := batches(seed)
		if seed%3 > 0 {
			log = tree(seed, 12, sessgen.TreeOptions{Native: seed%3 == 1, Duplicates: seed%5 == 0})
		}
		whole := map[string]bool{}
		for line := range bytes.SplitSeq(log, []byte("\n")) {
			whole[string(line)] = len(line) > 0 && !bytes.HasPrefix(line, []byte(`{"type":"session"`))
		}
		checkUntouched(t, string(mutate(bytes.Clone(log), ops)), whole)
	})
}

func checkUntouched(t *testing.T, log string, whole map[string]bool) {
	t.Helper()
	x := agree(t, log)
	src := strings.NewReader(log)
	read := map[int64]int64{}
	for r, err := range Forward(src, x.head, x.end, &Report{}, Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		read[r.Offset] = r.Size
	}
	offset := int64(0)
	for line := range strings.SplitSeq(log, "\n") {
		body, _, _ := entries.SplitSum([]byte(line))
		void := offset >= x.end.Limit && entries.HasMore(body)
		if whole[line] && !void && read[offset] != int64(len(line)) {
			t.Errorf("the line at byte %d was not read (limit %d, damage %+v): %s", offset, x.end.Limit, x.damage, line)
		}
		offset += int64(len(line)) + 1
	}
}

// FuzzLine: the parser's records lie in the line, in order and apart.
func FuzzLine(f *testing.F) {
	a := msg("a", "")
	for _, line := range []string{
		"", " ", "{}", "{} {}", a, a + a, a[:50] + a, a[:50] + nuls + a, nuls + a + "x", "\r", "\ufeff" + a, `{"a":[` + a, "[1,2", "nul",
		seal(a)[0], seal(a)[0] + a, strings.Replace(seal(a)[0], "é", "e", 1), `{"type":"message","id":"\u0061","crc":"","crc":"0123456789abcdef"}`,
	} {
		f.Add([]byte(line), true, int64(0))
	}
	f.Fuzz(func(t *testing.T, line []byte, native bool, offset int64) {
		if bytes.IndexByte(line, '\n') >= 0 || offset < 0 || offset > 1<<40 {
			return
		}
		before := bytes.Clone(line)
		p := parser{native: native}
		p.parseLine(offset, line, 7, true)
		for i := range p.recs {
			p.recs[i].Offset -= offset
		}
		checkRecords(t, line, p.recs)
		if !bytes.Equal(before, line) {
			t.Error("the line was changed")
		}
	})
}

// FuzzVouched: where a right sum vouches for a line, the quick look at it finds what
// the long one does.
func FuzzVouched(f *testing.F) {
	for _, object := range []string{
		msg("a", ""), msg("a", "b"), strings.Replace(msg("a", ""), `"id"`, `"i\u0064"`, 1), strings.Replace(msg("a", ""), `"a"`, `"\u0061"`, 1),
		`{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"content":[],"role":"user"}}`, `{"id":"a","type":"message"}`,
		`{"type":"custom","id":"a","parentId":7,"timestamp":"t"}`, `{"type":"custom","id":"a","parentId":nullx`, `{"type":"label","id":"","parentId":"","timestamp":""}`,
		nativeHeader + "}", `{"type":"custom","customType":"x","id":"a","parentId":null,"timestamp":"t"}`, `{"type":"x","id":"a","parentId":"b","timestamp":"t","more":true}`,
		`{"type":"x","id":"a","parentId":"b","timestamp":"t","message":{"role":"user"}}`, `{"type":"x","id":"a","parentId":"b","timestamp":"t","message":{"role":7}}`,
	} {
		f.Add([]byte(object), true)
	}
	f.Fuzz(func(t *testing.T, object []byte, more bool) {
		if !json.Valid(object) || object[0] != '{' || doubled(object) || bytes.IndexByte(object, '\n') >= 0 {
			return
		}
		line, _ := entries.AppendSum(bytes.TrimSuffix(bytes.Clone(object), []byte("}")), 0, more, 7)
		log := join(seal(nativeHeader)[0], string(line)) + "\n"
		quick, deep := forward(t, log, Options{}), forward(t, log, Options{Deep: true})
		if !slices.Equal(quick.recs, deep.recs) {
			t.Errorf("%s: got %v, want %v", line, quick.recs, deep.recs)
		}
	})
}

// doubled tells whether some key that a reader looks at may stand there twice, or
// in a place where a writer does not put it.
func doubled(object []byte) bool {
	for _, key := range []string{"type", "id", "parentId", "timestamp", "message", "role", "more", "crc"} {
		if bytes.Count(object, []byte(key)) > 1 {
			return true
		}
	}
	return bytes.Contains(object, []byte(`\u`)) && bytes.Count(object, []byte(`\u`)) > 1 || bytes.Contains(object, []byte("crc"))
}
