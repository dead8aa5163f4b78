// Package transcripttest tells for the tests of translators whether a log is sound.
package transcripttest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// A Source is a transcript in memory.
type Source struct{ *bytes.Reader }

// Size implements store.Source.
func (s Source) Size() (int64, error) { return s.Reader.Size(), nil }

// Close implements store.Source.
func (s Source) Close() error { return nil }

// Text makes JSON of what a test writes more easily: ' stands for ", and LONG for what is too
// long to be copied into a log.
func Text(easy string) string {
	return strings.NewReplacer("'", `"`, "LONG", strings.Repeat("long ", 60)).Replace(easy)
}

// Sound fails where a log is not what a translator promises: JSON lines, unique ids, and
// parents that stand before their children.
func Sound(t *testing.T, log *transcript.Log, agent sessiontree.Agent) {
	t.Helper()
	raw := all(t, log)
	for line := range bytes.Lines(raw) {
		if err := jsonvalue.Check(line); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	outlines(t, log, raw)
	known := len(log.Notes.List())
	tree, err := log.Tree(agent, "s.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	list := read(t, tree)
	seen := map[entries.ID]bool{"": true}
	for _, e := range list {
		if seen[e.ID] || !seen[e.Parent] || e.Line < 1 {
			t.Fatalf("entry %q on line %d, below %q: its id is taken, or its parent is not there", e.ID, e.Line, e.Parent)
		}
		seen[e.ID] = true
	}
	if n := len(tree.Damage()); n != known {
		t.Fatalf("%d damages beside the %d of the transcript: %v", n-known, known, tree.Damage())
	}
	if _, err := tree.Verify(); err != nil {
		t.Fatal(err)
	}
	whole, err := log.Tree(agent, "s.jsonl", &sessiontree.ReadOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	same(t, list, read(t, whole))
}

// Same fails where two logs are not of the same bytes and notes.
func Same(t *testing.T, a, b *transcript.Log) {
	t.Helper()
	if !bytes.Equal(all(t, a), all(t, b)) || !slices.Equal(a.Notes.List(), b.Notes.List()) {
		t.Fatalf("two logs of one transcript differ:\n%s%v\n%s%v", all(t, a), a.Notes.List(), all(t, b), b.Notes.List())
	}
}

func all(t *testing.T, log *transcript.Log) []byte {
	t.Helper()
	size, err := log.Size()
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, size)
	if n, err := log.ReadAt(raw, 0); int64(n) != size {
		t.Fatalf("%d of %d bytes: %v", n, size, err)
	}
	return raw
}

// read gives the entries of a tree.
func read(t *testing.T, tree *sessiontree.Tree) (list []entries.Entry) {
	t.Helper()
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// same fails where the entries that outlines tell of are not those that the log has.
func same(t *testing.T, outlined, read []entries.Entry) {
	t.Helper()
	if len(outlined) != len(read) {
		t.Fatalf("%d entries by the outlines, %d in the log", len(outlined), len(read))
	}
	for i, got := range outlined {
		want := read[i]
		if got.WithBody(nil) != want.WithBody(nil) {
			t.Fatalf("entry %d is %+v by its outline, %+v in the log", i, got, want)
		}
	}
}

// outlines fails where one is not its record, but for what is left out.
func outlines(t *testing.T, log *transcript.Log, raw []byte) {
	t.Helper()
	for o := range log.Outlines() {
		if record := raw[o.Offset:][:o.Size]; jsonvalue.Check(o.Record) != nil || !outlinesValue(o.Record, record) {
			t.Fatalf("the outline %s is not that of the record %s", o.Record, record)
		}
	}
}

// outlinesValue tells whether a value is another one in which null stands for values, and nothing
// for what is in strings.
func outlinesValue(outline, value []byte) bool {
	switch {
	case bytes.Equal(outline, value), string(outline) == "null":
		return true
	case string(outline) == `""`:
		return value[0] == '"'
	case len(outline) == 0 || outline[0] != value[0]:
		return false
	}
	left, right := inner(outline), inner(value)
	if len(left) != len(right) || len(left) == 0 {
		return false
	}
	for i := range left {
		if left[i].key != right[i].key || !outlinesValue(left[i].value, right[i].value) {
			return false
		}
	}
	return true
}

type member struct {
	key   string
	value []byte
}

// inner gives what is in an object or an array.
func inner(value []byte) (list []member) {
	jsonvalue.Elements(value, func(element []byte) { list = append(list, member{"", element}) })
	_ = jsonvalue.Spans(value, func(key []byte, at, end int) { list = append(list, member{string(key), value[at:end]}) })
	return list
}

// Branches shows the branches of a tree, with star before the active one.
func Branches(t testing.TB, tree *sessiontree.Tree, star string, show func(sessiontree.Branch) string) (all []string) {
	t.Helper()
	list, err := tree.Branches()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		s := show(b)
		if b.Active {
			s = star + s
		}
		all = append(all, s)
	}
	return all
}

// Expect fails where something is not what it should be.
func Expect(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

// Read reads the transcript in the file at path with the From of a format.
func Read(t testing.TB, path string, from func(store.Source, string, *sessiontree.ReadOptions) (*sessiontree.Tree, error)) *sessiontree.Tree {
	t.Helper()
	src, err := store.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := from(src, path, nil)
	if err != nil {
		src.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}
