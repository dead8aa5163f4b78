package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A Scope says what goes back, or forward.
type Scope string

// The scopes.
const (
	Code         Scope = "code"         // the files; the conversation stays
	Conversation Scope = "conversation" // the leaf; the files stay
	Both         Scope = "both"
)

// ParseScope reads a scope.
func ParseScope(text string) (Scope, error) {
	switch s := Scope(text); s {
	case Code, Conversation, Both:
		return s, nil
	}
	return "", fmt.Errorf("a scope is conversation, code or both, not %q", text)
}

func (s Scope) files() bool { return s != Conversation }
func (s Scope) leaf() bool  { return s != Code }

// An Action is what a plan does with a path.
type Action string

// The actions.
const (
	ActRestore  Action = "restore"
	ActRemove   Action = "remove"
	ActSkip     Action = "skip"     // nothing to do, or nothing of ours
	ActConflict Action = "conflict" // somebody's work would be lost
	ActUnknown  Action = "unknown"  // it cannot be told, or cannot be done; nothing happens to it
)

// An Item is one path of a plan.
type Item struct {
	Path   string `json:"path"`
	Action Action `json:"action"`
	Reason string `json:"reason,omitempty"`
	Source Source `json:"source,omitempty"` // who did what is taken back
	Known  State  `json:"known"`            // what the log knew last
	Disk   State  `json:"disk"`             // what it is now
	To     State  `json:"to"`               // what it is to be

	beside bool   // it may be another session's work
	brings Source // whose work To is, where it is from another branch
	there  State  // what the path to the target says, where To is a directory for what is to be in it
}

// A Plan is what would be done. Making one changes nothing.
type Plan struct {
	// ID is a digest over everything that the plan depends on. A plan with the same ID
	// does the same.
	ID    string     `json:"plan"`
	Scope Scope      `json:"scope"`
	From  entries.ID `json:"from"` // the leaf
	To    entries.ID `json:"to"`   // whose file states are restored; "" is before the first entry
	// Return says what becomes of the leaf; nil where it stays.
	Return     *sessiontree.Return `json:"-"`
	Items      []Item              `json:"files"` // each path once, sorted
	NotCovered []Uncovered         `json:"notCovered"`
	Effects    []Effect            `json:"effects"`
	Warnings   []string            `json:"warnings"`
	// Undoes and Redoes name what is taken back or brought back: the prompt of a turn, or
	// the record of a restore.
	Undoes entries.ID `json:"undoes,omitempty"`
	Redoes entries.ID `json:"redoes,omitempty"`

	again func(v *View) (*Plan, error) // makes it anew
}

// PlanOptions say what a plan covers. Nil stands for the zero value.
type PlanOptions struct {
	// ToolsOnly leaves alone what no tool of the session told of: a model may not take back
	// what it cannot know to be its own.
	ToolsOnly bool
	// Only, where set, limits the plan to these paths and what is below them.
	Only []string
	// Except are paths that stay as they are.
	Except []string
}

// A View looks at the files of a session, and changes nothing.
type View struct {
	tree    *sessiontree.Tree
	ws      *workspace // nil where there is none
	st      *Store     // nil where there is none
	settled bool       // no move of the leaf left anything unsaid
}

// Look gives a view of a session as a tree shows it. root is the workspace and st has the
// contents; without one of them less can be told.
func Look(t *sessiontree.Tree, root *os.Root, st *Store) (*View, error) {
	v := &View{tree: t, st: st}
	if root != nil {
		ws, err := newWorkspace(root, defaultMaxFile)
		if err != nil {
			return nil, err
		}
		v.ws = ws
		ws.keepOff(t.File(), st)
	}
	return v, nil
}

// Plan plans to go to any entry of the tree, on whatever branch: what this side did to
// files since the paths parted is taken back, and what the other side did is done again.
// To the leaf, in scope Code, it goes over all paths that the log knows: what is on disk and
// not what the session left is in conflict, and goes back where that is allowed.
func (v *View) Plan(to entries.ID, scope Scope, opt *PlanOptions) (*Plan, error) {
	r := &sessiontree.Return{Reason: sessiontree.ReasonRestore, From: v.tree.Leaf(), To: to}
	if to != "" {
		if _, err := v.tree.Entry(to); err != nil {
			return nil, err
		}
	}
	return v.plan(r, to, scope, opt, nil)
}

// Return plans a move of the leaf that was planned already, with the files of the place
// that it leads to.
func (v *View) Return(r *sessiontree.Return, scope Scope, opt *PlanOptions) (*Plan, error) {
	return v.plan(r, r.To, scope, opt, nil)
}

// plan makes a plan, with what else has to be in it.
func (v *View) plan(r *sessiontree.Return, to entries.ID, scope Scope, opt *PlanOptions, also func(*Plan)) (*Plan, error) {
	p := &Plan{Scope: scope, From: v.tree.Leaf(), To: to, Items: []Item{}}
	if scope.leaf() {
		p.Return = r
	}
	if also != nil {
		also(p)
	}
	f, err := v.fork(to)
	if err != nil {
		return nil, err
	}
	p.Warnings = slices.Concat(f.here.unread, f.there.unread)
	p.NotCovered = f.notCovered()
	if p.Effects, err = v.effects(f); err != nil {
		return nil, err
	}
	if scope.files() {
		if v.ws == nil {
			return nil, fmt.Errorf("%w: there is no folder to restore files in", ErrRoot)
		}
		pl := v.newPlanner(f, opt)
		pl.all = scope == Code && to == p.From // what is to be is what the log knows: all of it
		p.Items = pl.items()
	}
	p.ID = p.digest()
	p.again = func(now *View) (*Plan, error) { return now.plan(r, to, scope, opt, also) }
	return p, nil
}

// fork reads the paths to the leaf and to another entry, and adds what a foreign move of
// the leaf left unsaid.
func (v *View) fork(to entries.ID) (fork, error) {
	if v.settled {
		return forkOf(v.tree, v.tree.Leaf(), to, v.st)
	}
	return forkFrom(v.tree, v.tree.Leaf(), to, v.st)
}

// digest sums up everything that a plan depends on.
func (p *Plan) digest() string {
	h := sha256.New()
	for _, it := range p.Items { // one by one: there may be many
		h.Write(encode(it))
	}
	rest := *p
	rest.Items = nil
	h.Write(encode(rest))
	if p.Return != nil {
		h.Write(encode([]string{string(p.Return.Reason), string(p.Return.From), string(p.Return.To)}))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Count tells how many paths have an action.
func (p *Plan) Count(a Action) (n int) {
	for _, it := range p.Items {
		if it.Action == a {
			n++
		}
	}
	return n
}

// Has tells whether a path of the plan is a given one, or below it.
func (p *Plan) Has(path string) bool {
	return slices.ContainsFunc(p.Items, func(it Item) bool { return covers([]string{path}, it.Path) })
}

// Nothing tells that a plan would change neither a file nor the leaf.
func (p *Plan) Nothing() bool {
	return p.Count(ActRestore)+p.Count(ActRemove)+p.Count(ActConflict) == 0 &&
		(p.Return == nil || p.Return.From == p.Return.To)
}
