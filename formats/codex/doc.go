// Package codex reads the rollouts of Codex as session trees.
//
// A rollout is a list, and not a tree: who takes turns back leaves them in the file, and
// a record says how many went. So the list is replayed, and what was taken back is a
// branch. Since version 0.171 a thread may also be several files, its segments: each
// continues another one up to a place of it, and the rest behind that place is a branch.
// docs/formats.md has the rules, and where they come from.
package codex
