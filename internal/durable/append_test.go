package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAppendGoesBehindWhatIsThere holds on every file system: an append stands
// behind what another handle wrote in the meantime, and says where.
func TestAppendGoesBehindWhatIsThere(t *testing.T) {
	for name, fsys := range map[string]FS{"os": OS(), "disk": NewDisk(), "faulty": &Faulty{FS: OS()}} {
		path := "log"
		if name != "disk" {
			path = filepath.Join(t.TempDir(), "log")
		}
		a, err := OpenAppend(fsys, path, os.O_CREATE, 0o600)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := OpenAppend(fsys, path, 0, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, f := range []File{a, b, a} {
			at, n, err := Append(f, []byte("12345"))
			if at != int64(5*i) || n != 5 || err != nil {
				t.Errorf("%s: append %d went to %d, %d bytes, %v", name, i, at, n, err)
			}
		}
		a.Close()
		b.Close()
	}
}

// TestShortAppendOnTheRealFileSystem shows that the path of production can be
// faulted.
func TestShortAppendOnTheRealFileSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	fsys := &Faulty{FS: OS(), Fault: FailNth(Write, 2, &ShortWrite{N: 2, Err: syscall.ENOSPC})}
	f, err := OpenAppend(fsys, path, os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	Append(f, []byte("12345"))
	at, n, err := Append(f, []byte("67890"))
	if at != 5 || n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("went to %d, %d bytes, %v", at, n, err)
	}
	if b, _ := os.ReadFile(path); string(b) != "1234567" {
		t.Errorf("the file has %q", b)
	}
}
