package claude

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/cycles"
	"github.com/sessctl/sessctl/internal/jsonl"
)

// A graph decides what follows what: which records of the transcript are one line of
// conversation, and where it parts.
type graph struct {
	*translator
	order    []int32 // parents before children
	segments []segment
	of       []int32 // the segment of each node
	lead     []bool  // something typed stands at or below the node
	key      []int64 // the place of each node among all, by the file and by its parents
	forward  bool    // some parent stands behind its child: only then is there a cycle
}

// A segment is a run of records without a branch in it.
type segment struct {
	parent int32 // -1 at the root
	end    int64 // the largest key
}

func (t *translator) graph() *graph {
	g := &graph{translator: t}
	g.resolve()
	g.cutCycles()
	g.stitch()
	g.hang()
	g.sort()
	g.lookDown()
	g.split()
	g.place()
	return g
}

// inGraph tells whether a node has parents and children.
func (n *node) inGraph() bool { return !n.loose && !n.dropped }

// resolve finds the parents. A logical parent is what a compaction follows; it counts
// only where it stands before it, since the file of a fork has the messages that the
// compaction kept behind it.
func (g *graph) resolve() {
	for i := range g.nodes {
		n := &g.nodes[i]
		if !n.inGraph() || n.parent >= 0 {
			continue
		}
		if p, ok := g.byUUID[n.up]; ok && n.up != "" {
			n.parent, g.forward = p, true
			continue
		}
		if n.up != "" {
			g.log.Notes.Damage(jsonl.MissingParent, n.at, n.size, "its parent "+entries.ID(n.up).Short()+" is not in the file; it follows the record before it")
		}
		p, ok := g.byUUID[n.logical()]
		switch {
		case n.logical() == "":
		case ok && p < int32(i):
			n.parent = p
		case !ok:
			g.log.Notes.Note(jsonl.MissingParent, n.at, n.size, "a compaction follows a record of another file; it follows the record before it")
		}
	}
}

// cutCycles makes the first record of every cycle a root.
func (g *graph) cutCycles() {
	if !g.forward {
		return
	}
	for i := range cycles.Firsts(len(g.nodes), func(i int32) int32 { return g.nodes[i].parent }) {
		n := &g.nodes[i]
		n.parent = -1
		g.log.Notes.Damage(jsonl.Cycle, n.at, n.size, "it is its own ancestor; it follows the record before it")
	}
}

// stitch lets every root but the first follow the record before it in the file: what
// begins anew (a hook at the start, a resumed or compacted session) goes on with the
// same conversation.
func (g *graph) stitch() {
	var before []int32
	f := g.forest()
	for i := range g.nodes {
		n := &g.nodes[i]
		if !n.inGraph() {
			continue
		}
		if n.parent < 0 && !n.anew {
			n.parent = f.other(int32(i), before)
		}
		before = append(before, int32(i))
	}
}

// A forest knows which records are in one tree. Where no parent stands behind its child,
// which it hardly ever does, what stands before a root is in another one.
type forest struct {
	root   []int32 // of each node or, on the way to it, a node above; nil where it is no matter
	budget int     // of looking
}

func (g *graph) forest() *forest {
	f := &forest{budget: 8 * len(g.nodes)}
	if !g.forward {
		return f
	}
	f.root = make([]int32, len(g.nodes))
	for i := range g.nodes {
		if f.root[i] = g.nodes[i].parent; f.root[i] < 0 {
			f.root[i] = int32(i)
		}
	}
	return f
}

// other gives the last of some nodes that is not in the tree of a root, and adds that
// tree to the other's; -1 where there is none, or where looking for it takes too long.
func (f *forest) other(root int32, before []int32) int32 {
	if f.root == nil && len(before) > 0 {
		return before[len(before)-1]
	}
	for k := len(before) - 1; k >= 0 && f.budget > 0; k-- {
		if top := f.find(before[k]); top != root {
			f.root[root] = top
			return before[k]
		}
		f.budget--
	}
	return -1
}

func (f *forest) find(i int32) int32 {
	for f.root[i] != i {
		f.root[i] = f.root[f.root[i]]
		i = f.root[i]
	}
	return i
}

// hang enters the children of every node, in the order of the file.
func (g *graph) hang() {
	for i := range g.nodes {
		if n := &g.nodes[i]; n.inGraph() && n.parent >= 0 {
			g.adopt(n.parent, int32(i))
		}
	}
}

func (g *graph) adopt(parent, child int32) {
	p := &g.nodes[parent]
	if g.nodes[child].parent, g.nodes[child].next = parent, -1; p.child < 0 {
		p.child = child
	} else {
		g.nodes[p.last].next = child
	}
	p.last = child
}

// sort puts parents before their children. On the way, what was written again under new
// uuids becomes one with what it repeats.
func (g *graph) sort() {
	for i := range g.nodes {
		if n := &g.nodes[i]; n.inGraph() && n.parent < 0 {
			g.order = append(g.order, int32(i))
		}
	}
	for k := 0; k < len(g.order); k++ {
		if at := g.order[k]; g.nodes[at].child >= 0 {
			g.unite(at)
			for c := g.nodes[at].child; c >= 0; c = g.nodes[c].next {
				g.order = append(g.order, c)
			}
		}
	}
}

