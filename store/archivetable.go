package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The seekable format is that of zstd's contrib/seekable_format, version 0.1.0:
// frames, then a skippable frame with a table of their sizes, whose last bytes say
// how long it is. A decoder that does not know it skips the table.
const (
	frameMagic     = 0xFD2FB528
	skippableMagic = 0x184D2A50 // the lowest four bits are free
	tableMagic     = 0x184D2A5E
	seekableMagic  = 0x8F92EAB1

	frameHeader  = 8 // of a skippable frame: magic and size
	tableFooter  = 9 // number of frames, descriptor, magic
	entrySize    = 8 // compressed and plain size of a frame
	sumSize      = 4
	hasSums      = 1 << 7    // descriptor: every entry has a sum
	reservedBits = 0x1f << 2 // descriptor: not zero in formats to come

	maxFrames = 1 << 27 // as the format says
	// maxFrame is the largest frame that is accepted, plain or compressed: an
	// archive must not decide how much memory its reader takes.
	maxFrame = 64 << 20
)

// A frame is one piece of the log. The frame behind the last one is where the
// table starts, and the log's size.
type frame struct {
	at    int64 // in the archive
	plain int64 // in the log
	sum   uint32
}

// A seekTable tells where the frames are. Its list has one more than there are.
type seekTable struct {
	frames []frame
	sums   bool
}

func (t *seekTable) count() int  { return len(t.frames) - 1 }
func (t *seekTable) size() int64 { return t.frames[t.count()].plain }

// errNoTable is returned for what has no footer, which may be plain zstd.
var errNoTable = errors.New("no seek table")

// readTable reads the table at the end of an archive of size bytes.
func readTable(src io.ReaderAt, size int64) (*seekTable, error) {
	var footer [tableFooter]byte
	if size < frameHeader+tableFooter {
		return nil, errNoTable
	}
	if err := readFull(src, footer[:], size-tableFooter); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(footer[5:]) != seekableMagic {
		return nil, errNoTable
	}
	entry := int64(entrySize)
	if footer[4]&hasSums != 0 {
		entry += sumSize
	}
	n := int64(binary.LittleEndian.Uint32(footer[:]))
	at := size - tableFooter - n*entry - frameHeader
	switch {
	case footer[4]&reservedBits != 0:
		return nil, corrupt(-1, size-tableFooter, "the seek table is of a later format (descriptor %#x)", footer[4])
	case n > maxFrames || at < 0:
		return nil, corrupt(-1, size-tableFooter, "the seek table names %d frames, more than fit into the file", n)
	}
	raw := make([]byte, size-tableFooter-at)
	if err := readFull(src, raw, at); err != nil {
		return nil, err
	}
	return parseTable(raw, at, footer[4]&hasSums != 0)
}

// parseTable reads a table without its footer; at is where it starts.
func parseTable(raw []byte, at int64, sums bool) (*seekTable, error) {
	head, raw := raw[:frameHeader], raw[frameHeader:]
	length := int64(binary.LittleEndian.Uint32(head[4:]))
	if binary.LittleEndian.Uint32(head) != tableMagic || length != int64(len(raw))+tableFooter {
		return nil, corrupt(-1, at, "the seek table does not start where its end says")
	}
	entry := entrySize
	if sums {
		entry += sumSize
	}
	t := &seekTable{frames: make([]frame, 0, len(raw)/entry+1), sums: sums}
	var next frame
	for ; len(raw) > 0; raw = raw[entry:] {
		if sums {
			next.sum = binary.LittleEndian.Uint32(raw[entrySize:])
		}
		t.frames = append(t.frames, next)
		packed, plain := binary.LittleEndian.Uint32(raw), binary.LittleEndian.Uint32(raw[4:])
		if packed == 0 || packed > maxFrame || plain > maxFrame {
			return nil, corrupt(t.count(), next.at, "the seek table says %d bytes for %d of the log; at most %d are accepted", packed, plain, maxFrame)
		}
		next.at += int64(packed)
		next.plain += int64(plain)
	}
	t.frames = append(t.frames, next)
	if next.at != at {
		return nil, corrupt(-1, at, "the seek table's frames have %d bytes, the file %d before the table", next.at, at)
	}
	return t, nil
}

// appendTable appends the table in its skippable frame.
func (t *seekTable) appendTable(b []byte) []byte {
	n := t.count()
	b = binary.LittleEndian.AppendUint32(b, tableMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(n*(entrySize+sumSize)+tableFooter))
	for i, f := range t.frames[:n] {
		next := t.frames[i+1]
		b = binary.LittleEndian.AppendUint32(b, uint32(next.at-f.at))
		b = binary.LittleEndian.AppendUint32(b, uint32(next.plain-f.plain))
		b = binary.LittleEndian.AppendUint32(b, f.sum)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	b = append(b, hasSums)
	return binary.LittleEndian.AppendUint32(b, seekableMagic)
}

// readFull reads exactly p, and says where a file ends that should have more.
func readFull(src io.ReaderAt, p []byte, at int64) error {
	n, err := src.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return fmt.Errorf("%w: it ends at byte %d, not %d", ErrCorrupt, at+int64(n), at+int64(len(p)))
	}
	return err
}

// corrupt makes an error that names the frame, from 0 (-1: none), and the byte
// offset in the archive.
func corrupt(frame int, at int64, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if frame < 0 {
		return fmt.Errorf("%w: at byte %d: %s", ErrCorrupt, at, what)
	}
	return fmt.Errorf("%w: frame %d at byte %d: %s", ErrCorrupt, frame, at, what)
}
