package peers

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// read opens the log of a request with this reader.
func read(t *testing.T, file string) *sessiontree.Tree {
	t.Helper()
	tree, err := sessiontree.Read(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// wholeScan answers a request as a peer would that reads logs as this reader does.
func wholeScan(t *testing.T, r request) answer {
	t.Helper()
	tree := read(t, r.File)
	if err := tree.Scan(); err != nil {
		t.Fatal(err)
	}
	a := answer{File: r.File, Leaf: string(tree.Leaf()), IDs: listed(t, tree), Paths: map[string][]string{}}
	a.Path = ids(t, tree.Path(tree.Leaf()))
	for name, id := range asked(r, a.IDs) {
		a.Paths[name] = ids(t, tree.Path(entries.ID(id)))
	}
	a.Labels = labels(t, tree)
	var err error
	if a.Name, err = tree.Name(); err != nil {
		t.Fatal(err)
	}
	return a
}

// tailFirst gives the leaf and the paths as they are read from the log's end up,
// before any whole scan. The first paths each have a tree of their own; the others
// share one, which then knows part of the log. scanned tells whether one of them
// needed the whole log after all.
func tailFirst(t *testing.T, r request, all []string) (a answer, scanned bool) {
	t.Helper()
	const alone = 8
	tree := read(t, r.File)
	a = answer{File: r.File, Leaf: string(tree.Leaf()), Paths: map[string][]string{}}
	a.Path = ancestors(t, tree, string(tree.Leaf()))
	for name, id := range asked(r, all) {
		scanned = scanned || tree.Scanned()
		if len(a.Paths) < alone {
			tree.Close()
			tree = read(t, r.File)
		}
		a.Paths[name] = ancestors(t, tree, id)
	}
	return a, scanned || tree.Scanned()
}

// asked gives the entries whose paths a request asks for, by the name that their
// path has in the answer.
func asked(r request, all []string) map[string]string {
	m := map[string]string{}
	for _, id := range r.Leaves {
		m[id] = id
	}
	for _, n := range r.Positions {
		m["#"+strconv.Itoa(n)] = all[n]
	}
	return m
}

func ancestors(t *testing.T, tree *sessiontree.Tree, id string) []string {
	t.Helper()
	path := ids(t, tree.Ancestors(entries.ID(id)))
	slices.Reverse(path)
	return path
}

func ids(t *testing.T, seq iter.Seq2[entries.Entry, error]) []string {
	t.Helper()
	list := []string{}
	for e, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(e.ID))
	}
	return list
}

// labels gives the labels in force; a driver tells the same of a peer.
func labels(t *testing.T, tree *sessiontree.Tree) map[string]string {
	t.Helper()
	all, err := tree.Labels()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for id, label := range all {
		m[string(id)] = label
	}
	return m
}

// listed gives the ids of all entries as peers list them: an entry that was
// written twice stands there twice, and once in this reader's list. See
// docs/interop.md, "The same line twice".
func listed(t *testing.T, tree *sessiontree.Tree) []string {
	t.Helper()
	at := map[int64]string{} // by offset
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		at[e.Offset] = string(e.ID)
	}
	for offset, id := range repeats(t, tree) {
		if _, ours := at[offset]; ours {
			t.Errorf("the line at %d repeats an earlier one with id %s; it is listed all the same", offset, id)
		}
		at[offset] = id
	}
	list := make([]string, 0, len(at))
	for _, offset := range slices.Sorted(maps.Keys(at)) {
		list = append(list, at[offset])
	}
	return list
}

// repeats finds, by lines alone, those that stand in the log a second time: of
// each the offset and the id.
func repeats(t *testing.T, tree *sessiontree.Tree) map[int64]string {
	t.Helper()
	found := map[int64]string{}
	latest := map[string][]byte{} // by id
	for offset, line := range logLines(t, tree.File()) {
		id, ok := entryID(line)
		if !ok {
			continue
		}
		if bytes.Equal(latest[id], line) {
			found[offset] = id
		}
		latest[id] = line
	}
	return found
}

// byPosition names every entry by the position of the last entry with its id, so
// that answers of version-1 logs, whose ids are made up, can be compared. An id
// that is not listed keeps its name.
func (a answer) byPosition() answer {
	at := make(map[string]string, len(a.IDs))
	for i, id := range a.IDs {
		at[id] = "#" + strconv.Itoa(i)
	}
	name := func(id string) string {
		if n, ok := at[id]; ok {
			return n
		}
		return id
	}
	b := answer{File: a.File, Error: a.Error, Name: a.Name, Leaf: name(a.Leaf), IDs: rename(a.IDs, name), Path: rename(a.Path, name)}
	b.Cyclic = rename(a.Cyclic, name)
	b.Paths, b.Labels = map[string][]string{}, map[string]string{}
	for id, path := range a.Paths {
		b.Paths[name(id)] = rename(path, name)
	}
	for id, label := range a.Labels {
		b.Labels[name(id)] = label
	}
	return b
}

func rename(list []string, name func(string) string) []string {
	named := make([]string, len(list))
	for i, id := range list {
		named[i] = name(id)
	}
	return named
}

// differences says where two answers are not the same.
func differences(got, want answer) []string {
	var d []string
	if got.Error != want.Error {
		d = append(d, fmt.Sprintf("error: got %q, want %q", got.Error, want.Error))
	}
	if got.Leaf != want.Leaf {
		d = append(d, fmt.Sprintf("leaf: got %q, want %q", got.Leaf, want.Leaf))
	}
	if got.Name != want.Name {
		d = append(d, fmt.Sprintf("name: got %q, want %q", got.Name, want.Name))
	}
	if !slices.Equal(got.IDs, want.IDs) {
		d = append(d, "entries: "+unequal(got.IDs, want.IDs))
	}
	if !maps.Equal(got.Labels, want.Labels) {
		d = append(d, "labels: "+unequalLabels(got.Labels, want.Labels))
	}
	return append(d, pathDifferences(got, want)...)
}

// pathDifferences compares what can be known without a whole scan.
func pathDifferences(got, want answer) []string {
	var d []string
	if !slices.Equal(got.Path, want.Path) {
		d = append(d, "path of the leaf: "+unequal(got.Path, want.Path))
	}
	if len(got.Paths) != len(want.Paths) {
		d = append(d, fmt.Sprintf("got %d paths, want %d", len(got.Paths), len(want.Paths)))
	}
	for name, path := range want.Paths {
		if !slices.Equal(got.Paths[name], path) {
			d = append(d, "path of "+name+": "+unequal(got.Paths[name], path))
		}
	}
	if g, w := sorted(got.Cyclic), sorted(want.Cyclic); !slices.Equal(g, w) {
		d = append(d, fmt.Sprintf("cyclic: got %q, want %q", g, w))
	}
	return d
}

func sorted(list []string) []string {
	return slices.Sorted(slices.Values(list))
}

// unequal shows two lists around the first place where they differ.
func unequal(got, want []string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	around := func(list []string) string {
		return strings.Join(list[max(i-1, 0):min(i+3, len(list))], " ")
	}
	return fmt.Sprintf("got %d, want %d; at %d got … %s …, want … %s …", len(got), len(want), i, around(got), around(want))
}

func unequalLabels(got, want map[string]string) string {
	for id := range want {
		if got[id] != want[id] {
			return fmt.Sprintf("of %s got %q, want %q", id, got[id], want[id])
		}
	}
	return fmt.Sprintf("got %d, want %d", len(got), len(want))
}
