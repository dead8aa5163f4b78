package store

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// frameSize is how much of the log a frame holds. A random entry costs one frame;
// larger frames compress little better (1 MiB: 4 %), smaller ones noticeably worse.
const frameSize = 256 << 10

// ArchiveOptions say how an archive is written. Nil stands for the zero value.
type ArchiveOptions struct {
	// FrameSize is about how many bytes of the log a frame holds, and at most; 0
	// stands for 256 KiB, and no more than 64 MiB are taken.
	FrameSize int
}

// CreateArchive writes the log in src to w, as long as it is when CreateArchive is
// called, in the seekable zstd format: independent frames that end where lines end
// (a line that does not fit into a frame is cut), each with a sum, and a table of
// them. `zstd -d` gives the log back byte for byte.
func CreateArchive(w io.Writer, src Source, opt *ArchiveOptions) error {
	a := &archiver{w: w, src: src, frame: frameSize, table: seekTable{frames: make([]frame, 1), sums: true}}
	if opt != nil && opt.FrameSize > 0 {
		a.frame = min(opt.FrameSize, maxFrame)
	}
	size, err := src.Size()
	if err != nil {
		return err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(true), zstd.WithZeroFrames(true))
	if err != nil {
		return err
	}
	defer enc.Close()
	a.enc = enc
	if err := a.run(size); err != nil {
		return fmt.Errorf("store: cannot archive: %w", err)
	}
	_, err = w.Write(a.table.appendTable(nil))
	return err
}

type archiver struct {
	w     io.Writer
	src   Source
	enc   *zstd.Encoder
	frame int
	table seekTable
}

// run writes all frames. Some are compressed at a time, one a processor.
func (a *archiver) run(size int64) error {
	batch := make([]piece, runtime.GOMAXPROCS(0))
	for off := int64(0); off < size; {
		n := 0
		for ; n < len(batch) && off < size; n++ {
			if err := a.cut(&batch[n], off, size); err != nil {
				return err
			}
			off += int64(len(batch[n].plain))
		}
		if err := a.write(batch[:n]); err != nil {
			return err
		}
	}
	return nil
}

// A piece is a frame on its way. Its buffers are used again.
type piece struct {
	buf           []byte
	plain, packed []byte
}

// cut takes the next frame's bytes: as many lines as fit, else a part of one.
func (a *archiver) cut(p *piece, off, size int64) error {
	if p.buf == nil {
		p.buf = make([]byte, a.frame)
	}
	p.plain = p.buf[:min(int64(a.frame), size-off)]
	n, err := a.src.ReadAt(p.plain, off)
	if n < len(p.plain) {
		if err == io.EOF {
			return fmt.Errorf("the log ends at byte %d, not %d: %w", off+int64(n), size, io.ErrUnexpectedEOF)
		}
		return err
	}
	if off+int64(n) < size {
		if end := bytes.LastIndexByte(p.plain, '\n') + 1; end > 0 {
			p.plain = p.plain[:end]
		}
	}
	return nil
}

// write compresses pieces and writes them in their order.
func (a *archiver) write(batch []piece) error {
	var wg sync.WaitGroup
	for i := range batch {
		wg.Go(func() { batch[i].packed = a.enc.EncodeAll(batch[i].plain, batch[i].packed[:0]) })
	}
	wg.Wait()
	for _, p := range batch {
		if len(a.table.frames) > maxFrames {
			return fmt.Errorf("the log has more than %d frames; take larger ones", maxFrames)
		}
		last := &a.table.frames[a.table.count()]
		last.sum = frameSum(p.packed, p.plain)
		a.table.frames = append(a.table.frames, frame{at: last.at + int64(len(p.packed)), plain: last.plain + int64(len(p.plain))})
		if _, err := a.w.Write(p.packed); err != nil {
			return err
		}
	}
	return nil
}
