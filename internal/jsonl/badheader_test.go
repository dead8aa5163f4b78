package jsonl

import (
	"bytes"
	"testing"
)

// TestHeaderWithoutID: what kind of log this is is told by its first entry, not by
// a header that lacks its id.
func TestHeaderWithoutID(t *testing.T) {
	log := []byte(`{"type":"session","version":3}` + "\n" +
		`{"type":"custom","id":"a","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","customType":"x"}` + "\n")
	head, err := ReadHead(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	if head.Found || head.Other || head.V1 {
		t.Errorf("got found %v, other %v, version 1 %v, want all false", head.Found, head.Other, head.V1)
	}
}
