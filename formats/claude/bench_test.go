package claude

import (
	"os"
	"testing"
)

func BenchmarkBranches(b *testing.B) {
	path := os.Getenv("FX_BIG")
	for b.Loop() {
		t, err := Read(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := t.Branches(); err != nil {
			b.Fatal(err)
		}
		t.Close()
	}
}
