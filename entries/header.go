package entries

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A Header is the first record of a log. It is no part of the tree.
type Header struct {
	ID            string
	Version       int // of pi's format; a header without one is version 1
	Time          time.Time
	Cwd           string
	Title         string // oh-my-pi; empty in other logs
	TitleSource   string
	Format        string   // "sessiontree/N" in native logs
	Records       []string // the optional records that the writer promises to write
	ParentSession string   // a path or a session id
	ParentEntry   ID
	Generator     string

	omp bool
	raw []byte
}

// formatPrefix is what a native header's format starts with.
const formatPrefix = "sessiontree/"

// FormatVersion is the version of the native format that this package writes.
const FormatVersion = 1

// Raw gives the header's bytes as they are in the log. The caller must not change
// them.
func (h Header) Raw() []byte { return h.raw }

// Omp tells whether the header has fields that only oh-my-pi writes.
func (h Header) Omp() bool { return h.omp && !h.Native() }

// Native tells whether the log promises what only native logs have: sums, batches.
func (h Header) Native() bool { return strings.HasPrefix(h.Format, formatPrefix) }

// NativeVersion gives N of "sessiontree/N", and 0 for logs of other programs.
func (h Header) NativeVersion() int {
	if !h.Native() {
		return 0
	}
	n, _ := strconv.Atoi(h.Format[len(formatPrefix):])
	return n
}

// ParseHeader reads a line as a header: an object of type "session" with a string
// id, which is what pi asks of it.
func ParseHeader(line []byte) (Header, error) {
	h := Header{Version: 1, raw: bytes.Clone(line)}
	var kind string
	hasID := false
	err := jsonvalue.Members(h.raw, func(name string, value []byte) {
		switch name {
		case "type":
			kind = jsonvalue.String(value)
		case "id":
			h.ID, hasID = jsonvalue.String(value), value[0] == '"'
		default:
			h.set(name, value)
		}
	})
	if err != nil {
		return Header{}, err
	}
	if kind != string(TypeSession) || !hasID {
		return Header{}, fmt.Errorf("entries: not a session header")
	}
	return h, nil
}

func (h *Header) set(name string, value []byte) {
	switch name {
	case "title", "titleSource", "additionalDirectories", "previousSessionFiles", "providerPromptCacheKey":
		h.omp = true
	}
	switch name {
	case "version":
		h.Version = headerVersion(value)
	case "timestamp":
		h.Time = ParseTime(jsonvalue.String(value))
	case "cwd":
		h.Cwd = jsonvalue.String(value)
	case "title":
		h.Title = jsonvalue.String(value)
	case "titleSource":
		h.TitleSource = jsonvalue.String(value)
	case "format":
		h.Format = jsonvalue.String(value)
	case "records":
		h.Records = nil
		jsonvalue.Elements(value, func(v []byte) { h.Records = append(h.Records, jsonvalue.String(v)) })
	case "parentSession":
		h.ParentSession = jsonvalue.String(value)
	case "parentEntry":
		h.ParentEntry = ID(jsonvalue.String(value))
	case "generator":
		h.Generator = jsonvalue.String(value)
	}
}

// headerVersion reads a version as pi does: missing and null mean 1, and what is
// no number is not less than any version, so nothing is migrated.
func headerVersion(value []byte) int {
	if jsonvalue.Null(value) {
		return 1
	}
	if value[0] == '"' {
		value = []byte(jsonvalue.String(value))
	}
	var f *float64
	if json.Unmarshal(value, &f) != nil || f == nil {
		return 3
	}
	return int(min(max(*f, -1), 1<<30))
}

// Append appends the line of a native header, without its closing brace and sum, to
// dst: see AppendSum. ID and Time have to be set.
func (h Header) Append(dst []byte) []byte {
	b := &builder{}
	b.str("type", string(TypeSession)).num("version", 3).str("id", h.ID)
	b.key("timestamp")
	b.buf = jsonvalue.AppendTime(b.buf, h.Time)
	// titleSource keeps oh-my-pi from rewriting the file for a title of its own.
	b.str("cwd", h.Cwd).str("titleSource", "user").str("format", fmt.Sprintf("%s%d", formatPrefix, FormatVersion))
	b.key("records")
	b.buf = append(b.buf, '[')
	for i, r := range h.Records {
		if i > 0 {
			b.buf = append(b.buf, ',')
		}
		b.buf = jsonvalue.AppendString(b.buf, r)
	}
	b.buf = append(b.buf, ']')
	b.opt("parentSession", h.ParentSession).opt("parentEntry", string(h.ParentEntry)).opt("generator", h.Generator)
	dst = append(dst, '{')
	return append(dst, bytes.TrimPrefix(b.buf, []byte(","))...)
}
