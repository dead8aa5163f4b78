package sessiontree

import (
	"cmp"
	"slices"
	"time"

	"github.com/sessctl/sessctl/entries"
)

// An Origin says how a branch came about: by the first record that it has to
// itself.
type Origin string

// The origins of branches.
const (
	OriginRoot    Origin = "root"    // it shares nothing that a model sees
	OriginBranch  Origin = "branch"  // an ordinary record
	OriginSummary Origin = "summary" // a branch summary
	OriginRewind  Origin = "rewind"  // a branch summary with its rewind report
	OriginUndo    Origin = "undo"    // a leaf marker of undo or redo
)

// A Branch is one way through the tree, as a model would tell them apart: see
// docs/format.md, "Branches".
type Branch struct {
	// Tip is the last record in the file of what only this branch has; of the
	// active one it is the leaf.
	Tip    entries.ID
	Active bool
	// ForkPoint is the last entry that a model sees and that another branch has
	// too; "" where there is none.
	ForkPoint entries.ID
	Origin    Origin

	// Of the whole path from the root to the tip: entries, messages among them,
	// and messages of users among those.
	Entries, Messages, Turns int
	LastPrompt               string    // text of the last user message
	LastActivity             time.Time // of the last message; else of the tip
	// Tokens is what the last assistant message on the path says its context
	// took; 0 where none says.
	Tokens int

	// Report is what the model wrote when it rewound from here; "" where it did not.
	Report string
	// Summary is what a branch summary without a rewind tells of this branch; it was
	// written when the branch was left.
	Summary string
	// Label names the last labelled entry of what only this branch has.
	Label string
}

// Branches lists the branches in the file order of their tips. A log with entries
// has at least the active one.
func (t *Tree) Branches() ([]Branch, error) {
	x, kids, err := t.kids()
	if err != nil || x.leaf < 0 {
		return nil, err
	}
	labels, err := t.Labels()
	if err != nil {
		return nil, err
	}
	f := &forest{t: t, index: x, kids: kids, order: x.byDepth(kids), labels: labels}
	f.measure()
	f.findTips()
	f.countSharing()
	return f.describe(), nil
}

// A forest is the work of Branches: what every entry's path and subtree hold.
type forest struct {
	t *Tree
	*index
	kids   *children
	order  []int32 // parents before children
	labels map[entries.ID]string

	path    []pathCount
	visible []bool
	tips    []tip
	sharing []int32 // how many branches go through an entry
}

// A pathCount sums up the path from the root to an entry.
type pathCount struct {
	entries, messages, turns int32
	lastUser, lastAssistant  int32 // index, or -1
	lastMessage, lastVisible int32
}

type tip struct {
	at     int32 // the tip
	seen   int32 // the last entry of the branch that a model sees, or -1
	active bool
}

func (f *forest) measure() {
	f.path = make([]pathCount, len(f.recs))
	f.visible = make([]bool, len(f.recs))
	for _, i := range f.order {
		p := pathCount{lastUser: -1, lastAssistant: -1, lastMessage: -1, lastVisible: -1}
		if up := f.recs[i].parent; up >= 0 {
			p = f.path[up]
		}
		p.entries++
		f.visible[i] = f.isVisible(i)
		if f.visible[i] {
			p.lastVisible = i
		}
		f.countMessage(&p, i)
		f.path[i] = p
	}
}

func (f *forest) countMessage(p *pathCount, i int32) {
	if f.kind(i) != entries.TypeMessage {
		return
	}
	p.messages++
	p.lastMessage = i
	switch f.words[f.recs[i].role] {
	case "user":
		p.turns++
		p.lastUser = i
	case "assistant":
		p.lastAssistant = i
	}
}

func (f *forest) kind(i int32) entries.Type { return entries.Type(f.words[f.recs[i].kind]) }

