// Package transcripttest tells for the tests of translators whether a log is sound.
package transcripttest

import (
	"bytes"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// A Source is a transcript in memory.
type Source struct{ *bytes.Reader }

// Size implements store.Source.
func (s Source) Size() (int64, error) { return s.Reader.Size(), nil }

// Close implements store.Source.
func (s Source) Close() error { return nil }

// Sound fails where a log is not what a translator promises: JSON lines, unique ids, and
// parents that stand before their children.
func Sound(t *testing.T, log *transcript.Log, agent sessiontree.Agent) {
	t.Helper()
	size, err := log.Size()
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, size)
	if n, err := log.ReadAt(raw, 0); int64(n) != size {
		t.Fatalf("%d of %d bytes: %v", n, size, err)
	}
	for line := range bytes.Lines(raw) {
		if err := jsonvalue.Check(line); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	known := len(log.Notes.List())
	tree, err := log.Tree(agent, "s.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[entries.ID]bool{"": true}
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if seen[e.ID] || !seen[e.Parent] || e.Line < 1 {
			t.Fatalf("entry %q on line %d, below %q: its id is taken, or its parent is not there", e.ID, e.Line, e.Parent)
		}
		seen[e.ID] = true
	}
	if n := len(tree.Damage()); n != known {
		t.Fatalf("%d damages beside the %d of the transcript: %v", n-known, known, tree.Damage())
	}
	if _, err := tree.Verify(); err != nil {
		t.Fatal(err)
	}
}

// Read reads the transcript in the file at path with the From of a format.
func Read(t testing.TB, path string, from func(store.Source, string, *sessiontree.ReadOptions) (*sessiontree.Tree, error)) *sessiontree.Tree {
	t.Helper()
	src, err := store.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := from(src, path, nil)
	if err != nil {
		src.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}
