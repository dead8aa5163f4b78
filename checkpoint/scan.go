package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// errTooMany: the workspace has more files than scans take.
var errTooMany = errors.New("too many files")

// A scan looks at every path of a workspace that is not left out, and reads those that
// changed since another one.
type scan struct {
	ws       *workspace
	opt      *TrackOptions
	old, now *index
	during   bool // the rules of the older scan hold too: a turn ends
	batch    *batch
	deadline time.Time
	slots    chan struct{} // for goroutines
	wait     sync.WaitGroup
	files    atomic.Int64
	over     atomic.Bool // too many files, or no time left
	reread   atomic.Bool // something was read that had not changed

	mu        sync.Mutex
	changes   []changed
	uncovered []Uncovered
	err       error
}

// A changed path is one that is not what the older scan saw.
type changed struct {
	path          string
	before, after State
}

// manySlots is how many directories are looked at beside each other.
const manySlots = 8

// scan looks at the workspace. Against an index of before it tells what changed; without
// one it tells nothing. What was ignored when a turn began stays so during it. Where it fails there is no index.
func (t *Tracker) scan(ctx context.Context, old *index, during bool) (*scan, error) {
	s := &scan{ws: t.ws, during: during, opt: &t.opt, old: old, now: newIndex(), slots: make(chan struct{}, manySlots), batch: t.st.batch()}
	s.now.at = time.Now()
	s.deadline = s.now.at.Add(t.opt.Budget)
	if s.old == nil {
		s.old = newIndex()
	}
	if t.ws.replaced() {
		return nil, errReplaced
	}
	root, err := t.ws.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { s.over.Store(true) })()
	s.directory(root, ".", nil, nil)
	s.wait.Wait()
	if s.err != nil {
		s.batch.drop()
		return nil, s.err
	}
	if err := s.batch.commit(); err != nil {
		return nil, err
	}
	slices.SortFunc(s.changes, func(a, b changed) int { return strings.Compare(a.path, b.path) })
	s.uncovered = shorten(s.uncovered)
	return s, nil
}

// mostUncovered is how many paths that are left out a record names.
const mostUncovered = 500

// shorten sorts what is left out, and of very much names only the first.
func shorten(list []Uncovered) []Uncovered {
	slices.SortFunc(list, func(a, b Uncovered) int { return strings.Compare(a.Path, b.Path) })
	if more := len(list) - mostUncovered; more > 0 {
		list = append(list[:mostUncovered:mostUncovered], Uncovered{".", fmt.Sprintf("%d more paths are left out", more)})
	}
	return list
}

// directory looks at one directory, and goes on below it. It closes root.
func (s *scan) directory(root *os.Root, dir string, was, is scope) {
	defer root.Close()
	names, err := namesIn(root)
	if err != nil {
		s.unreadable(dir)
		return
	}
	if _, git := slices.BinarySearch(names, ".git"); git && dir != "." {
		s.leaveOut(dir+"/", reasonNested)
		return
	}
	if isStore(names) {
		s.leaveOut(slashed(dir), reasonOurs)
		return
	}
	l := &listing{
		scan: s, root: root, dir: dir, old: s.old.dirs[dir], names: names,
		was: was, is: is.in(dir, s.rulesIn(root, dir, names)),
	}
	if s.during {
		l.was = was.in(dir, s.old.rules[dir])
	}
	if !l.lookAt() {
		s.leaveOut(slashed(dir), reasonBudget)
		s.keepOld(dir)
		return
	}
	s.mu.Lock()
	s.now.dirs[dir] = l.nodes
	s.mu.Unlock()
	for _, base := range l.below {
		l.descend(base)
	}
}

func namesIn(root *os.Root) ([]string, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// rulesIn reads a directory's .gitignore. A link is not followed, as git does not.
func (s *scan) rulesIn(root *os.Root, dir string, names []string) *ruleFile {
	if _, ok := slices.BinarySearch(names, ignoreFile); !ok {
		return nil
	}
	info, err := root.Lstat(ignoreFile)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestIgnore {
		return nil
	}
	data, err := root.ReadFile(ignoreFile)
	if err != nil {
		return nil
	}
	m := parseRules(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.rules[dir] = m
	return m
}

// stopped tells whether there is no time left.
func (s *scan) stopped() bool {
	if !s.over.Load() && time.Now().After(s.deadline) {
		s.over.Store(true)
	}
	return s.over.Load()
}

// leaveOut notes what is not covered.
func (s *scan) leaveOut(name, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uncovered = append(s.uncovered, Uncovered{strings.ToValidUTF8(name, "\uFFFD"), reason})
}

// unreadable keeps what was known below a directory that cannot be read any more: that is
// not to say that it is gone.
func (s *scan) unreadable(dir string) {
	s.leaveOut(slashed(dir), reasonUnreadable)
	s.keepOld(dir)
}

// slashed is how a directory is named that is left out.
func slashed(dir string) string {
	if dir == "." {
		return dir
	}
	return dir + "/"
}

// keepOld takes over what the older scan saw in a directory and below it.
func (s *scan) keepOld(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old.walk(dir, func(name string, list []node) { s.now.dirs[name], s.now.stale[name] = list, true })
}

func (s *scan) change(name string, before, after State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before.look, after.look = nil, nil
	s.changes = append(s.changes, changed{name, before, after})
}

// count counts a path, and gives up where there are too many.
func (s *scan) count() {
	if s.files.Add(1) <= int64(s.opt.MaxFiles) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = fmt.Errorf("%w: more than %d", errTooMany, s.opt.MaxFiles)
	s.over.Store(true)
}
