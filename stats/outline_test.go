package stats_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/stats"
)

// TestOutlinesSayEnough: a transcript of another program counts the same whether its log is
// read as a whole or known from its outlines.
func TestOutlinesSayEnough(t *testing.T) {
	for _, path := range transcripts(t) {
		want, got := transcript(t, path, true), transcript(t, path, false)
		equal(t, path, got, want)
		equal(t, path, count(nil, got).Files(), count(nil, want).Files())
	}
}

// transcript reads the transcript at path, its whole log or only what need be.
func transcript(t *testing.T, path string, whole bool) *stats.Session {
	t.Helper()
	tree, err := formats.Read(path, &sessiontree.ReadOptions{Verify: whole})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s, err := stats.Read(tree, &stats.Options{Prompt: formats.Prompt})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// transcripts gives files of the testdata, of the corpus where there is one, and such whose
// long values stand where what is counted may be.
func transcripts(t *testing.T) (list []string) {
	t.Helper()
	for _, root := range []string{"../testdata/claude", filepath.Join(os.Getenv("SESSCTL_CORPUS"), "claude"), filepath.Join(os.Getenv("SESSCTL_CORPUS"), "codex")} {
		_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".jsonl") {
				list = append(list, path)
			}
			return nil
		})
	}
	if len(list) == 0 {
		t.Fatal("no transcripts in testdata")
	}
	long := strings.Repeat("long/", 100)
	for i, block := range []string{
		`{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/LONG","old_string":"x"}}`,
		`{"type":"tool_use","id":"t","name":"Edit","input":{"old_string":"LONG","file_path":"/short"}}`,
		`{"type":"tool_use","id":"t","name":"LONG","input":{"path":"/a"}}`,
		`{"type":"tool_use","id":"t","name":"Read","input":{"path":null,"x":"LONG"}}`,
		`{"type":"tool_use","id":"t","name":"Read","input":{` + strings.Repeat(`"k":"a short value",`, 2000) + `"path":"/many"}}`,
		`{"type":"toolCall","id":"t","name":"Edit","arguments":{"path":"/a"},"x":"LONG"}`, // it is kept as it is
	} {
		path := filepath.Join(t.TempDir(), string(rune('a'+i))+".jsonl")
		line := `{"type":"assistant","uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"id":"m","role":"assistant","model":"LONG","content":[BLOCK]}}`
		text := strings.ReplaceAll(strings.Replace(line, "BLOCK", block, 1), "LONG", long)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		list = append(list, path)
	}
	return list
}
