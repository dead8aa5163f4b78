package sessiontree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

const piHeader = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x"}`

// lines ends every record with a newline.
func lines(records ...string) []byte { return []byte(strings.Join(records, "\n") + "\n") }

// note is an entry with a text, by which copies of an id can be told apart.
func note(id, parent, text string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"%s"}}`, id, up, text)
}

// sealed makes native lines of records.
func sealed(records ...string) (out []string) {
	prev := uint32(0)
	for _, record := range records {
		line, sum := entries.AppendSum([]byte(strings.TrimSuffix(record, "}")), 0, false, prev)
		out, prev = append(out, string(line)), sum.Self
	}
	return out
}

// An oddCase is a log with its entries, path from the root to the leaf, and damage
// with lines, in their order in the file.
type oddCase struct {
	what          string
	log           []byte
	entries, path string
	damage        string
}

// sketch names entries by id and text.
func sketch(t *testing.T, walk func(func(entries.Entry, error) bool)) string {
	t.Helper()
	var list []string
	for e, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		m, _ := e.Message()
		list = append(list, strings.TrimSuffix(string(e.ID)+"="+m.Text(), "="))
	}
	return strings.Join(list, " ")
}

func kinds(damage []sessiontree.Damage) string {
	var list []string
	for _, d := range damage {
		list = append(list, fmt.Sprintf("%s:%d", d.Kind, d.Line))
	}
	return strings.Join(list, " ")
}

func runOdd(t *testing.T, cases []oddCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			x := tree(t, c.log, nil)
			if got := sketch(t, tree(t, c.log, nil).Path(x.Leaf())); got != c.path {
				t.Errorf("path from the tail: got %q, want %q", got, c.path)
			}
			if got := sketch(t, x.Entries()); got != c.entries {
				t.Errorf("entries: got %q, want %q", got, c.entries)
			}
			if got := sketch(t, x.Path(x.Leaf())); got != c.path {
				t.Errorf("path: got %q, want %q", got, c.path)
			}
			if got := kinds(x.Damage()); got != c.damage {
				t.Errorf("damage: got %q, want %q", got, c.damage)
			}
		})
	}
}

func TestDuplicates(t *testing.T) {
	a, b, c := note("a", "", "1"), note("b", "a", "1"), note("c", "b", "1")
	native := sealed(`{"type":"session","version":3,"id":"s","format":"sessiontree/1"}`, a, b, a, c)
	runOdd(t, []oddCase{
		{"identical", lines(piHeader, a, a, b), "a=1 b=1", "a=1 b=1", "duplicate-id:3"},
		{"identical, far away", lines(piHeader, a, b, a, c), "a=1 b=1 c=1", "a=1 b=1 c=1", "duplicate-id:4"},
		{"identical, last: the leaf moves back", lines(piHeader, a, b, c, a), "a=1 b=1 c=1", "a=1", "duplicate-id:5"},
		{"identical, three times", lines(piHeader, a, a, b, a), "a=1 b=1", "a=1", "duplicate-id:3 duplicate-id:5"},
		{"different", lines(piHeader, a, note("a", "", "2"), b), "a=1 a=2 b=1", "a=2 b=1", "duplicate-id:3"},
		{"different, behind the child", lines(piHeader, a, b, note("a", "", "2")), "a=1 b=1 a=2", "a=2", "forward-parent:3 duplicate-id:4"},
		{"different, then the first again", lines(piHeader, a, note("a", "", "2"), a, b), "a=1 a=2 a=1 b=1", "a=1 b=1", "duplicate-id:3 duplicate-id:4"},
		{"identical, then different", lines(piHeader, a, a, note("a", "", "2"), b), "a=1 a=2 b=1", "a=2 b=1", "duplicate-id:3 duplicate-id:4"},
		{"different, under its own child", lines(piHeader, a, b, note("a", "b", "2")), "a=1 b=1 a=2", "b=1 a=2", "forward-parent:3 cycle:3 duplicate-id:4"},
		{"native, with another second half", lines(native...), "a=1 b=1 c=1", "a=1 b=1 c=1", "duplicate-id:4"},
	})
	x := tree(t, lines(piHeader, a, note("a", "", "2"), b), nil)
	if e := must(t, of(x.EntryAtLine(2))); e.Line != 2 || must(t, of(e.Raw()))[0] != '{' {
		t.Errorf("line 2: got %+v, want the entry that lost its id", e)
	}
}

func TestParents(t *testing.T) {
	a, b, c := note("a", "", "1"), note("b", "a", "1"), note("c", "b", "1")
	runOdd(t, []oddCase{
		{"forward", lines(piHeader, b, a, c), "b=1 a=1 c=1", "a=1 b=1 c=1", "forward-parent:2"},
		{"missing", lines(piHeader, b, c), "b=1 c=1", "b=1 c=1", "missing-parent:2"},
		{"itself", lines(piHeader, note("a", "a", "1"), b), "a=1 b=1", "a=1 b=1", "cycle:2"},
		{"each other", lines(piHeader, note("a", "b", "1"), b, c), "a=1 b=1 c=1", "a=1 b=1 c=1", "forward-parent:2 cycle:2"},
		{"cycle, entered from outside", lines(piHeader, c, note("b", "a", "1"), note("a", "b", "1"), note("d", "c", "1")),
			"c=1 b=1 a=1 d=1", "b=1 c=1 d=1", "forward-parent:2 cycle:3"},
		{"parent of another kind", lines(piHeader, a, strings.Replace(b, `"a"`, "7", 1)), "a=1 b=1", "b=1", ""},
		{"doubled parent", lines(piHeader, a, b, strings.Replace(c, `"parentId":"b"`, `"parentId":"b","parentId":"a"`, 1)), "a=1 b=1 c=1", "a=1 c=1", ""},
		{"empty parent", lines(piHeader, a, strings.Replace(b, `"a"`, `""`, 1)), "a=1 b=1", "b=1", ""},
		{"half a surrogate in an id", lines(piHeader, note(`\ud83d`, "", "1"), note("b", `\ud83d`, "1")), "\ufffd=1 b=1", "\ufffd=1 b=1", ""},
	})
}

// TestVersion1: its entries follow each other, and have ids by their place.
func TestVersion1(t *testing.T) {
	header := `{"type":"session","id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x","provider":"a","modelId":"m"}`
	records := []string{
		header, `{"type":"message","timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"1"}}`,
		`{"type":"message","timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"hookMessage","customType":"x","content":"2"}}`,
		"", `{"type":"compaction","timestamp":"2026-01-05T09:00:01.000Z","summary":"s","firstKeptEntryIndex":1,"tokensBefore":7}`,
		`{"type":"message","id":"own","parentId":"nobody","message":{"role":"user","content":"3"}}`,
	}
	var ids []string
	offset := 0
	for _, r := range records {
		if r != header && r != "" {
			ids = append(ids, fmt.Sprintf("v1-%d", offset))
		}
		offset += len(r) + 1
	}
	want := fmt.Sprintf("%s=1 %s=2 %s %s=3", ids[0], ids[1], ids[2], ids[3])
	runOdd(t, []oddCase{{"whole", lines(records...), want, want, "blank-lines:4"}})
	x := tree(t, lines(records...), nil)
	e := must(t, of(x.Entry(entries.ID(ids[1]))))
	if m := must(t, of(e.Message())); e.Role != "custom" || m.Role != "custom" {
		t.Errorf("got role %s, message %+v, want custom", e.Role, m)
	}
	if c := must(t, of(must(t, of(x.Entry(entries.ID(ids[2])))).Compaction())); c.FirstKeptIndex != 1 {
		t.Errorf("got %+v, want index 1", c)
	}
}

