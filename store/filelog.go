package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/sessctl/sessctl/internal/durable"
)

// A FileLog is a log in a file. It takes no lock (see sessiontree.Open): what keeps
// writers apart that know nothing of each other is that each looks, before a write
// and after it, whether the file is the one it left, and as long.
type FileLog struct {
	fsys durable.FS
	path string
	f    durable.File
	info fs.FileInfo // of f, to tell whether path still leads to it

	mu     sync.Mutex // held while the file is written
	size   int64      // as this writer left it
	broken error      // why nothing more can be written
	closed bool

	sync syncGroup
}

// OpenFileLog opens the log in the file at path for writing.
func OpenFileLog(path string) (*FileLog, error) { return OpenFileLogIn(durable.OS(), path) }

// OpenFileLogIn is OpenFileLog on another file system, for this module's tests.
func OpenFileLogIn(fsys durable.FS, path string) (*FileLog, error) {
	f, err := durable.OpenAppend(fsys, path, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	if err != nil {
		return nil, err
	}
	l := &FileLog{fsys: fsys, path: path, f: f}
	if l.info, err = f.Stat(); err != nil {
		f.Close()
		return nil, err
	}
	if !l.info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%w: %s", ErrNotALog, path)
	}
	l.size = l.info.Size()
	l.sync.init(l.syncFile)
	return l, nil
}

// CreateFileLog makes a log with its first lines in a new file, 0600, durable on
// return; ErrExists where there is one.
func CreateFileLog(path string, lines []byte) (*FileLog, error) {
	return CreateFileLogIn(durable.OS(), path, lines)
}

// CreateFileLogIn is CreateFileLog on another file system, for this module's tests.
func CreateFileLogIn(fsys durable.FS, path string, lines []byte) (*FileLog, error) {
	err := durable.WriteFile(fsys, path, bytes.NewReader(lines), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: %w", ErrExists, err)
	}
	if err != nil {
		return nil, err
	}
	return OpenFileLogIn(fsys, path)
}

// ReadAt implements Source.
func (l *FileLog) ReadAt(p []byte, off int64) (int, error) { return l.f.ReadAt(p, off) }

// Size implements Source: how long the file is now, whoever wrote it.
func (l *FileLog) Size() (int64, error) { return sizeOf(l) }

// Stat describes the open file, whatever stands at its path by now.
func (l *FileLog) Stat() (fs.FileInfo, error) { return l.f.Stat() }

// Append implements Log.
func (l *FileLog) Append(ctx context.Context, after int64, lines []byte) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return 0, err
	}
	if err := l.unchanged(); err != nil {
		return 0, err
	}
	if after != l.size {
		return l.judgeRetry(after, lines)
	}
	return l.write(lines)
}

func (l *FileLog) usable() error {
	if l.closed {
		return ErrClosed
	}
	return l.broken
}

// unchanged compares what the path leads to with what this writer left.
func (l *FileLog) unchanged() error {
	now, err := l.fsys.Stat(l.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return &ConflictError{After: l.size, Reason: l.path + " was removed"}
		}
		return err
	}
	if !l.fsys.SameFile(now, l.info) {
		return &ConflictError{After: l.size, End: now.Size(), Reason: "another file has the place of " + l.path}
	}
	if now.Size() != l.size {
		return &ConflictError{After: l.size, End: now.Size(), Reason: "another program wrote to " + l.path}
	}
	return nil
}

// judgeRetry answers an append that does not fit the end: if its lines stand where
// they were to go, it was done before.
func (l *FileLog) judgeRetry(after int64, lines []byte) (int64, error) {
	end := after + int64(len(lines))
	if after >= 0 && end <= l.size {
		there := make([]byte, len(lines))
		if _, err := l.f.ReadAt(there, after); err != nil {
			return 0, err
		}
		if bytes.Equal(there, lines) {
			return end, nil
		}
	}
	return 0, &ConflictError{After: after, End: l.size, Reason: "the log has moved on"}
}

