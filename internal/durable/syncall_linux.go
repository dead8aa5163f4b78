package durable

import (
	"errors"

	"golang.org/x/sys/unix"
)

// SyncAll makes everything durable that was written to the file system of the
// directory: one call in the place of a Sync for each of many files.
func (s rootFS) SyncAll() error {
	d, err := s.r.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}
