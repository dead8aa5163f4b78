// Package durable is the seam between code that must not lose data and the file
// system: the same code runs on the real file system, on one that injects faults,
// and on a simulated disk on which only what was synced is certain.
//
// Call OS for the real file system and hand it to whatever writes; WriteFile and
// MkdirAll are the two sequences of operations that are easy to get wrong. In tests
// call NewDisk instead, wrap it in Faulty to fail chosen operations and to record
// the trace of all of them, and call Disk.Crash wherever the power may be cut:
//
//	disk := durable.NewDisk()
//	fsys := &durable.Faulty{FS: disk, Fault: durable.FailNth(durable.Sync, 2, syscall.EIO)}
//	… run the writer on fsys …
//	found := disk.Crash(r) // what the next boot finds; run recovery on it
//
// # What is promised
//
// File.Sync returns nil once the file's bytes and size survive a power cut. It says
// nothing of the file's name: a new, renamed or removed name is certain only after
// SyncDir of its directory. A file system may do more, and code that relies on it
// is broken elsewhere; Disk does no more.
//
// After a failed Sync nothing is known of the bytes written since the last
// successful one, and no later Sync makes it known: Linux counts pages whose
// writing failed as clean, so that the next fsync succeeds without them. Give up
// the file; Disk behaves in the same way.
//
// Modes are exact, whatever the umask, for what FS creates; they are left alone for
// what exists. Names are paths as in package os. A symbolic link is followed, so
// resolve one before SyncDir of its directory, which would be the link's.
//
// Every FS here is safe for concurrent use, and so are its Files.
package durable
