package checkpoint_test

import (
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

// TestUnknownIsNotByHand: what a tool made of a file that is not kept is the tool's work,
// though its states cannot be compared.
func TestUnknownIsNotByHand(t *testing.T) {
	b := newBench(t, nil)
	start := b.prompt("one")
	b.edit(".env", "KEY=1")
	b.edit("a", "1")
	for _, it := range b.plan(start, checkpoint.Code).Items {
		if it.Source != checkpoint.ByTool || it.Path == ".env" && it.Action != checkpoint.ActUnknown {
			t.Errorf("%s: %s by %q: %s", it.Path, it.Action, it.Source, it.Reason)
		}
	}
}
