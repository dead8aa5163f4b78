package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/durable"
)

// quiet is how long a log must not have been written to before it is archived: a
// foreign program takes no lock, and may be about to write the next line.
const quiet = 2 * time.Second

// ArchiveFileOptions say how a log becomes an archive and an archive a log. Nil
// stands for the zero value.
type ArchiveFileOptions struct {
	// Keep leaves what was converted in place.
	Keep bool
	// Lock, where set, takes the writer's lock of the log with that path.
	// sessiontree.LockLog is one.
	Lock func(log string) (unlock func() error, err error)
}

// An Archived is a log and its archive.
type Archived struct {
	Path         string // of the log
	Archive      string
	Size         int64 // of the log, in bytes
	ArchivedSize int64 // of the archive, in bytes
}

// ArchiveFile replaces the log in the file at path by an archive beside it, whose
// name has [ArchiveSuffix] behind it. The log goes only when the archive is durable
// and was read back and found equal, byte for byte, and the log is still the file
// that was read. Whenever it is interrupted the log or the archive is whole.
//
// A log that was written to in the last two seconds, or changes meanwhile, is
// ErrConflict. An archive that is there already is never overwritten: it is taken
// where it holds just this log, as one does that an interrupted run left, and else
// fs.ErrExist.
func ArchiveFile(path string, opt *ArchiveFileOptions) (Archived, error) {
	if strings.HasSuffix(path, ArchiveSuffix) {
		return Archived{}, fmt.Errorf("%s is an archive already", path)
	}
	c := newConversion(durable.OS(), path, opt)
	c.from, c.to, c.quietAt = c.log, c.archive, time.Now()
	return c.run()
}

// UnarchiveFile replaces the archive at path by the log in it, byte for byte, with
// the promises of [ArchiveFile]. An archive that is damaged stays, and no log
// appears: the error is ErrCorrupt.
func UnarchiveFile(path string, opt *ArchiveFileOptions) (Archived, error) {
	log, ok := strings.CutSuffix(path, ArchiveSuffix)
	if !ok {
		return Archived{}, fmt.Errorf("%s is no archive: its name does not end in %s", path, ArchiveSuffix)
	}
	c := newConversion(durable.OS(), log, opt)
	c.from, c.to = c.archive, c.log
	return c.run()
}

// A conversion makes the file to from the file from.
type conversion struct {
	fsys         durable.FS
	log, archive string
	from, to     string
	quietAt      time.Time // where set, from must not have been written to just before
	opt          ArchiveFileOptions

	before fs.FileInfo // of from
	done   Archived
}

func newConversion(fsys durable.FS, log string, opt *ArchiveFileOptions) *conversion {
	c := &conversion{fsys: fsys, log: log, archive: log + ArchiveSuffix}
	if opt != nil {
		c.opt = *opt
	}
	c.done = Archived{Path: c.log, Archive: c.archive}
	return c
}

