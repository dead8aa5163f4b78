package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
)

// numbered gives the lines of all blocks, as readers of transcripts count them.
func numbered(src Source, limit int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		number := 0
		for b, err := range Blocks(src, limit) {
			if err != nil {
				yield(Line{}, err)
				return
			}
			for l := range b.Lines {
				number++
				l.Number = number
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// TestLines: lines longer than a block, empty ones, and a last one without its newline
// come with their places.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 2*forwardBlock+7)
	text := "a\n\n" + long + "\n" + strings.Repeat("b\n", 3) + "end"
	var got []string
	for l, err := range numbered(bytes.NewReader([]byte(text)), int64(len(text))) {
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
		for l, err := range numbered(strings.NewReader(text), int64(len(text))+10) {
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
		for l, err := range numbered(strings.NewReader(text), int64(len(text))) {
			if n++; err != nil || string(l.Bytes) != "0123456" || l.Number != n {
				t.Fatalf("line %d: %q, %v", l.Number, l.Bytes, err)
			}
			if n == most {
				break
			}
		}
	}
}

// TestBlocks: what is looked at is what comes, in order, however many look, and what they
// found comes with it and is there again for another block.
func TestBlocks(t *testing.T) {
	text := strings.Repeat("0123456\n", forwardBlock) + strings.Repeat("x", 2*forwardBlock) + "\nend"
	for _, looking := range []int{0, 1, 3} {
		type found struct{ at, bytes, used int64 }
		var look []func(*Block)
		for range looking {
			look = append(look, func(b *Block) {
				if b.Found == nil {
					b.Found = &found{}
				}
				f := b.Found.(*found)
				*f = found{b.Offset, int64(len(b.Bytes)), f.used + 1}
			})
		}
		at, used := int64(0), int64(0)
		for b, err := range Blocks(strings.NewReader(text), int64(len(text)), look...) {
			if err != nil || b.Offset != at || string(b.Bytes) != text[at:][:len(b.Bytes)] {
				t.Fatalf("%d look: the block at byte %d is not what stands there (%v)", looking, at, err)
			}
			if f, _ := b.Found.(*found); (f != nil) != (looking > 0) || f != nil && (f.at != at || f.bytes != int64(len(b.Bytes))) {
				t.Fatalf("%d look: at byte %d %+v was found", looking, at, f)
			} else if f != nil {
				used = max(used, f.used)
			}
			at += int64(len(b.Bytes))
		}
		if at != int64(len(text)) || looking > 0 && used < 2 {
			t.Errorf("%d look: %d of %d bytes, and what was found is used %d times", looking, at, len(text), used)
		}
	}
}

// TestBlocksGivenUp: looking ends when nobody asks any more, and where the file does not go on.
func TestBlocksGivenUp(t *testing.T) {
	text := strings.Repeat("0123456\n", forwardBlock)
	look := func(*Block) {}
	for b, err := range Blocks(strings.NewReader(text), int64(len(text)), look, look) {
		if err != nil || b.Offset != 0 {
			t.Fatal(b, err)
		}
		break
	}
	var last error
	for _, err := range Blocks(strings.NewReader(text), int64(len(text))+10, look, look) {
		last = err
	}
	if !errors.Is(last, ErrCut) {
		t.Errorf("%v behind the end, want ErrCut", last)
	}
}
