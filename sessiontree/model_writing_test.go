package sessiontree

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
)

// A twin is what a written session has to be: its entries in the order in which
// they were appended, kept by somebody who has no file.
type twin struct {
	list []twinEntry
	leaf entries.ID
}

type twinEntry struct {
	id, parent entries.ID
	kind       string
	target     entries.ID // of a label
	text       string     // of a label, or the session's name
}

func (w *twin) put(e twinEntry) {
	w.list = append(w.list, e)
	w.leaf = e.id
}

// cut takes away what a crash took.
func (w *twin) cut(n int) {
	w.list, w.leaf = w.list[:n], ""
	if n > 0 {
		w.leaf = w.list[n-1].id
	}
}

func (w *twin) ids() (ids []entries.ID) {
	for _, e := range w.list {
		ids = append(ids, e.id)
	}
	return ids
}

func (w *twin) path(id entries.ID) (path []entries.ID) {
	for i := len(w.list) - 1; i >= 0; i-- { // parents precede their children
		if w.list[i].id == id {
			path, id = append(path, id), w.list[i].parent
		}
	}
	slices.Reverse(path)
	return path
}

// labels are those in force; a label is told by every record, on whatever branch.
func (w *twin) labels() map[entries.ID]string {
	labels := map[entries.ID]string{}
	for _, e := range w.list {
		if e.kind == "label" {
			labels[e.target] = e.text
		}
	}
	maps.DeleteFunc(labels, func(_ entries.ID, label string) bool { return label == "" })
	return labels
}

func (w *twin) name() (name string) {
	for _, e := range w.list {
		if e.kind == "session_info" {
			name = e.text
		}
	}
	return name
}

// fork is the twin of a session that starts as the path to an entry. The labels
// that the fork has to append are added where its log is read.
func (w *twin) fork(id entries.ID) *twin {
	f := &twin{}
	for _, id := range w.path(id) {
		i := slices.IndexFunc(w.list, func(e twinEntry) bool { return e.id == id })
		f.put(w.list[i])
	}
	return f
}

// readTwin reads a sound log with encoding/json.
func readTwin(log []byte) *twin {
	w := &twin{}
	for _, line := range strings.Split(string(log), "\n") {
		if e, ok := readTwinEntry([]byte(line)); ok {
			w.put(e)
		}
	}
	return w
}

func readTwinEntry(line []byte) (twinEntry, bool) {
	var f struct{ Type, ID, ParentID, TargetID, Label, Name string }
	if json.Unmarshal(line, &f) != nil || f.ID == "" || f.Type == "session" {
		return twinEntry{}, false
	}
	return twinEntry{entries.ID(f.ID), entries.ID(f.ParentID), f.Type, entries.ID(f.TargetID), f.Label + f.Name}, true
}
