// Package lock lets one process write a log at a time, by a kernel lock on a file
// beside it. Call [Acquire].
//
// The lock is the kernel's: it goes with the process that holds it, however that
// ends. A lock file that merely exists means nothing. It is never removed: a
// process that opened it before the removal and one that made it anew would both
// hold "the" lock. What stands in it tells others who holds the lock, and the next
// holder how the last one ended.
package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sessctl/sessctl/internal/durable"
)

// An Info is what a lock file says, in JSON.
type Info struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Boot  string    `json:"boot"` // the machine's start, by Boot; "" where that is not known
	Since time.Time `json:"since"`
	// Synced is the offset up to which the log was known to be durable.
	Synced int64 `json:"synced"`
	// Clean tells that the holder closed the log in order, with everything durable.
	Clean bool `json:"clean"`
	// Failed tells that a sync failed: what lies behind Synced can be read, and may
	// not be on the disk all the same.
	Failed bool `json:"failed,omitempty"`
}

// A HeldError tells who holds the lock.
type HeldError struct {
	Path   string
	Holder Info // zero where the file does not say
}

func (e *HeldError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Path)
	}
	return fmt.Sprintf("%s is locked by process %d on %s since %s",
		e.Path, e.Holder.PID, e.Holder.Host, e.Holder.Since.Format(time.RFC3339))
}

// A Lock is held until Release.
type Lock struct {
	f    durable.File
	boot string // the machine's start
	info Info
}

// errHeld is what the system's lock call returns where another one holds the lock.
var errHeld = errors.New("held")

// Acquire takes the lock of the file at path, which is made where it is missing,
// and gives what the last holder left there. It does not wait: where the lock is
// held it returns a *HeldError.
func Acquire(path string) (l *Lock, before Info, err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, before, err
	}
	err = tryLock(f)
	if errors.Is(err, errHeld) {
		before = read(f) // it names the holder
		f.Close()
		return nil, before, &HeldError{path, before}
	}
	if err == nil {
		err = f.Chmod(0o600) // whatever the umask left
	}
	if err != nil {
		f.Close()
		return nil, before, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	boot, _ := Boot()
	return take(durable.OS(), f, path, boot)
}

// openLock opens a lock file also where somebody may read it only, such as one that
// was made under a strange umask by a process that died: that it is there means nothing.
func openLock(path string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | noFollow
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrPermission) && readable(path) == nil {
		f, err = os.OpenFile(path, flags&^os.O_CREATE, 0)
	}
	if err != nil {
		return nil, err
	}
	// A link that somebody put here must not make us write into its target.
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file, so it cannot be a lock file; move it away", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readable gives a lock file back the mode that a umask took.
func readable(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrPermission
	}
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	return err
}

// AcquireIn is Acquire on another file system and in another start of the machine,
// for this module's tests. There is no kernel lock in it.
func AcquireIn(fsys durable.FS, path, boot string) (*Lock, Info, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Info{}, err
	}
	return take(fsys, f, path, boot)
}

// take reads what the last holder left and writes down the new one. Until Settled
// it goes by the start of the machine of a holder that did not end, so that what that
// one left is judged by the next if this one dies meanwhile.
func take(fsys durable.FS, f durable.File, path, boot string) (l *Lock, before Info, err error) {
	before = read(f)
	l = &Lock{f: f, boot: boot, info: Info{PID: os.Getpid(), Boot: boot, Since: time.Now().UTC(), Failed: before.Failed}}
	l.info.Host, _ = os.Hostname()
	if before.PID != 0 && !before.Clean {
		l.info.Boot = before.Boot
	}
	err = l.Update(before.Synced, false)
	if err == nil && before == (Info{}) {
		err = fsys.SyncDir(filepath.Dir(path)) // the file may be new
	}
	if err != nil {
		f.Close()
		return nil, before, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	return l, before, nil
}

// read gives what the file says; anything that is not JSON says nothing.
func read(f io.ReaderAt) (info Info) {
	const most = 4 << 10
	b, err := io.ReadAll(io.NewSectionReader(f, 0, most))
	if err != nil || json.Unmarshal(b, &info) != nil {
		return Info{}
	}
	return info
}

// Settled tells that what the last holder left was judged and mended, and how far
// the log is durable now. That is durable itself on return: after a crash of the
// machine the next holder has to know that this one did not end, and what is its.
func (l *Lock) Settled(synced int64) error {
	l.info.Boot, l.info.Failed = l.boot, false
	if err := l.Update(synced, false); err != nil {
		return err
	}
	return l.f.Sync()
}

// Fail tells that a sync failed, and up to where an earlier one did not.
func (l *Lock) Fail(synced int64) error {
	l.info.Failed = true
	return l.Update(synced, false)
}

// Update writes down how far the log is durable, and whether it was closed. It is
// not synced: what the next holder reads may be older, which only makes that one more
// careful.
func (l *Lock) Update(synced int64, clean bool) error {
	l.info.Synced, l.info.Clean = synced, clean && !l.info.Failed
	b, err := json.Marshal(l.info)
	if err != nil {
		return err
	}
	// Always of one size, in one sector: a crash leaves one version or the other.
	const size = 512
	b = append(append(b, bytes.Repeat([]byte(" "), max(0, size-1-len(b)))...), '\n')
	if _, err := l.f.WriteAt(b, 0); err != nil {
		return err
	}
	return l.f.Truncate(int64(len(b)))
}

// Release gives the lock up. The file stays.
func (l *Lock) Release() error { return l.f.Close() }
