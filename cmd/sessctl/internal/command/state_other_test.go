//go:build !linux

package command

import (
	"os"
	"testing"
)

func systemState(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().String()
}
