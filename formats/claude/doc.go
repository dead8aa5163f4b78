// Package claude reads the transcripts of Claude Code as session trees.
//
// A transcript is a file of JSON lines whose records name their parents by uuid, and
// the parents are as often hooks and progress reports as messages: what hangs below one
// record is not, as a rule, several attempts at a conversation. So the whole graph is
// read first and decided on afterwards: only where two children each lead to something
// that a person typed is there a branch, and all else is brought into one line, in the
// order of the file. docs/formats.md has the rules, and where they come from.
package claude
