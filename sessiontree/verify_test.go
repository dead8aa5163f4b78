package sessiontree_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
)

// calls is an assistant message that makes calls; answer is the result of one.
func calls(id, parent string, ids ...string) string {
	var blocks []string
	for _, c := range ids {
		blocks = append(blocks, fmt.Sprintf(`{"type":"toolCall","id":"%s","name":"read","arguments":{}}`, c))
	}
	return message(id, parent, fmt.Sprintf(`{"role":"assistant","content":[%s]}`, strings.Join(blocks, ",")))
}

func answer(id, parent, call string) string {
	return message(id, parent, fmt.Sprintf(`{"role":"toolResult","toolCallId":"%s","toolName":"read","content":[]}`, call))
}

func message(id, parent, body string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-01-05T09:00:00.000Z","message":%s}`, id, up, body)
}

// TestPairing: calls and results, named by their kind, entry, call and line.
func TestPairing(t *testing.T) {
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf("c%d", i))
	}
	for what, c := range map[string]struct {
		records []string
		want    string
	}{
		"a call and its result":           {[]string{calls("a", "", "1"), answer("b", "a", "1")}, ""},
		"parallel calls":                  {[]string{calls("a", "", "1", "2", "3"), answer("b", "a", "3"), answer("c", "b", "1"), answer("d", "c", "2")}, ""},
		"one of them open":                {[]string{calls("a", "", "1", "2"), answer("b", "a", "2"), note("u", "b", "")}, "open-call a 1 :2"},
		"open at the end":                 {[]string{note("u", "", ""), calls("a", "u", "1")}, "open-call a 1 :3"},
		"open in the middle":              {[]string{calls("a", "", "1"), note("u", "a", ""), calls("b", "u", "2"), answer("r", "b", "2")}, "open-call a 1 :2"},
		"many open":                       {[]string{calls("a", "", many...)}, "open-call a " + strings.Join(many, " :2 open-call a ") + " :2"},
		"an orphan":                       {[]string{note("u", "", ""), answer("b", "u", "1")}, "orphan-result b 1 :3"},
		"an orphan at the root":           {[]string{answer("b", "", "1")}, "orphan-result b 1 :2"},
		"a result before its call":        {[]string{answer("b", "", "1"), calls("a", "b", "1")}, "orphan-result b 1 :2 open-call a 1 :3"},
		"a call on another branch":        {[]string{note("u", "", ""), calls("a", "u", "1"), answer("b", "u", "1")}, "open-call a 1 :3 orphan-result b 1 :4"},
		"a second result":                 {[]string{calls("a", "", "1"), answer("b", "a", "1"), answer("c", "b", "1")}, "second-result c 1 :4"},
		"a third result":                  {[]string{calls("a", "", "1"), answer("b", "a", "1"), answer("c", "b", "1"), answer("d", "c", "1")}, "second-result c 1 :4 second-result d 1 :5"},
		"results on sibling branches":     {[]string{calls("a", "", "1"), answer("b", "a", "1"), answer("c", "a", "1")}, ""},
		"one on each, one more on one":    {[]string{calls("a", "", "1"), answer("b", "a", "1"), answer("c", "a", "1"), answer("d", "c", "1")}, "second-result d 1 :5"},
		"a late result":                   {[]string{calls("a", "", "1"), note("u", "a", ""), calls("b", "u", "2"), answer("r", "b", "2"), answer("s", "r", "1")}, ""},
		"an id used again":                {[]string{calls("a", "", "1"), answer("b", "a", "1"), calls("c", "b", "1"), answer("d", "c", "1")}, ""},
		"an id used again, open":          {[]string{calls("a", "", "1"), answer("b", "a", "1"), calls("c", "b", "1")}, "open-call c 1 :4"},
		"a call without an id":            {[]string{message("a", "", `{"role":"assistant","content":[{"type":"toolCall"}]}`), answer("b", "a", "")}, ""},
		"its parent stands behind it":     {[]string{answer("b", "a", "1"), calls("a", "", "1")}, ""},
		"a second one before its parents": {[]string{answer("c", "b", "1"), answer("b", "a", "1"), calls("a", "", "1")}, "second-result c 1 :2"},
		"a body that is none": {[]string{message("a", "", `5`), message("b", "a", `{"role":"assistant","content":7}`), message("c", "b", `{"role":"assistant","content":[1,"x",[]]}`),
			message("d", "c", `{"role":"toolResult","content":{}}`), message("e", "d", `{"role":"toolResult","toolCallId":5}`)}, "orphan-result d  :5 orphan-result e  :6"},
		"glued":              {[]string{calls("b", "", "2") + calls("a", "", "1"), ""}, "open-call b 2 :2 open-call a 1 :2"},
		"a call that is two": {[]string{calls("a", "", "1"), calls("a", "", "2"), answer("b", "a", "2")}, ""},
	} {
		for range 3 { // in one order
			v := verdict(t, string(lines(append([]string{piHeader}, c.records...)...)))
			var got []string
			for _, p := range v.Pairing {
				got = append(got, fmt.Sprintf("%s %s %s :%d", p.Kind, p.Entry, p.ToolCallID, p.Line))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: got %q, want %q", what, strings.Join(got, " "), c.want)
			}
			open := strings.Count(kinds(v.Damage), "open-call")
			if open != strings.Count(c.want, "open-call") {
				t.Errorf("%s: got damage %s, want the open calls as notes", what, kinds(v.Damage))
			}
			for _, d := range v.Damage {
				if d.Kind == "open-call" && (!d.Note || d.Line < 2 || d.Offset == 0) {
					t.Errorf("%s: got %+v, want a note with a place", what, d)
				}
			}
		}
	}
}

