package checkpoint

import (
	"io/fs"
	"path"
	"slices"
)

// dirMode is the mode of directories that nobody recorded.
const dirMode fs.FileMode = 0o755

// comes tells whether something is to stand at a path that does not stand there.
func (it Item) comes() bool {
	return (it.acts() || it.Action == ActConflict) && it.To.Kind != Absent && it.Disk.Kind == Absent
}

// checkParents makes sure that the directories above a path are there, or will be. Those
// that are missing become part of the plan.
func (p *planner) checkParents(it *Item) {
	for dir := path.Dir(it.Path); dir != "." && it.comes(); dir = path.Dir(dir) {
		above := p.plans[dir]
		switch {
		case above == nil:
			p.checkParent(it, dir)
		case above.To.Kind == Dir && above.acts():
		case above.Action == ActConflict && above.Disk.Kind != Dir && (above.To.Kind == Dir || above.Disk.Kind == Absent):
			p.stands(above, it)
		case above.Disk.Kind == Dir && above.To.Kind == Absent:
			*above = above.as(ActSkip, "%s is to be in it", it.Path)
		case above.Disk.Kind == Dir && !above.acts():
		case above.To.Kind == Absent && (above.acts() || above.Disk.Kind == Absent):
			p.stands(above, it)
		default:
			*it = it.as(ActUnknown, "%s, above it, will be no directory", dir)
		}
	}
}

// checkParent looks at a directory to which nothing happened on either side.
func (p *planner) checkParent(it *Item, dir string) {
	switch s := p.directory(dir); s.Kind {
	case Dir:
	case Absent:
		was, _ := p.there.last(dir, len(p.there.ids))
		p.plans[dir] = &Item{Path: dir, Known: s.bare(), Disk: s, To: was, Action: ActConflict}
		p.stands(p.plans[dir], it)
	case Unknown:
		*it = it.as(ActUnknown, "%s, above it: %s", dir, s.Reason)
	default:
		*it = it.as(ActUnknown, "%s, above it, is a %s", dir, s.Kind.word())
	}
}

// stands makes a directory of what is above a path. Where it is in the way of that, both are
// in conflict; where it is only missing, it comes with the path, by force or without.
func (p *planner) stands(above, it *Item) {
	if above.To.Kind != Dir {
		above.there, above.To = above.To, State{Kind: Dir, Mode: dirMode}
	}
	switch {
	case above.Disk.Kind == Absent && it.acts():
		*above = above.as(ActRestore, "for what is to be in it")
	case above.Disk.Kind == Absent && above.Action != ActConflict:
		*above = above.as(ActConflict, "%s, which is in conflict, would be in it", it.Path)
	case above.Disk.Kind == Absent && above.Reason == "":
		above.Reason = it.Path + ", which is in conflict, would be in it"
	case above.Disk.Kind != Absent && above.Action == ActConflict && it.acts():
		*it = it.as(ActConflict, "%s, above it, is in conflict", above.Path)
	}
}

// byPath gives the items by their paths.
func (p *Plan) byPath() map[string]*Item {
	plans := map[string]*Item{}
	for i := range p.Items {
		plans[p.Items[i].Path] = &p.Items[i]
	}
	return plans
}

// choose picks items, and with them the missing directories above them.
func (p *Plan) choose(wanted func(Item) bool) map[string]bool {
	plans, chosen := p.byPath(), map[string]bool{}
	for _, it := range p.Items {
		if !wanted(it) {
			continue
		}
		chosen[it.Path] = true
		for dir := path.Dir(it.Path); dir != "." && it.comes(); dir = path.Dir(dir) {
			if above := plans[dir]; above != nil && above.comes() && above.To.Kind == Dir {
				chosen[dir] = true
			}
		}
	}
	return chosen
}

// possible gives the items that can be done of those that were chosen: whose directory is
// there or comes, and where a directory makes way, nothing else is in it. What cannot be
// seen is tried: where that fails all is taken back.
func (p *Plan) possible(ws *workspace, chosen map[string]bool) (list []Item) {
	plans := p.byPath()
	leaves := func(name string) bool { return chosen[name] && plans[name].To.Kind == Absent }
	for _, it := range slices.Backward(p.Items) {
		if it.Disk.Kind != Dir || it.To.Kind == Dir || !chosen[it.Path] {
			continue
		}
		if other, err := ws.otherIn(it.Path, leaves); other != "" && err == nil {
			delete(chosen, it.Path)
		}
	}
	for _, it := range p.Items {
		if chosen[it.Path] && it.comes() && !ws.hasParent(plans, chosen, it.Path) {
			delete(chosen, it.Path)
		}
		if chosen[it.Path] {
			list = append(list, it)
		}
	}
	return list
}

// hasParent tells whether the directory of a path is there, or comes.
func (w *workspace) hasParent(plans map[string]*Item, chosen map[string]bool, name string) bool {
	dir := path.Dir(name)
	if dir == "." {
		return true
	}
	if chosen[dir] {
		return plans[dir].To.Kind == Dir
	}
	s := w.state(dir, nil)
	return s.Kind == Dir || s.Kind == Unknown
}
