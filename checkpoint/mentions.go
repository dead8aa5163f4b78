package checkpoint

import (
	"bytes"
	"io"
)

// mentions are the sums that stand in some bytes, whatever these are.
type mentions struct {
	sums  map[string]bool
	lists map[string]bool // those of lists of files, which have more
}

// sumLength is that of a SHA-256 in hex.
const sumLength = 64

// listKey is what stands before the sum of a list in a record.
var listKey = []byte(`"list":"`)

// read goes through a stream. Pieces overlap, so that no sum is cut in two.
func (m *mentions) read(r io.Reader) error {
	const piece = 1 << 20
	overlap := len(listKey) + sumLength
	buf := make([]byte, 0, piece+overlap)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		m.see(buf)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
		buf = buf[:copy(buf[:overlap], buf[len(buf)-overlap:])]
	}
}

// see finds runs of hex digits that are long enough.
func (m *mentions) see(b []byte) {
	run := 0
	for i, c := range b {
		if '0' <= c && c <= '9' || 'a' <= c && c <= 'f' {
			if run++; run >= sumLength {
				m.add(b, i+1-sumLength)
			}
		} else {
			run = 0
		}
	}
}

func (m *mentions) add(b []byte, at int) {
	sum := string(b[at : at+sumLength])
	m.sums[sum] = true
	if bytes.HasSuffix(b[:at], listKey) {
		m.lists[sum] = true
	}
}