// TestVerdict: what makes a log not ok, and what its sums are worth.
func TestVerdict(t *testing.T) {
	a, b := note("a", "", "1"), note("b", "a", "2")
	native := sealed(nativeHeader, a, b)
	changed := strings.Replace(native[1], `"1"`, `"x"`, 1)
	for what, c := range map[string]struct {
		log       []byte
		ok        bool
		checksums sessiontree.Checksums
		damage    string
	}{
		"pi":                     {lines(piHeader, a, b), true, "none", ""},
		"native":                 {lines(native...), true, "ok", ""},
		"a header alone":         {lines(piHeader), true, "none", ""},
		"a native header alone":  {lines(native[0]), true, "ok", ""},
		"a changed line":         {lines(native[0], changed, native[2]), false, "bad", "bad-checksum:2"},
		"a missing line":         {lines(native[0], native[2]), false, "bad", "order:2 missing-parent:2"},
		"a moved line":           {lines(native[0], native[2], native[1]), false, "bad", "order:2 forward-parent:2 order:3"},
		"another program's":      {lines(native[0], a, native[1]), false, "ok", "foreign-line:2 order:3 duplicate-id:3"},
		"another program's last": {lines(native[0], native[1], b), true, "ok", "foreign-line:3"},
		"rewritten by omp":       {lines(titleLine("t"), native[0], changed, native[2]), true, "bad", "title-slot:1 bad-checksum:3"},
		"changed in a place that only a deep look shows": {lines(sealed(nativeHeader, strings.Replace(a, `"1"`, `1 1`, 1), b)...), false, "bad", "bad-checksum:2 missing-parent:3"},
		"no UTF-8":      {lines(sealed(nativeHeader, strings.Replace(a, `"1"`, "\"\xff\"", 1))...), false, "ok", "invalid-utf8:2"},
		"odd but whole": {append([]byte("\ufeff"), lines(piHeader+"\r", "", a, b)...), true, "none", "crlf:1 bom:1 blank-lines:2"},
	} {
		v := verdict(t, string(c.log))
		if got := kinds(v.Damage); v.OK != c.ok || v.Checksums != c.checksums || got != c.damage {
			t.Errorf("%s: got ok %v, sums %s, %q, want %v, %s, %q", what, v.OK, v.Checksums, got, c.ok, c.checksums, c.damage)
		}
	}
}

// TestVerifyDamagedBody: a body that its sum vouches for, and that is none all the
// same, is no reason to give up.
func TestVerifyDamagedBody(t *testing.T) {
	broken := strings.Replace(calls("b", "a", "2"), `"arguments":{}`, `"arguments":{`, 1)
	log := lines(sealed(nativeHeader, calls("a", "", "1"), broken, strings.Replace(answer("c", "b", "2"), "[]", "[", 1), answer("d", "c", "1"))...)
	v, err := tree(t, log, nil).Verify()
	if err != nil || v.Entries != 4 || len(v.Pairing) != 0 {
		t.Errorf("got %+v and %v, want 4 entries, and only the readable call paired", v, err)
	}
	if v := verdict(t, string(log)); v.OK {
		t.Errorf("read with Verify: got %+v, want that it is not ok", v)
	}
}

// TestVerifyRandom: a sound log is ok; asking changes nothing, and twice gives the
// same.
func TestVerifyRandom(t *testing.T) {
	for seed := range uint64(60) {
		sound := sessgen.Tree(rand.New(rand.NewPCG(seed, 23)), 40, &sessgen.TreeOptions{Native: seed%2 == 0})
		if v := verdict(t, string(sound)); !v.OK || v.Entries != 40 {
			t.Errorf("seed %d: got %d entries and %s of a sound log", seed, v.Entries, kinds(v.Damage))
		}
		x := tree(t, torn(seed, randomLog(seed|1)), &sessiontree.ReadOptions{Verify: true})
		before := fmt.Sprint(must(t, of(x.Branches())))
		first, second := must(t, of(x.Verify())), must(t, of(x.Verify()))
		if fmt.Sprint(first) != fmt.Sprint(second) {
			t.Errorf("seed %d: got %+v, and then %+v", seed, first, second)
		}
		if after := fmt.Sprint(must(t, of(x.Branches()))); after != before || first.Entries != must(t, of(x.Len())) {
			t.Errorf("seed %d: got branches %s after Verify, want %s", seed, after, before)
		}
	}
}
