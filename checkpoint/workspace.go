package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/sessiontree"
)

// ErrRoot: the folder cannot be a workspace.
var ErrRoot = errors.New("checkpoint: not a workspace")

// errLink: a parent of a path is a symbolic link, which is not followed.
var errLink = errors.New("a parent directory is a symbolic link")

// dirs opens directories of a workspace by their path, "." for its root. No component may
// be a symbolic link. What is opened stays that directory, whatever happens to its path:
// so nothing that is swapped in later leads elsewhere.
type dirs interface {
	open(dir string) (fsys durable.FS, close func(), err error)
}

// rootDirs are the directories of an os.Root.
type rootDirs struct{ root *os.Root }

func (d rootDirs) open(dir string) (durable.FS, func(), error) {
	r, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, nil, err
	}
	if dir != "." {
		for name := range strings.SplitSeq(dir, "/") {
			next, err := openBelow(r, name)
			r.Close()
			if err != nil {
				return nil, nil, &fs.PathError{Op: "open", Path: dir, Err: err}
			}
			r = next
		}
	}
	return durable.Root(r), func() { r.Close() }, nil
}

// openBelow opens a directory by its name in another one. os.Root follows links that
// stay below it, so what was opened has to be what the name itself is.
func openBelow(r *os.Root, name string) (*os.Root, error) {
	info, err := r.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !info.IsDir():
		return nil, errNotDir
	}
	below, err := r.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if opened, err := below.Stat("."); err != nil || !os.SameFile(info, opened) {
		below.Close()
		return nil, errLink // it was swapped in at this moment
	}
	return below, nil
}

// A workspace is the folder whose files are followed.
type workspace struct {
	dirs
	root *os.Root // nil in tests on a simulated disk
	id   identity
	most int64                  // bytes of a file
	ours func(name string) bool // paths that are sessctl's own; may be nil
}

func newWorkspace(root *os.Root, most int64) (*workspace, error) {
	info, err := root.Stat(".")
	if err != nil {
		return nil, err
	}
	where, err := filepath.Abs(root.Name())
	if err == nil {
		where, err = filepath.EvalSymlinks(where)
	}
	if err != nil {
		return nil, err
	}
	id := identity{Path: filepath.ToSlash(where)}
	id.Dev, id.Ino = deviceOf(info)
	return &workspace{dirs: rootDirs{root}, root: root, id: id, most: most}, nil
}

// keepOff leaves alone what sessctl keeps, where that lies inside the workspace: a log or a
// store would change by being written about, and those of other sessions are theirs.
func (w *workspace) keepOff(log string, st *Store) {
	var stores []string
	home := w.relative(filepath.Dir(log))
	inside := home != "" || filepath.Dir(log) == filepath.FromSlash(w.id.Path) || filepath.Dir(log) == w.rootName()
	if st != nil {
		if rel := w.relative(st.dir); rel != "" {
			stores = append(stores, rel)
		}
	}
	base := filepath.Base(log)
	w.ours = func(name string) bool {
		return covers(stores, name) || inside && path.Dir(name) == path.Clean(home) && isLog(path.Base(name), base)
	}
}

func (w *workspace) isOurs(name string) bool { return w.ours != nil && w.ours(name) }

// isLog tells whether a name beside a log is that of a log, or of what belongs to one.
func isLog(name, log string) bool {
	name = strings.TrimPrefix(name, ".")
	return strings.HasPrefix(name, log) || strings.HasSuffix(name, ".jsonl") || strings.Contains(name, ".jsonl.")
}

// ofSession tells whether a name in a directory is that of a session's log, or of what
// belongs to one: whoever has written to a log has left its lock beside it.
func ofSession(name string, names []string) bool {
	at := strings.Index(name, logSuffix)
	if at < 0 {
		return false
	}
	log := strings.TrimPrefix(name[:at+len(logSuffix)], ".")
	_, ok := slices.BinarySearch(names, sessiontree.LockPath(log))
	return ok
}

const logSuffix = ".jsonl"

// isStore tells whether a directory with these names, sorted, is a store of contents.
func isStore(names []string) bool {
	parts := []string{refsDir, sumsDir, tempDir, statesDir}
	for _, name := range []string{sumsDir, tempDir} {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(parts, name) })
}

// replaced tells whether another folder has the place of the workspace: what tools do
// happens there, and what is open here is the one that was moved away, or deleted.
func (w *workspace) replaced() bool {
	if w.root == nil {
		return false
	}
	here, err := w.root.Stat(".")
	if err != nil {
		return false // which shows elsewhere
	}
	there, err := os.Stat(filepath.FromSlash(w.id.Path))
	return err == nil && !os.SameFile(here, there)
}

// errReplaced says what to do where a workspace was replaced.
var errReplaced = fmt.Errorf("%w: another folder has its place since it is followed; open the session anew", ErrRoot)

// is tells whether a recorded workspace is this one: the folder at the same place, or
// the same folder at another. Device numbers may change when a machine is started anew.
func (w *workspace) is(recorded *identity) bool {
	if recorded == nil {
		return true
	}
	same := w.id.Ino == recorded.Ino
	return same && (w.id.Path == recorded.Path || w.id.Dev == recorded.Dev && w.id.Ino != 0)
}

