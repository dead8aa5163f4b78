// Package sessiontree reads and writes a session: a log whose entries name their
// parents, and so are a tree.
//
// # Reading
//
//	t, err := sessiontree.Read(path, nil)
//	defer t.Close()
//	for e, err := range t.Path(t.Leaf()) { ... }  // root to leaf
//	branches, err := t.Branches()
//
// Call [Read] first (or [From], for a log that is no file). It reads the beginning
// and the end of the log. [Tree.Ancestors] goes on from the end as far as the
// caller goes; whatever needs all entries (Children, Branches, Entries, labels)
// reads the whole log once, when it is first asked for. [Tree.Scan] does that at a
// chosen moment. [Follow] gives what a growing log gets. [List] goes over the
// sessions of a directory. [Salvage] copies what is sound.
//
// # Writing
//
//	s, err := sessiontree.Create(dir, entries.Header{Cwd: cwd}, nil)  // or Open(path, nil)
//	defer s.Close()
//	done, err := s.Append(ctx, entries.UserMessage("find the bug"))
//	_, err = s.MoveLeaf(ctx, id, sessiontree.ReasonCheckout)
//	t, err := s.Tree()
//
// [Create] makes a session, [Open] goes on with one, [Fork] makes one from a path of
// another. [Session.Append] adds entries below the leaf, as one batch that is whole
// or void; on return they are on disk. Nothing is ever rewritten or deleted: to
// move the leaf is to append a record.
//
// # Caveats
//
// A Tree shows the log as it was when it was read, by its size at that moment.
// Bodies are read when they are asked for, and fail with [ErrChanged] where the file
// was replaced meanwhile. Where a log is damaged everything that can be read is
// read; [Tree.Damage] lists the rest, completely only after a whole scan. After
// MoveLeaf the leaf is the record that moved it, a marker below the entry that was
// asked for: look at the messages of a path, not at its last entry.
//
// # What is promised
//
// Reading changes, locks and touches no file. A Tree is immutable and safe for
// concurrent use; so is a Session, whose appends that come together share what it
// takes to make them durable. docs/durability.md says what survives which crash.
// Memory is proportional to the number of entries (about 100 bytes each, twice that
// for those that were read from the end up) and not to the log's size, apart from
// its longest line. Every rule is one of docs/format.md; logs of every released
// format stay readable.
package sessiontree