// isVisible tells what a model would be shown of a path, compactions aside.
func (f *forest) isVisible(i int32) bool {
	if f.recs[i].flags&lost != 0 {
		return false
	}
	switch f.kind(i) {
	case entries.TypeMessage, entries.TypeCustomMessage, entries.TypeCompaction:
		return true
	case entries.TypeBranchSummary:
		s, err := f.t.at(f.index, i).BranchSummary()
		return err == nil && s.Summary != ""
	}
	return false
}

// findTips finds the branches: every visible entry without a visible descendant,
// and the active one whatever it ends in.
func (f *forest) findTips() {
	last := make([]int32, len(f.recs))   // the last record of the subtree
	hidden := make([]bool, len(f.recs))  // nothing visible below
	active := f.path[f.leaf].lastVisible // the entry whose branch the leaf may end
	for i := range last {
		last[i], hidden[i] = int32(i), true
	}
	for n := len(f.order) - 1; n >= 0; n-- {
		i := f.order[n]
		if f.visible[i] && hidden[i] && i != active {
			f.tips = append(f.tips, tip{at: last[i], seen: i})
		}
		if up := f.recs[i].parent; up >= 0 && f.recs[i].flags&lost == 0 {
			last[up] = max(last[up], last[i])
			hidden[up] = hidden[up] && hidden[i] && !f.visible[i]
		}
	}
	f.tips = append(f.tips, tip{at: f.leaf, seen: active, active: true})
	slices.SortFunc(f.tips, func(a, b tip) int { return cmp.Compare(a.at, b.at) })
}

// countSharing counts the branches through every entry.
func (f *forest) countSharing() {
	f.sharing = make([]int32, len(f.recs))
	for _, t := range f.tips {
		f.sharing[t.at]++
	}
	for n := len(f.order) - 1; n >= 0; n-- {
		i := f.order[n]
		if up := f.recs[i].parent; up >= 0 {
			f.sharing[up] += f.sharing[i]
		}
	}
}

func (f *forest) describe() []Branch {
	list := make([]Branch, len(f.tips))
	for n, t := range f.tips {
		list[n] = f.branch(t)
	}
	f.placeReports(list)
	return list
}

func (f *forest) branch(t tip) Branch {
	p := f.path[t.at]
	b := Branch{
		Tip: f.id(&f.recs[t.at]), Active: t.active,
		Entries: int(p.entries), Messages: int(p.messages), Turns: int(p.turns),
	}
	if p.lastUser >= 0 {
		b.LastPrompt = f.prompt(p.lastUser)
	}
	if p.lastAssistant >= 0 {
		b.Tokens = f.tokens(p.lastAssistant)
	}
	b.LastActivity = timeOf(f.recs[t.at].millis)
	if p.lastMessage >= 0 {
		b.LastActivity = timeOf(f.recs[p.lastMessage].millis)
	}
	f.fork(&b, t)
	return b
}

func (f *forest) prompt(i int32) string {
	m, err := f.t.at(f.index, i).Message()
	if err != nil {
		return ""
	}
	return m.Text()
}

func (f *forest) tokens(i int32) int {
	m, err := f.t.at(f.index, i).Message()
	if err != nil {
		return 0
	}
	return m.ContextTokens()
}

// fork fills in what the branch shares with others. It walks up what the branch
// has to itself, so all branches together cost one walk over the tree.
func (f *forest) fork(b *Branch, t tip) {
	first := int32(-1) // of the branch's own records
	at := t.at
	for ; at >= 0 && f.sharing[at] == 1; at = f.recs[at].parent {
		first = at
		if b.Label == "" {
			b.Label = f.labels[f.id(&f.recs[at])]
		}
	}
	shared := int32(-1)
	if at >= 0 {
		shared = f.path[at].lastVisible
	}
	if shared < 0 {
		b.Origin = OriginRoot
		return
	}
	b.ForkPoint = f.id(&f.recs[shared])
	b.Origin = f.origin(first)
}

