package search_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/search"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestCorpus: in other people's logs the bytes lead to the hits that decoding every entry
// gives.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("SESSCTL_CORPUS")
	if dir == "" {
		t.Skip("SESSCTL_CORPUS names no folder of other people's logs")
	}
	hits := 0
	for _, folder := range []string{"pi", "native", "odd"} {
		paths, err := filepath.Glob(filepath.Join(dir, folder, "*.jsonl"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no logs in %s (%v)", folder, err)
		}
		for _, path := range paths {
			hits += searchCorpus(t, path)
		}
	}
	if hits < 100 {
		t.Errorf("only %d hits in all", hits)
	}
}

func searchCorpus(t *testing.T, path string) (hits int) {
	t.Helper()
	tree, err := sessiontree.Read(path, nil)
	if err != nil {
		return 0 // no session
	}
	defer tree.Close()
	for _, q := range []search.Query{
		{Text: "the"}, {Text: "ERROR", IgnoreCase: true}, {Text: "if err"}, {Text: "é"}, {Text: `"name"`}, {Text: `fun\w+ `, Regexp: true}, {Text: "a", Words: true},
	} {
		p := compile(t, q)
		var want []string
		for h, err := range p.Tree(context.Background(), tree, 1) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, h.Entry.ID.Short())
		}
		if got := found(t, path, q); !slices.Equal(got, want) {
			t.Errorf("%s, %q: got %v, want %v", filepath.Base(path), q.Text, got, want)
		}
		hits += len(want)
	}
	return hits
}
