package storetest_test

import (
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/store"
	"github.com/sessctl/sessctl/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return storetest.Memory() })
	storetest.RunShared(t, func(*testing.T) store.Store { return storetest.Memory() })
}

func TestDir(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return store.Dir(filepath.Join(t.TempDir(), "new", "dir")) })
}

func TestDirOnASimulatedDisk(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return store.DirIn(durable.NewDisk(), "dir") })
}
