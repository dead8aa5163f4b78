package formats_test

import (
	"cmp"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/formats/claude"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// corpus gives the files of a folder of the corpus, by their names in it.
func corpus(t *testing.T, folder string) map[string]string {
	t.Helper()
	root := os.Getenv("SESSCTL_CORPUS")
	if root == "" {
		t.Skip("SESSCTL_CORPUS names no folder of other programs' files")
	}
	root = filepath.Join(root, folder)
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			files[filepath.Base(path)] = path
		}
		return err
	})
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files in %s: %v", len(files), root, err)
	}
	return files
}

// counted counts what the product's tree has.
func counted(t *testing.T, tree *sessiontree.Tree, own bool) (c counts) {
	t.Helper()
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if own && formats.Copied(e) != "" {
			continue
		}
		c.entry(t, e)
	}
	branches, err := tree.Branches()
	if err != nil {
		t.Fatal(err)
	}
	c.Branches = len(branches)
	return c
}

func (c *counts) entry(t *testing.T, e entries.Entry) {
	t.Helper()
	if e.Type == entries.TypeUsage {
		if err := e.Fields(func(name string, value []byte) {
			if name == "usage" {
				c.tokens(value)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if e.Type != entries.TypeMessage {
		return
	}
	m, err := e.Message()
	if err != nil {
		t.Fatal(err)
	}
	switch e.Role {
	case "user":
		if formats.Prompt(e) {
			c.Prompts++
		}
	case "assistant":
		c.Answers++
		c.Calls += len(m.Calls())
		c.tokens(m.Usage)
	case "toolResult":
		c.Results++
		if m.IsError {
			c.Errors++
		}
	}
}

func (c *counts) tokens(usage []byte) {
	c.Input += jsonvalue.Number(jsonvalue.Get(usage, "input"))
	c.Output += jsonvalue.Number(jsonvalue.Get(usage, "output"))
	c.CacheRead += jsonvalue.Number(jsonvalue.Get(usage, "cacheRead"))
	c.CacheWrite += jsonvalue.Number(jsonvalue.Get(usage, "cacheWrite"))
}

func open(t *testing.T, path string) *sessiontree.Tree {
	t.Helper()
	tree, err := formats.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// unchanged fails where a file is changed, or even touched, while f runs.
func unchanged(t *testing.T, path string, f func()) {
	t.Helper()
	before, stat := sum(t, path)
	f()
	if after, now := sum(t, path); before != after || !stat.ModTime().Equal(now.ModTime()) {
		t.Errorf("%s was changed", path)
	}
}

func sum(t *testing.T, path string) ([32]byte, os.FileInfo) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(raw), stat
}

// TestCorpusClaude: on real transcripts the tree counts what a naive reader counts.
func TestCorpusClaude(t *testing.T) {
	for name, path := range corpus(t, "claude") {
		t.Run(name, func(t *testing.T) {
			unchanged(t, path, func() {
				got, want := counted(t, open(t, path), false), naiveClaude(t, path)
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		})
	}
}

// branchesOf are the branches that the corpus is known to have, by their last prompts,
// the active one last; the others have one.
var branchesOf = map[string][]string{
	"ccl-dag_compact_after_rewind.jsonl":                                     {"First attempt", "After compaction"},
	"entire-5a-c45bc32212-0.jsonl":                                           {"/exit", "Ah I remember now"},
	"entire-8a-e9468023c2-0.jsonl":                                           {"/exit", "is there also an update"},
	"66103e00-9abe-48e7-905c-c2325b86d36b.jsonl":                             {"third question", "write again"},
	"ab499ca4-6afd-4e28-b3da-b5aa3cc05d44.jsonl":                             {"delegate this", "after restoring"},
	"rollback.jsonl":                                                         {"q3", "q4"},
	"compacted.jsonl":                                                        {"q2", "q3"},
	"rollout-2026-11-30T11-41-06-01a22c42-3574-7be3-a8f1-3043a34a103d.jsonl": {"third question", "after compact"},
	"rollout-2026-11-30T11-41-31-01a22c42-3574-7be3-a8f1-3043a34a103d_01a22c42-9884-7103-92db-0f9008708fbf.jsonl": {"third question", "after compact"},
	"rollout-2026-11-30T11-41-50-01a22c42-e1d3-7e31-8b55-0f1bdebd3f11.jsonl":                                      {"third question", "in the fork"},
}

// TestCorpusBranches: the rewinds and forks of the corpus are found, and nothing else.
func TestCorpusBranches(t *testing.T) {
	for _, folder := range []string{"claude", "codex"} {
		for name, path := range corpus(t, folder) {
			branches, err := open(t, path).Branches()
			if err != nil {
				t.Fatal(err)
			}
			want := branchesOf[name]
			if want == nil && len(branches) == 1 {
				continue
			}
			if len(branches) != len(want) {
				t.Errorf("%s: %d branches, want %d: %+v", name, len(branches), max(len(want), 1), branches)
				continue
			}
			for i, b := range branches {
				if !strings.HasPrefix(b.LastPrompt, want[i]) || b.Active != (i == len(want)-1) {
					t.Errorf("%s: branch %d ends in %q (active %v), want %q", name, i, b.LastPrompt, b.Active, want[i])
				}
			}
		}
	}
}

// bases are the segments that a file of the corpus goes on from, and where they are cut:
// naively, by their lines.
var bases = map[string][]string{
	"rollout-2026-11-30T11-41-06-01a22c42-3574-7be3-a8f1-3043a34a103d.jsonl": {
		"rollout-2026-11-30T11-41-31-01a22c42-3574-7be3-a8f1-3043a34a103d_01a22c42-9884-7103-92db-0f9008708fbf.jsonl"},
	"rollout-2026-11-30T11-41-31-01a22c42-3574-7be3-a8f1-3043a34a103d_01a22c42-9884-7103-92db-0f9008708fbf.jsonl": {
		"rollout-2026-11-30T11-41-06-01a22c42-3574-7be3-a8f1-3043a34a103d.jsonl"},
	"rollout-2026-11-30T11-41-50-01a22c42-e1d3-7e31-8b55-0f1bdebd3f11.jsonl": {
		"rollout-2026-11-30T11-41-06-01a22c42-3574-7be3-a8f1-3043a34a103d.jsonl",
		"rollout-2026-11-30T11-41-31-01a22c42-3574-7be3-a8f1-3043a34a103d_01a22c42-9884-7103-92db-0f9008708fbf.jsonl"},
}

// TestCorpusCodex: on real rollouts the tree counts what a naive reader counts. How an
// answer is made up of items is the product's to say.
func TestCorpusCodex(t *testing.T) {
	files := corpus(t, "codex")
	for name, path := range files {
		t.Run(name, func(t *testing.T) {
			unchanged(t, path, func() {
				want := naiveCodex(t, objects(t, path))
				for _, base := range bases[name] {
					want.add(naiveCodex(t, objects(t, files[base])))
				}
				got := counted(t, open(t, path), false)
				got.Answers, got.Branches = 0, 0
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		})
	}
}

func (c *counts) add(d counts) {
	c.Prompts += d.Prompts
	c.Results += d.Results
	c.Calls += d.Calls
	c.Errors += d.Errors
	c.Input += d.Input
	c.Output += d.Output
	c.CacheRead += d.CacheRead
	c.CacheWrite += d.CacheWrite
}

// TestCorpusCopied: what a fork shares with the thread that it comes from is marked, in a
// file of its own as well as where it was copied.
func TestCorpusCopied(t *testing.T) {
	files := corpus(t, "codex")
	for name, want := range map[string][2]int{ // prompts, and those of the fork itself
		"fork.jsonl": {2, 1},
		"rollout-2026-11-30T11-41-50-01a22c42-e1d3-7e31-8b55-0f1bdebd3f11.jsonl": {6, 1},
		"rollback.jsonl": {4, 4},
	} {
		tree := open(t, files[name])
		if got := [2]int{counted(t, tree, false).Prompts, counted(t, tree, true).Prompts}; got != want {
			t.Errorf("%s: prompts and own prompts %v, want %v", name, got, want)
		}
	}
}

// TestCorpusDescribed: the beginning and the end of a file tell what the whole tells.
func TestCorpusDescribed(t *testing.T) {
	for _, folder := range []string{"claude", "codex"} {
		for name, path := range corpus(t, folder) {
			info, tree := formats.Describe(path), open(t, path)
			first := ""
			for e, err := range tree.Entries() {
				if err != nil {
					t.Fatal(err)
				}
				if e.Type == entries.TypeMessage && e.Role == "user" && formats.Copied(e) == "" && (first == "" || first[0] == '/' && len(strings.Fields(first)) == 1) {
					m, err := e.Message()
					if err != nil {
						t.Fatal(err)
					}
					first = cmp.Or(m.Text(), first) // a bare command gives way to what was typed next
				}
			}
			if info.Err != nil || info.ID != tree.Header().ID || info.Agent != tree.Agent() || info.Cwd != tree.Header().Cwd {
				t.Errorf("%s: described as %+v, want id %s and directory %s", name, info, tree.Header().ID, tree.Header().Cwd)
			}
			if name == "fork.jsonl" || name == "as-small.jsonl" || strings.Contains(name, "_01a22c42") {
				continue // a first prompt that is copied, of a subagent, or in another segment
			}
			if strings.TrimSpace(info.FirstPrompt) != strings.TrimSpace(first) {
				t.Errorf("%s: the first prompt is %q, want %q", name, info.FirstPrompt, first)
			}
		}
	}
}

// TestCorpusSubagents: the subagent of a session is found with the call that started it,
// and its session is the one that the file says.
func TestCorpusSubagents(t *testing.T) {
	files := corpus(t, "claude")
	path := files["3a279be9-27b2-4702-b475-27c6b86d4e71.jsonl"]
	list, err := claude.Subagents(path)
	if err != nil || len(list) != 1 {
		t.Fatalf("subagents %+v (%v), want one", list, err)
	}
	calls := map[string]bool{}
	for e, err := range open(t, path).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == entries.TypeMessage {
			m, err := e.Message()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range m.Calls() {
				calls[c.ID] = true
			}
		}
	}
	h := open(t, list[0].Path).Header()
	if !calls[list[0].ToolCallID] || h.ID != list[0].ID || h.ParentSession != "3a279be9-27b2-4702-b475-27c6b86d4e71" {
		t.Errorf("subagent %+v with header %+v, want one that a call of the session started", list[0], h)
	}
}
