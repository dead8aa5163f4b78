package durable

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// An OpKind says what an operation does.
type OpKind string

// The operations that a Faulty asks for. ReadAt, Readlink, Stat and ReadDir change nothing.
const (
	Open     OpKind = "open"
	Write    OpKind = "write"
	Truncate OpKind = "truncate"
	Sync     OpKind = "sync"
	Close    OpKind = "close"
	Rename   OpKind = "rename"
	Link     OpKind = "link"
	Symlink  OpKind = "symlink"
	Readlink OpKind = "readlink"
	Chmod    OpKind = "chmod"
	Chtimes  OpKind = "chtimes"
	Remove   OpKind = "remove"
	Mkdir    OpKind = "mkdir"
	SyncDir  OpKind = "syncdir"
	Stat     OpKind = "stat" // of a name or of a File
	ReadAt   OpKind = "readat"
	ReadDir  OpKind = "readdir"
)

// An Op is one operation, about to be done.
type Op struct {
	Kind    OpKind
	Name    string // as it was given; of a File as it was opened
	NewName string // of Rename and Link; of Symlink what it leads to
	Offset  int64  // of Write and ReadAt; of Truncate the size
	Len     int    // of Write and ReadAt
}

// String is the operation's line in a trace: "write log 512+100", "sync log".
func (o Op) String() string {
	switch o.Kind {
	case Write, ReadAt:
		return fmt.Sprintf("%s %s %d+%d", o.Kind, o.Name, o.Offset, o.Len)
	case Truncate:
		return fmt.Sprintf("%s %s %d", o.Kind, o.Name, o.Offset)
	case Rename, Link, Symlink:
		return fmt.Sprintf("%s %s %s", o.Kind, o.Name, o.NewName)
	}
	return string(o.Kind) + " " + o.Name
}

// A ShortWrite as a fault makes a Write put its first N bytes, and then fail with
// Err, or with io.ErrShortWrite where that is nil.
type ShortWrite struct {
	N   int
	Err error
}

func (s *ShortWrite) Error() string {
	return fmt.Sprintf("short write of %d bytes: %v", s.N, s.Unwrap())
}

// Unwrap returns what the Write fails with.
func (s *ShortWrite) Unwrap() error {
	if s.Err == nil {
		return io.ErrShortWrite
	}
	return s.Err
}

// shortened says how many of n bytes a write that met this fault still puts, and
// what it returns.
func shortened(fault error, n int) (int, error) {
	if short, ok := errors.AsType[*ShortWrite](fault); ok {
		return min(max(short.N, 0), n), short.Unwrap()
	}
	return 0, fault
}

// FailNth returns a fault that fails the n-th operation of a kind, counted from 1,
// and no other; the empty kind counts them all.
func FailNth(kind OpKind, n int, err error) func(Op) error {
	var seen atomic.Int64
	return func(op Op) error {
		if (kind == "" || op.Kind == kind) && seen.Add(1) == int64(n) {
			return err
		}
		return nil
	}
}

// ErrKilled is how operations of a killed process fail: they were not tried.
var ErrKilled = errors.New("the process is dead")

// KillAt returns a fault that fails the n-th operation, counted from 1, and all that
// follow with ErrKilled, as if the process had died there: it cannot clean up
// either. What it left is Disk.Kill's or Disk.Crash's to say.
func KillAt(n int) func(Op) error { return KillInside(n, 0) }

// KillInside is KillAt for a process that dies in the middle of the n-th operation:
// if that is a Write, its first bytes are put.
func KillInside(n, bytes int) func(Op) error {
	var seen atomic.Int64
	return func(op Op) error {
		at := seen.Add(1)
		switch {
		case at < int64(n):
			return nil
		case at == int64(n) && op.Kind == Write:
			return &ShortWrite{N: bytes, Err: ErrKilled}
		}
		return ErrKilled
	}
}
