package sessiontree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// record is an entry of any type.
func record(kind, id, parent, rest string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"%s","id":"%s","parentId":%s,"timestamp":"2026-01-05T09:00:00.000Z"%s}`, kind, id, up, rest)
}

// titleSlot is oh-my-pi's line in front of the header.
func titleSlot(title string) string {
	start := fmt.Sprintf(`{"type":"title","v":1,"title":"%s","updatedAt":"2026-01-05T09:00:00.000Z","pad":"`, title)
	return start + strings.Repeat(" ", entries.TitleSize-len(start)-3) + `"}`
}

func TestNamesAndAgents(t *testing.T) {
	omp := strings.TrimSuffix(piHeader, "}") + `,"title":"in the header","titleSource":"auto"}`
	info := func(id, name string) string { return record("session_info", id, "", `,"name":"`+name+`"`) }
	change := func(id, title string) string { return record("title_change", id, "", `,"title":"`+title+`"`) }
	for _, test := range []struct {
		what  string
		log   []byte
		name  string
		agent sessiontree.Agent
	}{
		{"none", lines(piHeader, note("a", "", "1")), "", sessiontree.AgentPi},
		{"pi", lines(piHeader, info("a", "one"), info("b", " two ")), "two", sessiontree.AgentPi},
		{"pi, taken back", lines(piHeader, info("a", "one"), record("session_info", "b", "", "")), "", sessiontree.AgentPi},
		{"omp, header", lines(omp, note("a", "", "1")), "in the header", sessiontree.AgentOmp},
		{"omp, changed", lines(omp, change("a", "one"), change("b", "two")), "two", sessiontree.AgentOmp},
		{"omp, by its entries", lines(piHeader, change("a", "one")), "one", sessiontree.AgentOmp},
		{"omp, title line", lines(titleSlot("slot"), omp, change("a", "one")), "slot", sessiontree.AgentOmp},
		{"omp, title line emptied", lines(titleSlot(""), omp, change("a", "one")), "", sessiontree.AgentOmp},
		{"native", lines(sealed(nativeHeader, info("a", "one"))...), "one", sessiontree.AgentNative},
		{"no header", lines(note("a", "", "1"), info("b", "one")), "one", sessiontree.AgentPi},
	} {
		x := tree(t, test.log, nil)
		if got, err := x.Name(); got != test.name || err != nil || x.Agent() != test.agent {
			t.Errorf("%s: got name %q (%v), agent %s, want %q, %s", test.what, got, err, x.Agent(), test.name, test.agent)
		}
		if x.Native() != (test.agent == sessiontree.AgentNative) || x.File() != "log" {
			t.Errorf("%s: got native %v, file %s", test.what, x.Native(), x.File())
		}
	}
}

// TestLeafMoved: another program's housekeeping on another branch is told, with the
// way back; on the branch itself, or by us, it is nothing.
func TestLeafMoved(t *testing.T) {
	exit := func(parent string) string { return record("custom", "x", parent, `,"customType":"session_exit"`) }
	label := func(parent string) string { return record("label", "x", parent, `,"targetId":"a","label":"l"`) }
	a, b, c := note("a", "", "1"), note("b", "a", "2"), note("c", "b", "3")
	native := sealed(nativeHeader, a, b, c, label("a"))
	for _, test := range []struct {
		what string
		log  []byte
		want string // part of the note's text
	}{
		{"exit elsewhere", lines(piHeader, a, b, c, exit("a")), "checkout log c"},
		{"exit at its leaf", lines(piHeader, a, b, c, exit("c")), ""},
		{"label elsewhere", lines(piHeader, a, b, c, label("b")), "checkout log c"},
		{"two elsewhere", lines(piHeader, a, b, c, label("b"), record("custom", "y", "x", `,"customType":"session_exit"`)), "checkout log c"},
		{"message elsewhere", lines(piHeader, a, b, c, note("d", "a", "4")), ""},
		{"other custom entry", lines(piHeader, a, b, c, record("custom", "x", "a", `,"customType":"leaf"`)), ""},
		{"ours", lines(native...), ""},
		{"another's in a native log", lines(append(native[:4:4], exit("a"))...), "checkout log c"},
		{"housekeeping alone", lines(piHeader, label("")), ""},
	} {
		x := tree(t, test.log, nil)
		must(t, of(0, x.Scan()))
		got := ""
		for _, d := range x.Damage() {
			if d.Kind == "leaf-moved" {
				got = d.Detail
				if !d.Note {
					t.Errorf("%s: got damage, want a note", test.what)
				}
			}
		}
		if (got != "") != (test.want != "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q in it", test.what, got, test.want)
		}
	}
}

