// Package formats reads the sessions of any agent that this module knows: its own, pi's
// and oh-my-pi's logs, and the transcripts of Claude Code and Codex.
//
//	t, err := formats.Read(path, nil)     // a tree like any other
//	info := formats.Describe(path)        // from the file's beginning and end
//
// A foreign transcript becomes the tree that sessiontree reads of a log: the same
// entries, messages and branches, so that whatever works on a session works on it, and
// sessiontree.Fork goes on from it in a session of one's own. [Prompt] tells what a
// person typed.
//
// # Caveats
//
// A transcript can only be read: it is not followed, and nothing is appended to it. Its
// file is read again for every body, so it must not be rewritten while the tree is used;
// that it grows does no harm. What a translation leaves out is in the tree's damage, by
// kind and number; docs/formats.md says what that can be.
//
// # What is promised
//
// Reading changes, locks and touches no file. A tree's memory is that of its entries,
// and not of the transcript's size. Every record becomes an entry or a part of one, or is
// counted. Ids are the transcript's own where it has any, else the places of records, so
// that all readings of a file agree.
package formats
