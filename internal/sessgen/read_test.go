package sessgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
)

// A record holds the fields that the tests look at.
type record struct {
	Type, ID, CustomType string
	ParentID             *string
	Timestamp            string
	FromID               *string
	FirstKeptEntryID     string
	TargetID             string
	More                 bool
	Crc                  string
	Message              struct{ Role string }
	Details              struct {
		Settings *struct {
			ThinkingLevel, Name string
		}
	}
	line []byte
	at   int // among the entries
}

func (r *record) parent() string {
	if r.ParentID == nil {
		return ""
	}
	return *r.ParentID
}

// linesOf splits a log and fails where the last line is not whole.
func linesOf(t *testing.T, log []byte) [][]byte {
	t.Helper()
	if !bytes.HasSuffix(log, []byte("\n")) {
		t.Fatal("no newline at the end")
	}
	return bytes.Split(log[:len(log)-1], []byte("\n"))
}

// readLog parses every line of a sound log and checks what all of them share.
func readLog(t *testing.T, log []byte) []record {
	t.Helper()
	lines := linesOf(t, log)
	entries := make([]record, 0, len(lines))
	for i, line := range lines {
		if !json.Valid(line) {
			t.Fatalf("line %d is not JSON: %.300q", i+1, line)
		}
		r := record{line: line, at: i - 1}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if (r.Type == "session") != (i == 0) {
			t.Fatalf("line %d has type %s", i+1, r.Type)
		}
		entries = append(entries, r)
	}
	return entries[1:]
}

// checkTree fails unless ids are unique and parents precede their children.
func checkTree(t *testing.T, entries []record) map[string]*record {
	t.Helper()
	byID := map[string]*record{}
	for i := range entries {
		e := &entries[i]
		if e.ID == "" || byID[e.ID] != nil {
			t.Fatalf("entry %d: id %q is empty or was used before", i, e.ID)
		}
		if e.ParentID != nil && byID[*e.ParentID] == nil {
			t.Fatalf("entry %d: parent %q is not before it", i, *e.ParentID)
		}
		byID[e.ID] = e
	}
	return byID
}

// slowCRC32C is the textbook loop, bit by bit.
func slowCRC32C(data []byte) uint32 {
	crc := ^uint32(0)
	for _, b := range data {
		crc ^= uint32(b)
		for range 8 {
			crc = crc>>1 ^ 0x82f63b78&-(crc&1)
		}
	}
	return ^crc
}

// checkSums recomputes the sums of native lines that are all sound.
func checkSums(t *testing.T, lines [][]byte) {
	t.Helper()
	before := "00000000"
	for i, line := range lines {
		cut := bytes.LastIndex(line, []byte(`,"crc":"`))
		if cut < 0 {
			t.Fatalf("line %d has no sum", i+1)
		}
		first := fmt.Sprintf("%08x", slowCRC32C(line[:cut]))
		if want := `,"crc":"` + first + before + `"}`; string(line[cut:]) != want {
			t.Fatalf("line %d ends in %s, want %s", i+1, line[cut:], want)
		}
		before = first
	}
}

// checkJSNumber says whether the text is the shortest that reads as the number.
func checkJSNumber(t *testing.T, text string) {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || string(appendNumber(nil, f)) != text {
		t.Errorf("%s is written as %s (%v)", text, appendNumber(nil, f), err)
	}
}
