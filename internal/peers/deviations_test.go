package peers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// An outcome is what a reader makes of a small log: the ids of all entries, and
// the leaf's path, which ends in the leaf. "-" stands for an entry without an id.
// Version 1 is told by position. A nil outcome is a refusal.
type outcome struct{ ids, path string }

// A deviationCase is a log that this reader means to read otherwise than pi 1.6.0.
type deviationCase struct {
	heading string // of docs/interop.md
	what    string
	log     string
	ours    *outcome
	damage  sessiontree.DamageKind // that this reader reports, if any
	pi      *outcome
}

const (
	head   = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/home/u/proj"}`
	headV1 = `{"type":"session","id":"s1","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/home/u/proj"}`
	title  = `{"type":"title","v":1,"title":"a name","updatedAt":"2026-01-05T09:00:00.000Z","pad":"`
)

// entry is a small entry; without a parent it is a root.
func entry(id, parent string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"custom","id":"%s","parentId":%s,"timestamp":"2026-01-05T09:00:01.000Z","customType":"x"}`, id, up)
}

func log(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// native is a log with sums, whose lines are given without them; a line that
// starts with "more" goes on a batch.
func native(lines ...string) string {
	b, prev := []byte(nil), uint32(0)
	all := append([]string{strings.Replace(head, `"cwd"`, `"format":"sessiontree/1","cwd"`, 1)}, lines...)
	for _, line := range all {
		line, more := strings.CutPrefix(line, "more")
		start := len(b)
		var sum entries.Sum
		b, sum = entries.AppendSum(append(b, strings.TrimSuffix(line, "}")...), start, more, prev)
		b, prev = append(b, '\n'), sum.Self
	}
	return string(b)
}

var titleLine = title + strings.Repeat(" ", entries.TitleSize-len(title)-len("\"}\n")) + `"}`

