package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A request asks for a plan.
type request struct {
	what  string // "undo", "redo", or "go"
	to    entries.ID
	scope checkpoint.Scope
	opt   checkpoint.PlanOptions
}

// plan makes a plan, by the tracker and by what only looks: these agree, and change nothing.
func (w *world) plan(q request) (p *checkpoint.Plan, err error) {
	w.Helper()
	var before *checkpoint.Plan
	looks := w.r.IntN(3) == 0
	if looks {
		before = w.viewed(q)
	}
	pre := w.seen
	switch q.what {
	case "undo":
		p, err = w.f.Undo(w.Context(), q.scope, &q.opt)
	case "redo":
		p, err = w.f.Redo(w.Context(), q.scope, &q.opt)
	default:
		p, err = w.f.Plan(w.Context(), q.to, q.scope, &q.opt)
	}
	w.called(pre, nil)
	if err != nil || !looks {
		return p, err
	}
	if items := encode(p.Items); before == nil || items != encode(before.Items) {
		w.fail("%+v: the tracker plans %s\nand a view %s", q, items, encode(before))
	}
	if again := w.viewed(q); again.ID != p.ID {
		w.fail("%+v: planned twice, the ids are %s and %s: %s\n%s", q, p.ID, again.ID, encode(p), encode(again))
	}
	return p, nil
}

// viewed makes a plan of the log's file; nil where there is nothing to undo.
func (w *world) viewed(q request) (p *checkpoint.Plan) {
	w.Helper()
	files, log := look(w.T, w.dir), w.log()
	t, err := sessiontree.Read(w.s.Path(), nil)
	w.must(err)
	defer t.Close()
	v, err := checkpoint.Look(t, w.root, w.st)
	w.must(err)
	switch q.what {
	case "undo":
		p, err = v.Undo(q.scope, &q.opt)
	case "redo":
		p, err = v.Redo(q.scope, &q.opt)
	default:
		p, err = v.Plan(q.to, q.scope, &q.opt)
	}
	if !errors.Is(err, sessiontree.ErrNothingToUndo) {
		w.must(err)
	}
	w.unchanged("a plan", files)
	if !bytes.Equal(log, w.log()) {
		w.fail("a plan changed the log")
	}
	return p
}

