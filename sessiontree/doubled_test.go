package sessiontree_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestDoubledRecordsTellLabelsAndNames: a label or a name whose id stands on
// another record too counts in file order all the same, as in pi.
func TestDoubledRecordsTellLabelsAndNames(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/home/u/proj"}`
	record := func(kind, id, rest string) string {
		return `{"type":"` + kind + `","id":"` + id + `","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z",` + rest + `}`
	}
	first, second := record("label", "l1", `"targetId":"a","label":"first"`), record("label", "l2", `"targetId":"a","label":"second"`)
	name := record("session_info", "n1", "\"name\":\"\ufeff one \"")
	other := record("custom", "l1", `"customType":"x"`)
	for _, test := range []struct {
		what, label, name string
		lines             []string
	}{
		{"a label written twice", "first", "", []string{first, second, first}},
		{"a label whose id is used again", "first", "", []string{first, other}},
		{"a name written twice", "", "one", []string{name, record("session_info", "n2", `"name":"two"`), name}},
	} {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		log := header + "\n" + strings.Join(test.lines, "\n") + "\n"
		if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		checkFacts(t, test.what, path, test.label, test.name)
	}
}

func checkFacts(t *testing.T, what, path, label, name string) {
	t.Helper()
	tree, err := sessiontree.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	want := map[entries.ID]string{}
	if label != "" {
		want["a"] = label
	}
	if got, err := tree.Labels(); err != nil || !maps.Equal(got, want) {
		t.Errorf("%s: got labels %v (%v), want %v", what, got, err, want)
	}
	if got, err := tree.Name(); err != nil || got != name {
		t.Errorf("%s: got name %q (%v), want %q", what, got, err, name)
	}
}
