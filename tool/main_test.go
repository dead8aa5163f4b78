package tool_test

import (
	"os"
	"testing"
)

// TestMain keeps what sessions tell each other of their turns out of the user's cache.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
