package sessiontree

import (
	"fmt"
	"maps"
	"strings"
	"unicode"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
)

// An Agent names the program whose session a log is, and so the dialect in which
// its context is selected.
type Agent string

// The agents whose logs this package reads.
const (
	AgentNative Agent = "sessctl"
	AgentPi     Agent = "pi"
	AgentOmp    Agent = "omp"
)

// The agents whose transcripts package formats reads.
const (
	AgentClaude Agent = "claude"
	AgentCodex  Agent = "codex"
)

// Agent tells whose session this is: by the header where that is enough, else by
// types of entries that only oh-my-pi writes, among what was read so far.
func (t *Tree) Agent() Agent {
	if a := t.HeaderAgent(); a != AgentPi {
		return a
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	words := t.tail.words
	if t.index != nil {
		words = t.index.words
	}
	for _, w := range words {
		if entries.Type(w).OnlyOmp() {
			return AgentOmp
		}
	}
	return AgentPi
}

// HeaderAgent tells whose session this is by the log's first lines alone. Where they
// say nothing it is pi's, unless an entry is of a type that pi does not write.
func (t *Tree) HeaderAgent() Agent {
	switch {
	case t.from != nil:
		return t.from.Agent
	case t.head.Native:
		return AgentNative
	case t.head.Title != nil || t.head.Header.Omp():
		return AgentOmp
	}
	return AgentPi
}

// Labels gives the labels in force, by the entry that they name. The last one in
// the file counts, whatever branch it stands on.
func (t *Tree) Labels() (map[entries.ID]string, error) {
	x, err := t.whole()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.memo.labels == nil {
		t.memo.labels = t.readLabels(x)
	}
	return maps.Clone(t.memo.labels), nil
}

func (t *Tree) readLabels(x *index) map[entries.ID]string {
	labels := map[entries.ID]string{}
	for i := range x.everyOfType(entries.TypeLabel) {
		l, err := t.at(x, i).Label()
		switch {
		case err != nil: // its body is damaged or gone: it names nothing
		case l.Label == "":
			delete(labels, l.Target)
		default:
			labels[l.Target] = l.Label
		}
	}
	return labels
}

// everyOfType goes over all records of a type in file order, also those that lost
// their id: labels and names are told by every record, as in pi and oh-my-pi.
func (x *index) everyOfType(want entries.Type) func(yield func(int32) bool) {
	kind, ok := x.numbers[string(want)]
	return func(yield func(int32) bool) {
		for i := range x.recs {
			if ok && x.recs[i].kind == kind && !yield(int32(i)) {
				return
			}
		}
	}
}

// ofType goes over the entries of a type that have their id, in file order.
func (x *index) ofType(want entries.Type) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for i := range x.everyOfType(want) {
			if x.recs[i].flags&lost == 0 && !yield(i) {
				return
			}
		}
	}
}

// Name gives the session's name: in oh-my-pi's logs the title line, then the last
// title_change, then the header's title; in others the last session_info in the
// file, on whatever branch. "" where it has none.
func (t *Tree) Name() (string, error) {
	if t.head.Title != nil {
		return t.head.Title.Title, nil
	}
	x, err := t.whole()
	if err != nil {
		return "", err
	}
	name, found := t.lastField(x, entries.TypeSessionInfo, "name")
	if !found {
		name, found = t.lastField(x, entries.TypeTitleChange, "title")
	}
	if !found {
		name = t.head.Header.Title
	}
	return trimName(name), nil
}

// trimName cuts what JavaScript's trim cuts, so that pi shows the same name.
func trimName(name string) string {
	return strings.TrimFunc(name, func(r rune) bool {
		return r == '\uFEFF' || unicode.IsSpace(r) && r != '\u0085'
	})
}

func (t *Tree) lastField(x *index, kind entries.Type, field string) (value string, found bool) {
	last := int32(-1)
	for i := range x.everyOfType(kind) {
		last = i
	}
	if last < 0 {
		return "", false
	}
	value, err := t.at(x, last).Field(field)
	return value, err == nil
}

// housekeeping are the records that programs append by themselves: none of them is
// a reason to go on from where it stands.
func (t *Tree) housekeeping(x *index, i int32) bool {
	e := t.at(x, i)
	if e.Type != entries.TypeCustom {
		return e.Type.Housekeeping()
	}
	c, err := e.Custom()
	return err == nil && c.CustomType == entries.CustomSessionExit
}

// noteLeafMoved notes where another program's housekeeping, appended last, made
// another branch the active one: oh-my-pi's session_exit from a stale process does. What
// the leaf of a translated transcript is was for its translator to say.
func (x *index) noteLeafMoved(t *Tree) {
	if t.from != nil {
		return
	}
	const most = 64 // a longer run of housekeeping is somebody's purpose
	i := int32(len(x.recs)) - 1
	for n := 0; i >= 0 && n < most && x.byOthers(t, i) && t.housekeeping(x, i); n++ {
		i--
	}
	if i < 0 || x.leaf < 0 || i == int32(len(x.recs))-1 || x.isAncestor(i, x.leaf) {
		return
	}
	back := x.id(&x.recs[i])
	x.damage(x.leaf, jsonl.LeafMoved, fmt.Sprintf(
		"a program's own record moved the leaf to another branch; 'sessctl checkout %s %s' goes back", t.path, back.Short()))
	x.report.Last().Note = true
}

// byOthers tells whether a record may have been appended by another program: in
// native logs it has no sum then.
func (x *index) byOthers(t *Tree, i int32) bool {
	return !t.head.Native || x.recs[i].flags&foreign != 0
}

// isAncestor tells whether a is on the path of i.
func (x *index) isAncestor(a, i int32) bool {
	for i >= 0 && i != a {
		i = x.recs[i].parent
	}
	return i == a
}
