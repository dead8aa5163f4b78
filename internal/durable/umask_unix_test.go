//go:build unix

package durable

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The umask belongs to the process: this test must not run in parallel with others.
func TestModesWhateverTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		dir := t.TempDir()
		old := syscall.Umask(umask)
		must(t, makeEverything(OS(), dir))
		syscall.Umask(old)
		for name, want := range map[string]fs.FileMode{"log": 0o600, "open": 0o640, "d": fs.ModeDir | 0o700, "d/e": fs.ModeDir | 0o700} {
			fi, err := os.Stat(filepath.Join(dir, name))
			must(t, err)
			if fi.Mode() != want {
				t.Errorf("umask %03o: %s has mode %v, want %v", umask, name, fi.Mode(), want)
			}
		}
	}
}

func makeEverything(fsys FS, dir string) error {
	if err := WriteFile(fsys, filepath.Join(dir, "log"), strings.NewReader("x"), 0o600); err != nil {
		return err
	}
	f, err := fsys.OpenFile(filepath.Join(dir, "open"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return MkdirAll(fsys, filepath.Join(dir, "d", "e"), 0o700)
}

func TestTheModeOfWhatExistsStays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	must(t, os.WriteFile(name, nil, 0o644), os.Chmod(name, 0o644))
	f, err := OS().OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	must(t, err, f.Close())
	if fi, err := os.Stat(name); err != nil || fi.Mode() != 0o644 {
		t.Errorf("the mode is now %v, %v", fi.Mode(), err)
	}
}

// A dangling link is somebody's: neither is the file behind it made, nor is the link
// replaced, and opening it comes to an end.
func TestDanglingLinks(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "link")
	must(t, os.Symlink("nowhere", name))
	if _, err := OS().OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600); err == nil {
		t.Error("a dangling link was created through")
	}
	for _, fsys := range []FS{OS(), noLinks{OS()}} {
		if err := WriteFile(fsys, name, strings.NewReader("x"), 0o600); err == nil {
			t.Error("a dangling link was replaced")
		}
	}
	if got, err := os.Readlink(name); err != nil || got != "nowhere" {
		t.Errorf("the link is now %q, %v", got, err)
	}
}