// write appends lines in one write, and looks where they went.
func (l *FileLog) write(lines []byte) (int64, error) {
	at, n, err := durable.Append(l.f, lines)
	if err != nil {
		return 0, l.cutBack(n, err)
	}
	if at != l.size {
		// Somebody wrote in the instant between the look and the write. Both
		// writes are whole; which of them counts is for who reads the log.
		l.size = at + int64(n)
		return 0, &ConflictError{After: l.size, End: at, Reason: "another program wrote to " + l.path + " at the same moment"}
	}
	l.size += int64(n)
	return l.size, nil
}

// cutBack undoes a failed write of which n bytes arrived, where the file's size
// shows that nothing but them follows. Otherwise the log has to be opened anew.
func (l *FileLog) cutBack(n int, cause error) error {
	size, err := l.Size()
	if err == nil && size == l.size+int64(n) {
		if n > 0 {
			err = l.shorten(l.size) // or a power cut could bring back what is said to have failed
		}
		if err == nil {
			return fmt.Errorf("cannot write to %s: %w", l.path, cause)
		}
	}
	l.broken = fmt.Errorf("%w: a write to %s failed (%w) and could not be undone; open it anew", ErrUnknown, l.path, cause)
	return l.broken
}

// shorten cuts the file, durably.
func (l *FileLog) shorten(size int64) error {
	if err := l.f.Truncate(size); err != nil {
		return err
	}
	return l.f.Sync()
}

// Sync implements Log.
func (l *FileLog) Sync(ctx context.Context) error {
	l.mu.Lock()
	err, upTo := l.usable(), l.size
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return l.sync.wait(ctx, upTo)
}

// Synced is the offset up to which the log is known to be durable.
func (l *FileLog) Synced() int64 { return l.sync.synced() }

// syncFile makes everything durable that is written by now.
func (l *FileLog) syncFile() (upTo int64, err error) {
	l.mu.Lock()
	upTo = l.size
	l.mu.Unlock()
	if err = l.f.Sync(); err == nil {
		return upTo, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return 0, l.notSynced(err)
}

// notSynced breaks the log for this writer: after a failed fsync the kernel calls
// the pages clean although they were not written, so a second one would succeed and
// prove nothing.
func (l *FileLog) notSynced(cause error) error {
	l.broken = fmt.Errorf("%w: %s could not be synced: %w; open it anew", ErrUnknown, l.path, cause)
	return l.broken
}

// Cut shortens the log to a size and makes that durable. It is for what a crash
// left at the end, under the writer's lock.
func (l *FileLog) Cut(size int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if err := l.unchanged(); err != nil {
		return err
	}
	if err := l.f.Truncate(size); err != nil {
		return err
	}
	l.size = size
	if err := l.f.Sync(); err != nil {
		return l.notSynced(err)
	}
	return nil
}

// Renew writes the bytes from an offset on once more, the same ones, and syncs them.
// It is for a log of which a sync failed: the kernel calls its pages clean although
// they may not be on the disk, and writes them only when they are written to anew.
// As Cut it is under the writer's lock.
func (l *FileLog) Renew(from int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	// The log's own handle only appends.
	f, err := l.fsys.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !l.fsys.SameFile(info, l.info) {
		err = &ConflictError{After: l.size, End: info.Size(), Reason: "another file has the place of " + l.path}
	}
	if err == nil {
		err = rewrite(f, from, l.size)
	}
	return errors.Join(err, f.Close())
}

func rewrite(f durable.File, from, to int64) error {
	b := make([]byte, min(1<<20, max(0, to-from)))
	for at := from; at < to; {
		n, err := f.ReadAt(b[:min(int64(len(b)), to-at)], at)
		if n == 0 {
			return err
		}
		if _, err := f.WriteAt(b[:n], at); err != nil {
			return err
		}
		at += int64(n)
	}
	return f.Sync()
}

// Close implements Source. It does not sync.
func (l *FileLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return l.f.Close()
}
