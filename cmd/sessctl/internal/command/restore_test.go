package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestRestoreIsWhatWasShown: what changed between the look and the answer is not done;
// the fresh plan is shown instead.
func TestRestoreIsWhatWasShown(t *testing.T) {
	var stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &stderr, stderr: &stderr, getenv: func(string) string { return "" }}
	v, err := a.viewFiles(worked(t), "", true)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	p, err := v.planTo("root", checkpoint.Code, nil)
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(v.root.Name(), "made")
	if err := os.WriteFile(made, []byte("meanwhile"), 0o644); err != nil {
		t.Fatal(err)
	}
	err = a.doRestore(&restoreFlags{yes: true}, v, p, &checkpoint.CommitOptions{Force: true}, restoring{}, &jsonReturn{})
	if !errors.Is(err, checkpoint.ErrStale) || codeOf(err) != exitConflict {
		t.Errorf("got %v, want that the plan is stale", err)
	}
	if !strings.Contains(stderr.String(), "overwrite made  its content changed since") || strings.Contains(stderr.String(), p.ID) {
		t.Errorf("the fresh plan is not shown: %s", &stderr)
	}
	if data, err := os.ReadFile(made); err != nil || string(data) != "meanwhile" {
		t.Errorf("it is %q (%v)", data, err)
	}
}

// TestLockBeforeConflict: that somebody else is writing is told first, in every scope; what
// is in conflict may be their work.
func TestLockBeforeConflict(t *testing.T) {
	path := worked(t)
	s, err := sessiontree.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"undo", path, "--scope", "code", "--yes"}, {"undo", path, "--scope", "both", "--yes"}, {"files", "restore", path, "root", "--yes"},
		{"checkout", path, "root", "--scope", "both", "--yes"}, {"undo", path},
	} {
		if r := sessctl(t, args...); r.code != exitConflict || !strings.Contains(r.stderr, "another writer has the log") || strings.Contains(r.stderr, "conflict") {
			t.Errorf("%v: exit code %d: %s", args, r.code, r.stderr)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r := sessctl(t, "undo", path, "--scope", "code", "--yes"); r.code != exitConflict || !strings.Contains(r.stderr, "in conflict, as shown above") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// TestRefusalIsADocument: with --json what was refused is on stdout, as it is now.
func TestRefusalIsADocument(t *testing.T) {
	r := sessctl(t, "undo", worked(t), "--scope", "code", "--yes", "--json")
	var doc jsonReturn
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.code != exitConflict || doc.Done || doc.Deed == nil {
		t.Fatalf("exit code %d, %+v (%v)", r.code, doc, err)
	}
	if !slices.ContainsFunc(doc.Files, func(f jsonRestored) bool {
		return f.Action == checkpoint.ActConflict && f.Reason != nil && f.Added != nil
	}) {
		t.Errorf("the conflict is not in it: %+v", doc.Files)
	}
}

func TestAround(t *testing.T) {
	long := strings.Repeat("é", 200) + "; git push " + strings.Repeat("x", 300)
	got := around(long, strings.Index(long, "git"))
	if !strings.HasPrefix(got, "...") || !strings.Contains(got, "git push") || !utf8.ValidString(got) || runewidth.StringWidth(got) > 200 {
		t.Errorf("got %q", got)
	}
	if got := around("git push", 0); got != "git push" {
		t.Errorf("got %q", got)
	}
}
