package store_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/sessctl/sessctl/store"
)

const content = "one\ntwo\nthree"

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkSource reads a source in all the ways that io.ReaderAt promises.
func checkSource(t *testing.T, s store.Source, want string) {
	t.Helper()
	if n, err := s.Size(); n != int64(len(want)) || err != nil {
		t.Errorf("got size %d (%v), want %d", n, err, len(want))
	}
	for _, test := range []struct {
		at   int64
		size int
		want string
		err  error
	}{
		{0, len(want), want, nil},
		{4, 3, want[4:7], nil},
		{4, len(want), want[4:], io.EOF},
		{int64(len(want)), 1, "", io.EOF},
		{1 << 40, 1, "", io.EOF},
	} {
		p := make([]byte, test.size)
		n, err := s.ReadAt(p, test.at)
		if string(p[:n]) != test.want || err != test.err && !(err == io.EOF && n == test.size) {
			t.Errorf("%d bytes at %d: got %.50q, %v, want %.50q, %v", test.size, test.at, p[:n], err, test.want, test.err)
		}
	}
	if _, err := s.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("a negative offset: got no error")
	}
}

func TestOpenFile(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "log"), content)
	s, err := store.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkSource(t, s, content)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { checkSource(t, s, content) })
	}
	wg.Wait()
	// The log that is open stays the one that it was, and its size is the one now.
	write(t, path, content+"\nfour")
	checkSource(t, s, content+"\nfour")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: got %v, want ErrClosed", err)
	}
	if _, err := s.Size(); err == nil {
		t.Error("closed: got a size")
	}
}

func TestWhatIsNoLog(t *testing.T) {
	dir := t.TempDir()
	if _, err := store.OpenFile(dir); !errors.Is(err, store.ErrNotALog) || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a folder: got %v, want ErrNotALog", err)
	}
	if _, err := store.OpenFile(os.DevNull); !errors.Is(err, store.ErrNotALog) {
		t.Errorf("a device: got %v, want ErrNotALog", err)
	}
	if _, err := store.OpenFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: got %v, want ErrNotExist", err)
	}
	if err := os.Symlink(write(t, filepath.Join(dir, "log"), content), filepath.Join(dir, "link")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	s, err := store.OpenFile(filepath.Join(dir, "link"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkSource(t, s, content)
}

// left counts what is in a folder.
func left(t *testing.T, dir string) int {
	t.Helper()
	list, err := store.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := store.Spool(iotest.OneByteReader(strings.NewReader(content)))
	if err != nil {
		t.Fatal(err)
	}
	checkSource(t, s, content)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := store.Spool(io.MultiReader(strings.NewReader(content), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("got %v, want the stream's error", err)
	}
	if n := left(t, dir); n != 0 {
		t.Errorf("got %d files left, want none", n)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "nowhere"))
	if _, err := store.Spool(strings.NewReader(content)); err == nil {
		t.Error("no room: got no error")
	}
}

// TestSpoolOfAFile: what can be read at any place is not copied, whatever was read
// of it before.
func TestSpoolOfAFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "nowhere"))
	f, err := os.Open(write(t, filepath.Join(dir, "log"), content))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	s, err := store.Spool(f)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkSource(t, s, content)
}

func TestSpoolOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte(content), 100_000)
	go func() {
		w.Write(text)
		w.Close()
	}()
	s, err := store.Spool(r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkSource(t, s, string(text))
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a", "ä", "B", "10", "9"} {
		write(t, filepath.Join(dir, name), "")
	}
	list, err := store.ReadDir(dir)
	var names []string
	for _, entry := range list {
		names = append(names, entry.Name())
	}
	if got, want := strings.Join(names, " "), "10 9 B a b ä"; got != want || err != nil {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	if _, err := store.ReadDir(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
	if _, err := store.ReadDir(filepath.Join(dir, "a")); err == nil {
		t.Error("a file: got a list")
	}
}
