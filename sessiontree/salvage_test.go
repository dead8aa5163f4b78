package sessiontree_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// salvaged is the copy of a log.
func salvaged(t *testing.T, log []byte) (string, sessiontree.Salvaged) {
	t.Helper()
	var out bytes.Buffer
	s := must(t, of(sessiontree.Salvage(tree(t, log, nil), &out)))
	return out.String(), s
}

func verdict(t *testing.T, log string) sessiontree.Verdict {
	t.Helper()
	return must(t, of(tree(t, []byte(log), &sessiontree.ReadOptions{Verify: true}).Verify()))
}

// TestSalvageMends goes through every kind of damage: what the copy is made of,
// line by line, and what is wrong with it still.
func TestSalvageMends(t *testing.T) {
	a, b, c := note("a", "", "1"), note("b", "a", "2"), note("c", "b", "3")
	h := piHeader
	for what, x := range map[string]struct {
		log  []byte
		want []string
		left string // damage of the copy
	}{
		"nothing":          {lines(h, a, b), []string{h, a, b}, ""},
		"torn-tail":        {append(lines(h, a), b[:40]...), []string{h, a}, ""},
		"torn on its line": {append(lines(h, a)[:len(h)+len(a)+1], b[:40]...), []string{h, a}, ""},
		"nul":              {lines(h, "\x00\x00", a+"\x00\x00", "\x00"+b), []string{h, a, b}, ""},
		"nul at the end":   {append(lines(h, a), 0, 0, 0), []string{h, a}, ""},
		"not-json":         {lines(h, "junk", a, b[:40], c), []string{h, a, c}, "missing-parent:3"},
		"not-object":       {lines(h, "[1]", "5", a, "null", `"x"`), []string{h, a}, ""},
		"concatenated":     {lines(h+a, b+c), []string{h, a, b, c}, ""},
		"late-header":      {lines(a, h, b), []string{h, a, b}, ""},
		"extra-header":     {lines(h, a, h, strings.Replace(h, `"s"`, `"t"`, 1), b), []string{h, a, b}, ""},
		"no-id":            {lines(h, `{"type":"x"}`, a, `{"id":5}`), []string{h, a}, ""},
		"duplicate-id":     {lines(h, note("a", "", "0"), a, b), []string{h, a, b}, ""},
		"repeated":         {lines(h, a, b, b), []string{h, a, b}, ""},
		"missing-parent":   {lines(h, b), []string{h, b}, "missing-parent:2"},
		"cycle":            {lines(h, note("a", "b", ""), b), []string{h, note("a", "b", ""), b}, "forward-parent:2 cycle:2"},
		"forward-parent":   {lines(h, b, a), []string{h, b, a}, "forward-parent:2"},
		"invalid-utf8":     {lines(h, note("a", "", "\xff")), []string{h, note("a", "", "\xff")}, "invalid-utf8:2"},
		"blank-lines":      {lines("", h, "", a, "  ", "\t\r", ""), []string{h, a}, ""},
		"no-final-newline": {bytes.TrimSuffix(lines(h, a), []byte("\n")), []string{h, a}, ""},
		"bom":              {append([]byte("\ufeff"), lines(h, a)...), []string{h, a}, ""},
		"crlf":             {lines(h+"\r", a+"\r", b+"\r"), []string{h, a, b}, ""},
		"spaces":           {lines("  "+h+"\t", " "+a+"  "), []string{h, a}, ""},
		"title-slot":       {lines(titleLine("t"), h, a, "junk"), []string{titleLine("t"), h, a}, "title-slot:1"},
		"title, late":      {lines(titleLine("t"), a, h), []string{titleLine("t"), h, a}, "title-slot:1"},
		"version 1": {lines(`{"type":"session","id":"s"}`, "junk", `{"type":"message","n":1}`, `{"type":"message","n":1}`, `{"type":"mes`),
			[]string{`{"type":"session","id":"s"}`, `{"type":"message","n":1}`, `{"type":"message","n":1}`}, ""},
		"odd bytes": {lines(h, `{ "id" : "a", "type":"x","type":"message","n":1e999,"s":"\ud800","id":"a2" }`),
			[]string{h, `{ "id" : "a", "type":"x","type":"message","n":1e999,"s":"\ud800","id":"a2" }`}, ""},
		"header alone": {lines(h), []string{h}, ""},
	} {
		got, _ := salvaged(t, x.log)
		if want := string(lines(x.want...)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
			continue
		}
		if left := kinds(verdict(t, got).Damage); left != x.left {
			t.Errorf("%s: the copy has %q, want %q", what, left, x.left)
		}
		if again, _ := salvaged(t, []byte(got)); again != got {
			t.Errorf("%s: a copy of the copy is another:\n%s\nthan\n%s", what, again, got)
		}
	}
}