// origin judges the first record that a branch has to itself.
func (f *forest) origin(first int32) Origin {
	if first < 0 {
		return OriginBranch
	}
	e := f.t.at(f.index, first)
	switch e.Type {
	case entries.TypeBranchSummary:
		if f.rewound(first) {
			return OriginRewind
		}
		return OriginSummary
	case entries.TypeCustom:
		if m, ok, _ := e.LeafMarker(); ok && (m.Reason == "undo" || m.Reason == "redo") {
			return OriginUndo
		}
	}
	return OriginBranch
}

// rewound tells whether a branch summary has its rewind report below it.
func (f *forest) rewound(summary int32) bool {
	for _, k := range f.kids.of(summary) {
		if f.kind(k) != entries.TypeCustomMessage {
			continue
		}
		if m, err := f.t.at(f.index, k).CustomMessage(); err == nil && m.CustomType == entries.CustomRewindReport {
			return true
		}
	}
	return false
}

// placeReports puts the report of every rewind, and every other summary, at the
// branch that was left: the one of the entry that the summary names, or, where that names none (oh-my-pi
// names the summary's own parent), of the record before the summary in the file.
func (f *forest) placeReports(list []Branch) {
	var owner []int32
	var span spans
	for s := range f.ofType(entries.TypeBranchSummary) {
		if !f.visible[s] {
			continue // an empty one tells nothing
		}
		if owner == nil {
			owner, span = f.owners(), f.spans()
		}
		summary, err := f.t.at(f.index, s).BranchSummary()
		if err != nil {
			continue
		}
		left := f.ids.find(f.index, summary.From)
		if left < 0 || span.above(left, s) {
			left = f.holder(s - 1)
		}
		if left >= 0 && owner[left] >= 0 && !span.above(left, s) {
			b := &list[owner[left]]
			if f.rewound(s) {
				b.Report = summary.Summary
			} else {
				b.Summary = summary.Summary
			}
		}
	}
}

// holder gives the entry that has the id of another: itself, unless a later one took
// it or it is a repetition.
func (f *forest) holder(i int32) int32 {
	if i < 0 || f.recs[i].flags&lost == 0 {
		return i
	}
	return f.ids.find(f.index, f.id(&f.recs[i]))
}

// spans number the entries so that those below one are the numbers that follow its
// own: whether one is above another then needs no walk.
type spans struct{ first, size []int32 }

func (f *forest) spans() spans {
	n := len(f.recs)
	s := spans{first: make([]int32, n), size: make([]int32, n)}
	for k := len(f.order) - 1; k >= 0; k-- {
		i := f.order[k]
		s.size[i]++
		if up := f.recs[i].parent; up >= 0 {
			s.size[up] += s.size[i]
		}
	}
	next := make([]int32, n) // where the next child's numbers start
	free := int32(0)         // where the next root's do
	for _, i := range f.order {
		start := &free
		if up := f.recs[i].parent; up >= 0 {
			start = &next[up]
		}
		s.first[i], next[i] = *start, *start+1
		*start += s.size[i]
	}
	return s
}

// above tells whether a is i or on its path.
func (s spans) above(a, i int32) bool {
	return s.first[a] <= s.first[i] && s.first[i] < s.first[a]+s.size[a]
}

// owners gives for every entry the first branch through it, by the order of the
// list; -1 where no branch has it.
func (f *forest) owners() []int32 {
	owner := make([]int32, len(f.recs))
	for i := range owner {
		owner[i] = -1
	}
	for n, t := range f.tips {
		for at := t.at; at >= 0 && owner[at] < 0; at = f.recs[at].parent {
			owner[at] = int32(n)
		}
		// What hangs below the branch's end belongs to it too.
		if t.seen >= 0 {
			f.own(owner, t.seen, int32(n))
		}
	}
	return owner
}

// own gives what hangs invisibly below i to a branch.
func (f *forest) own(owner []int32, i, branch int32) {
	below := []int32{i}
	for len(below) > 0 {
		at := below[len(below)-1]
		below = below[:len(below)-1]
		for _, k := range f.kids.of(at) {
			if f.visible[k] {
				continue
			}
			if owner[k] < 0 {
				owner[k] = branch
			}
			below = append(below, k)
		}
	}
}
