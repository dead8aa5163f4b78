package sessiontree

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/entries"
)

// A BranchIndex tells of each entry which branch it is on.
type BranchIndex struct {
	x      *index
	tips   []int32 // of the branches, the active one first
	owner  []int32 // of each entry, as an index into tips; -1 where no branch has it
	active []bool  // of each entry: whether it is on the path to the leaf
}

// BranchIndex reads the whole log and finds the branches of Branches; unlike that it
// reads no messages.
func (t *Tree) BranchIndex() (*BranchIndex, error) {
	x, kids, err := t.kids()
	if err != nil {
		return nil, err
	}
	b := &BranchIndex{x: x, active: make([]bool, len(x.recs))}
	if x.leaf < 0 {
		return b, nil
	}
	f := &forest{t: t, index: x, kids: kids, order: x.byDepth(kids)}
	f.measure()
	f.findTips()
	// What several branches have is told of the active one.
	slices.SortStableFunc(f.tips, func(a, b tip) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	b.own(f.tips)
	for i := x.leaf; i >= 0; i = x.recs[i].parent {
		b.active[i] = true
	}
	return b, nil
}

// own gives each entry of a path to the first tip that it leads to.
func (b *BranchIndex) own(tips []tip) {
	b.owner = make([]int32, len(b.x.recs))
	for i := range b.owner {
		b.owner[i] = -1
	}
	for n, t := range tips {
		b.tips = append(b.tips, t.at)
		for i := t.at; i >= 0 && b.owner[i] < 0; i = b.x.recs[i].parent {
			b.owner[i] = int32(n)
		}
	}
}

func rankOf(t tip) int {
	if t.active {
		return 0
	}
	return 1
}

// Of tells the branch of an entry by its tip, and whether the entry is on the path to
// the leaf. Of several branches it is the active one, else the first in the file. What
// only hangs beside a branch, such as a label, is told of the branch that it hangs on.
func (b *BranchIndex) Of(id entries.ID) (tip entries.ID, active bool) {
	i := b.x.ids.find(b.x, id)
	if i < 0 {
		return "", false
	}
	at := i
	for at >= 0 && b.owner[at] < 0 {
		at = b.x.recs[at].parent
	}
	if at < 0 {
		return "", b.active[i]
	}
	return b.x.id(&b.x.recs[b.tips[b.owner[at]]]), b.active[i]
}
