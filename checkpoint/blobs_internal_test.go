package checkpoint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/durable"
)

// simulated is a store on a disk on which only what was synced is certain.
func simulated(t *testing.T, fsys durable.FS) *Store {
	t.Helper()
	for _, dir := range []string{sumsDir, tempDir} {
		if err := durable.MkdirAll(fsys, dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &Store{fsys: fsys, now: time.Now, synced: map[string]bool{}}
}

// neighbours are two contents whose blobs are in one directory.
func neighbours() (a, b []byte) {
	seen := map[string][]byte{}
	for i := 0; ; i++ {
		b := fmt.Append(nil, i)
		dir := path.Dir(blobName(sumOf(b)))
		if a := seen[dir]; a != nil {
			return a, b
		}
		seen[dir] = b
	}
}

// TestSyncsOfAPut counts what a put waits for: the blob and its directory, and the first
// time in a directory what is above that.
func TestSyncsOfAPut(t *testing.T) {
	disk := durable.NewDisk()
	fsys := &durable.Faulty{FS: disk}
	st := simulated(t, fsys)
	a, b := neighbours()
	for i, data := range [][]byte{a, b} {
		before := len(fsys.Trace())
		sum, err := st.Put(data)
		if err != nil {
			t.Fatal(err)
		}
		var syncs []string
		for _, op := range fsys.Trace()[before:] {
			if strings.HasPrefix(op, "sync") {
				syncs = append(syncs, op)
			}
		}
		above := slices.Contains(syncs, "syncdir "+sumsDir)
		if above != (i == 0) || i == 1 && len(syncs) != 2 {
			t.Errorf("put %d of a directory synced %q", i+1, syncs)
		}
		if !onDisk(disk, sum) {
			t.Errorf("blob %d is not durable", i+1)
		}
	}
}

// onDisk tells whether a blob survives power cuts.
func onDisk(disk *durable.Disk, sum string) bool {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		found := &Store{fsys: disk.Crash(r), now: time.Now}
		if _, err := found.Get(sum); err != nil {
			return false
		}
	}
	return true
}

// TestPutReplacesWhatIsUnsound: what stands in a blob's place and is not its content goes,
// under either name.
func TestPutReplacesWhatIsUnsound(t *testing.T) {
	for _, suffix := range []string{"", zstdSuffix} {
		st, err := OpenStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		data := []byte("content")
		sum := sumOf(data)
		name := path.Join(st.dir, blobName(sum)+suffix)
		if err := os.MkdirAll(path.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Put(data); err != nil {
			t.Fatal(err)
		}
		if got, err := st.Get(sum); err != nil || string(got) != "content" {
			t.Errorf("with %q there: %q, %v", suffix, got, err)
		}
		st.Close()
	}
}
