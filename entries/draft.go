package entries

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// ErrDraft is wrapped by the errors of drafts that cannot become entries.
var ErrDraft = errors.New("entries: not a draft of an entry")

// A Draft is an entry that is not in a log yet: a type and the fields behind the
// envelope. Its parent and, unless it has one, its id and its time are given when
// it is appended. Drafts are values; the functions that make them encode at once,
// so that appending is quick. A draft that is wrong says so when it is appended.
type Draft struct {
	kind   Type
	id     ID
	time   time.Time
	fields []byte // `,"name":value` for each
	custom string // the customType
	err    error
}

// WithID gives the draft an id that was reserved before. Appending it a second time
// is then no second entry.
func (d Draft) WithID(id ID) Draft {
	d.id = id
	if !utf8.ValidString(string(id)) { // JSON could not give it back
		d.err = errors.Join(d.err, fmt.Errorf("%w: its id %q is no UTF-8", ErrDraft, id))
	}
	return d
}

// WithTime gives the entry a timestamp other than the moment of its appending.
func (d Draft) WithTime(t time.Time) Draft {
	d.time = t
	if y := t.UTC().Year(); y < 0 || y > 9999 { // RFC 3339 has no others
		d.err = errors.Join(d.err, fmt.Errorf("%w: the year %d has no timestamp", ErrDraft, y))
	}
	return d
}

// ID is the draft's id, "" where it gets one when it is appended.
func (d Draft) ID() ID { return d.id }

// Type is the type of the entry.
func (d Draft) Type() Type { return d.kind }

// Err tells why the draft cannot be appended, nil where it can.
func (d Draft) Err() error {
	if d.err == nil && d.kind == "" {
		return fmt.Errorf("%w: it has no type", ErrDraft)
	}
	return d.err
}

// Append appends the entry's line, without its closing brace and sum, to dst: see
// AppendSum. now stands for the time of a draft without one.
func (d Draft) Append(dst []byte, id, parent ID, now time.Time) []byte {
	dst = jsonvalue.AppendString(append(dst, `{"type":`...), string(d.kind))
	dst = jsonvalue.AppendString(append(dst, `,"id":`...), string(id))
	dst = append(dst, `,"parentId":`...)
	if parent == "" {
		dst = append(dst, "null"...)
	} else {
		dst = jsonvalue.AppendString(dst, string(parent))
	}
	if !d.time.IsZero() {
		now = d.time
	}
	dst = jsonvalue.AppendTime(append(dst, `,"timestamp":`...), now)
	return append(dst, d.fields...)
}

// A builder collects the fields of a draft.
type builder struct {
	buf []byte
	err error
}

func (b *builder) key(name string) {
	b.buf = jsonvalue.AppendString(append(b.buf, ','), name)
	b.buf = append(b.buf, ':')
}

func (b *builder) str(name, value string) *builder {
	b.key(name)
	b.buf = jsonvalue.AppendString(b.buf, value)
	return b
}

// opt is str for a field that is left out where it is empty.
func (b *builder) opt(name, value string) *builder {
	if value != "" {
		b.str(name, value)
	}
	return b
}

func (b *builder) num(name string, value float64) *builder {
	b.key(name)
	b.buf = jsonvalue.AppendNumber(b.buf, value)
	return b
}

func (b *builder) boolean(name string, value bool) *builder {
	b.key(name)
	b.buf = fmt.Appendf(b.buf, "%t", value)
	return b
}

// raw takes JSON as it is, without the white space around its tokens; nil leaves
// the field out.
func (b *builder) raw(name string, value json.RawMessage) *builder {
	if value == nil {
		return b
	}
	if err := jsonvalue.Check(value); err != nil {
		b.err = errors.Join(b.err, fmt.Errorf("%w: field %s: %w", ErrDraft, name, err))
		return b
	}
	b.key(name)
	b.buf = jsonvalue.Compact(b.buf, value)
	return b
}

func (b *builder) draft(kind Type) Draft { return Draft{kind: kind, fields: b.buf, err: b.err} }

