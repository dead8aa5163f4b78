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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// An Info is what a lock file says, in JSON.
type Info struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Boot  string    `json:"boot"` // the machine's start, by Boot; "" where that is not known
	Since time.Time `json:"since"`
	// Synced is the offset up to which the log was known to be durable.
	Synced int64 `json:"synced"`
	// Clean tells that the holder closed the log in order.
	Clean bool `json:"clean"`
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
	f    *os.File
	info Info
}

// errHeld is what the system's lock call returns where another one holds the lock.
var errHeld = errors.New("held")

// Acquire takes the lock of the file at path, which is made where it is missing,
// and gives what the last holder left there. It does not wait: where the lock is
// held it returns a *HeldError.
func Acquire(path string) (l *Lock, before Info, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, before, err
	}
	err = tryLock(f)
	before = read(f) // also where it is held: then it names the holder
	if errors.Is(err, errHeld) {
		f.Close()
		return nil, before, &HeldError{path, before}
	}
	if err == nil {
		err = f.Chmod(0o600) // whatever the umask left
	}
	l = &Lock{f: f, info: Info{PID: os.Getpid(), Since: time.Now().UTC()}}
	if err == nil {
		l.info.Host, _ = os.Hostname()
		l.info.Boot, _ = Boot()
		err = l.Update(before.Synced, false)
	}
	if err != nil {
		f.Close()
		return nil, before, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	return l, before, nil
}

// read gives what the file says; anything that is not JSON says nothing.
func read(f *os.File) (info Info) {
	const most = 4 << 10
	b, err := io.ReadAll(io.NewSectionReader(f, 0, most))
	if err != nil || json.Unmarshal(b, &info) != nil {
		return Info{}
	}
	return info
}

// Update writes down how far the log is durable, and whether it was closed. It is
// a help for the next holder and not synced: what it says may be older than the
// truth, which only makes the next one more careful.
func (l *Lock) Update(synced int64, clean bool) error {
	l.info.Synced, l.info.Clean = synced, clean
	b, err := json.Marshal(l.info)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if _, err := l.f.WriteAt(b, 0); err != nil {
		return err
	}
	return l.f.Truncate(int64(len(b)))
}

// Release gives the lock up. The file stays.
func (l *Lock) Release() error { return l.f.Close() }
