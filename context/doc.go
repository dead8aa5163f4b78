// Package modelcontext tells what a model is sent from a place of a session: it
// turns a tree and a leaf into messages. Its directory is named context; the
// package is not, so that nobody has to rename Go's.
//
// Call [Build] first. It selects, from the path to the leaf, what pi or oh-my-pi
// would send (the log's dialect decides), and says in its Report what it left out
// and why. The messages are the stored objects, byte for byte, with the few that
// such a program makes up (summaries, custom messages) among them.
//
// Then, as needed:
//
//   - [Context.Repair] makes the list valid for a provider, whatever the log went
//     through.
//   - [Context.Apply] asks for less than everything: old results masked, no images,
//     a budget of tokens.
//   - [Context.Render] gives plain messages of roles and blocks, with summaries and
//     shell commands written out as the model reads them.
//   - [PendingCalls] lists the calls that have no result, for a harness that resumes.
//
// # Promises
//
// Everything here is pure: the same bytes in give the same messages out. Nothing
// outside the path to the leaf has a part in them. For the logs of pi, and native
// ones, the list equals what pi 1.6 builds, for oh-my-pi's what oh-my-pi 18.2 builds,
// but for the differences that docs/context.md lists. A log is read from its end as
// far as the context reaches, so that a compaction makes a session of any size quick
// to build; what lies before is not looked at.
//
// # Caveats
//
// A Context shares no bytes with the tree and may be kept; its messages must not be
// changed, since several contexts may share them. A Context is not safe for use by
// several goroutines while one of them changes it; the methods here change nothing
// and return new ones.
package modelcontext
