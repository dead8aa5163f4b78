package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestLines: lines longer than a block, empty ones, and a last one without its newline
// come with their places.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 2*forwardBlock+7)
	text := "a\n\n" + long + "\n" + strings.Repeat("b\n", 3) + "end"
	var got []string
	for l, err := range Lines(bytes.NewReader([]byte(text)), int64(len(text))) {
		if err != nil {
			t.Fatal(err)
		}
		if want := text[l.Offset:][:len(l.Bytes)]; string(l.Bytes) != want {
			t.Errorf("line %d is not what stands at byte %d", l.Number, l.Offset)
		}
		got = append(got, fmt.Sprint(l.Number, len(l.Bytes), l.Ended))
	}
	want := fmt.Sprintf("[1 1 true 2 0 true 3 %d true 4 1 true 5 1 true 6 1 true 7 3 false]", len(long))
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestLinesOfACutFile: what is not there any more is an error, not an end.
func TestLinesOfACutFile(t *testing.T) {
	for _, text := range []string{"a\nb", strings.Repeat("0123456\n", forwardBlock/2)} {
		last, n := error(nil), 0
		for l, err := range Lines(strings.NewReader(text), int64(len(text))+10) {
			if last = err; err == nil {
				n += len(l.Bytes)
			}
		}
		if !errors.Is(last, ErrCut) {
			t.Errorf("after %d of %d bytes: %v, want ErrCut", n, len(text), last)
		}
	}
}

// TestLinesGivenUp: who has seen enough of a large file stops reading it.
func TestLinesGivenUp(t *testing.T) {
	text := strings.Repeat("0123456\n", forwardBlock)
	for _, most := range []int{1, forwardBlock / 4, forwardBlock - 1} {
		n := 0
		for l, err := range Lines(strings.NewReader(text), int64(len(text))) {
			if n++; err != nil || string(l.Bytes) != "0123456" || l.Number != n {
				t.Fatalf("line %d: %q, %v", l.Number, l.Bytes, err)
			}
			if n == most {
				break
			}
		}
	}
}
