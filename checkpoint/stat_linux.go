//go:build linux

package checkpoint

import (
	"io/fs"
	"syscall"
)

// deviceOf gives what names a file on this machine.
func deviceOf(info fs.FileInfo) (dev, ino uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), s.Ino
	}
	return 0, 0
}

// changedAt is when a file's inode changed last, in nanoseconds: nobody can set it back.
func changedAt(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}

// linksOf counts the names of a file.
func linksOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}
