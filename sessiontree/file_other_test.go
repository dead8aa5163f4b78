//go:build !linux

package sessiontree_test

import (
	"fmt"
	"os"
	"testing"
)

// Only Linux can leave the access time alone.
func age(*testing.T, string) {}

func status(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("size %d, mode %v, modified %v", info.Size(), info.Mode(), info.ModTime())
}