// TestSalvageNative: sums and batch marks are renewed. Each word is an entry, with a
// + where its batch goes on; the copy's sums are all right.
func TestSalvageNative(t *testing.T) {
	n := func(id, parent string) string { return note(id, parent, "x") }
	whole := func(records ...string) string { return string(bytes.Join(batch(nativeHead, records...), nil)) }
	tail := func(s string, cut string) string { return s[strings.Index(s, cut):] }
	ab := whole(n("a", ""), n("b", "a"))
	a := whole(n("a", ""))
	wrong := strings.Replace(a, `"x"`, `"y"`, 1)
	for what, x := range map[string]struct{ log, want string }{
		"a batch":                         {ab, "a+ b"},
		"an incomplete batch":             {whole(n("a", ""), n("b", "a"))[:len(ab)-30], ""},
		"an incomplete batch and a line":  {whole(n("a", ""), n("b", "a"), n("c", "b"))[:len(ab)+len(`,"more":true`)] + n("p", "b") + "\n", "a b p"},
		"lines of other programs":         {a + n("p", "a") + "\n" + n("q", "p") + "\n", "a p q"},
		"another program's more and crc":  {a + strings.TrimSuffix(n("p", "a"), "}") + `,"more":true,"crc":7}` + "\n" + n("q", "p") + "\n", "a p? q"},
		"a field behind the sum":          {strings.Replace(ab, `"}`+"\n"+`{"type":"message","id":"b"`, `","z":1}`+"\n"+`{"type":"message","id":"b"`, 1), "a+ b"},
		"a wrong sum":                     {wrong + n("p", "a") + "\n", "a? p"},
		"a wrong sum at the end":          {wrong, ""},
		"a batch out of order":            {a + tail(ab, `{"type":"message","id":"b"`), "a b"},
		"a line missing":                  {without(whole(n("a", ""), n("b", "a"), n("c", "a")), 2), "a+ c"},
		"a batch whose end is repeated":   {a + strings.Replace(whole(n("c", "a"), n("a", "")), strings.SplitAfter(a, "\n")[0], "", 1), "a c"},
		"rewritten by omp":                {titleLine("t") + "\n" + ab, "a+ b"},
		"without a header":                {tail(a, `{"type":"message"`), "a"},
		"a torn batch and a whole behind": {whole(n("a", ""), n("b", "a"))[:len(ab)-30] + "\n" + a[strings.Index(a, "\n")+1:], "a"},
	} {
		got, s := salvaged(t, []byte(x.log))
		if words := nativeWords(t, got, s); words != x.want {
			t.Errorf("%s: got %q, want %q:\n%s", what, words, x.want, got)
		}
		if v := verdict(t, got); v.Checksums != sessiontree.ChecksumsOK || !v.OK {
			t.Errorf("%s: the copy has %s, sums %s", what, kinds(v.Damage), v.Checksums)
		}
		if again, _ := salvaged(t, []byte(got)); again != got {
			t.Errorf("%s: a copy of the copy is another:\n%s\nthan\n%s", what, again, got)
		}
	}
}

// without leaves out a line, counted from 0.
func without(log string, line int) string {
	return strings.Join(slices.Delete(strings.SplitAfter(log, "\n"), line, line+1), "")
}

func nativeWords(t *testing.T, log string, s sessiontree.Salvaged) string {
	t.Helper()
	var words []string
	for e := range tree(t, []byte(log), nil).Entries() {
		word := string(e.ID)
		if e.More {
			word += "+"
		}
		if slices.Contains(s.Doubtful, e.ID) {
			word += "?"
		}
		words = append(words, word)
	}
	if s.Marked { // the leaf's marker, behind what was copied
		words = words[:len(words)-1]
	}
	if len(words) != s.Entries {
		t.Errorf("got %v, which are not %d", words, s.Entries)
	}
	return strings.Join(words, " ")
}

