package store

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openQuietly opens a file or a directory for reading without changing its access
// time. The system grants that to the owner alone; others open it as usual. os.OpenFile
// would try to have each file watched for readiness, which regular files are not: five
// more calls of the system, as many as a short log needs to be read.
func openQuietly(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOATIME|unix.O_CLOEXEC|unix.O_LARGEFILE, 0)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, fs.ErrPermission):
			return os.Open(path)
		default:
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
