package checkpoint

import (
	"path"
	"slices"
	"strings"
	"time"
)

// An index is what a scan saw: every path that it covers, with what tells whether it
// changed.
type index struct {
	at     time.Time // when the scan began
	dirs   map[string][]node
	rules  rules
	stale  map[string]bool // directories whose list is that of an older scan
	hidden map[string]bool // paths that were ignored when the turn began, and are no more
}

// A node is a path of an index, in the list of its directory.
type node struct {
	name      string
	signature signature
	state     State
}

func newIndex() *index {
	return &index{dirs: map[string][]node{}, rules: rules{}, stale: map[string]bool{}, hidden: map[string]bool{}}
}

func byName(n node, name string) int { return strings.Compare(n.name, name) }

func (x *index) node(name string) (node, bool) {
	list := x.dirs[path.Dir(name)]
	if i, ok := slices.BinarySearchFunc(list, path.Base(name), byName); ok {
		return list[i], true
	}
	return node{}, false
}

// walk goes over the lists of a directory and of those below it, as far as they were seen.
// It looks at nothing else: many directories may go away at once.
func (x *index) walk(dir string, see func(dir string, list []node)) {
	list, ok := x.dirs[dir]
	if !ok {
		return
	}
	see(dir, list)
	for _, n := range list {
		if n.state.Kind == Dir {
			x.walk(path.Join(dir, n.name), see)
		}
	}
}

// state gives what a path was when the scan looked; ok is false where that is not known,
// because it is left out or the scan did not get there.
func (x *index) state(name string) (s State, ok bool) {
	if n, ok := x.node(name); ok {
		return n.state, true
	}
	if isSecret(name) || x.rules.ignores(name) {
		return s, false
	}
	dir := "."
	for part := range strings.SplitSeq(name, "/") {
		if _, out := leftOutDir(part); out {
			return s, false
		}
		list, seen := x.dirs[dir]
		i, there := slices.BinarySearchFunc(list, part, byName)
		if !seen || !there && x.stale[dir] || x.hidden[path.Join(dir, part)] {
			return s, false // it was not gone into
		}
		if !there || list[i].state.Kind != Dir {
			return State{Kind: Absent}, true
		}
		dir = path.Join(dir, part)
	}
	return s, false
}

// The clocks of file systems are coarse: a change within a tick of the scan may leave the
// signature as it was.
const (
	tick       = 20 * time.Millisecond
	coarseTick = 2 * time.Second // of file systems without fractions of a second
)

// trusts tells whether a path with an unchanged signature has unchanged content.
func (x *index) trusts(n *node) bool {
	if n.state.Kind == Unknown || n.state.Kind == "" {
		return false
	}
	newest := max(n.signature.mtime, n.signature.ctime)
	window := tick
	if n.signature.mtime%int64(time.Second) == 0 && n.signature.ctime%int64(time.Second) == 0 {
		window = coarseTick
	}
	return newest < x.at.Add(-window).UnixNano()
}
