package peers

import (
	"bytes"
	"encoding/json"
	"iter"
	"os"
	"regexp"
	"testing"
)

var sum = regexp.MustCompile(`,"crc":"[0-9a-f]{16}"}$`)

// logLines gives the lines of a log with their offsets and without their sums. It
// does not use this project's reader: that is what is being tested.
func logLines(t *testing.T, file string) iter.Seq2[int64, []byte] {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(int64, []byte) bool) {
		offset := int64(0)
		for line := range bytes.Lines(data) {
			if !yield(offset, sum.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte("}"))) {
				return
			}
			offset += int64(len(line))
		}
	}
}

// entryID reads a line as an entry; ok is false where it is none.
func entryID(line []byte) (id string, ok bool) {
	var e struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	if json.Unmarshal(line, &e) != nil || e.Type == "session" || e.ID == "" {
		return "", false
	}
	return e.ID, true
}

func parentID(line []byte) string {
	var e struct {
		Parent string `json:"parentId"`
	}
	if json.Unmarshal(line, &e) != nil {
		return ""
	}
	return e.Parent
}
