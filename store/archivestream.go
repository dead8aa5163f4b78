package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxWindow is what `zstd --long` needs; larger windows are refused.
	maxWindow = 128 << 20
	// maxRatio bounds how much larger than its archive a log may be: without a seek
	// table it is written to a temporary file before anything is known of it, and
	// with one a few copied frames could stand for a log that nobody can read. zstd reaches 30,000 with nothing but zeros, real logs reach 50. Up to
	// freeRatio nothing is asked.
	maxRatio  = 1000
	freeRatio = 64 << 20
)

// plainLimit is the largest log that an archive of size bytes may have.
func plainLimit(size int64) int64 { return max(size, freeRatio/maxRatio) * maxRatio }

// unpackStream decompresses an archive of size bytes from its beginning to its end.
func unpackStream(src Source, size int64) (Source, error) {
	in := &faults{r: io.NewSectionReader(src, 0, size)}
	if size == 0 {
		return nil, in.explain(errors.New("the file is empty"), 0)
	}
	dec, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, in.explain(err, 0)
	}
	defer dec.Close()
	u := &unpacking{dec: dec, in: in, limit: plainLimit(size)}
	log, err := spool(u)
	if u.err != nil {
		return nil, u.err // and not that of a stream that could not be kept
	}
	if err != nil {
		return nil, err
	}
	if err := src.Close(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// faults remembers an error of the archive's file, which is no damage of the
// archive, and how far it was read.
type faults struct {
	r   io.Reader
	at  int64
	err error
}

func (f *faults) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	f.at += int64(n)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// explain tells an archive that is damaged from a file that cannot be read. done is
// how much of the log was there.
func (f *faults) explain(err error, done int64) error {
	if f.err != nil {
		return f.err
	}
	return fmt.Errorf("%w: no seek table, and behind byte %d of the log, before byte %d of the archive: %v", ErrCorrupt, done, f.at, err)
}

// unpacking is a log as it comes out of the decompressor.
type unpacking struct {
	dec   *zstd.Decoder
	in    *faults
	done  int64
	limit int64
	err   error
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.dec.Read(p)
	u.done += int64(n)
	switch {
	case u.done > u.limit:
		u.err = u.in.explain(fmt.Errorf("over %d times as large as its archive; decompress it with zstd if it is to be trusted", maxRatio), u.done)
	case err != nil && err != io.EOF:
		u.err = u.in.explain(err, u.done)
	default:
		return n, err
	}
	return n, u.err
}
