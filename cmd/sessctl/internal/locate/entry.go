package locate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Entry finds the entry that a user names: "@" is the leaf, "@~3" three above it,
// ":18" what stands on line 18; else an id, a label, or the beginning or end of an
// id.
func Entry(t *sessiontree.Tree, name string) (entries.Entry, error) {
	switch {
	case name == "@" || strings.HasPrefix(name, "@~"):
		return above(t, name)
	case strings.HasPrefix(name, ":"):
		line, err := strconv.Atoi(name[1:])
		if err != nil {
			return entries.Entry{}, notFoundf("entry %q: behind the colon stands a line number", name)
		}
		return t.EntryAtLine(line)
	}
	if e, err := t.Entry(entries.ID(name)); err == nil {
		return e, nil
	}
	if id, err := labelled(t, name); err != nil || id != "" {
		if err != nil {
			return entries.Entry{}, err
		}
		e, err := t.Entry(id)
		if err != nil {
			err = fmt.Errorf("label %q: %w", name, err)
		}
		return e, err
	}
	return byPart(t, name)
}

func above(t *sessiontree.Tree, name string) (entries.Entry, error) {
	up := 0
	if name != "@" {
		var err error
		if up, err = strconv.Atoi(name[2:]); err != nil || up < 0 {
			return entries.Entry{}, notFoundf("entry %q: behind @~ stands a number of steps", name)
		}
	}
	for e, err := range t.Ancestors(t.Leaf()) {
		if err != nil || up == 0 {
			return e, err
		}
		up--
	}
	return entries.Entry{}, notFoundf("entry %q is above the root: the path to the leaf is shorter", name)
}

func labelled(t *sessiontree.Tree, name string) (entries.ID, error) {
	labels, err := t.Labels()
	if err != nil {
		return "", err
	}
	var ids []string
	for id, label := range labels {
		if label == name {
			ids = append(ids, string(id))
		}
	}
	switch len(ids) {
	case 0:
		return "", nil
	case 1:
		return entries.ID(ids[0]), nil
	}
	slices.Sort(ids)
	return "", ambiguous("label", name, len(ids), ids)
}

func byPart(t *sessiontree.Tree, part string) (entries.Entry, error) {
	if len(part) < MinID {
		return entries.Entry{}, notFoundf("entry %q is too short: give at least %d characters of an id", part, MinID)
	}
	var ids []string
	for e, err := range t.Entries() {
		if err != nil {
			return entries.Entry{}, err
		}
		if fits(string(e.ID), part) {
			ids = append(ids, string(e.ID))
		}
	}
	switch ids = unique(ids); len(ids) {
	case 0:
		return entries.Entry{}, fmt.Errorf("%s: entry %q: %w; 'sessctl tree --all' lists them", t.File(), part, sessiontree.ErrNotFound)
	case 1:
		return t.Entry(entries.ID(ids[0]))
	}
	return entries.Entry{}, ambiguous("entry", part, len(ids), ids)
}
