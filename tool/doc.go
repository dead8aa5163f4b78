// Package tool gives a model two tools for its own context: checkpoint, which marks
// where an exploration starts, and rewind, which ends it with a report. At the end of
// the turn the leaf of the session goes back to the checkpoint and the report takes the
// place of what was explored; the log keeps everything.
//
// Call [New] first, and hand [Tools.Definitions] to the model. Then, in a harness's
// loop:
//
//	t := tool.New(s, nil)                      // s is an open sessiontree.Session
//	_, err := t.Resume(ctx)                    // after Open: a crash may have left a rewind pending
//	...
//	result, err := t.Call(ctx, name, callID, args) // where the model calls one of them
//	...
//	rewound, err := t.EndTurn(ctx)             // when all calls of an answer have results
//
// docs/rewind.md tells what the model sees, and when a rewind pays.
//
// # Promises
//
// The state is derived from the log alone, from the path to the leaf: it survives a
// crash at any point, and moving the leaf changes it accordingly. Call appends its
// result itself, durably, so that a checkpoint is active when Call returns. Only EndTurn
// and Resume apply a rewind, as one batch that is there as a whole or not at all.
// Definitions never change, whatever the state: they are part of the provider's prompt
// cache.
//
// # Caveats
//
// The answer with the call has to be in the log before Call. Something else than
// results, file records and metadata behind a rewind's result (a user's turn, a leaf
// marker, another program's message) makes the rewind lapse: the checkpoint is active
// again, and nothing is applied later by surprise. A Tools is safe for concurrent use;
// tools that run side by side may append to the session meanwhile.
package tool
