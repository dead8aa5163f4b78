package jsonl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

const (
	stamp        = `"timestamp":"2026-01-05T09:00:00.000Z"`
	piHeader     = `{"type":"session","version":3,"id":"s",` + stamp + `,"cwd":"/x"}`
	nativeHeader = `{"type":"session","version":3,"id":"s",` + stamp + `,"cwd":"/x","titleSource":"user","format":"sessiontree/1"`
)

// titleSlot is oh-my-pi's line in front of the header.
var titleSlot = func() string {
	start := `{"type":"title","v":1,"title":"T","updatedAt":"2026-01-05T09:00:00.000Z","pad":"`
	return start + strings.Repeat(" ", entries.TitleSize-len(start)-3) + `"}`
}()

// msg is a message as pi writes it. It holds a block that has a type and an id, and
// so looks like a record to whoever does not look well.
func msg(id, parent string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return `{"type":"message","id":"` + id + `","parentId":` + up + `,` + stamp +
		`,"message":{"role":"assistant","content":[{"type":"toolCall","id":"call` + id + `","name":"a\"b","arguments":{}},{"type":"text","text":"é"}]}}`
}

// batch marks an object for seal as one whose batch goes on.
func batch(object string) string { return object + "+" }

// seal gives objects their sums, as one run of native lines.
func seal(objects ...string) []string { return sealAfter(0, objects...) }

func sealAfter(prev uint32, objects ...string) []string {
	var lines []string
	for _, object := range objects {
		object, more := strings.CutSuffix(object, "+")
		line, sum := entries.AppendSum([]byte(strings.TrimSuffix(object, "}")), 0, more, prev)
		lines, prev = append(lines, string(line)), sum.Self
	}
	return lines
}

// sumOf is what the line behind a native line repeats.
func sumOf(line string) uint32 {
	_, sum, _ := entries.SplitSum([]byte(line))
	return sum.Self
}

// join ends every line with a newline.
func join(lines ...string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// A reading is what a reader found in a log.
type reading struct {
	head   *Head
	end    *End
	recs   []string // one line for each entry
	ids    []string
	damage []Damage
}

func show(r *Record) string {
	return fmt.Sprintf("%s %d+%d type %s parent %s time %s role %s sum %d %08x more %v", r.ID, r.Offset, r.Size, r.Type, r.Parent, r.Time, r.Role, r.State, r.Sum, r.More)
}

func open(t testing.TB, src Source, size int64) *reading {
	t.Helper()
	head, err := ReadHead(src, size)
	if err != nil {
		t.Fatal(err)
	}
	end, err := ReadEnd(src, size, head)
	if err != nil {
		t.Fatal(err)
	}
	return &reading{head: head, end: end}
}

func (x *reading) see(t testing.TB, r *Record, err error) bool {
	t.Helper()
	if r == nil || err != nil {
		if err != nil {
			t.Fatal(err)
		}
		return false
	}
	x.recs, x.ids = append(x.recs, show(r)), append(x.ids, string(r.ID))
	return true
}

func forward(t testing.TB, log string, opt Options) *reading {
	t.Helper()
	src := strings.NewReader(log)
	x := open(t, src, src.Size())
	report := &Report{}
	for r, err := range Forward(src, x.head, x.end, report, opt) {
		x.see(t, r, err)
	}
	x.damage = report.List()
	slices.SortStableFunc(x.damage, func(a, b Damage) int { return int(a.Offset - b.Offset) })
	return x
}

func backward(t testing.TB, log string) *reading {
	t.Helper()
	src := strings.NewReader(log)
	x := open(t, src, src.Size())
	back := Backward(src, x.head, x.end, &Report{})
	for x.see2(t, back) {
	}
	slices.Reverse(x.recs)
	slices.Reverse(x.ids)
	return x
}

func (x *reading) see2(t testing.TB, back *Back) bool {
	t.Helper()
	r, err := back.Next()
	return x.see(t, r, err)
}

// agree fails unless all ways of reading a log give the same entries.
func agree(t testing.TB, log string) *reading {
	t.Helper()
	x := forward(t, log, Options{})
	for _, workers := range []int{2, 4} {
		y := forward(t, log, Options{Workers: workers})
		if !slices.Equal(x.recs, y.recs) || !slices.Equal(x.damage, y.damage) {
			t.Errorf("%d workers: got %v and %+v\nwant %v and %+v", workers, y.recs, y.damage, x.recs, x.damage)
		}
	}
	if y := backward(t, log); !slices.Equal(x.recs, y.recs) {
		t.Errorf("backward: got %v\nwant %v", y.recs, x.recs)
	}
	if y := lineByLine(log, x); !slices.Equal(x.recs, y) {
		t.Errorf("line by line: got %v\nwant %v", x.recs, y)
	}
	checkPlaces(t, log, x)
	return x
}

// lineByLine looks at every line by itself.
func lineByLine(log string, x *reading) (recs []string) {
	p := parser{native: x.head.Native}
	for offset, data := int64(0), []byte(log)[:x.end.Limit]; len(data) > 0; {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		p.recs = p.recs[:0]
		p.parseLine(offset, line, 1, ended)
		for i := range p.recs {
			if r := &p.recs[i]; r.entry(x.head.V1) && (r.Offset > 0 || x.head.Title == nil) {
				recs = append(recs, show(r))
			}
		}
		offset, data = offset+int64(len(line))+1, rest
	}
	return recs
}

// checkPlaces fails where damage lies outside of the log or has no line.
func checkPlaces(t testing.TB, log string, x *reading) {
	t.Helper()
	for _, d := range x.damage {
		line := bytes.Count([]byte(log[:min(max(int(d.Offset), 0), len(log))]), []byte("\n")) + 1
		if d.Offset < 0 || d.Length < 0 || d.Offset+d.Length > int64(len(log)) || d.Line != line || d.Count < 1 {
			t.Errorf("damage %+v: want it on line %d, inside %d bytes", d, line, len(log))
		}
	}
}

// A finding is the damage that a test wants: text is what stands at its place.
type finding struct {
	kind  Kind
	line  int
	text  string
	count int // 0 stands for 1
	note  bool
}

func (f finding) String() string {
	return fmt.Sprintf("%s on line %d x%d note %v: %q", f.kind, f.line, max(f.count, 1), f.note, f.text)
}

// findings shows the damage as findings do, and fails where the place of a text is
// not the one that it has in the log.
func findings(log string, damage []Damage) (list []string) {
	for _, d := range damage {
		list = append(list, finding{d.Kind, d.Line, log[d.Offset:][:d.Length], d.Count, d.Note}.String())
	}
	return list
}

func checkDamage(t *testing.T, log string, x *reading, want ...finding) {
	t.Helper()
	var list []string
	for _, f := range want {
		list = append(list, f.String())
	}
	if got := findings(log, x.damage); !slices.Equal(got, list) {
		t.Errorf("damage:\ngot  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(list, "\n     "))
	}
}

// checksum is what the line behind a foreign line repeats.
func checksum(line string) uint32 { return entries.Checksum([]byte(line)) }