func (w *world) log() []byte {
	w.Helper()
	data, err := os.ReadFile(w.s.Path())
	w.must(err)
	return data
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (w *world) unchanged(what string, was folder) {
	w.Helper()
	now := look(w.T, w.dir)
	for _, name := range was.names(now) {
		if !was[name].untouched(now[name]) {
			w.fail("%s changed %q from %v to %v", what, name, was[name], now[name])
		}
	}
}

var scopes = []checkpoint.Scope{checkpoint.Code, checkpoint.Both, checkpoint.Conversation}

// jump goes to any entry, in any way.
func (w *world) jump() {
	q := request{to: w.place(), scope: scopes[w.r.IntN(3)]}
	switch w.r.IntN(6) {
	case 0:
		q.opt.Only = []string{paths[w.r.IntN(len(paths))], "d"}
	case 1:
		q.opt.Except = []string{paths[w.r.IntN(len(paths))]}
	case 2:
		q.opt.ToolsOnly = true
	}
	var opt checkpoint.CommitOptions
	switch w.r.IntN(4) {
	case 0:
		opt.Force = true
	case 1:
		opt.Overwrite = []string{paths[w.r.IntN(len(paths))], paths[w.r.IntN(len(paths))]}
	case 2:
		opt.Partial = true
	}
	if w.r.IntN(4) == 0 {
		opt.Batch = func(*checkpoint.Done) []entries.Draft {
			return []entries.Draft{entries.BranchSummaryDraft(q.to, "it was like this", nil)}
		}
	}
	w.note("go to %s: %s %+v %+v", short(q.to), q.scope, q.opt, opt)
	p, err := w.plan(q)
	w.must(err)
	w.commit(q, p, &opt)
}

// someChain undoes and redoes.
func (w *world) someChain() { w.chain(scopes[w.r.IntN(3)]) }

// chain undoes several times, and brings as many back: the folder is each time exactly
// what it was.
func (w *world) chain(scope checkpoint.Scope) {
	var was []folder
	last := ""
	force := w.r.IntN(2) == 0
	for range 1 + w.r.IntN(4) {
		w.note("undo %s, force: %v", scope, force)
		q := request{what: "undo", scope: scope}
		p, err := w.plan(q)
		if errors.Is(err, sessiontree.ErrNothingToUndo) {
			break
		}
		w.must(err)
		if id := string(p.Undoes); scope == checkpoint.Code && id == last {
			w.fail("%s is undone twice", id)
		} else {
			last = id
		}
		was = append(was, look(w.T, w.dir))
		w.commit(q, p, &checkpoint.CommitOptions{Force: force, Partial: true})
		if w.quits && w.r.IntN(4) == 0 {
			w.quit()
		}
	}
	for _, f := range slices.Backward(was) {
		w.note("redo %s", scope)
		w.back(request{what: "redo", scope: scope}, f, &checkpoint.CommitOptions{Partial: !force})
	}
}

// back brings back a folder.
func (w *world) back(q request, was folder, opt *checkpoint.CommitOptions) {
	w.Helper()
	p, err := w.plan(q)
	w.must(err)
	w.commit(q, p, opt)
	now := look(w.T, w.dir)
	for _, name := range was.differs(now) {
		w.fail("%s: %q was %v, and is %v", q.what, name, was[name], now[name])
	}
}

// forceBack restores whatever is in the way, and takes that back.
func (w *world) forceBack() {
	q := request{to: w.place(), scope: scopes[w.r.IntN(2)]}
	w.note("force to %s: %s, and back", short(q.to), q.scope)
	was := look(w.T, w.dir)
	p, err := w.plan(q)
	w.must(err)
	if done := w.commit(q, p, &checkpoint.CommitOptions{Force: true}); done.End != "" {
		w.back(request{what: "undo", scope: q.scope}, was, nil)
	}
}

// stale changes something that a plan depends on.
func (w *world) stale() {
	q := request{to: w.place(), scope: scopes[w.r.IntN(2)]}
	p, err := w.plan(q)
	w.must(err)
	if i := w.r.IntN(len(p.Items) + 1); i < len(p.Items) && w.hand && w.rewrite(p.Items[i].Path) {
		w.note("stale: %s", p.Items[i].Path)
	} else {
		w.note("stale")
		w.answer()
	}
	was := look(w.T, w.dir)
	_, err = w.f.Commit(w.Context(), p, &checkpoint.CommitOptions{Force: true})
	if _, ok := errors.AsType[*checkpoint.StaleError](err); !ok {
		w.fail("a stale plan: %v", err)
	}
	w.unchanged("a stale plan", was)
	w.sync()
}

// rewrite writes a file by hand, where a file can be.
func (w *world) rewrite(name string) bool {
	at := filepath.Join(w.dir, filepath.FromSlash(name))
	info, err := os.Lstat(at)
	if err == nil && !info.Mode().IsRegular() {
		return false
	}
	changed := w.did(byHand, func() {
		if os.Remove(at) == nil || err != nil {
			err = os.WriteFile(at, []byte(w.text()+"!"), 0o644)
		}
	})
	return len(changed) > 0
}

// commit does a plan, and holds it to what the plan said and to what the model knows.
func (w *world) commit(q request, p *checkpoint.Plan, opt *checkpoint.CommitOptions) *checkpoint.Done {
	w.Helper()
	if opt == nil {
		opt = &checkpoint.CommitOptions{}
	}
	c := &committed{world: w, request: q, plan: p, opt: opt, was: look(w.T, w.dir), log: w.log()}
	c.tell()
	c.check()
	done, err := w.f.Commit(w.Context(), p, opt)
	if c.isRefused(err) {
		return &checkpoint.Done{}
	}
	w.must(err)
	c.done, c.now = done, look(w.T, w.dir)
	c.did()
	c.kept()
	c.reached()
	c.learn()
	return done
}

// A committed plan, with what the folder was before.
type committed struct {
	*world
	request
	plan *checkpoint.Plan
	opt  *checkpoint.CommitOptions
	was  folder
	log  []byte
	done *checkpoint.Done
	now  folder
}

// tell traces the plan.
func (c *committed) tell() {
	for _, it := range c.plan.Items {
		c.note("    %s to %s: %s %q (%s) known %s, is %s, to %s", c.scope, short(c.plan.To), it.Action, it.Path, it.Reason, brief(it.Known), brief(it.Disk), brief(it.To))
	}
}

func brief(s checkpoint.State) string {
	text := s.SHA256
	return fmt.Sprintf("%s %s%.4s%s", s.Kind, checkpoint.FormatMode(s.Mode), text, s.Target)
}

// check looks at the plan by itself: nothing by hand, no conflict.
func (c *committed) check() {
	c.Helper()
	for i, it := range c.plan.Items {
		if i > 0 && c.plan.Items[i-1].Path >= it.Path {
			c.fail("the plan is not sorted, or has a path twice: %s", encode(c.plan.Items))
		}
		bad := it.Action == checkpoint.ActConflict || it.Action == checkpoint.ActUnknown
		if bad && c.asked(it.Path) && !c.doubtful(it.Path) && !c.opts().ToolsOnly {
			c.fail("%s to %s: %q is in no conflict: %s", c.scope, short(c.plan.To), it.Path, encode(it))
		}
	}
}

func (c *committed) opts() checkpoint.PlanOptions { return c.request.opt }

// doubtful tells whether the log cannot know a path, here or there: somebody else touched
// it, or no scan has seen it.
func (c *committed) doubtful(name string) bool {
	return related(c.tainted, name) || related(c.pending, name) || related(c.at[c.plan.To].vague, name)
}

// overwrites tells whether a conflict is the caller's wish.
func (c *committed) overwrites(name string) bool { return c.opt.Force || listed(c.opt.Overwrite, name) }

func listed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(of string) bool { return name == of || strings.HasPrefix(name, of+"/") })
}