func (c *conversion) run() (done Archived, err error) {
	if c.opt.Lock != nil {
		unlock, lockErr := c.opt.Lock(c.log)
		if lockErr != nil {
			return Archived{}, lockErr
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	if err := c.look(); err != nil {
		return Archived{}, err
	}
	made, err := c.convert()
	// Whatever else went wrong with a file that changed went wrong because of that.
	if changed := c.unchanged(); err == nil || errors.Is(changed, ErrConflict) {
		err = changed
	}
	if err != nil {
		if made {
			err = errors.Join(err, c.remove(c.to))
		}
		return Archived{}, err
	}
	if !c.opt.Keep {
		err = c.remove(c.from)
	}
	return c.done, err
}

// look remembers what is to be converted. A symbolic link is refused: what it leads
// to would stay.
func (c *conversion) look() (err error) {
	if c.before, err = c.fsys.Lstat(c.from); err != nil {
		return err
	}
	if !c.before.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no regular file", ErrNotALog, c.from)
	}
	if age := c.quietAt.Sub(c.before.ModTime()); !c.quietAt.IsZero() && age.Abs() < quiet {
		return fmt.Errorf("%s was written to less than %v ago: %w; try again", c.from, quiet, ErrConflict)
	}
	return nil
}

// convert makes the file, or takes the one that is there, and checks it. made tells
// that it is this conversion's, which may remove it.
func (c *conversion) convert() (made bool, err error) {
	opened, src, err := c.open(c.from)
	if err != nil {
		return false, fmt.Errorf("%s: %w", c.from, err)
	}
	defer src.Close()
	if !c.fsys.SameFile(opened, c.before) {
		return false, c.changed()
	}
	if _, err := c.fsys.Lstat(c.to); err == nil {
		if err := c.compare(src, false); err != nil {
			return false, err
		}
		return false, c.settle()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := c.publish(src); err != nil {
		return false, err
	}
	return true, c.compare(src, true)
}

// open describes a file, and gives the log that it is or that it holds.
func (c *conversion) open(name string) (info fs.FileInfo, log Source, err error) {
	f, err := c.fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	log = openFile{f}
	if info, err = f.Stat(); err == nil && name == c.archive {
		log, err = OpenArchive(log)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return info, log, nil
}

// An openFile is a Source on any file system.
type openFile struct{ durable.File }

func (f openFile) Size() (int64, error) { return sizeOf(f) }

// publish writes the new file.
func (c *conversion) publish(src Source) error {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.CloseWithError(c.encode(w, src))
	}()
	err := durable.WriteFile(c.fsys, c.to, r, 0o600)
	r.Close()
	<-done // it reads src, which the caller closes
	return err
}

func (c *conversion) encode(w io.Writer, src Source) error {
	if c.to == c.archive {
		return CreateArchive(w, src, nil)
	}
	size, err := src.Size()
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(w, io.NewSectionReader(src, 0, size), make([]byte, compareBlock))
	return err
}

// compare reads the new file back and compares it with what it was made from.
func (c *conversion) compare(src Source, made bool) error {
	_, got, err := c.open(c.to)
	if err == nil {
		c.done.Size, err = equal(got, src)
		err = errors.Join(err, got.Close())
	}
	switch {
	case err == nil:
		return c.measure()
	case !made && (errors.Is(err, errDiffers) || errors.Is(err, ErrCorrupt)):
		return fmt.Errorf("%s does not hold the same as %s (%v); both stay: %w", c.to, c.from, err, fs.ErrExist)
	}
	return fmt.Errorf("%s, read back: %w", c.to, err)
}

func (c *conversion) measure() error {
	info, err := c.fsys.Lstat(c.archive)
	if err == nil {
		c.done.ArchivedSize = info.Size()
	}
	return err
}

const compareBlock = 1 << 20

var errDiffers = errors.New("not the same bytes")

// equal compares two logs and gives their size.
func equal(a, b Source) (int64, error) {
	size, err := a.Size()
	if err != nil {
		return 0, err
	}
	if other, err := b.Size(); err != nil || other != size {
		return 0, errors.Join(fmt.Errorf("%w: %d bytes and %d", errDiffers, size, other), err)
	}
	p, q := make([]byte, compareBlock), make([]byte, compareBlock)
	for at := int64(0); at < size; at += compareBlock {
		n := min(compareBlock, size-at)
		if err := errors.Join(readBlock(a, p[:n], at), readBlock(b, q[:n], at)); err != nil {
			return 0, err
		}
		if !bytes.Equal(p[:n], q[:n]) {
			return 0, fmt.Errorf("%w between byte %d and %d", errDiffers, at, at+n)
		}
	}
	return size, nil
}

func readBlock(s Source, p []byte, at int64) error {
	n, err := s.ReadAt(p, at)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return fmt.Errorf("%w: one ends at byte %d", errDiffers, at+int64(n))
	}
	return err
}

// settle makes a file durable that somebody else left.
func (c *conversion) settle() error {
	f, err := c.fsys.OpenFile(c.to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return c.fsys.SyncDir(filepath.Dir(c.to))
}

// unchanged checks that nobody wrote to what was converted, or replaced it.
func (c *conversion) unchanged() error {
	now, err := c.fsys.Lstat(c.from)
	if err != nil {
		return err
	}
	if !c.fsys.SameFile(now, c.before) || now.Size() != c.before.Size() || !now.ModTime().Equal(c.before.ModTime()) {
		return c.changed()
	}
	return nil
}

func (c *conversion) changed() error {
	return fmt.Errorf("%s was changed meanwhile: %w", c.from, ErrConflict)
}

func (c *conversion) remove(name string) error {
	if err := c.fsys.Remove(name); err != nil {
		return err
	}
	return c.fsys.SyncDir(filepath.Dir(name))
}
