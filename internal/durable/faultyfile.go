package durable

import (
	"errors"
	"io/fs"
)

// faultyFile is a File whose operations ask its Faulty first.
type faultyFile struct {
	fsys  *Faulty
	name  string
	below File
}

// spoiler is a File that can pretend that a Sync failed.
type spoiler interface{ spoil() }

func (f *faultyFile) op(kind OpKind) Op { return Op{Kind: kind, Name: f.name} }

func (f *faultyFile) ReadAt(p []byte, off int64) (n int, err error) {
	op := Op{Kind: ReadAt, Name: f.name, Offset: off, Len: len(p)}
	err = f.fsys.do(op, func() (err error) {
		n, err = f.below.ReadAt(p, off)
		return err
	})
	return n, err
}

func (f *faultyFile) WriteAt(p []byte, off int64) (n int, err error) {
	i, fault := f.fsys.ask(Op{Kind: Write, Name: f.name, Offset: off, Len: len(p)})
	if fault == nil {
		n, err = f.below.WriteAt(p, off)
		return n, f.fsys.ended(i, err)
	}
	short, err := shortened(fault, len(p))
	if short > 0 {
		var belowErr error
		if n, belowErr = f.below.WriteAt(p[:short], off); belowErr != nil {
			err = belowErr
		}
	}
	return n, f.fsys.ended(i, err)
}

func (f *faultyFile) Truncate(size int64) error {
	op := Op{Kind: Truncate, Name: f.name, Offset: size}
	return f.fsys.do(op, func() error { return f.below.Truncate(size) })
}

func (f *faultyFile) Sync() error {
	i, err := f.fsys.ask(f.op(Sync))
	switch {
	case err == nil:
		err = f.below.Sync()
	case !errors.Is(err, ErrKilled):
		f.spoil()
	}
	return f.fsys.ended(i, err)
}

// spoil reaches a Disk through several Faulty.
func (f *faultyFile) spoil() {
	if below, ok := f.below.(spoiler); ok {
		below.spoil()
	}
}

func (f *faultyFile) Stat() (fi fs.FileInfo, err error) {
	err = f.fsys.do(f.op(Stat), func() (err error) {
		fi, err = f.below.Stat()
		return err
	})
	return fi, err
}

// Close gives back the handle also where it fails, as close(2) does.
func (f *faultyFile) Close() error {
	i, fault := f.fsys.ask(f.op(Close))
	err := f.below.Close()
	if fault != nil {
		err = fault
	}
	return f.fsys.ended(i, err)
}
