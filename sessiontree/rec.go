package sessiontree

import (
	"bytes"
	"strings"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
)

// A rec is what is kept of an entry: no pointers, so that a million of them cost
// the garbage collector nothing.
type rec struct {
	offset, size int64
	millis       int64  // of the timestamp, or noTime
	id, idLen    uint32 // in names.text
	parent       int32  // index of the parent, or noParent
	line         uint32
	kind         uint32 // in names.words
	role         uint16 // in names.words
	flags        uint16
}

const (
	noParent = -1
	noTime   = -1 << 62
)

// The flags of a rec.
const (
	superseded uint16 = 1 << iota // another entry with its id, further down, has it
	repeated                      // the same line as an earlier entry: counts once
	more                          // the mark of a batch
	foreign                       // without a sum in a log that has them
	badSum                        // its sum is wrong
)

// lost tells that an entry is reachable by its line alone.
const lost = superseded | repeated

// names keeps the strings of all recs: ids in one text, of which those of entries are parts,
// and each word that comes again and again (types, roles) once.
type names struct {
	text    strings.Builder
	words   []string
	numbers map[string]uint32
	recent  [16]uint32 // the word seen last, by its length: it comes again soon
	hour    hour
}

func newNames() names {
	return names{words: []string{""}, numbers: map[string]uint32{"": 0}}
}

func (n *names) word(b []byte) uint32 {
	recent := &n.recent[len(b)%len(n.recent)]
	if n.words[*recent] == string(b) {
		return *recent
	}
	i, ok := n.numbers[string(b)]
	if !ok {
		i = uint32(len(n.words))
		n.words = append(n.words, string(b))
		n.numbers[string(b)] = i
	}
	*recent = i
	return i
}

// role is word for roles, of which a log has a handful; a hostile log that has more
// than fit gets the empty one.
func (n *names) role(b []byte) uint16 {
	if i := n.word(b); i < 1<<16 {
		return uint16(i)
	}
	return 0
}

func (n *names) id(r *rec) entries.ID { return entries.ID(n.text.String()[r.id : r.id+r.idLen]) }

// keep makes a rec of a record that was read, without its parent.
func (n *names) keep(r *jsonl.Record, id []byte) rec {
	k := rec{
		offset: r.Offset, size: r.Size, line: uint32(r.Line), millis: n.hour.millis(r.Time),
		id: uint32(n.text.Len()), idLen: uint32(len(id)), parent: noParent,
		kind: n.word(r.Type), role: n.role(r.Role),
	}
	n.text.Write(id)
	if r.More {
		k.flags |= more
	}
	switch r.State {
	case jsonl.NoSum:
		k.flags |= foreign
	case jsonl.BadSum:
		k.flags |= badSum
	}
	return k
}

// An hour remembers the date and hour of the timestamp read last: the next one is
// most often of the same.
type hour struct {
	text  [13]byte // 2026-01-02T03
	start int64    // in milliseconds
}

// millis reads a timestamp in the one form that every writer uses
// (2026-01-02T03:04:05.678Z) by its digits, and leaves other forms to the library.
func (h *hour) millis(b []byte) int64 {
	const form = "0000-00-00T00:00:00.000Z"
	if len(b) != len(form) {
		return slowMillis(b)
	}
	if string(b[:len(h.text)]) != string(h.text[:]) {
		t := slowMillis(append(bytes.Clone(b[:len(h.text)]), ":00:00.000Z"...))
		if t == noTime {
			return slowMillis(b)
		}
		h.start = t
		copy(h.text[:], b)
	}
	minute, ok1 := digits(b[14:16])
	second, ok2 := digits(b[17:19])
	milli, ok3 := digits(b[20:23])
	if !ok1 || !ok2 || !ok3 || b[13] != ':' || b[16] != ':' || b[19] != '.' || b[23] != 'Z' || minute > 59 || second > 59 {
		return slowMillis(b)
	}
	return h.start + (minute*60+second)*1000 + milli
}

func digits(b []byte) (v int64, ok bool) {
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + int64(c)
	}
	return v, true
}

func slowMillis(b []byte) int64 {
	t := entries.ParseTime(string(b))
	if t.IsZero() {
		return noTime
	}
	return t.UnixMilli()
}

func timeOf(millis int64) time.Time {
	if millis == noTime {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}
