package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// ArchiveSuffix is what an archive's name has behind the name of its log.
const ArchiveSuffix = ".zst"

// ErrCorrupt is wrapped by errors about archives that are damaged, cut, or not what
// they say they are. They name the frame and its byte offset in the archive.
var ErrCorrupt = errors.New("damaged archive")

// OpenArchive gives the log that is archived in src: a [Source] that reads the bytes
// as they were before, decompressing what is asked for. Closing it closes src, which
// stays open where OpenArchive fails.
//
// What it decompressed last it keeps, at most eight frames and 64 MiB. An archive
// without a seek table (plain zstd) is decompressed once, into a temporary file. The
// sums of an archive are checked wherever it is read.
func OpenArchive(src Source) (Source, error) {
	size, err := src.Size()
	if err != nil {
		return nil, err
	}
	table, err := readTable(src, size)
	if err == errNoTable {
		return unpackStream(src, size)
	}
	if err != nil {
		return nil, err
	}
	if plain, most := table.size(), plainLimit(size); plain > most {
		return nil, fmt.Errorf("%w: its table says that the log is %d bytes, more than %d times the archive", ErrCorrupt, plain, maxRatio)
	}
	return &archive{src: src, table: table}, nil
}

// transparent gives the log in src where that is an archive, by its first bytes or
// by its name, and else src itself. It closes src where it fails.
func transparent(src Source, name string) (Source, error) {
	if !IsArchive(src) && !strings.HasSuffix(name, ArchiveSuffix) {
		return src, nil
	}
	log, err := OpenArchive(src)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return log, nil
}

// IsArchive tells whether a file starts with a zstd frame, which no log does. One
// that cannot be read does not: whoever reads it finds out in turn, and says where.
func IsArchive(file io.ReaderAt) bool {
	var magic [4]byte
	if n, _ := file.ReadAt(magic[:], 0); n < len(magic) {
		return false
	}
	m := binary.LittleEndian.Uint32(magic[:])
	return m == frameMagic || m&^0xf == skippableMagic
}

// An archive is a log in a seekable archive.
type archive struct {
	src    Source
	table  *seekTable
	cache  frameCache
	closed atomic.Bool
}

// Size implements Source.
func (a *archive) Size() (int64, error) {
	if a.closed.Load() {
		return 0, fs.ErrClosed
	}
	return a.table.size(), nil
}

// Close implements Source.
func (a *archive) Close() error {
	a.closed.Store(true)
	a.cache.clear()
	return a.src.Close()
}

// ReadAt implements Source.
func (a *archive) ReadAt(p []byte, off int64) (int, error) {
	size := a.table.size()
	switch {
	case a.closed.Load():
		return 0, fs.ErrClosed
	case off < 0:
		return 0, errors.New("store: negative offset")
	case len(p) == 0:
		return 0, nil
	case off >= size:
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), size-off))
	if done, err := a.readParts(a.parts(p[:n], off)); err != nil {
		return done, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// A part of a read is what one frame has to give.
type part struct {
	frame int
	from  int64 // in the frame's plain bytes
	dst   []byte
	err   error
}

func (a *archive) parts(p []byte, off int64) []part {
	frames := a.table.frames
	// The first that starts behind off; the one before it has the byte at off.
	i := sort.Search(len(frames), func(i int) bool { return frames[i].plain > off })
	var list []part
	for i--; len(p) > 0; i++ {
		n := int(min(frames[i+1].plain-off, int64(len(p))))
		if n > 0 {
			list = append(list, part{frame: i, from: off - frames[i].plain, dst: p[:n:n]})
		}
		p, off = p[n:], off+int64(n)
	}
	return list
}

// readParts fills all parts, several at a time, and tells how many bytes are there
// before the first that failed. A scan reads some eight frames in one call, and
// decompressing them one after the other would be slower than what it does with
// them.
func (a *archive) readParts(parts []part) (done int, err error) {
	workers := min(runtime.GOMAXPROCS(0), len(parts))
	if workers == 1 {
		for i := range parts {
			if err := a.read(&parts[i]); err != nil {
				return done, err
			}
			done += len(parts[i].dst)
		}
		return done, nil
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(parts)); i = next.Add(1) - 1 {
				parts[i].err = a.read(&parts[i])
			}
		})
	}
	wg.Wait()
	for i := range parts {
		if parts[i].err != nil {
			return done, parts[i].err
		}
		done += len(parts[i].dst)
	}
	return done, nil
}

// read fills one part. A frame of which all is wanted is decompressed to where it is
// wanted: it would push what is read at random out of the cache, and is not likely
// to be read again.
func (a *archive) read(p *part) error {
	plain := a.plain(p.frame)
	if int64(len(p.dst)) == plain {
		return a.decode(p.frame, p.dst)
	}
	data, err := a.cache.get(p.frame, plain, func() ([]byte, error) {
		data := make([]byte, plain)
		return data, a.decode(p.frame, data)
	})
	if err == nil {
		copy(p.dst, data[p.from:])
	}
	return err
}

// plain is how many bytes of the log a frame has.
func (a *archive) plain(i int) int64 { return a.table.frames[i+1].plain - a.table.frames[i].plain }

// decoder is one for all archives: what it costs are its buffers. It decodes into
// what it is given and no further.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(2*maxFrame))
	if err != nil {
		panic(err) // the options are constant
	}
	return d
})

// packed are buffers for compressed frames.
var packed = sync.Pool{New: func() any { return new([]byte) }}

// decode decompresses a frame into dst, which has its size by the table.
func (a *archive) decode(i int, dst []byte) error {
	f := a.table.frames[i]
	n := int(a.table.frames[i+1].at - f.at)
	buf := packed.Get().(*[]byte)
	defer packed.Put(buf)
	*buf = slices.Grow((*buf)[:0], n)[:n]
	if err := readFull(a.src, *buf, f.at); err != nil {
		return err
	}
	got, err := decoder().DecodeAll(*buf, dst[:0:len(dst)])
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return corrupt(i, f.at, "it has more than the %d bytes of the log that the seek table says", len(dst))
	case err != nil:
		return corrupt(i, f.at, "%v", err)
	case len(got) != len(dst):
		return corrupt(i, f.at, "it has %d bytes of the log, not the %d that the seek table says", len(got), len(dst))
	}
	if len(got) > 0 && &got[0] != &dst[0] {
		copy(dst, got)
	}
	if a.table.sums && frameSum(*buf, dst) != f.sum {
		return corrupt(i, f.at, "its sum is not that of the seek table")
	}
	return nil
}

// frameSum is the sum of a frame that the table repeats: the lower half of the plain
// bytes' XXH64. A frame that ends in it was checked when it was decoded.
func frameSum(packed, plain []byte) uint32 {
	var h zstd.Header
	if h.Decode(packed) == nil && h.HasCheckSum && h.HasFCS && h.FrameContentSize == uint64(len(plain)) {
		return binary.LittleEndian.Uint32(packed[len(packed)-4:])
	}
	return uint32(xxh64(plain))
}
