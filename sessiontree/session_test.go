package sessiontree

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

func mustAppend(t *testing.T, s *Session, d ...entries.Draft) Appended {
	t.Helper()
	a, err := s.Append(context.Background(), d...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func verifySound(t *testing.T, path string) Verdict {
	t.Helper()
	tree, err := Read(path, &ReadOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	v, err := tree.Verify()
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK || v.Checksums != ChecksumsOK {
		b, _ := os.ReadFile(path)
		t.Errorf("not sound: %+v\n%s", v, b)
	}
	return v
}

func TestSessionIsWrittenAndReadBack(t *testing.T) {
	ctx := context.Background()
	s, err := Create(t.TempDir()+"/new", entries.Header{Cwd: "/home/u/proj"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := mustAppend(t, s, entries.UserMessage("find the bug"))
	second := mustAppend(t, s, entries.AssistantMessage(entries.Assistant{
		Provider: "p", Model: "m", StopReason: "stop",
	}), entries.CustomDraft("note", []byte(` {"a": [1, 2 ]} `)))
	if !first.Durable || second.Leaf != second.IDs[1] || s.Leaf() != second.Leaf {
		t.Errorf("appended %+v, %+v; leaf %s", first, second, s.Leaf())
	}
	moved, err := s.MoveLeaf(ctx, first.IDs[0], ReasonCheckout)
	if err != nil {
		t.Fatal(err)
	}
	late, err := s.AppendTo(ctx, second.IDs[0], entries.CustomDraft("late", nil))
	if err != nil {
		t.Fatal(err)
	}
	if late.Leaf == late.IDs[0] || len(late.IDs) != 1 {
		t.Errorf("a late entry is the leaf: %+v", late)
	}
	tree, err := s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	var path []entries.ID
	for e, err := range tree.Path(tree.Leaf()) {
		if err != nil {
			t.Fatal(err)
		}
		path = append(path, e.ID)
	}
	if len(path) != 3 || path[0] != first.IDs[0] || path[1] != moved.IDs[0] || path[2] != late.Leaf {
		t.Errorf("path %v", path)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if v := verifySound(t, s.Path()); v.Entries != 6 {
		t.Errorf("%d entries, want 6", v.Entries)
	}
	if _, err := s.Append(ctx, entries.UserMessage("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
}

func TestForkOfStoryAndOfVersion1(t *testing.T) {
	ctx := context.Background()
	v1 := t.TempDir() + "/v1.jsonl"
	os.WriteFile(v1, []byte(`{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/x","provider":"a"}
{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"a"}}
{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"hookMessage","content":"b"}}
{"type":"compaction","timestamp":"2025-01-01T00:00:03.000Z","summary":"S","firstKeptEntryIndex":2,"tokensBefore":9}
`), 0o600)
	for _, path := range []string{storyPath, v1} {
		source, err := Read(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Fork(ctx, source, "", t.TempDir(), entries.Header{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, s, entries.UserMessage("and on"))
		s.Close()
		verifySound(t, s.Path())
		if s.Header().ParentEntry != source.Leaf() {
			t.Errorf("parentEntry %s, want %s", s.Header().ParentEntry, source.Leaf())
		}
		b, _ := os.ReadFile(s.Path())
		if path == v1 {
			t.Logf("%s", b)
		}
	}
}
