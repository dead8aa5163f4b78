package transcript

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/sessiontree"
)

type memory struct{ *bytes.Reader }

func (m memory) Size() (int64, error) { return m.Reader.Size(), nil }
func (m memory) Close() error         { return nil }

// sample makes a log of pieces of a file and of what is made, some of which fills more
// than one part.
func sample(t *testing.T) (*Log, []byte) {
	t.Helper()
	text := bytes.Repeat([]byte("0123456789abcdef"), 400)
	l := NewLog(memory{bytes.NewReader(text)})
	w := l.Writer()
	w.line = text
	l.Header(Header{ID: "s", Cwd: `a"b`}, 300)
	want := []byte(`{"type":"session","version":3,"id":"s","timestamp":"","cwd":"a\"b"}` + "\n")
	for i := range 300 {
		w.Begin()
		w.Raw(Span{i, i + 5000})
		w.Text("-")
		w.Raw(Span{i, i + 10})
		d := w.Draft()
		from := len(want)
		l.Record(Place{Line: int32(i + 1), Offset: int64(10 * i)}, entries.TypeCustom, "x", "", "")
		l.Put(d)
		l.End()
		want = append(want, `{"type":"custom","id":"x","parentId":null,"timestamp":""`...)
		want = append(append(append(append(want, text[i:i+5000]...), '-'), text[i:i+10]...), "}\n"...)
		for _, at := range []int{from, len(want) - 1} {
			if p := l.Place(int64(at)); p.Line != int32(i+1) || p.Offset != int64(10*i) {
				t.Fatalf("byte %d is made from %+v, want line %d", at, p, i+1)
			}
		}
	}
	return l, want
}

// TestReadAt: a log of pieces reads like its bytes, from anywhere.
func TestReadAt(t *testing.T) {
	l, want := sample(t)
	if size, err := l.Size(); err != nil || size != int64(len(want)) {
		t.Fatalf("size %d (%v), want %d", size, err, len(want))
	}
	for at := 0; at < len(want); at += 977 {
		for _, n := range []int{1, 700, 12_000} {
			p := make([]byte, n)
			got, err := l.ReadAt(p, int64(at))
			end := min(at+n, len(want))
			if !bytes.Equal(p[:got], want[at:end]) || (err == io.EOF) != (got < n) {
				t.Fatalf("%d bytes from %d are not those of the log: %d bytes, %v", n, at, got, err)
			}
		}
	}
	if _, err := l.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("no error before the beginning")
	}
}

// TestReadOfACutFile: what a transcript has lost is an error and not the log's end.
func TestReadOfACutFile(t *testing.T) {
	l, want := sample(t)
	l.files[0] = memory{bytes.NewReader(make([]byte, 100))}
	if _, err := l.ReadAt(make([]byte, len(want)), 0); !errors.Is(err, sessiontree.ErrChanged) {
		t.Errorf("error %v, want ErrChanged", err)
	}
}

// TestNotes: notes of one sort are one with their number, and there is an end of sorts.
func TestNotes(t *testing.T) {
	n := &Notes{}
	for i := range 3 * mostSorts {
		n.Note(jsonl.LeftOut, Place{Line: 1}, 1, "a")
		n.Note(jsonl.UnknownRecord, Place{Line: 2}, 1, string(rune('A'+i)))
	}
	list := n.List()
	if len(list) > mostSorts+2 || list[0].Count != 3*mostSorts && list[0].Count < mostSorts/2 {
		t.Errorf("%d notes, the first on %d records", len(list), list[0].Count)
	}
	total := 0
	for _, d := range list {
		total += d.Count
	}
	if total != 6*mostSorts {
		t.Errorf("%d records are noted, want %d", total, 6*mostSorts)
	}
}

// TestRoom: a list grows to what its transcript will make of it, and no further than that
// can be told.
func TestRoom(t *testing.T) {
	list := make([]int, 2000)
	if got := cap(Room(list, 500, 1000)); got < 4000 || got > 5000 {
		t.Errorf("room for %d, want about twice 2000", got)
	}
	if got := cap(Room(list, 1, 1_000_000)); got > 16_000 {
		t.Errorf("room for %d before anything is known, want at most 16000", got)
	}
	if got := cap(Room(list, 1000, 1000)); got < 2500 {
		t.Errorf("room for %d at the end, want some more than 2000", got)
	}
}