// message is a message entry of what was built.
func (b *builder) message() Draft {
	d := MessageDraft(b.object())
	if b.err != nil {
		d.err = b.err
	}
	return d
}

// object closes what was built as an object of its own.
func (b *builder) object() json.RawMessage {
	return append(append([]byte{'{'}, bytes.TrimPrefix(b.buf, []byte(","))...), '}')
}

// Raw is a draft of any type from a JSON object with its fields. type, id,
// timestamp and the fields are taken from it (id and timestamp may be missing,
// parentId is not looked at); a field `more` or `crc` is refused, since they are
// the log's. Nothing but white space between tokens is changed.
func Raw(object json.RawMessage) Draft {
	d := Draft{}
	seen := map[string]int{}
	doubled := ""
	err := jsonvalue.Spans(object, func(key []byte, at, end int) {
		name := jsonvalue.Unquote(key)
		if seen[name]++; seen[name] > 1 {
			doubled = name
		}
		d.take(name, key, object[at:end])
	})
	switch {
	case err != nil:
		d.err = fmt.Errorf("%w: %w", ErrDraft, err)
	case doubled != "" || seen[""] > 1:
		d.err = fmt.Errorf("%w: it has the field %q twice", ErrDraft, doubled)
	case d.kind == "" || d.kind == TypeSession:
		d.err = fmt.Errorf("%w: its type is %q", ErrDraft, d.kind)
	case seen["crc"]+seen["more"] > 0:
		d.err = fmt.Errorf("%w: the fields crc and more are the log's", ErrDraft)
	}
	return d
}

func (d *Draft) take(name string, key, value []byte) {
	switch name {
	case "type":
		d.kind = Type(jsonvalue.String(value))
	case "id":
		d.id = ID(jsonvalue.String(value))
	case "timestamp":
		d.time = ParseTime(jsonvalue.String(value))
	case "parentId":
	default:
		if name == "customType" {
			d.custom = jsonvalue.String(value)
		}
		d.fields = append(append(append(d.fields, `,"`...), key...), `":`...)
		d.fields = jsonvalue.Compact(d.fields, value)
	}
}

// Irrevocable tells whether the entry precedes something that cannot be taken back
// (a tool that runs, a file that is restored), or tells of a rewind: it is made
// durable in every sync mode.
func (d Draft) Irrevocable() bool {
	switch d.kind {
	case TypeBranchSummary:
		return true
	case TypeCustom:
		switch d.custom {
		case CustomToolExecutionStart, CustomCheckpointState, CustomFileSnapshot, CustomFileRestore:
			return true
		}
	}
	return false
}

// Migrated is a draft of a version-1 record, which has no id and no parent: all of
// its fields as they are, but for what version 3 says otherwise: a custom message's
// role, and the entry that a compaction keeps first, which version 1 names by its
// position; firstKept translates it, with "" for a position that is none.
func Migrated(raw json.RawMessage, firstKept func(index int) ID) Draft {
	d := Draft{}
	err := jsonvalue.Spans(raw, func(key []byte, at, end int) {
		value := raw[at:end]
		switch name := jsonvalue.Unquote(key); {
		case name == "id":
		case name == "firstKeptEntryIndex" && d.kind == TypeCompaction:
			if id := firstKept(int(jsonvalue.Number(value))); id != "" {
				b := (&builder{}).str("firstKeptEntryId", string(id))
				d.fields = append(d.fields, b.buf...)
			}
		case name == "message":
			d.fields = append(append(d.fields, `,"message":`...), modernMessage(value)...)
		default:
			d.take(name, key, value)
		}
	})
	if err != nil {
		d.err = fmt.Errorf("%w: %w", ErrDraft, err)
	}
	return d
}

// modernMessage gives a message with the role that version 3 has for hookMessage.
func modernMessage(message []byte) []byte {
	const old, now = `"hookMessage"`, `"custom"`
	out := message
	_ = jsonvalue.Spans(message, func(key []byte, at, end int) {
		if jsonvalue.Unquote(key) == "role" && string(message[at:end]) == old {
			out = append(append(bytes.Clone(message[:at]), now...), message[end:]...)
		}
	})
	return jsonvalue.Compact(nil, out)
}