// TestDamageBeforeTheScan: what the end shows is told at once, without lines; the
// rest, and the lines, when all was read.
func TestDamageBeforeTheScan(t *testing.T) {
	a, b := note("a", "", "1"), note("b", "a", "2")
	x := tree(t, append(lines(piHeader, "<<<", a), b[:30]...), nil)
	if got, want := kinds(x.Damage()), "torn-tail:0"; got != want || x.Scanned() {
		t.Errorf("got %q, scanned %v, want %q", got, x.Scanned(), want)
	}
	walked(t, x.Ancestors(x.Leaf()))
	if got, want := kinds(x.Damage()), "torn-tail:0"; got != want {
		t.Errorf("with a path: got %q, want %q", got, want)
	}
	must(t, of(0, x.Scan()))
	if got, want := kinds(x.Damage()), "not-json:2 torn-tail:4"; got != want || !x.Scanned() {
		t.Errorf("scanned: got %q, want %q", got, want)
	}
}

// TestBatches: a void batch is not there, whichever way one looks.
func TestBatches(t *testing.T) {
	line, prev := seal(nativeHeader, 0, false)
	log := []string{line}
	for _, e := range []struct {
		id, parent string
		more       bool
	}{{"a", "", false}, {"b", "a", true}, {"c", "b", false}, {"d", "c", true}, {"e", "d", true}} {
		line, prev = seal(note(e.id, e.parent, ""), prev, e.more)
		log = append(log, line)
	}
	runOdd(t, []oddCase{
		{"void", lines(log...), "a b c", "a b c", "incomplete-batch:5"},
		{"with another's line below", lines(append(log, note("x", "e", ""))...), "a b c d e x", "a b c d e x", "incomplete-batch:5 foreign-line:7"},
	})
	x := tree(t, lines(log...), nil)
	if e := must(t, of(x.Entry("b"))); !e.More || x.Leaf() != "c" {
		t.Errorf("got %+v, leaf %s, want the mark, and c", e, x.Leaf())
	}
}

// TestBreakingOff: a walk may end anywhere.
func TestBreakingOff(t *testing.T) {
	x := tree(t, randomLog(0), nil)
	for range 2 {
		for _, walk := range []func(func(entries.Entry, error) bool){x.Ancestors(x.Leaf()), x.Path(x.Leaf()), x.Entries()} {
			for range walk {
				break
			}
		}
	}
}

// TestManyWords: a log may have more types and roles than anybody thought of.
func TestManyWords(t *testing.T) {
	const n = 70_000
	var log strings.Builder
	log.WriteString(piHeader + "\n")
	for i := range n {
		fmt.Fprintf(&log, `{"type":"message","id":"%d","parentId":null,"message":{"role":"r%d"}}`+"\n", i, i)
	}
	x := tree(t, []byte(log.String()), nil)
	must(t, of(0, x.Scan()))
	for _, i := range []int{0, 1, 1000, n - 1} {
		e := must(t, of(x.Entry(entries.ID(fmt.Sprint(i)))))
		if m := must(t, of(e.Message())); m.Role != fmt.Sprintf("r%d", i) {
			t.Errorf("entry %d: got role %q", i, m.Role)
		}
	}
}
