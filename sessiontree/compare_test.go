package sessiontree_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
)

// A source is a log in memory.
type source struct{ *bytes.Reader }

func (s source) Size() (int64, error) { return s.Reader.Size(), nil }
func (s source) Close() error         { return nil }

func tree(t testing.TB, log []byte, opt *sessiontree.ReadOptions) *sessiontree.Tree {
	t.Helper()
	x, err := sessiontree.From(source{bytes.NewReader(log)}, "log", opt)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A result is a value, or the error that there is instead.
type result[V any] struct {
	value V
	err   error
}

func of[V any](value V, err error) result[V] { return result[V]{value, err} }

// must fails on an error.
func must[V any](t testing.TB, r result[V]) V {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.value
}

// shown is an entry with all that a walk gives of it, but for its line, which the
// tail does not know.
func shown(t testing.TB, e entries.Entry) string {
	t.Helper()
	raw := must(t, of(e.Raw()))
	return fmt.Sprintf("%s under %q %s %s %s", e.ID, e.Parent, e.Type, e.Role, raw)
}

func (n *node) shown() string {
	parent := ""
	if n.up != nil {
		parent = n.up.id
	}
	return fmt.Sprintf("%s under %q %s %s %s", n.id, parent, n.kind, n.role, n.raw)
}

// randomLog makes a tree of about 60 entries, with all options and without.
func randomLog(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 9))
	bit := func(n int) bool { return seed>>n&1 == 1 }
	log := sessgen.Tree(r, 20+r.IntN(60), &sessgen.TreeOptions{
		Native: bit(0), MissingParents: bit(1), ForwardParents: bit(2), Duplicates: bit(3), Damage: bit(4), Depth: []float64{0, 0.5, 0.95}[r.IntN(3)],
	})
	if !bit(0) && bit(5) { // rewinds and undos, which sessgen's trees lack
		log = bytes.ReplaceAll(log, []byte(`"customType":"note"`), []byte(`"customType":"rewind-report"`))
		log = bytes.ReplaceAll(log, []byte(`"customType":"state","data":{"n"`), []byte(`"customType":"leaf","data":{"reason":"undo","n"`))
	}
	return log
}

