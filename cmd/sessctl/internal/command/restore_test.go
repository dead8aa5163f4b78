package command

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
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