// unite makes children that repeat a child before them a part of that one.
func (g *graph) unite(parent int32) {
	first := g.nodes[parent].child
	if g.nodes[first].next < 0 {
		return
	}
	seen := map[moment]*sayings{}
	g.nodes[parent].child, g.nodes[parent].last = -1, -1
	for c := first; c >= 0; {
		n := &g.nodes[c]
		next := n.next
		if twin := g.twin(seen, c); twin >= 0 {
			g.merge(twin, c)
		} else {
			g.adopt(parent, c)
		}
		c = next
	}
}

// Sayings are the messages of one moment, by what they say. Most moments have one, which
// then need not be read.
type sayings struct {
	first int32
	by    map[uint64]int32 // nil where there is only the first
}

// twin finds the message that another one repeats, -1 where there is none, and adds those
// that are new to what was seen.
func (g *graph) twin(seen map[moment]*sayings, i int32) int32 {
	n := &g.nodes[i]
	if n.class == other || n.time == "" {
		return -1
	}
	s := seen[n.moment]
	if s == nil {
		seen[n.moment] = &sayings{first: i}
		return -1
	}
	if s.by == nil {
		s.by = map[uint64]int32{g.hash(&g.nodes[s.first]): s.first}
	}
	if twin, ok := s.by[g.hash(n)]; ok {
		return twin
	}
	s.by[g.hash(n)] = i
	return -1
}

func (g *graph) merge(into, twin int32) {
	n := &g.nodes[twin]
	n.dropped = true
	g.log.Notes.Note(jsonl.DuplicateID, n.at, n.size, "a record that was written again under another uuid; it counts once")
	for c := n.child; c >= 0; {
		next := g.nodes[c].next
		g.adopt(into, c)
		c = next
	}
	n.child = -1
}

// lookDown finds out below which records something was typed.
func (g *graph) lookDown() {
	g.lead = make([]bool, len(g.nodes))
	for k := len(g.order) - 1; k >= 0; k-- {
		i := g.order[k]
		n := &g.nodes[i]
		g.lead[i] = g.lead[i] || n.typed
		if n.parent >= 0 {
			g.lead[n.parent] = g.lead[n.parent] || g.lead[i]
		}
	}
}

// split cuts the graph into segments: where two children each lead to something typed
// the conversation parts.
func (g *graph) split() {
	g.of = make([]int32, len(g.nodes))
	for _, i := range g.order {
		if g.nodes[i].parent < 0 {
			g.of[i] = g.segment(-1)
		}
		parts := g.leading(i) > 1
		for c := g.nodes[i].child; c >= 0; c = g.nodes[c].next {
			g.of[c] = g.of[i]
			if parts && g.lead[c] {
				g.of[c] = g.segment(g.of[i])
			}
		}
	}
}

func (g *graph) leading(i int32) (n int) {
	for c := g.nodes[i].child; c >= 0; c = g.nodes[c].next {
		if g.lead[c] {
			n++
		}
	}
	return n
}

func (g *graph) segment(parent int32) int32 {
	g.segments = append(g.segments, segment{parent, -1})
	return int32(len(g.segments)) - 1
}

// place gives every node its place: that of the file, but behind its parent, and behind
// all of the segment before its own.
func (g *graph) place() {
	g.key = make([]int64, len(g.nodes))
	for _, i := range g.order {
		g.key[i] = int64(i)
		if up := g.nodes[i].parent; up >= 0 {
			g.key[i] = max(g.key[i], g.key[up])
		}
		s := &g.segments[g.of[i]]
		s.end = max(s.end, g.key[i])
	}
	floor := make([]int64, len(g.segments))
	for s := range g.segments {
		if up := g.segments[s].parent; up >= 0 {
			floor[s] = g.segments[up].end
			g.segments[s].end = max(g.segments[s].end, floor[s])
		}
	}
	for _, i := range g.order {
		g.key[i] = max(g.key[i], floor[g.of[i]])
	}
	g.placeLoose()
}

// placeLoose lets what has no parent stand where it stands in the file, but not at the
// end of a segment: that end is the conversation's.
func (g *graph) placeLoose() {
	segment := int32(0)
	if len(g.segments) == 0 {
		g.segment(-1)
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		if !n.loose {
			if !n.dropped {
				segment = g.of[i]
			}
			continue
		}
		g.of[i] = segment
		g.key[i] = int64(i)
		if end := g.segments[segment].end; end >= 0 {
			g.key[i] = min(g.key[i], end)
		}
		if up := g.segments[segment].parent; up >= 0 {
			g.key[i] = max(g.key[i], g.segments[up].end)
		}
	}
}

// sorted gives all nodes in the order of the log.
func (g *graph) sorted() []int32 {
	rank := make([]int32, len(g.nodes)) // loose ones first
	for k, i := range g.order {
		rank[i] = int32(k) + 1
	}
	var list []int32
	for i := range g.nodes {
		if !g.nodes[i].dropped {
			list = append(list, int32(i))
		}
	}
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(g.key[a], g.key[b]), cmp.Compare(g.of[a], g.of[b]), cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b))
	})
	return list
}
