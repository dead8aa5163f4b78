package sessiontree_test

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A way is a branch of the model: the path to its tip, and the last entry on it
// that a model sees.
type way struct {
	tip, seen *node
	path      []*node
	active    bool
}

func (n *node) visible() bool {
	switch n.kind {
	case "message", "custom_message", "compaction":
		return !n.lost
	case "branch_summary":
		return !n.lost && n.text("summary") != ""
	}
	return false
}

// ways finds the branches by comparing every entry with every other.
func (m *model) ways() (ways []way) {
	if m.leaf == nil {
		return nil
	}
	leafPath := m.leaf.path()
	active := way{tip: m.leaf, seen: lastVisible(leafPath), path: leafPath, active: true}
	paths := map[*node][]*node{}
	for _, n := range m.nodes {
		if !n.lost {
			paths[n] = n.path()
		}
	}
	for _, n := range m.nodes {
		if !n.visible() {
			continue
		}
		w := way{tip: n, seen: n}
		ends := true
		for below, path := range paths {
			if below == n || !n.isOn(path) {
				continue
			}
			ends = ends && !below.visible()
			if below.at > w.tip.at {
				w.tip = below
			}
		}
		if ends && !n.isOn(leafPath) {
			w.path = w.tip.path()
			ways = append(ways, w)
		}
	}
	ways = append(ways, active)
	slices.SortFunc(ways, func(a, b way) int { return cmp.Compare(a.tip.at, b.tip.at) })
	return ways
}

func lastVisible(path []*node) (last *node) {
	for _, n := range path {
		if n.visible() {
			last = n
		}
	}
	return last
}

// shared tells whether another branch goes through n.
func shared(ways []way, mine int, n *node) bool {
	for i, w := range ways {
		if i != mine && n.isOn(w.path) {
			return true
		}
	}
	return false
}

func (m *model) branches() (list []sessiontree.Branch) {
	ways, labels := m.ways(), m.labels()
	for i, w := range ways {
		b := sessiontree.Branch{
			Tip: entries.ID(w.tip.id), Active: w.active, Origin: sessiontree.OriginRoot, Entries: len(w.path),
			LastActivity: entries.ParseTime(w.tip.text("timestamp")),
		}
		var first, fork *node
		for _, n := range w.path {
			if count(&b, n); shared(ways, i, n) {
				if n.visible() {
					fork = n
				}
				continue
			}
			if first == nil {
				first = n
			}
			if label := labels[entries.ID(n.id)]; label != "" {
				b.Label = label
			}
		}
		if fork != nil {
			b.ForkPoint, b.Origin = entries.ID(fork.id), m.origin(first)
		}
		list = append(list, b)
	}
	m.placeReports(ways, list)
	return list
}

func (m *model) origin(first *node) sessiontree.Origin {
	data := map[string]string{}
	if first != nil {
		data = first.member("data")
	}
	switch {
	case first == nil:
	case first.kind == "branch_summary" && m.rewound(first):
		return sessiontree.OriginRewind
	case first.kind == "branch_summary":
		return sessiontree.OriginSummary
	case first.kind == "custom" && first.text("customType") == "leaf" && (data["reason"] == "undo" || data["reason"] == "redo"):
		return sessiontree.OriginUndo
	}
	return sessiontree.OriginBranch
}

func (m *model) rewound(summary *node) bool {
	for _, n := range m.nodes {
		if !n.lost && n.up == summary && n.kind == "custom_message" && n.text("customType") == "rewind-report" {
			return true
		}
	}
	return false
}

// placeReports puts the report of each rewind, and each other summary, at the first branch that has what was
// left: the entry that the summary names, or the record before it in the file.
func (m *model) placeReports(ways []way, list []sessiontree.Branch) {
	for _, s := range m.nodes {
		if s.lost || s.kind != "branch_summary" || s.text("summary") == "" {
			continue
		}
		path := s.path()
		left := m.holder[s.text("fromId")]
		if left == nil || left.isOn(path) {
			if s.at == 0 {
				continue
			}
			left = m.holder[m.nodes[s.at-1].id]
		}
		if left.isOn(path) {
			continue
		}
		for i, w := range ways {
			if left.isOn(w.path) || w.seen != nil && w.seen.isOn(left.path()) && lastVisible(left.path()) == w.seen {
				if m.rewound(s) {
					list[i].Report = s.text("summary")
				} else {
					list[i].Summary = s.text("summary")
				}
				break
			}
		}
	}
}

// count takes up one entry of a branch's path.
func count(b *sessiontree.Branch, n *node) {
	if n.kind != "message" {
		return
	}
	b.Messages++
	b.LastActivity = entries.ParseTime(n.text("timestamp"))
	switch n.role {
	case "user":
		b.Turns++
		b.LastPrompt = n.prompt()
	case "assistant":
		b.Tokens = n.tokens()
	}
}
