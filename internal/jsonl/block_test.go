package jsonl

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// long is a message whose line has size bytes.
func long(id, parent string, size int) string {
	m := msg(id, parent)
	return strings.Replace(m, "é", "é"+strings.Repeat("x", size-len(m)), 1)
}

// TestLinesAndBlocks puts lines of all lengths across the borders of blocks.
func TestLinesAndBlocks(t *testing.T) {
	sizes := []int{
		300, headBlock - 1, headBlock, 300, headBlock + 1, backwardBlock - 1, backwardBlock, backwardBlock + 1, 1000,
		forwardBlock - 1, forwardBlock, forwardBlock + 1, 2*forwardBlock + 12345, 300, 300,
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, native := range []bool{false, true} {
		r.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
		objects := []string{piHeader}
		for i, size := range sizes {
			objects = append(objects, long(string(rune('a'+i)), "", size))
		}
		if native {
			objects[0] = nativeHeader
			objects = seal(objects...)
		}
		log := join(objects...)
		for _, end := range []string{"", long("z", "", forwardBlock+99)[:forwardBlock-7], "\x00", "\n\n"} {
			x := agree(t, log+end)
			if len(x.ids) != len(sizes) {
				t.Errorf("native %v: got %d entries, want %d", native, len(x.ids), len(sizes))
			}
			if len(x.damage) > 1 || len(x.damage) == 0 && end != "" {
				t.Errorf("native %v, %d bytes more: got %+v, want one damage", native, len(end), x.damage)
			}
		}
	}
}

// TestBatchAcrossBlocks: a void batch may be larger than what is read at once.
func TestBatchAcrossBlocks(t *testing.T) {
	objects := []string{nativeHeader, msg("a", "")}
	for range 300 {
		objects = append(objects, batch(long("b", "a", 3000)))
	}
	lines := seal(objects...)
	x := agree(t, join(lines...))
	if !slices.Equal(x.ids, []string{"a"}) {
		t.Errorf("got entries %v, want a", x.ids)
	}
	checkDamage(t, join(lines...), x, finding{IncompleteBatch, 3, lines[2], 300, false})
}

// TestTinyLines: lines without content are many; what is kept of them is not.
func TestTinyLines(t *testing.T) {
	const n, manyBlank = 100_000, 2*forwardBlock + 5
	blank := join(piHeader) + strings.Repeat("\n", manyBlank) + join(msg("a", ""))
	x := agree(t, blank)
	checkDamage(t, blank, x, finding{BlankLines, 2, "", manyBlank, true})
	if len(x.ids) != 1 || x.damage[0].Line != 2 {
		t.Errorf("got entries %v, want a", x.ids)
	}
	for tiny, kind := range map[string]Kind{"{}": NoID, "x": NotJSON, "\x00": NUL, "1": NotObject} {
		x := agree(t, join(piHeader)+strings.Repeat(tiny+"\n", n)+join(msg("a", "")))
		sum := 0
		for _, d := range x.damage {
			sum += d.Count
		}
		if sum != n || len(x.damage) != mostOfAKind || x.damage[0].Kind != kind || len(x.ids) != 1 {
			t.Errorf("%q: got %d damages that count %d, want %d that count %d", tiny, len(x.damage), sum, mostOfAKind, n)
		}
	}
}

// TestForwardHoldsFewRecords: of a block of tiny lines only some records at a time.
func TestForwardHoldsFewRecords(t *testing.T) {
	src := strings.NewReader(strings.Repeat("{}\n", 1_700_000))
	for _, workers := range []int{1, 3} {
		for c, err := range chunks(src, &Head{}, src.Size(), Options{Workers: workers}) {
			for more := err == nil; more; more = c.parseOn(someRecords) {
				if len(c.recs) > someRecords {
					t.Fatalf("got %d records at once, want %d at most", len(c.recs), someRecords)
				}
			}
		}
	}
}

// TestHostileLines: reading a line takes time in proportion to its length, whatever
// it is made of; otherwise this test does not end.
func TestHostileLines(t *testing.T) {
	const size = 1 << 20
	for _, part := range []string{
		`{"type":"`, `{"type":"x",`, `{"type":{"type":"x","a":`, `{"type":"a","x":[`, `[{"type":"x","a":[`, `{"type":"x"}`, `{"type":"x"},`,
		`{"type":"x","timestamp":"t"},`, `[`, `{`, `"`, `\`, `{"a":`, "\x00{", "\x00[", "1,", `{"type":"x"}]`, `{"`, `x{"type":"session","id":"a"`,
	} {
		for _, start := range []string{"", `{"type":"message","a":[`, `{"`} {
			line := start + strings.Repeat(part, size/len(part))
			for _, native := range []bool{false, true} {
				p := parser{native: native}
				p.parseLine(0, []byte(line), 1, true)
				checkRecords(t, []byte(line), p.recs)
			}
		}
	}
}

// checkRecords fails unless the records of a line lie in it, in order and apart.
func checkRecords(t *testing.T, line []byte, recs []Record) {
	t.Helper()
	end := int64(0)
	for i := range recs {
		r := &recs[i]
		if r.Offset < end || r.Size < 0 || r.Size == 0 && len(recs) > 1 || r.Offset+r.Size > int64(len(line)) {
			t.Fatalf("%.100q: got record %d at %d+%d, want it behind %d and inside %d", line, i, r.Offset, r.Size, end, len(line))
		}
		end = r.Offset + r.Size
	}
	if len(recs) == 0 {
		t.Fatalf("%.100q: got no record, want one at least", line)
	}
}

// A cutSource loses its end, or fails, behind a place.
type cutSource struct {
	log string
	at  int64
	err error
}

func (s *cutSource) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	if off < s.at {
		n = copy(p, s.log[off:s.at])
	}
	if n == len(p) {
		return n, nil
	}
	return n, s.err
}

// TestSourcesThatFail: an error of the source ends every way of reading.
func TestSourcesThatFail(t *testing.T) {
	log := join(piHeader) + strings.Repeat(join(long("a", "", 9000)), 1000)
	broken := errors.New("broken")
	for cause, want := range map[error]error{io.EOF: ErrCut, broken: broken} {
		whole := open(t, strings.NewReader(log), int64(len(log)))
		for _, workers := range []int{1, 2, 4} {
			src := &cutSource{log, int64(len(log) / 2), cause}
			n, last := 0, error(nil)
			for r, err := range Forward(src, whole.head, whole.end, &Report{}, Options{Workers: workers}) {
				if last = err; r != nil {
					n++
				}
			}
			if !errors.Is(last, want) || n == 0 || n > 500 {
				t.Errorf("%d workers: got %d entries and %v, want %v", workers, n, last, want)
			}
		}
		src := &cutSource{log, int64(len(log) - 1), cause}
		if _, err := Backward(src, whole.head, whole.end, &Report{}).Next(); !errors.Is(err, want) {
			t.Errorf("backward: got %v, want %v", err, want)
		}
		if _, err := ReadEnd(src, int64(len(log)), whole.head); !errors.Is(err, want) {
			t.Errorf("end: got %v, want %v", err, want)
		}
		src.at = 100
		if _, err := ReadHead(src, int64(len(log))); !errors.Is(err, want) {
			t.Errorf("head: got %v, want %v", err, want)
		}
	}
}

// TestBreakingOff: a caller that stops early leaves no goroutine waiting.
func TestBreakingOff(t *testing.T) {
	log := join(piHeader) + strings.Repeat(join(long("a", "", 9000)), 2000)
	src := strings.NewReader(log)
	x := open(t, src, src.Size())
	for _, workers := range []int{1, 2, 4} {
		for after := range 3 {
			n := 0
			for range Forward(src, x.head, x.end, &Report{}, Options{Workers: workers}) {
				if n++; n > after*700 {
					break
				}
			}
		}
	}
}

func TestProgress(t *testing.T) {
	log := join(piHeader) + strings.Repeat(join(long("a", "", 9000)), 1000)
	var seen []int64
	forward(t, log, Options{Progress: func(done int64) { seen = append(seen, done) }})
	if !slices.IsSorted(seen) || len(seen) < 4 || seen[len(seen)-1] != int64(len(log)) {
		t.Errorf("got %v, want it to rise to %d", seen, len(log))
	}
}

func TestRange(t *testing.T) {
	lines := []string{piHeader, msg("a", ""), "", "", "<<<", msg("b", "a")}
	log := join(lines...) + msg("c", "b")
	src := strings.NewReader(log)
	x := open(t, src, src.Size())
	var got []string
	end := int64(0)
	for r, err := range Range(src, x.head, int64(len(piHeader)+1), src.Size()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(r.ID)+string(r.Fault))
		if end = r.LineEnd(); log[end-1] != '\n' || r.LineSum() != checksum(log[strings.LastIndexByte(log[:end-1], '\n')+1:end-1]) {
			t.Errorf("%s: got line end %d, sum %08x", r.ID, end, r.LineSum())
		}
	}
	if want := []string{"a", "blank-lines", "not-json", "b"}; !slices.Equal(got, want) || end != int64(len(join(lines...))) {
		t.Errorf("got %v up to %d, want %v", got, end, want)
	}
}