var deviationCases = []deviationCase{
	{
		"The same line twice", "the last line",
		log(head, entry("a", ""), entry("b", "a"), entry("b", "a")),
		&outcome{"a b", "a b"}, "duplicate-id", &outcome{"a b b", "a b"},
	}, {
		"The same line twice", "an earlier line",
		log(head, entry("a", ""), entry("b", "a"), entry("a", "")),
		&outcome{"a b", "a"}, "duplicate-id", &outcome{"a b a", "a"},
	}, {
		"The same line twice", "with another sum",
		native(entry("a", ""), entry("b", "a"), entry("b", "a")),
		&outcome{"a b", "a b"}, "duplicate-id", &outcome{"a b b", "a b"},
	}, {
		"An object without an id", "none",
		log(head, entry("a", ""), `{"type":"state","value":1}`),
		&outcome{"a", "a"}, "no-id", &outcome{"a -", ""},
	}, {
		"An object without an id", "an empty one",
		log(head, entry("a", ""), entry("", "a")),
		&outcome{"a", "a"}, "no-id", &outcome{"a -", ""},
	}, {
		"Values that are no objects", "an array, a number, a string",
		log(head, entry("a", ""), `[1]`, `2`, `"three"`),
		&outcome{"a", "a"}, "not-object", &outcome{"a - - -", ""},
	}, {
		"Two objects on one line", "glued",
		log(head, entry("a", "")+entry("b", "a"), entry("c", "b")),
		&outcome{"a b c", "a b c"}, "concatenated", &outcome{"c", "c"},
	}, {
		"A record behind a torn one", "torn",
		log(head, entry("a", ""), entry("b", "a")[:40]+entry("c", "a"), entry("d", "c")),
		&outcome{"a c d", "a c d"}, "not-json", &outcome{"a d", "d"},
	}, {
		"A record behind a torn one", "NULs",
		log(head, entry("a", ""), strings.Repeat("\x00", 16)+entry("b", "a"), entry("c", "b")),
		&outcome{"a b c", "a b c"}, "nul", &outcome{"a c", "c"},
	}, {
		"Cycles", "three entries",
		log(head, entry("a", "c"), entry("b", "a"), entry("c", "b"), entry("d", "c")),
		&outcome{"a b c d", "a b c d"}, "cycle", &outcome{"a b c d", "a b c d …"},
	}, {
		"Cycles", "an entry that is its own parent",
		log(head, entry("a", ""), entry("b", "b"), entry("c", "b")),
		&outcome{"a b c", "b c"}, "cycle", &outcome{"a b c", "b c …"},
	}, {
		"A missing or late header", "missing",
		log(entry("a", ""), entry("b", "a")),
		&outcome{"a b", "a b"}, "no-header", nil,
	}, {
		"A missing or late header", "late",
		log(entry("a", ""), head, entry("b", "a")),
		&outcome{"a b", "a b"}, "late-header", nil,
	}, {
		"A missing or late header", "without an id",
		log(`{"type":"session","version":3}`, entry("a", "")),
		&outcome{"a", "a"}, "no-header", nil,
	}, {
		"A byte order mark", "in front",
		"\ufeff" + log(head, entry("a", "")),
		&outcome{"a", "a"}, "bom", nil,
	}, {
		"A sum that is wrong at the end", "a changed line",
		strings.Replace(native(entry("a", ""), entry("b", "a")), `"id":"b"`, `"id":"c"`, 1),
		&outcome{"a", "a"}, "torn-tail", &outcome{"a c", "a c"},
	}, {
		"A batch without its end", "cut between its lines",
		native(entry("a", ""), "more"+entry("b", "a"), "more"+entry("c", "b")),
		&outcome{"a", "a"}, "incomplete-batch", &outcome{"a b c", "a b c"},
	}, {
		"A batch without its end", "cut inside its last line",
		strings.TrimSuffix(native(entry("a", ""), "more"+entry("b", "a"), entry("c", "b")), "\"}\n"),
		&outcome{"a", "a"}, "incomplete-batch", &outcome{"a b", "a b"},
	}, {
		"What pi does not open", "oh-my-pi's title line",
		log(titleLine, head, entry("a", "")),
		&outcome{"a", "a"}, "title-slot", nil,
	}, {
		"An empty file", "no bytes",
		"", nil, "", &outcome{"", ""},
	}, {
		"Ids of version 1", "no ids",
		log(headV1, `{"type":"message","message":{"role":"user","content":"x"}}`, `{"type":"custom","customType":"x"}`),
		&outcome{"#0 #1", "#0 #1"}, "", &outcome{"#0 #1", "#0 #1"},
	},
}

// write puts the log of a case into a file.
func (c deviationCase) write(t *testing.T, dir string) request {
	t.Helper()
	file := filepath.Join(dir, strings.ReplaceAll(c.heading+" "+c.what, " ", "-")+".jsonl")
	if err := os.WriteFile(file, []byte(c.log), 0o600); err != nil {
		t.Fatal(err)
	}
	return request{File: file}
}

func (c deviationCase) name() string { return c.heading + "/" + c.what }

// outcomeOf shortens an answer; pi goes round a cycle for ever, which "…" tells.
func outcomeOf(a answer, v1 bool) *outcome {
	if a.Error != "" {
		return nil
	}
	if v1 {
		a = a.byPosition()
	}
	o := &outcome{words(a.IDs), words(a.Path)}
	if len(a.Cyclic) > 0 {
		o.path += " …"
	}
	return o
}

func words(ids []string) string {
	list := slices.Clone(ids)
	for i := range list {
		if list[i] == "" {
			list[i] = "-"
		}
	}
	return strings.Join(list, " ")
}

func (o *outcome) String() string {
	if o == nil {
		return "a refusal"
	}
	return fmt.Sprintf("entries [%s], path [%s]", o.ids, o.path)
}

