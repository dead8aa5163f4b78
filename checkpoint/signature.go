package checkpoint

import "io/fs"

// A signature is what tells, without reading it, that a file was changed.
type signature struct {
	size         int64
	mtime, ctime int64 // in nanoseconds
	dev, ino     uint64
	mode         fs.FileMode
}

func signatureOf(info fs.FileInfo) signature {
	s := signature{size: info.Size(), mtime: info.ModTime().UnixNano(), ctime: changedAt(info), mode: info.Mode()}
	s.dev, s.ino = deviceOf(info)
	return s
}
