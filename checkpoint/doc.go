// Package checkpoint lets files follow a conversation: what a session did to them is in
// its log, and goes back and forward with the leaf. Git is not used, and nothing under any
// .git is read or written.
//
// Call [Follow] first, on an open session. Then, in a harness:
//
//	f, err := checkpoint.Follow(ctx, s, &checkpoint.TrackOptions{Scan: true})
//	defer f.Close()
//	err = f.TurnStart(ctx)                     // before the prompt is appended
//	...
//	err = f.BeforeEdit(ctx, callID, path)      // before a tool changes a file
//	err = f.AfterEdit(ctx, callID, path)       // after it did
//	...
//	err = f.TurnEnd(ctx)                       // sees what commands have changed
//
// and to go somewhere, back, forward, or to another branch:
//
//	plan, err := f.Undo(ctx, checkpoint.Both, nil) // or Redo, or Plan to any entry
//	... // show plan.Items
//	done, err := f.Commit(ctx, plan, nil)
//
// A plan has one of three scopes: the files, the conversation, or both. Package tool takes
// a Tracker in its options, so that a model's rewind can take files back. [Look] makes plans
// on a log that is only read. [Carried] belongs into the batch of every other move of the
// leaf. docs/files.md has the records, what is covered and what is not, and how to recover
// by hand.
//
// # Promises
//
// Contents are stored, and durable, before the log names them, and named before what they
// tell of happens. A commit does exactly its plan or nothing: whatever the plan depends on is
// looked at again. What would lose somebody's work is a conflict, and done only where the
// caller names the path; what is overwritten is stored first, so that an undo brings it
// back. A crash at any point leaves a restore that [Track] finishes, or reports path by
// path. Nothing is followed or written out of the workspace, whatever links there are or
// come. Files that a session did not touch keep their bytes and times.
//
// Logs of every released version stay readable, and so do the blobs: their names and
// compression will not change.
//
// # Caveats
//
// Modes are kept, owners, extended attributes and times are not; of hard links each name is
// a file of its own, and one that has several is not restored unless it is named. What a
// scan leaves out (ignored files, dependencies, secrets, repositories inside) is not
// restored either; plans list it. A scan cannot know who changed a file: what happens during
// a turn without a tool's word is a group of its own, which no model takes back.
package checkpoint
