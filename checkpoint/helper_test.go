package checkpoint

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

// testEntry is an entry whose body a test does not look at.
func testEntry(*testing.T, []byte) entries.Entry { return entries.Entry{ID: "x"} }

// withSum ends the bytes of an index as its file does.
func withSum(data []byte) []byte {
	data = bytes.Clone(data)
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// TestMentionsAcrossPieces: streams are read in pieces, and a sum may lie across two.
func TestMentionsAcrossPieces(t *testing.T) {
	const piece = 1 << 20
	sum := sumOf([]byte("x"))
	for at := piece - 100; at < piece+100; at += 9 {
		data := strings.Repeat(" ", at) + string(listKey) + sum + strings.Repeat(" ", 2*piece)
		m := &mentions{sums: map[string]bool{}, lists: map[string]bool{}}
		if err := m.read(strings.NewReader(data)); err != nil || !m.lists[sum] || len(m.sums) != 1 {
			t.Fatalf("at %d: %v %v", at, m, err)
		}
	}
}
