package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const repo = "../../../.."

// A ran is what one run of the command did.
type ran struct {
	code           int
	stdout, stderr string
}

// sessctl runs the command in this process, with an empty home.
func sessctl(t *testing.T, args ...string) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	home := t.TempDir()
	a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, getenv: func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}}
	code := a.run(args)
	return ran{code, stdout.String(), stderr.String()}
}

// story is a copy of the session that README shows.
func story(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(repo + "/testdata/story.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "story.jsonl", string(log))
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func dirOf(path string) string { return filepath.Dir(path) }

// rested is a log that nobody wrote to for a while.
func rested(t *testing.T, path string) string {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	return path
}
