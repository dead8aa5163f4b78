package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte stands far behind what the file says: on Windows a locked byte cannot
// be read by others, and they want to read who holds the lock.
const lockedByte = 1 << 30

func tryLock(f *os.File) error {
	at := &windows.Overlapped{Offset: lockedByte}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errHeld
	}
	return err
}

// alive tells whether a process with this id exists, or may.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	windows.CloseHandle(h)
	return true
}

// noFollow does nothing: this system's open has no such flag.
const noFollow = 0
