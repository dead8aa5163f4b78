package checkpoint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// A planner decides what becomes of each path.
type planner struct {
	*View
	fork
	opt   PlanOptions
	moved bool // the workspace is not the one that was recorded
	all   bool // paths count that nothing happened to on either side, too
	plans map[string]*Item
	disk  looker
	above map[string]State // directories above paths, as they are
}

func (v *View) newPlanner(f fork, opt *PlanOptions) *planner {
	p := &planner{View: v, fork: f, plans: map[string]*Item{}, disk: looker{ws: v.ws}, above: map[string]State{}}
	if opt != nil {
		p.opt = *opt
	}
	p.moved = v.ws.replaced() || !v.ws.is(f.here.workspace)
	return p
}

func (p *planner) items() []Item {
	defer p.disk.leave()
	names := p.paths()
	if p.all {
		names = slices.Sorted(maps.Keys(p.here.paths))
	}
	for _, name := range names {
		p.plans[name] = new(p.item(name))
	}
	for _, name := range slices.Backward(names) { // what is below a directory before it
		p.checkDirectory(p.plans[name])
	}
	for _, name := range names {
		p.checkParents(p.plans[name])
	}
	list := make([]Item, 0, len(p.plans))
	for _, name := range slices.Sorted(maps.Keys(p.plans)) {
		list = append(list, *p.plans[name])
	}
	return list
}

// item decides what becomes of a path, by itself.
func (p *planner) item(name string) Item {
	t := p.here.trail(name, p.at)
	it := Item{Path: name, Source: t.source(), beside: t.beside, brings: p.there.trail(name, p.at).source()}
	it.Known, it.To = p.states(name)
	if p.leftAlone(name) {
		it.Disk = it.Known
		return it.as(ActSkip, "not asked for")
	}
	it.Disk = p.disk.state(name, nil)
	switch {
	case p.onlyByHand(name, t, it.To):
		it.Source = ByUser
		return it.as(ActSkip, "only changed by hand")
	case p.opt.ToolsOnly && t.scan && !t.tool && !p.there.trail(name, p.at).any:
		return it.as(ActSkip, "changed during a turn, but by no tool")
	}
	return p.judge(it, t)
}

// isMount tells whether a directory is another file system than the one above it: it cannot
// be removed, and to try that would stop all the rest.
func (p *planner) isMount(it Item) bool {
	return it.Disk.seen().signature.dev != p.directory(path.Dir(it.Path)).seen().signature.dev
}

func (it Item) as(a Action, reason string, values ...any) Item {
	it.Action, it.Reason = a, fmt.Sprintf(reason, values...)
	return it
}

// source sums up who changed a path.
func (t trail) source() Source {
	switch {
	case t.user:
		return ByUser
	case t.scan:
		return ByScan
	case t.tool:
		return ByTool
	}
	return ""
}

// judge compares what is on disk with what was known, and with what is to be.
func (p *planner) judge(it Item, t trail) Item {
	switch {
	case it.To.Kind == Unknown || it.To.Kind == "":
		return it.as(ActUnknown, "what it was is not known: %s", it.To.Reason)
	case it.Disk.Kind == Unknown:
		return it.as(ActUnknown, "what it is now is not known: %s", it.Disk.Reason)
	case it.Disk.Same(it.To):
		return it.as(ActSkip, "already so")
	case it.Disk.Kind == Dir && it.To.Kind != Dir && p.isMount(it):
		return it.as(ActUnknown, "something is mounted there")
	case it.To.Kind == File && (p.st == nil || !p.st.Has(it.To.SHA256)):
		return it.as(ActUnknown, "its content is not in the store")
	}
	if reason := lost(it, t, p.opt.ToolsOnly); reason != "" {
		return it.as(ActConflict, "%s", reason)
	}
	if p.moved {
		return it.as(ActConflict, "the workspace is not the one that was recorded: it was moved or replaced")
	}
	if it.To.Kind == Absent {
		return it.as(ActRemove, "")
	}
	return it.as(ActRestore, "")
}

// lost tells whose work would be lost; "" where nobody's would.
func lost(it Item, t trail, toolsOnly bool) string {
	known, disk := it.Known, it.Disk
	switch {
	case known.Kind == Unknown:
		return "what the session left is not known: " + known.Reason
	case t.unsaid && !disk.Same(known):
		return "an edit of it began and was not finished"
	case known.Kind == Absent:
		if disk.Kind != Absent {
			return "it is there again, since it was removed"
		}
	case disk.Kind == Absent:
		return "it was removed since"
	case disk.Kind != known.Kind:
		return fmt.Sprintf("it became a %s since", disk.Kind.word())
	case disk.SHA256 != known.SHA256 || disk.Target != known.Target:
		return "its content changed since"
	case disk.Mode != known.Mode:
		return fmt.Sprintf("its mode changed since, from %s to %s", FormatMode(known.Mode), FormatMode(disk.Mode))
	}
	switch {
	case t.user:
		return "it was edited by hand between the changes that are taken back"
	case t.beside:
		return "another session's turn ran at the same time; it may have changed it"
	case toolsOnly && t.scan:
		return "it was changed by something else than tools, too"
	case disk.Kind == File && disk.seen().links > 1:
		return fmt.Sprintf("it has %d names (hard links), of which only this one would be restored", disk.seen().links)
	}
	return ""
}

func (k Kind) word() string {
	switch k {
	case Dir:
		return "directory"
	case Symlink:
		return "symbolic link"
	}
	return string(k)
}

// leftAlone tells whether the caller keeps a path out of the plan.
func (p *planner) leftAlone(name string) bool {
	return covers(p.opt.Except, name) || len(p.opt.Only) > 0 && !covers(p.opt.Only, name)
}

// covers tells whether a path is one of a list, or below one.
func covers(list []string, name string) bool {
	return slices.ContainsFunc(list, func(of string) bool {
		of = path.Clean(of)
		return of == "." || name == of || strings.HasPrefix(name, of+"/")
	})
}

func (it *Item) acts() bool { return it.Action == ActRestore || it.Action == ActRemove }

// checkDirectory keeps a directory that would not be empty: other things in it are
// nobody's to remove.
func (p *planner) checkDirectory(it *Item) {
	if it.Disk.Kind != Dir || it.To.Kind == Dir || !it.acts() {
		return
	}
	other := p.otherIn(it)
	switch {
	case other == "":
	case it.To.Kind == Absent:
		*it = it.as(ActSkip, "not empty: %s is in it", other)
	default:
		*it = it.as(ActUnknown, "a directory is in its place, and %s is in that", other)
	}
}

// otherIn names something in a directory that the plan does not remove.
func (p *planner) otherIn(dir *Item) string {
	other, err := p.ws.otherIn(dir.Path, func(name string) bool {
		it := p.plans[name]
		return it != nil && it.acts() && it.To.Kind == Absent
	})
	if err != nil {
		return "something that cannot be seen"
	}
	return other
}

// otherIn names something in a directory that is not going away.
func (w *workspace) otherIn(dir string, goes func(name string) bool) (string, error) {
	fsys, done, err := w.open(dir)
	if err != nil {
		return "", err
	}
	defer done()
	list, err := fsys.ReadDir(".")
	for _, e := range list {
		if !goes(dir + "/" + e.Name()) {
			return e.Name(), err
		}
	}
	return "", err
}

// directory tells what a directory above paths is.
func (p *planner) directory(dir string) State {
	s, ok := p.above[dir]
	if !ok {
		s = p.disk.state(dir, nil)
		p.above[dir] = s
	}
	return s
}