func TestVersion2(t *testing.T) {
	log := lines(strings.Replace(piHeader, "3", "2", 1), strings.Replace(note("a", "", "1"), "user", "hookMessage", 1))
	runOdd(t, []oddCase{{"version 2", log, "a=1", "a=1", ""}})
	if e := must(t, of(tree(t, log, nil).Entry("a"))); e.Role != "custom" {
		t.Errorf("got role %s, want custom", e.Role)
	}
	log = lines(piHeader, strings.Replace(note("a", "", "1"), "user", "hookMessage", 1))
	if e := must(t, of(tree(t, log, nil).Entry("a"))); e.Role != "hookMessage" {
		t.Errorf("version 3: got role %s, want it as it stands", e.Role)
	}
}

// TestTimes compares the quick reading of timestamps with the library's.
func TestTimes(t *testing.T) {
	for _, stamp := range []string{
		"2026-01-05T09:00:00.000Z", "2026-01-05T09:59:59.999Z", "2026-01-05T09:00:60.000Z", "2026-01-05T09:60:00.000Z", "2026-02-29T09:00:00.000Z",
		"2024-02-29T23:00:00.000Z", "2026-01-05T24:00:00.000Z", "2026-01-05 09:00:00.000Z", "2026-01-05T09:00:00,000Z", "2026-01-05T09:00:00.000+",
		"2026-01-05T09:00:00Z", "2026-01-05T09:00:00.123456+02:00", "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2026-01-05T09:00:0x.000Z", "", "now",
	} {
		log := lines(piHeader, note("z", "", "1"), strings.Replace(note("a", "", "1"), "2026-01-05T09:00:00.000Z", stamp, 1), note("b", "a", "1"))
		want := entries.ParseTime(stamp).Truncate(time.Millisecond)
		for e := range tree(t, log, nil).Ancestors("a") {
			if !e.Time.Equal(want) || e.Time.IsZero() != want.IsZero() {
				t.Errorf("%q: got %v, want %v", stamp, e.Time, want)
			}
		}
	}
}

// TestCorpus: the odd files are read like the model reads them, or, where a line is
// glued, without losing what it holds.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("SESSCTL_CORPUS")
	if dir == "" {
		t.Skip("SESSCTL_CORPUS is not set")
	}
	files := must(t, of(filepath.Glob(filepath.Join(dir, "odd", "*.jsonl"))))
	files = append(files, filepath.Join(dir, "native", "rewind.jsonl"), filepath.Join(dir, "pi", "agentsview-pi-session.jsonl"))
	beyond := []string{ // what the model does not know, or takes too long for
		"torn-middle.jsonl", "chain-15k.jsonl", "wide-8k.jsonl", "v1-no-ids.jsonl", "session-state-leaf.jsonl", "crlf.jsonl", "deep-nesting.jsonl",
	}
	for _, path := range files {
		log := must(t, of(os.ReadFile(path)))
		x, err := sessiontree.Read(path, nil)
		if err != nil {
			continue // another program's
		}
		readAll(t, x)
		if !slices.Contains(beyond, filepath.Base(path)) {
			compare(t, filepath.Base(path), log)
		}
	}
	x := must(t, of(sessiontree.Read(filepath.Join(dir, "odd", "torn-middle.jsonl"), nil)))
	if got := kinds(x.Damage()); sketch(t, x.Path("e4")) != "e1=a e3=c e4=d" {
		t.Errorf("torn-middle: got %s, damage %s", sketch(t, x.Path("e4")), got)
	}
}