func same(a, b *outcome) bool { return a == b || a != nil && b != nil && *a == *b }

// TestDeviations shows what this reader makes of the logs that it reads otherwise
// than pi, whole and from the end up.
func TestDeviations(t *testing.T) {
	for _, c := range deviationCases {
		t.Run(c.name(), func(t *testing.T) {
			r := c.write(t, t.TempDir())
			got, kinds := ourOutcomes(t, r, strings.HasPrefix(c.log, headV1))
			for _, o := range got {
				if !same(o, c.ours) {
					t.Errorf("got %s, want %s", o, c.ours)
				}
			}
			if c.damage != "" && !slices.Contains(kinds, c.damage) {
				t.Errorf("got damage %q, want %q in it", kinds, c.damage)
			}
		})
	}
}

// ourOutcomes reads a log as a whole and from the end up.
func ourOutcomes(t *testing.T, r request, v1 bool) (got []*outcome, kinds []sessiontree.DamageKind) {
	t.Helper()
	tree, err := sessiontree.Read(r.File, nil)
	if errors.Is(err, sessiontree.ErrNoSession) {
		return []*outcome{nil}, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if err := tree.Scan(); err != nil {
		t.Fatal(err)
	}
	for _, d := range tree.Damage() {
		kinds = append(kinds, d.Kind)
	}
	all := ids(t, tree.Entries())
	whole := answer{Leaf: string(tree.Leaf()), IDs: all, Path: ids(t, tree.Path(tree.Leaf()))}
	fromEnd, _ := tailFirst(t, r, all)
	fromEnd.IDs = all
	return []*outcome{outcomeOf(whole, v1), outcomeOf(fromEnd, v1)}, kinds
}

// TestDeviationsOfPi shows that pi does what docs/interop.md says of it.
func TestDeviationsOfPi(t *testing.T) {
	for name, got := range outcomesOf(t, pi) {
		i := slices.IndexFunc(deviationCases, func(c deviationCase) bool { return c.name() == name })
		if want := deviationCases[i].pi; !same(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// otherOutcomes are those of the other peers, where they are not pi 1.6.0's.
var otherOutcomes = map[string]map[string]*outcome{
	pi073.name: {
		"A missing or late header/missing":            {},
		"A missing or late header/late":               {},
		"A missing or late header/without an id":      {},
		"A byte order mark/in front":                  {"a", "a"},
		"What pi does not open/oh-my-pi's title line": {},
	},
	omp.name: {
		"Two objects on one line/glued":               {"a c", "c"},
		"A byte order mark/in front":                  {"a", "a"},
		"What pi does not open/oh-my-pi's title line": {"a", "a"},
	},
}

// TestDeviationsOfOthers shows what docs/interop.md says of the other peers.
func TestDeviationsOfOthers(t *testing.T) {
	if os.Getenv("OMP") == "" {
		t.Skip("OMP=1 runs pi 0.73.1 and oh-my-pi, after internal/peers/install omp")
	}
	for _, p := range []peer{pi073, omp} {
		got := outcomesOf(t, p)
		for _, c := range deviationCases {
			want, differs := otherOutcomes[p.name][c.name()]
			if !differs {
				want = c.pi
			}
			if !same(got[c.name()], want) {
				t.Errorf("%s, %s: got %s, want %s", p.name, c.name(), got[c.name()], want)
			}
		}
	}
}

// outcomesOf runs a peer on all cases.
func outcomesOf(t *testing.T, p peer) map[string]*outcome {
	t.Helper()
	installed(t)
	dir := t.TempDir()
	var requests []request
	for _, c := range deviationCases {
		requests = append(requests, c.write(t, dir))
	}
	outcomes := map[string]*outcome{}
	for i, a := range p.ask(t, requests) {
		c := deviationCases[i]
		outcomes[c.name()] = outcomeOf(a, strings.HasPrefix(c.log, headV1))
	}
	return outcomes
}
