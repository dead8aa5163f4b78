//go:build unix

package sessiontree_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// childHasAUmask makes, repairs, forks and appends under a umask, and where it can
// as a user who is not root: root may do anything. Its arguments are the umask, the
// user, a directory and a log of oh-my-pi.
func childHasAUmask(c *child) error {
	umask, _ := strconv.ParseInt(c.args[0], 8, 32)
	user, _ := strconv.Atoi(c.args[1])
	if os.Getuid() == 0 {
		if err := syscall.Setuid(user); err != nil {
			return err
		}
	}
	syscall.Umask(int(umask))
	dir, omp := c.args[2], c.args[3]
	s, err := sessiontree.Create(filepath.Join(dir, "made", "deep"), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		return err
	}
	if err := workUnderUmask(s, omp); err != nil {
		return err
	}
	c.say(s.Path())
	return nil
}

func workUnderUmask(s *sessiontree.Session, omp string) error {
	ctx := context.Background()
	for _, path := range []string{s.Path(), omp, omp} { // the second time all files are there
		if err := s.Close(); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		f.WriteString(`{"torn`)
		f.Close()
		// A lock file that may only be read, or not even that, means nothing either.
		for _, lock := range []string{sessiontree.LockPath(path), filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock.os")} {
			if err := os.Chmod(lock, 0o400); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if s, err = sessiontree.Open(path, &sessiontree.Options{Settle: 1}); err != nil {
			return err
		}
		if _, err := s.Append(ctx, entries.UserMessage("hello")); err != nil {
			return err
		}
	}
	x, err := s.Tree()
	if err != nil {
		return err
	}
	fork, err := sessiontree.Fork(ctx, x, "", filepath.Join(filepath.Dir(omp), "forks"), entries.Header{}, nil)
	if err != nil {
		return err
	}
	if err := fork.Close(); err != nil {
		return err
	}
	return s.Close()
}

// TestFilesArePrivateWhateverTheUmask: logs, locks and saved damage are 0600 and
// directories 0700, and what was made can be used again.
func TestFilesArePrivateWhateverTheUmask(t *testing.T) {
	const nobody = 65534
	for _, umask := range []string{"0000", "0777"} {
		dir := t.TempDir()
		omp := filepath.Join(dir, "omp.jsonl")
		log, err := os.ReadFile("../testdata/omp/title.jsonl")
		if err == nil {
			err = os.WriteFile(omp, log, 0o600)
		}
		if err == nil && os.Getuid() == 0 {
			if err = os.Chown(dir, nobody, nobody); err == nil {
				err = os.Chown(omp, nobody, nobody)
			}
			if err == nil {
				err = os.Chmod(filepath.Dir(dir), 0o711) // it is this test's, too
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, "umask", umask, strconv.Itoa(nobody), dir, omp)
		if p.hears() == "" {
			t.Errorf("umask %s: nothing could be made", umask)
		}
		p.finish()
		checkModes(t, umask, dir)
	}
}

func checkModes(t *testing.T, umask, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		}
		if info.Mode() != want {
			t.Errorf("umask %s: %s has mode %v, want %v", umask, path, info.Mode(), want)
		}
		files++
		return nil
	})
	// Two sessions with a lock each, two locks of oh-my-pi's log, two damaged files,
	// the log of oh-my-pi, and three directories.
	if err != nil || files < 10 {
		t.Errorf("umask %s: got %d files (%v)", umask, files, err)
	}
}
