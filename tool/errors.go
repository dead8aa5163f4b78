package tool

import "errors"

// Errors that a harness may want to tell apart. What a model does wrong is no error but
// a Result that says so.
var (
	// ErrUnknownTool: the name is neither checkpoint nor rewind.
	ErrUnknownTool = errors.New("tool: no such tool")
	// ErrNoCall: the log has no answer with this call above the leaf.
	ErrNoCall = errors.New("tool: the call is not in the log")
	// ErrOpenCalls: calls of the answer that called rewind have no results yet.
	ErrOpenCalls = errors.New("tool: calls have no results yet")
	// ErrNoCheckpoint: the checkpoint of a pending rewind is not on the path, because its
	// record is damaged or gone. See Options.FallbackToRoot.
	ErrNoCheckpoint = errors.New("tool: the checkpoint is not on the path")
	// ErrNothing: there is nothing to cancel, to close, or to take back.
	ErrNothing = errors.New("tool: nothing to do")
)