func (c *committed) does(it checkpoint.Item) bool {
	switch it.Action {
	case checkpoint.ActRestore, checkpoint.ActRemove:
		return true
	case checkpoint.ActConflict:
		return c.overwrites(it.Path)
	}
	return false
}

// isRefused tells whether the plan was refused for its conflicts, which changes nothing.
func (c *committed) isRefused(err error) bool {
	c.Helper()
	want := !c.opt.Partial && slices.ContainsFunc(c.plan.Items, func(it checkpoint.Item) bool {
		return it.Action == checkpoint.ActConflict && !c.overwrites(it.Path)
	})
	_, is := errors.AsType[*checkpoint.ConflictError](err)
	if want != is {
		c.fail("conflicts are refused: %v, want %v: %v", is, want, err)
	}
	if is {
		c.unchanged("a refused plan", c.was)
		if !bytes.Equal(c.log, c.world.log()) {
			c.fail("a refused plan changed the log")
		}
	}
	return is
}

// did: exactly what the plan said, path by path.
func (c *committed) did() {
	c.Helper()
	if len(c.done.Files) != len(c.plan.Items) {
		c.fail("planned %s, done %s", encode(c.plan.Items), encode(c.done.Files))
	}
	todo := map[string]checkpoint.State{}
	for i, it := range c.plan.Items {
		if c.does(it) && !c.isStuck(it, c.done.Files[i]) {
			todo[it.Path] = it.To
		}
	}
	for _, name := range c.was.names(c.now) {
		to, ok := todo[name]
		switch {
		case ok && !c.now[name].is(to):
			c.fail("%q is %v, planned was %s", name, c.now[name], encode(to))
		case !ok && !c.was[name].untouched(c.now[name]):
			c.fail("%q was not planned, and went from %v to %v: %s", name, c.was[name], c.now[name], encode(c.plan.Items))
		}
	}
	for _, o := range c.done.Files {
		if !c.now[o.Path].is(o.State) && !listed(c.opts().Except, o.Path) && len(c.opts().Only) == 0 {
			c.fail("%q is %v, and said to be %s", o.Path, c.now[o.Path], encode(o))
		}
	}
}

