package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/durable"
)

// A listing is a directory that a scan looks at.
type listing struct {
	*scan
	root    *os.Root
	dir     string
	was, is scope // the rules of the older scan, and of this one
	old     []node
	nodes   []node
	differs bool     // nodes are not the beginning of old
	names   []string // what is in it, sorted
	below   []string // directories to go into
}

// lookAt looks at what is in the directory; false says that there was no time for it.
func (l *listing) lookAt() bool {
	old := l.old
	for _, base := range l.names {
		if l.stopped() {
			return false
		}
		for len(old) > 0 && old[0].name < base {
			l.gone(old[0])
			old = old[1:]
		}
		var known *node
		if len(old) > 0 && old[0].name == base {
			known, old = &old[0], old[1:]
		}
		l.look(base, known)
	}
	for _, n := range old {
		l.gone(n)
	}
	return true
}

// gone tells that a path is not there any more, with all that was below it.
func (l *listing) gone(n node) {
	name := path.Join(l.dir, n.name)
	l.change(name, n.state, State{Kind: Absent})
	if n.state.Kind == Dir {
		l.goneBelow(name)
	}
}

func (l *listing) goneBelow(dir string) {
	l.scan.old.walk(dir, func(name string, list []node) {
		for _, n := range list {
			l.change(path.Join(name, n.name), n.state, State{Kind: Absent})
		}
	})
}

// look looks at one name; known is what the older scan saw there.
func (l *listing) look(base string, known *node) {
	name := base
	if l.dir != "." {
		name = l.dir + "/" + base
	}
	info, err := l.root.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if known != nil {
			l.gone(*known)
		}
		return
	case err != nil, l.isLeftOut(base, name, info.IsDir(), known != nil):
		return
	}
	l.count()
	n := node{name: base, signature: signatureOf(info)}
	if known != nil && known.signature == n.signature && l.scan.old.trusts(known) {
		n.state = known.state
		l.keep(n)
	} else {
		n.state = l.read(base, name)
		l.reread.Store(true)
		l.compare(name, n, known)
		l.add(n)
	}
	if n.state.Kind == Dir {
		l.below = append(l.below, base)
	}
}

// keep takes over what the older scan saw. As long as nothing else comes, its list is
// shared: most directories never change, and the lists are what scans remember.
func (l *listing) keep(n node) {
	if i := len(l.nodes); !l.differs && i < len(l.old) && l.old[i].name == n.name {
		l.nodes = l.old[: i+1 : i+1]
		return
	}
	l.add(n)
}

func (l *listing) add(n node) {
	if !l.differs {
		l.nodes = append(make([]node, 0, max(len(l.names), len(l.nodes))), l.nodes...)
		l.differs = true
	}
	l.nodes = append(l.nodes, n)
}

// compare tells a change. What was unknown and has not changed is only better known now.
func (l *listing) compare(name string, n node, known *node) {
	before, ok := State{}, true
	if known != nil {
		before = known.state
	} else if before, ok = l.scan.old.state(name); !ok {
		before = unknown("it was not covered before")
	}
	if before.Same(n.state) || before.Kind == Unknown && (n.state.Kind == Unknown || known != nil && known.signature == n.signature) {
		return
	}
	if before.Kind == Dir && n.state.Kind != Dir {
		l.goneBelow(name)
	}
	l.change(name, before, n.state)
}

// isLeftOut tells whether a path is left out, and notes it. What was covered before stays
// so, whatever rules came since.
func (l *listing) isLeftOut(base, name string, dir, known bool) bool {
	slash, reason := "", ""
	if dir {
		slash = "/"
		if reason, out := leftOutDir(base); out {
			if reason != "" {
				l.leaveOut(name+slash, reason)
			}
			return true
		}
	}
	switch {
	case l.ws.isOurs(name), ofSession(base, l.names):
		reason = reasonOurs
	case strings.HasPrefix(base, ".sessctl-") && strings.HasSuffix(base, ".tmp"):
		return true // of a restore that goes on, or was cut short
	case known:
		return false
	case !utf8.ValidString(name):
		reason = reasonNotUTF8
	case l.is.ignores(name, dir):
		reason = reasonIgnored
	case l.was.ignores(name, dir):
		reason = reasonIgnored
		l.hide(name)
	case !dir && !l.opt.Secrets && isSecret(name):
		reason = reasonSecret
	default:
		return base == ".git"
	}
	l.leaveOut(name+slash, reason)
	return true
}

// hide remembers a path that is not ignored any more: the next scan sees it for the first
// time, which is not to say that it is new.
func (l *listing) hide(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.hidden[name] = true
}

// read reads a path, and stores its content.
func (l *listing) read(base, name string) State {
	if l.stopped() {
		return unknown(reasonBudget)
	}
	s := l.ws.stateIn(durable.Root(l.root), base, l.batch.put)
	if s.Kind == Unknown {
		l.leaveOut(name, s.Reason)
	}
	s.look = nil
	return s
}

// descend goes into a directory, in a goroutine of its own where there is room.
func (l *listing) descend(base string) {
	dir := path.Join(l.dir, base)
	below, err := openBelow(l.root, base)
	if err != nil {
		l.unreadable(dir)
		return
	}
	select {
	case l.slots <- struct{}{}:
		l.wait.Go(func() {
			defer func() { <-l.slots }()
			l.directory(below, dir, l.was, l.is)
		})
	default:
		l.directory(below, dir, l.was, l.is)
	}
}
