package peers

import (
	"path/filepath"
	"testing"
)

// ompLogs lists the logs of testdata/omp, which make-omp.ts made.
func ompLogs(t *testing.T) []string {
	t.Helper()
	dir, err := filepath.Abs("../../testdata/omp")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no logs in testdata/omp (%v)", err)
	}
	return files
}