// isStuck tells whether a path could not be forced: somebody's things are in a directory that
// would have to go.
func (c *committed) isStuck(it checkpoint.Item, o checkpoint.Outcome) bool {
	return it.Action == checkpoint.ActConflict && o.Result == checkpoint.Conflict && it.Disk.Kind == checkpoint.Dir && len(below(c.dir, it.Path)) > 1
}

// is tells whether a thing is what a state says.
func (t thing) is(s checkpoint.State) bool {
	switch s.Kind {
	case checkpoint.Absent:
		return t.kind == ""
	case checkpoint.File:
		return t.kind == s.Kind && t.mode == s.Mode && sum(t.text) == s.SHA256 && int64(len(t.text)) == s.Size
	case checkpoint.Symlink:
		return t.kind == s.Kind && t.text == s.Target
	case checkpoint.Dir:
		return t.kind == s.Kind && t.mode == s.Mode
	}
	return false
}

// kept: what somebody else made is there, unless it was named.
func (c *committed) kept() {
	c.Helper()
	for _, name := range c.was.differs(c.now) {
		by := c.owner[name]
		made := c.was[name].kind == "" && c.now[name].kind == checkpoint.Dir // for what is restored in it
		others := by == byHand || by == byOther || by == byShell && c.opts().ToolsOnly
		if others && !made && !c.overwrites(name) {
			c.fail("%s to %s: %q was made by %s, and went from %v to %v: %s", c.scope, short(c.plan.To), name, by, c.was[name], c.now[name], encode(c.plan))
		}
	}
}

// reached: every path that only the session touched is what it was at the entry.
func (c *committed) reached() {
	c.Helper()
	want := c.at[c.plan.To].files
	if c.scope == checkpoint.Conversation {
		want = c.was
	}
	for _, name := range want.differs(c.now) {
		if c.asked(name) && !c.opts().ToolsOnly && !c.doubtful(name) {
			c.fail("%s %s to %s: %q is %v, and was %v: %s", c.what, c.scope, short(c.plan.To), name, c.now[name], want[name], encode(c.plan.Items))
		}
	}
}

// asked tells whether a path is to be restored, and nothing that it depends on is left out.
func (c *committed) asked(name string) bool {
	only, except := c.opts().Only, map[string]bool{}
	for _, name := range c.opts().Except {
		except[name] = true
	}
	return !related(except, name) && (len(only) == 0 || listed(only, name) && (listed(only, path.Dir(name)) || path.Dir(name) == "."))
}

// learn: what was restored is the session's, and what was left is known.
func (c *committed) learn() {
	c.Helper()
	for _, name := range c.was.differs(c.now) {
		c.owner[name] = byRestore
	}
	for _, it := range c.plan.Items {
		if it.Action == checkpoint.ActSkip && it.Disk.Same(it.To) { // whoever made it so: it is what was wanted
			c.owner[it.Path] = byRestore
		}
		if c.done.End != "" {
			if c.pending[it.Path] && it.Action == checkpoint.ActConflict {
				c.tainted[it.Path] = true
			}
			delete(c.pending, it.Path)
		}
	}
	c.called(c.seen, nil)
}
