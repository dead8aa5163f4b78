// Package sessiontree reads a session: a log whose entries name their parents, and
// so are a tree.
//
//	t, err := sessiontree.Read(path, nil)
//	defer t.Close()
//	for e, err := range t.Path(t.Leaf()) { ... }  // root to leaf
//	branches, err := t.Branches()
//
// Call [Read] (or [From], for a log that is no file) first. It reads the beginning
// and the end of the log. [Tree.Ancestors] goes on from the end as far as the
// caller goes; whatever needs all entries (Children, Branches, Entries, labels)
// reads the whole log once, when it is first asked for. [Tree.Scan] does that at a
// chosen moment. [Follow] gives what a growing log gets. [List] goes over the
// sessions of a directory.
//
// Caveats: a Tree shows the log as it was when it was read, by its size at that
// moment; entries that another program appends later are not in it. Bodies are
// read when they are asked for, and fail with [ErrChanged] where the file was
// replaced meanwhile. Where a log is damaged everything that can be read is read;
// [Tree.Damage] lists the rest, completely only after a whole scan.
//
// What is promised: nothing here changes, locks or touches a file. A Tree is
// immutable and safe for concurrent use. Memory is proportional to the number of
// entries (some 100 bytes each; 200 where a path is walked from the end) and not to
// the log's size, apart from its longest line. Every rule is one of docs/format.md.
package sessiontree