// shuffled moves, doubles and drops lines, and gives some another's id, so that
// every oddity of ids and parents comes about, cycles included. No sum fits then,
// so it is for logs without.
func shuffled(seed uint64, log []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 10))
	lines := strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
	for range 1 + r.IntN(12) {
		i, j := 1+r.IntN(len(lines)-1), 1+r.IntN(len(lines)-1)
		switch r.IntN(5) {
		case 0:
			lines[i], lines[j] = lines[j], lines[i]
		case 1:
			lines = slices.Insert(lines, i, lines[j])
		case 2:
			lines = slices.Delete(lines, i, i+1)
			if len(lines) < 3 {
				return log
			}
		default:
			lines[i] = strings.Replace(lines[i], `"`+field(lines[i], "parentId")+`"`, `"`+field(lines[j], "id")+`"`, 1)
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// field cuts a string field out of a line.
func field(line, name string) string {
	_, rest, _ := strings.Cut(line, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func TestTreeAgreesWithTheModel(t *testing.T) {
	seen := map[sessiontree.DamageKind]int{}
	origins := map[sessiontree.Origin]int{}
	for seed := range uint64(400) {
		log := randomLog(seed)
		if seed%2 == 0 && seed%3 > 0 {
			log = shuffled(seed, log)
		}
		x := compare(t, fmt.Sprintf("seed %d", seed), log)
		if t.Failed() {
			return
		}
		for _, d := range x.Damage() {
			seen[d.Kind]++
		}
		for _, b := range must(t, of(x.Branches())) {
			if origins[b.Origin]++; b.Report != "" {
				origins["report"]++
			}
		}
	}
	for _, kind := range []sessiontree.DamageKind{"cycle", "missing-parent", "duplicate-id", "forward-parent", "leaf-moved", "not-json", "nul", "order"} {
		if seen[kind] < 5 {
			t.Errorf("got %d logs with %s, want more", seen[kind], kind)
		}
	}
	for _, origin := range []sessiontree.Origin{"root", "branch", "summary", "rewind", "undo", "report"} {
		if origins[origin] < 5 {
			t.Errorf("got %d branches of origin %s, want more", origins[origin], origin)
		}
	}
}

func compare(t *testing.T, what string, log []byte) *sessiontree.Tree {
	t.Helper()
	m, x := readModel(log), tree(t, log, &sessiontree.ReadOptions{Verify: true})
	if m.leaf == nil {
		return x
	}
	if got := x.Leaf(); string(got) != m.leaf.id {
		t.Errorf("%s: got leaf %s, want %s", what, got, m.leaf.id)
	}
	compareEntries(t, what, m, x)
	for n := 0; n < len(m.nodes); n += 5 {
		comparePath(t, what, log, m, x, m.nodes[n], m.nodes[(n*7+3)%len(m.nodes)])
	}
	for _, w := range m.ways() {
		comparePath(t, what, log, m, x, w.tip, m.leaf)
	}
	if got := must(t, of(x.Labels())); !maps.Equal(got, m.labels()) {
		t.Errorf("%s: got labels %v, want %v", what, got, m.labels())
	}
	if got := must(t, of(x.Name())); got != m.name() {
		t.Errorf("%s: got name %q, want %q", what, got, m.name())
	}
	got, want := must(t, of(x.Branches())), m.branches()
	for i := range max(len(got), len(want)) {
		if len(got) != len(want) || got[i] != want[i] {
			t.Errorf("%s: branch %d of %d:\ngot  %+v\nwant %+v", what, i, len(want), got[min(i, len(got)-1)], want[min(i, len(want)-1)])
			break
		}
	}
	return x
}

func compareEntries(t *testing.T, what string, m *model, x *sessiontree.Tree) {
	t.Helper()
	var want []*node
	for _, n := range m.nodes {
		if !n.again {
			want = append(want, n)
		}
	}
	n := 0
	for e, err := range x.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if n == len(want) || shown(t, e) != want[n].shown() || e.Line != want[n].line || e.Offset != want[n].offset {
			t.Fatalf("%s: entry %d: got %s on line %d", what, n, shown(t, e), e.Line)
		}
		if at := must(t, of(x.EntryAtLine(e.Line))); at.Offset != e.Offset {
			t.Errorf("%s: line %d: got the entry at byte %d, want %d", what, e.Line, at.Offset, e.Offset)
		}
		n++
	}
	if length := must(t, of(x.Len())); n != len(want) || length != n {
		t.Errorf("%s: got %d entries, Len %d, want %d", what, n, length, len(want))
	}
	if got := must(t, of(x.Roots())); !slices.Equal(got, m.children(nil)) {
		t.Errorf("%s: got roots %v, want %v", what, got, m.children(nil))
	}
}

// comparePath compares what is asked about one entry, and about it and another.
func comparePath(t *testing.T, what string, log []byte, m *model, x *sessiontree.Tree, n, other *node) {
	t.Helper()
	n, other = m.holder[n.id], m.holder[other.id]
	id, path := entries.ID(n.id), n.path()
	if e := must(t, of(x.Entry(id))); shown(t, e) != n.shown() || e.Line != n.line {
		t.Errorf("%s: got entry %s on line %d, want %s on line %d", what, shown(t, e), e.Line, n.shown(), n.line)
	}
	if got := must(t, of(x.Children(id))); !slices.Equal(got, m.children(n)) {
		t.Errorf("%s: %s: got children %v, want %v", what, id, got, m.children(n))
	}
	var want []string
	for _, up := range path {
		want = append(want, up.shown())
	}
	fresh := tree(t, log, nil)
	for name, walk := range map[string]func() []string{
		"path":            func() []string { return walked(t, x.Path(id)) },
		"path, tail":      func() []string { return walked(t, tree(t, log, nil).Path(id)) },
		"ancestors":       func() []string { return reversed(walked(t, x.Ancestors(id))) },
		"ancestors, tail": func() []string { return reversed(walked(t, fresh.Ancestors(id))) },
		"ancestors, then": func() []string { return reversed(walked(t, fresh.Ancestors(id))) },
	} {
		if got := walk(); !slices.Equal(got, want) {
			t.Errorf("%s: %s: got %s %v\nwant %v", what, id, name, got, want)
		}
	}
	common, at := entries.ID(""), false
	for _, up := range path {
		if up.isOn(other.path()) {
			common, at = entries.ID(up.id), true
		}
	}
	if got, ok, err := x.CommonAncestor(id, entries.ID(other.id)); err != nil || got != common || ok != at {
		t.Errorf("%s: common ancestor of %s and %s: got %q, %v (%v), want %q", what, id, other.id, got, ok, err, common)
	}
}

func walked(t testing.TB, walk func(func(entries.Entry, error) bool)) (list []string) {
	t.Helper()
	for e, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, shown(t, e))
	}
	return list
}

func reversed(list []string) []string {
	slices.Reverse(list)
	return list
}

func TestUnknownIDs(t *testing.T) {
	for _, scan := range []bool{false, true} {
		x := tree(t, randomLog(0), nil)
		if scan {
			must(t, of(0, x.Scan()))
		}
		_, errEntry := x.Entry("nobody")
		_, errChildren := x.Children("nobody")
		_, _, errCommon := x.CommonAncestor("nobody", x.Leaf())
		_, errLine := x.EntryAtLine(9999)
		for _, err := range []error{errEntry, errChildren, errCommon, errLine} {
			if !errors.Is(err, sessiontree.ErrNotFound) {
				t.Errorf("got %v, want ErrNotFound", err)
			}
		}
		for _, err := range x.Ancestors("nobody") {
			if !errors.Is(err, sessiontree.ErrNotFound) {
				t.Errorf("ancestors: got %v, want ErrNotFound", err)
			}
		}
		if got := walked(t, x.Path("")); len(got) != 0 {
			t.Errorf("path of nothing: got %v, want none", got)
		}
	}
}
