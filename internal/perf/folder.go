package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A folder is a workspace of generated files, in git, with a session that has looked at it
// once. An edited log is a long one with file records in it, and the files that they are
// about.
const (
	folder = "folder"
	edited = "edited"
)

// The places in a folder, and beside an edited log.
const (
	workDir = "work"
	homeDir = "home"
)

const perDir = 100 // files in a directory of a folder

// fileSize is that of a folder's files.
func (s *session) fileSize() int { return int(s.mb * 1e6 / int64(s.links)) }

// makeFolder makes the workspace unless it is there already.
func (s *session) makeFolder(dir string) error {
	s.path = filepath.Join(dir, fmt.Sprintf("folder-%dMB-%d", s.mb, s.links))
	s.Entries, s.Bytes = int64(s.links), s.mb*1e6
	if _, err := os.Stat(s.about()); err == nil {
		return nil
	}
	if err := os.RemoveAll(s.path); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, uint64(s.links)))
	for i := range s.links {
		if err := writeAnew(s.fileNamed(i), source(r, s.fileSize())); err != nil {
			return err
		}
	}
	if err := intoGit(filepath.Join(s.path, workDir)); err != nil {
		return err
	}
	if err := s.lookOnce(); err != nil {
		return err
	}
	return os.WriteFile(s.about(), nil, 0o644) // it vouches for the rest
}

func (s *session) fileNamed(i int) string { return fileNamed(s.path, i) }

func fileNamed(path string, i int) string {
	dir := i / perDir
	return filepath.Join(path, workDir, fmt.Sprintf("p%d/d%d/f%d.go", dir/40, dir, i))
}

// source is text that compresses about as source code does.
func source(r *rand.Rand, size int) []byte {
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, "\tif v%d := call%d(%d); v%d != nil {\n\t\treturn nil, v%d\n\t}\n", r.IntN(20), r.IntN(5000), r.IntN(1e6), r.IntN(20), r.IntN(20))
	}
	return b.Bytes()[:size]
}

func writeAnew(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// git makes a command of git that knows nothing of the user's settings.
func git(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	cmd.Stderr = os.Stderr
	return cmd
}

func intoGit(dir string) error {
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "--all"},
		{"-c", "user.name=perf", "-c", "user.email=perf@localhost", "-c", "gc.auto=0", "commit", "--quiet", "--message", "all"},
	} {
		if err := git(dir, args...).Run(); err != nil {
			return fmt.Errorf("git %s in %s: %w", args, dir, err)
		}
	}
	return nil
}

// lookOnce lets a session look at the workspace, so that later scans find it unchanged.
func (s *session) lookOnce() error {
	w, err := newShop(s.path, homeDir, "")
	if err != nil {
		return err
	}
	return errors.Join(w.f.TurnStart(context.Background()), w.close())
}

// A shop is a session in a workspace, open.
type shop struct {
	home string
	s    *sessiontree.Session
	root *os.Root
	st   *checkpoint.Store
	f    *checkpoint.Tracker
}

// newShop makes a session of the folder at path, with a store elsewhere or, where blobs is
// "", beside its log.
func newShop(path, home, blobs string) (*shop, error) {
	work := filepath.Join(path, workDir)
	s, err := sessiontree.Create(filepath.Join(path, home), entries.Header{Cwd: work}, nil)
	if err != nil {
		return nil, err
	}
	return enter(s, work, cmp.Or(blobs, checkpoint.StoreOf(s.Path())))
}

// keptShop goes on with the session that has looked at the folder.
func keptShop(path string) (*shop, error) {
	logs, err := filepath.Glob(filepath.Join(path, homeDir, "*.jsonl"))
	if err != nil || len(logs) != 1 {
		return nil, errors.Join(err, fmt.Errorf("%s has the logs %q, want one", filepath.Join(path, homeDir), logs))
	}
	return openShop(logs[0], filepath.Join(path, workDir))
}

func openShop(log, work string) (*shop, error) {
	s, err := sessiontree.Open(log, nil)
	if err != nil {
		return nil, err
	}
	return enter(s, work, checkpoint.StoreOf(log))
}

func enter(s *sessiontree.Session, work, blobs string) (w *shop, err error) {
	w = &shop{home: filepath.Dir(s.Path()), s: s}
	if w.root, err = os.OpenRoot(work); err != nil {
		return nil, err
	}
	if w.st, err = checkpoint.OpenStore(blobs); err != nil {
		return nil, err
	}
	return w, w.track()
}

func (w *shop) track() (err error) {
	w.f, err = checkpoint.Track(context.Background(), w.s, w.root, w.st, &checkpoint.TrackOptions{Scan: true, Budget: budget})
	return err
}

func (w *shop) close() error { return errors.Join(w.s.Close(), w.st.Close(), w.root.Close()) }

// prompt begins a turn, and gives the entry before it.
func (w *shop) prompt() (before entries.ID, err error) {
	if err := w.f.TurnStart(context.Background()); err != nil {
		return "", err
	}
	before = w.s.Leaf()
	_, err = w.s.Append(context.Background(), entries.UserMessage("change files"))
	return before, err
}

// stored counts the blobs of a shop's store and their bytes.
func (w *shop) stored() (blobs, size int64, err error) {
	err = filepath.WalkDir(filepath.Join(w.st.Dir(), "sha256"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			blobs, size = blobs+1, size+info.Size()
		}
		return err
	})
	return blobs, size, err
}
