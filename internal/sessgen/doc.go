// Package sessgen makes session logs for benchmarks and tests.
//
// Call [Write] first: it streams a realistic coding session of any size.
// [Tree] returns a small log with every kind of entry and an odd shape, for
// comparing this reader with others; [ContextTree] one with everything that has a
// part in what a model is sent. [Chain], [Fork] and [LongLine] stream the
// three extreme shapes.
//
// Everything is decided by a seed, so that a failure can be repeated from its
// seed alone and two programs measure the same bytes. The records are written
// by hand and not with encoding/json, which is too slow for gigabytes and
// escapes other characters than JavaScript does.
//
// Long texts are cut from a pool of about 2 MB: a compressor with a large
// window does far better on them than on a real log.
package sessgen

// Format says whose log is written.
type Format int

const (
	// Native is sessctl's own format: ULIDs, sums, leaf markers, batches.
	Native Format = iota
	// Pi is pi's format version 3: short ids, no sums.
	Pi
)

// workDir is the directory that all generated sessions claim to run in.
const workDir = "/srv/app"

// startTime is when generated sessions begin: 2026-01-05T09:00:00Z.
const startTime = 1767603600000