// CheckRoot refuses a folder that Track refuses: a home directory, or a whole disk.
func CheckRoot(root *os.Root) error {
	w, err := newWorkspace(root, 0)
	if err != nil {
		return err
	}
	return w.tooWide()
}

// tooWide refuses folders that nobody means: everything a user has is in them.
func (w *workspace) tooWide() error {
	if w.id.Path == filepath.ToSlash(filepath.VolumeName(w.id.Path))+"/" || slices.ContainsFunc(homes(), w.isAt) {
		return fmt.Errorf("%w: %s is a home directory or a whole disk; name the folder of a project", ErrRoot, w.id.Path)
	}
	return nil
}

// homes are the home directories of whoever runs this: what the environment says, which may
// say nothing, and what the system does.
func homes() (list []string) {
	if home, err := os.UserHomeDir(); err == nil {
		list = append(list, home)
	}
	if u, err := user.Current(); err == nil {
		list = append(list, u.HomeDir)
	}
	return list
}

// isAt tells whether the workspace is the folder at a path, by whatever name.
func (w *workspace) isAt(name string) bool {
	info, err := os.Stat(name)
	if err != nil || w.root == nil {
		return false
	}
	here, err := w.root.Stat(".")
	return err == nil && os.SameFile(info, here)
}

// usable tells whether a recorded path stays inside a workspace and outside of every
// .git: records may be anybody's.
func usable(name string) bool {
	return name != "." && filepath.IsLocal(filepath.FromSlash(name)) && path.Clean(name) == name && utf8.ValidString(name) &&
		!slices.ContainsFunc(strings.Split(name, "/"), isGit)
}

// isGit tells whether a name is git's own folder, as any file system may spell it: some
// know no case, Windows drops dots and spaces at the end and has short names and streams,
// and HFS+ does not see some characters (git's core.protectNTFS and core.protectHFS).
func isGit(name string) bool {
	name, _, _ = strings.Cut(strings.Map(seenByHFS, name), ":")
	name = strings.ToLower(strings.TrimRight(name, ". "))
	short, isShort := strings.CutPrefix(name, "git~")
	return name == ".git" || isShort && len(short) == 1 && '1' <= short[0] && short[0] <= '9'
}

func seenByHFS(r rune) rune {
	if '\u200c' <= r && r <= '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u206a' <= r && r <= '\u206f' || r == '\ufeff' {
		return -1
	}
	return r
}

// A spot is a path that an edit touches, or why it is none of the workspace's.
type spot struct {
	path   string // slash-separated, relative to the root
	reason string // why it is left out; path is then as it was given
}

// spots finds what a tool means by a path: the file, below the real directory that links
// lead to, and where the path itself is a link, also what that leads to. Links that leave
// the workspace are not followed.
func (w *workspace) spots(name string) (list []spot) {
	for range 16 { // links to links
		s, target := w.spot(name)
		list = append(list, s)
		if target == "" {
			return list
		}
		name = target
	}
	return list
}

func (w *workspace) spot(name string) (s spot, target string) {
	rel := w.relative(name)
	switch {
	case rel == "":
		return spot{name, "outside the workspace"}, ""
	case w.replaced():
		return spot{rel, errReplaced.Error()}, ""
	}
	dir, err := w.realDir(path.Dir(rel), 0)
	if err != nil {
		return spot{rel, err.Error()}, ""
	}
	real := path.Join(dir, path.Base(rel))
	switch {
	case !utf8.ValidString(real):
		return spot{strings.ToValidUTF8(real, "\uFFFD"), reasonNotUTF8}, ""
	case !usable(real):
		return spot{real, "git's own files are left alone"}, ""
	}
	return spot{path: real}, w.linkTarget(real)
}

// relative gives a path below the root, "" where it leads out.
func (w *workspace) relative(name string) string {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(filepath.FromSlash(w.id.Path), name)
		if err != nil || !filepath.IsLocal(rel) {
			// The root may be known by another name.
			if rel, err = filepath.Rel(w.rootName(), name); err != nil {
				return ""
			}
		}
		name = rel
	}
	name = filepath.Clean(name)
	if name == "." || !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(name)
}

func (w *workspace) rootName() string {
	if w.root == nil {
		return filepath.FromSlash(w.id.Path)
	}
	return w.root.Name()
}

const manyLinks = 40

// realDir resolves the links of a directory's path, as far as it exists.
func (w *workspace) realDir(dir string, links int) (string, error) {
	if dir == "." {
		return dir, nil
	}
	parent, err := w.realDir(path.Dir(dir), links)
	if err != nil {
		return "", err
	}
	real := path.Join(parent, path.Base(dir))
	target := w.linkTarget(real)
	if target == "" {
		return real, nil
	}
	rel := w.relative(target)
	if links++; links > manyLinks || rel == "" && filepath.Clean(target) != "." {
		return "", errors.New("a link in its path leads out of the workspace")
	}
	if rel == "" {
		return ".", nil
	}
	return w.realDir(rel, links)
}

// linkTarget gives what a link leads to, relative to the root or absolute; "" where it is
// no link.
func (w *workspace) linkTarget(name string) string {
	fsys, done, err := w.open(path.Dir(name))
	if err != nil {
		return ""
	}
	defer done()
	target, err := fsys.Readlink(path.Base(name))
	if err != nil {
		return ""
	}
	if filepath.IsAbs(target) {
		return target
	}
	return path.Join(path.Dir(name), filepath.ToSlash(target))
}