// TestSalvageMakesAHeader: no reader takes a copy without.
func TestSalvageMakesAHeader(t *testing.T) {
	a := note("a", "", "1")
	native := sealed(nativeHead, a)[1]
	for what, c := range map[string]struct{ log, version, rest string }{
		"pi":                     {a, `"version":3`, a + "\n"},
		"native":                 {native, `"titleSource":"user","format":"sessiontree/1"`, ""},
		"v1":                     {`{"type":"message","message":{"role":"user"}}`, `"version":1`, `{"type":"message","message":{"role":"user"}}` + "\n"},
		"no time":                {strings.Replace(a, "2026-01-05T09:00:00.000Z", "never", 1), `"timestamp":"1970-01-01T00:00:00.000Z"`, ""},
		"a header without an id": {`{"type":"session","version":3}` + "\n" + a, `"timestamp":"2026-01-05T09:00:00.000Z"`, a + "\n"},
	} {
		got, s := salvaged(t, []byte(c.log+"\n"))
		head, rest, _ := strings.Cut(got, "\n")
		if !s.MadeHeader || !strings.Contains(head, c.version) || c.rest != "" && rest != c.rest {
			t.Errorf("%s: got %+v\n%s", what, s, got)
		}
		if v := verdict(t, got); !v.OK {
			t.Errorf("%s: the copy has %s", what, kinds(v.Damage))
		}
		if again, s := salvaged(t, []byte(got)); again != got || s.MadeHeader {
			t.Errorf("%s: a copy of the copy is another:\n%s\nthan\n%s", what, again, got)
		}
	}
}

// TestSalvageRandom: whatever the log, a copy of the copy is the copy, its records
// have the bytes of the log's, and the same entry is the leaf.
func TestSalvageRandom(t *testing.T) {
	for seed := range uint64(400) {
		log := randomLog(seed)
		if seed%4 == 0 {
			log = batches(seed)
		}
		what := fmt.Sprintf("seed %d", seed)
		log = torn(seed, log)
		x, err := sessiontree.From(source{bytes.NewReader(log)}, "log", nil)
		if errors.Is(err, sessiontree.ErrNoSession) {
			continue
		}
		var out bytes.Buffer
		s := must(t, of(sessiontree.Salvage(x, &out)))
		if again, _ := salvaged(t, out.Bytes()); again != out.String() {
			t.Errorf("%s: a copy of the copy is another", what)
		}
		y := tree(t, out.Bytes(), nil)
		if y.Header().ID != x.Header().ID && !s.MadeHeader || y.Native() != x.Native() {
			t.Errorf("%s: got header %s, want %s", what, y.Header().Raw(), x.Header().Raw())
		}
		if got := leafOfCopy(t, y, s); x.Header().Version != 1 && got != x.Leaf() {
			t.Errorf("%s: got leaf %s, want %s (%s)", what, got, x.Leaf(), kinds(x.Damage()))
		}
		if s.Marked {
			s.Doubtful = append(s.Doubtful, y.Leaf()) // it stands in no log
		}
		checkRecords(t, what, log, y, s.Doubtful)
	}
}

// leafOfCopy gives the leaf of a copy: where a marker had to be added, what the
// marker stands under.
func leafOfCopy(t *testing.T, y *sessiontree.Tree, s sessiontree.Salvaged) entries.ID {
	t.Helper()
	if !s.Marked {
		return y.Leaf()
	}
	return must(t, of(y.Entry(y.Leaf()))).Parent
}

// checkRecords looks for each record of a copy in the log, but for sums and marks;
// a doubtful one may have them anywhere.
func checkRecords(t *testing.T, what string, log []byte, y *sessiontree.Tree, doubtful []entries.ID) {
	t.Helper()
	for e := range y.Entries() {
		if slices.Contains(doubtful, e.ID) {
			continue
		}
		body := must(t, of(e.Raw()))
		if y.Native() {
			body, _ = entries.Unsummed(body)
		}
		if !bytes.Contains(log, body) {
			t.Errorf("%s: the log has no %s", what, body)
		}
	}
}

// TestSalvageManyInABatch: a batch of any length costs as much as its lines do.
func TestSalvageManyInABatch(t *testing.T) {
	var log bytes.Buffer
	line, prev := seal(nativeHead, 0, false)
	log.WriteString(line + "\n")
	const n = 200_000 // with the square of it nobody would wait for this test
	for i := range n {
		line, prev = seal(fmt.Sprintf(`{"type":"custom","id":"e%d","parentId":null}`, i), prev, i < n-1)
		log.WriteString(line + "\n")
	}
	if got, s := salvaged(t, log.Bytes()); got != log.String() || s.Entries != n {
		t.Errorf("got %d entries, want the same log with %d", s.Entries, n)
	}
}

type brokenWriter struct{ room int }

var errFull = errors.New("full")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestSalvageToNowhere(t *testing.T) {
	log := randomLog(0)
	for room := 0; room < 10_000; room += 999 {
		s, err := sessiontree.Salvage(tree(t, log, nil), &brokenWriter{room})
		if err == nil && room < len(log) || err != nil && !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: got %+v and %v, want what the writer said", room, s, err)
		}
	}
}
