package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Omp runs write under the lock that oh-my-pi takes for each of its writes to a
// session file: a kernel lock on `.<name>.lock.os`, and inside it a file
// `.<name>.lock` with the holder's process id, for versions that know only that
// one. As oh-my-pi does, it waits half a second at most.
func Omp(path string, write func() error) error {
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
	gate, err := openLock(name + ".os")
	if err != nil {
		return err
	}
	defer gate.Close()
	if err := private(gate); err != nil {
		return err
	}
	deadline := time.Now().Add(ompWait)
	if err := poll(deadline, func() (bool, error) {
		err := tryLock(gate)
		return err == nil, ignoreHeld(err)
	}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := poll(deadline, func() (bool, error) { return claim(name) }); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer os.Remove(name)
	return write()
}

const (
	ompWait = 500 * time.Millisecond
	ompPoll = 2 * time.Millisecond
)

func ignoreHeld(err error) error {
	if errors.Is(err, errHeld) {
		return nil
	}
	return err
}

// poll tries until it works, fails, or takes too long.
func poll(deadline time.Time, try func() (bool, error)) error {
	for {
		done, err := try()
		if done || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return &HeldError{Path: "oh-my-pi's lock"}
		}
		time.Sleep(ompPoll)
	}
}

// claim makes the lock file. One whose process is gone is removed: whoever could
// be in the middle of taking it waits for the kernel lock that we hold.
func claim(name string) (bool, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if b, err := os.ReadFile(name); err == nil && orphaned(string(b)) {
			os.Remove(name)
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = private(f)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d:%d\n", os.Getpid(), time.Now().UnixMilli())
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(name)
	}
	return err == nil, err
}

// private makes a file of ours one that we can open again, whatever the umask; of
// somebody else's the mode is theirs.
func private(f *os.File) error {
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o600 != 0o600 {
		err = f.Chmod(0o600)
	}
	return err
}

// orphaned tells whether the process that a lock file names is surely gone.
func orphaned(content string) bool {
	pid, _, _ := strings.Cut(strings.TrimSpace(content), ":")
	n, err := strconv.Atoi(pid)
	return err == nil && n > 0 && !alive(n)
}
