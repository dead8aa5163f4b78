package jsonl

import (
	"bytes"
	"encoding/json"

	"github.com/sessctl/sessctl/entries"
)

// A SumState says what a record's sum is worth.
type SumState uint8

// The states of a sum.
const (
	NoSum SumState = iota
	GoodSum
	BadSum
)

// A Record is one object of a line, or what stands in its place: where Fault is
// set it is no entry, and only its position counts. The byte slices are valid
// until the reader goes on.
type Record struct {
	Fault  Kind  // "" for an entry
	Offset int64 // of the first byte
	Size   int64
	Line   int // from 1 in forward reading; within its chunk before that

	Type, ID, Parent, Time, Role []byte

	Header bool // an object of type "session"
	HasID  bool
	Ended  bool // its line ends in a newline
	CR     bool // ... and in a carriage return before that
	BOM    bool

	State SumState
	Sum   entries.Sum // where State is not NoSum
	More  bool

	blanks      int    // empty lines that follow this one
	glued       bool   // follows another object on its line
	invalidUTF8 bool   // in its line; looked for only where asked
	line        []byte // all of its line, without the newline
	lineStart   int64  // where that is in the log
}

// entry tells whether the record takes part in the tree. A version-1 log has no
// ids; its readers give them.
func (r *Record) entry(v1 bool) bool {
	return r.Fault == "" && !r.Header && (r.HasID || v1)
}

// leading reads the fields of a record that the writers put first, and a message's
// role behind them. It reports false where the order or the form is any other; then
// only a walk through the object can tell.
func (r *Record) leading(line []byte) bool {
	rest, ok := r.four(line)
	if !ok {
		return false
	}
	if r.message() {
		role, ok := bytes.CutPrefix(rest, []byte(`,"message":{"role":"`))
		if !ok {
			return false
		}
		if r.Role, rest, ok = cutString(role); !ok || len(r.Role) == 0 {
			return false
		}
	}
	return r.HasID && !escapes(line, rest)
}

// message tells whether the record is a message: only those have a role, whatever
// another type keeps under the name of message.
func (r *Record) message() bool { return string(r.Type) == string(entries.TypeMessage) }

// four reads the four fields that all entries begin with, by comparing bytes, and
// returns what is behind them. The caller rules out escapes.
func (r *Record) four(line []byte) (rest []byte, ok bool) {
	// The compiler compares with short constants in place, which CutPrefix hides.
	if len(line) < 9 || string(line[:9]) != `{"type":"` {
		return nil, false
	}
	if r.Type, rest, ok = cutString(line[9:]); !ok || len(rest) < 7 || string(rest[:7]) != `,"id":"` {
		return nil, false
	}
	if r.ID, rest, ok = cutString(rest[7:]); !ok {
		return nil, false
	}
	if r.Parent, rest, ok = cutParent(rest); !ok || len(rest) < 14 || string(rest[:14]) != `,"timestamp":"` {
		return nil, false
	}
	r.Time, rest, ok = cutString(rest[14:])
	r.HasID = len(r.ID) > 0
	return rest, ok
}

// escapes tells whether there is a backslash in line before rest, which is its end:
// an escaped quote looks like the end of a string.
func escapes(line, rest []byte) bool {
	return bytes.IndexByte(line[:len(line)-len(rest)], '\\') >= 0
}

func cutParent(rest []byte) (parent, after []byte, ok bool) {
	if len(rest) >= 13 && string(rest[:13]) == `,"parentId":"` {
		return cutString(rest[13:])
	}
	after, ok = bytes.CutPrefix(rest, []byte(`,"parentId":null`))
	return nil, after, ok
}

// cutString cuts a string whose opening quote is gone. Where it has escapes it may
// end too early.
func cutString(rest []byte) (s, after []byte, ok bool) {
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return nil, nil, false
	}
	return rest[:end], rest[end+1:], true
}

// stringValue gives what is between the quotes of a JSON string, decoded where it
// has escapes. Other values are no string.
func stringValue(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return nil, false
	}
	return []byte(s), true
}
