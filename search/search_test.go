package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/search"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

const story = "../testdata/story.jsonl"

func compile(t testing.TB, q search.Query) *search.Pattern {
	t.Helper()
	p, err := search.Compile(q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// found lists the entries that Files finds in a session, by the end of their ids.
func found(t testing.TB, path string, q search.Query) (list []string) {
	t.Helper()
	for r := range search.Files(context.Background(), []string{path}, compile(t, q), nil) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		list = append(list, r.Hit.Entry.ID.Short())
	}
	return list
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// log makes a session of records, whose ids it gives: e1, e2, ..., each below the one
// before.
func log(records ...string) string {
	text := `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}` + "\n"
	parent := "null"
	for i, r := range records {
		id := fmt.Sprintf(`"e%d"`, i+1)
		text += fmt.Sprintf(`{"type":%s,"id":%s,"parentId":%s,"timestamp":"2026-01-01T00:00:%02d.000Z",%s}`+"\n", kind(r), id, parent, i, r)
		parent = id
	}
	return text
}

// kind is the type of an entry with such fields.
func kind(record string) string {
	for _, k := range []string{"message", "label", "name", "title", "customType", "fromId"} {
		if strings.HasPrefix(record, `"`+k+`"`) {
			return map[string]string{"message": `"message"`, "label": `"label"`, "name": `"session_info"`, "title": `"title_change"`, "customType": `"custom"`, "fromId": `"branch_summary"`}[k]
		}
	}
	return `"compaction"`
}

func message(role, rest string) string {
	return fmt.Sprintf(`"message":{"role":"%s",%s}`, role, rest)
}

// plain finds what Files should find, by reading every entry.
func plain(t *testing.T, path, text string, fold bool) (list []string) {
	t.Helper()
	tree, err := sessiontree.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		parts, _ := search.Parts(e)
		if slices.ContainsFunc(parts, func(p search.Part) bool {
			return strings.Contains(p.Text, text) || fold && strings.Contains(strings.ToLower(p.Text), strings.ToLower(text))
		}) {
			list = append(list, e.ID.Short())
		}
	}
	return list
}

// TestAsByReadingEverything: of random sessions, damage and all, the hits are those that
// decoding every entry gives.
func TestAsByReadingEverything(t *testing.T) {
	hits := 0
	for seed := range uint64(30) {
		dice := rand.New(rand.NewPCG(seed, 2))
		var raw []byte
		if seed%2 == 0 {
			raw = sessgen.Tree(dice, 60, &sessgen.TreeOptions{})
		} else {
			raw = sessgen.ContextTree(dice, 60, &sessgen.ContextOptions{})
		}
		path := write(t, "log.jsonl", string(raw))
		for range 8 {
			text := sample(t, path, dice)
			if text == "" {
				continue
			}
			fold := dice.IntN(2) == 0
			got, want := found(t, path, search.Query{Text: text, IgnoreCase: fold}), plain(t, path, text, fold)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %q (any case: %v): got %v, want %v", seed, text, fold, got, want)
			}
			hits += len(got)
		}
	}
	if hits < 200 {
		t.Errorf("only %d hits in all", hits)
	}
}

// sample takes a piece of the text of a session.
func sample(t *testing.T, path string, dice *rand.Rand) string {
	t.Helper()
	tree, err := sessiontree.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	var all []string
	for e := range tree.Entries() {
		parts, _ := search.Parts(e)
		for _, p := range parts {
			all = append(all, p.Text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	runes := []rune(all[dice.IntN(len(all))])
	if len(runes) == 0 {
		return ""
	}
	from := dice.IntN(len(runes))
	return string(runes[from:min(from+1+dice.IntN(8), len(runes))])
}

// parts is a session with a word of its own in everything that is read, and others where
// nothing is.
var parts = log(
	message("user", `"content":"inText","meta":"notMeta"`),
	message("user", `"content":[{"type":"text","text":"inBlock"},{"type":"image","data":"notImage","mimeType":"image/png"}]`),
	message("assistant", `"content":[{"type":"thinking","thinking":"inThought","thinkingSignature":"notSigned"},{"type":"toolCall","id":"notCall","name":"notName","arguments":{"notKey":{"deep":["inArgument",17]}}}],"model":"notModel"`),
	message("toolResult", `"toolCallId":"notCall","toolName":"notName","content":[{"type":"text","text":"inResult"}],"details":{"x":"notDetail"}`),
	message("bashExecution", `"command":"inCommand","output":"inOutput","exitCode":0`),
	message("pythonExecution", `"code":"inCode","output":"inPrinted"`),
	message("fileMention", `"files":[{"path":"inPath","content":"inFile"}]`),
	message("assistant", `"content":[],"stopReason":"error","errorMessage":"inError"`),
	`"summary":"inCompaction","firstKeptEntryId":"e1","tokensBefore":1,"details":{"x":"notDetail"}`,
	`"fromId":"e2","summary":"inSummary"`,
	`"label":"inLabel","targetId":"e1"`,
	`"name":"inName"`,
	`"title":"inTitle"`,
	`"customType":"notCustom","data":{"x":"notData"}`,
)

// TestWhatIsSearched: all that a person would read, and nothing else.
func TestWhatIsSearched(t *testing.T) {
	path := write(t, "parts.jsonl", parts)
	for _, word := range []string{"inText", "inBlock", "inThought", "inArgument", "17", "inResult", "inCommand", "inOutput", "inCode", "inPrinted", "inPath", "inFile",
		"inError", "inCompaction", "inSummary", "inLabel", "inName", "inTitle"} {
		if got := found(t, path, search.Query{Text: word}); len(got) != 1 {
			t.Errorf("%s: got %v, want one hit", word, got)
		}
	}
	for _, word := range []string{"notMeta", "notImage", "notSigned", "notCall", "notName", "notKey", "deep", "notModel", "notDetail", "notCustom", "notData", "user", "e1", "message", "parentId", "2026"} {
		if got := found(t, path, search.Query{Text: word}); len(got) != 0 {
			t.Errorf("%s: got %v, want no hit", word, got)
		}
	}
}

func number(n int) *int { return &n }

func TestQueries(t *testing.T) {
	path := write(t, "log.jsonl", log(
		message("user", `"content":"The Café\nclosed at nine, naïvely"`),
		message("assistant", `"content":[{"type":"text","text":"run it"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"run cafe"}}]`),
		message("toolResult", `"toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"cafe: not found\n\nCommand exited with code 127"}],"isError":true`),
		message("toolResult", `"toolCallId":"c2","toolName":"bash","content":[{"type":"text","text":"cafe"}]`),
		message("bashExecution", `"command":"cafe --nine","output":"ok","exitCode":2`),
		`"summary":"said \"cafe\" C:\\dir a/b","firstKeptEntryId":"e1"`,
	))
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	for _, c := range []struct {
		what string
		q    search.Query
		want string
	}{
		{"a literal", search.Query{Text: "cafe"}, "e2 e3 e4 e5 e6"},
		{"in any case", search.Query{Text: "CAFÉ", IgnoreCase: true}, "e1"},
		{"over lines", search.Query{Text: "Café\nclosed"}, "e1"},
		{"with quotes", search.Query{Text: `"cafe"`}, "e6"},
		{"with backslashes", search.Query{Text: `C:\dir`}, "e6"},
		{"with a slash", search.Query{Text: `a/b`}, "e6"},
		{"nothing but a slash", search.Query{Text: `/`}, "e6"},
		{"a dot is a dot", search.Query{Text: "caf."}, ""},
		{"an expression", search.Query{Text: "[Cc]af.", Regexp: true}, "e1 e2 e3 e4 e5 e6"},
		{"at lines", search.Query{Text: "^closed.*naïvely$", Regexp: true}, "e1"},
		{"without a literal", search.Query{Text: `\d\d\d`, Regexp: true}, "e3"},
		{"an expression in any case", search.Query{Text: "the c", Regexp: true, IgnoreCase: true}, "e1"},
		{"a word", search.Query{Text: "nine", Words: true}, "e1 e5"},
		{"no word", search.Query{Text: "clos", Words: true}, ""},
		{"a word with an accent", search.Query{Text: "na", Words: true}, ""},
		{"a word of an expression", search.Query{Text: "na|nin?e", Regexp: true, Words: true}, "e1 e5"},
		{"roles", search.Query{Text: "cafe", Roles: []string{"assistant", "compaction"}}, "e2 e6"},
		{"tools", search.Query{Text: "run", Tools: []string{"bash"}}, "e2"},
		{"beside a call", search.Query{Text: "run it", Tools: []string{"bash"}}, ""},
		{"another tool", search.Query{Text: "cafe", Tools: []string{"read"}}, ""},
		{"an exit code in text", search.Query{Text: "cafe", ExitCode: number(127)}, "e3"},
		{"an exit code in a field", search.Query{Text: "cafe", ExitCode: number(2)}, "e5"},
		{"no failure", search.Query{Text: "cafe", ExitCode: number(0)}, "e4"},
		{"since", search.Query{Text: "cafe", Since: at(3)}, "e4 e5 e6"},
		{"until", search.Query{Text: "cafe", Until: at(3)}, "e2 e3"},
		{"with the replacement character", search.Query{Text: "\uFFFD"}, ""},
	} {
		if got := strings.Join(found(t, path, c.q), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}

func TestQueriesThatAreNone(t *testing.T) {
	for _, q := range []search.Query{{}, {Text: "\xff"}, {Text: "(", Regexp: true}} {
		if _, err := search.Compile(q); !errors.Is(err, search.ErrQuery) {
			t.Errorf("%+v: got %v, want ErrQuery", q, err)
		}
	}
}

func one(t *testing.T, text string, q search.Query) search.Hit {
	t.Helper()
	path := write(t, "log.jsonl", log(message("user", `"content":`+text)))
	for r := range search.Files(context.Background(), []string{path}, compile(t, q), nil) {
		return r.Hit
	}
	t.Fatalf("no hit of %q in %s", q.Text, text)
	return search.Hit{}
}

// TestMatches: the lines of a hit, and what is around them.
func TestMatches(t *testing.T) {
	h := one(t, `"a\nb x\nc\nx x\nx\nd\nx\ne"`, search.Query{Text: "x", Around: 1})
	if h.Lines != 4 || len(h.Matches) != 3 {
		t.Fatalf("got %d lines and %d matches, want 4 and 3: %+v", h.Lines, len(h.Matches), h)
	}
	for i, want := range []search.Match{
		{Line: "b x", From: 2, To: 3, Before: []string{"a"}, After: []string{"c"}},
		{Line: "x x", From: 0, To: 1, Before: []string{"c"}, After: []string{"x"}},
		{Line: "x", From: 0, To: 1, Before: []string{"x x"}, After: []string{"d"}},
	} {
		if got := h.Matches[i]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("match %d: got %+v, want %+v", i, got, want)
		}
	}
	h = one(t, `"x\na\nb"`, search.Query{Text: "x", Around: 9})
	if m := h.Matches[0]; m.Before != nil || !slices.Equal(m.After, []string{"a", "b"}) {
		t.Errorf("got %+v, want no line before and two after", m)
	}
	h = one(t, `"one\ntwo\nthree"`, search.Query{Text: "e\ntw"})
	if m := h.Matches[0]; m.Line != "one\ntwo" || m.Line[m.From:m.To] != "e\ntw" || h.Lines != 1 {
		t.Errorf("got %+v, want both lines", m)
	}
}

// TestLongLines: of a long line there is what is near the match.
func TestLongLines(t *testing.T) {
	fill := strings.Repeat("é", 5000)
	for _, c := range []struct {
		text        string
		left, right bool
	}{{fill + "x" + fill, true, true}, {"x" + fill, false, true}, {fill + "x", true, false}, {"x", false, false}} {
		m := one(t, `"`+c.text+`"`, search.Query{Text: "x"}).Matches[0]
		if m.Line[m.From:m.To] != "x" || m.CutLeft != c.left || m.CutRight != c.right || len(m.Line) > 410 || strings.ToValidUTF8(m.Line, "") != m.Line {
			t.Errorf("%d bytes: got %+v", len(c.text), m)
		}
	}
	m := one(t, `"`+fill+`"`, search.Query{Text: fill}).Matches[0]
	if len(m.Line) > 2000 || m.To != len(m.Line) || !m.CutRight {
		t.Errorf("a match of %d bytes: got %d of them", len(fill), len(m.Line))
	}
}

// TestSeveralSessions: hits come in the order of the paths, with their session, and what
// cannot be read hides nothing.
func TestSeveralSessions(t *testing.T) {
	var paths []string
	for n := range 40 {
		text := log(message("user", fmt.Sprintf(`"content":"number %d"`, n)), `"name":"name"`)
		paths = append(paths, write(t, "log.jsonl", strings.Replace(text, `"s1"`, fmt.Sprintf(`"s%d"`, n), 1)))
	}
	missing := filepath.Join(t.TempDir(), "missing.jsonl")
	paths = slices.Insert(paths, 20, missing, write(t, "other.jsonl", "a number, and no session\n"))
	for _, workers := range []int{0, 1, 8} {
		done := make(chan bool, len(paths))
		var got []string
		failed := 0
		for r := range search.Files(context.Background(), paths, compile(t, search.Query{Text: "number"}), &search.Options{Workers: workers, Done: func(search.Searched) { done <- true }}) {
			if r.Err != nil {
				failed++
				continue
			}
			if s := r.Session; !strings.HasPrefix(s.ID, "s") || s.Cwd != "/p" || s.Agent != sessiontree.AgentPi || s.Name != "name" || !r.Hit.Active || r.Hit.Tip != "e2" {
				t.Errorf("got %+v and %+v", s, r.Hit)
			}
			got = append(got, r.Session.Path)
		}
		want := slices.Delete(slices.Clone(paths), 20, 22)
		if !slices.Equal(got, want) || failed != 2 || len(done) != len(paths) {
			t.Errorf("%d workers: got %d sessions, %d failures and %d done, want 40, 2 and 42", workers, len(got), failed, len(done))
		}
	}
}

// TestSearched: what has no line that may match is told apart from what is no session, and
// what is known of its damage is told.
func TestSearched(t *testing.T) {
	sound := log(message("user", `"content":"text"`))
	torn := strings.Replace(sound, "\n", "\nno JSON\n", 1) + `{"type":"mess`
	for name, tc := range map[string]struct{ text, sought, want string }{
		"sound":                 {sound, "text", "wanted true []"},
		"sound, without a hit":  {sound, "nothere", "wanted true []"},
		"torn":                  {torn, "text", "wanted true [not-json torn-tail]"},
		"torn, without a hit":   {torn, "nothere", "wanted true [torn-tail]"},
		"refused":               {strings.Replace(torn, `"/p"`, `"/q"`, 1), "text", "wanted false []"},
		"refused, without":      {strings.Replace(torn, `"/p"`, `"/q"`, 1), "nothere", "wanted false []"},
		"no session":            {"a text\n", "text", "wanted false [], no session"},
		"no session, without":   {"a text\n", "nothere", "wanted false [], no session"},
		"transcript, without":   {"C, which only Read knows\n", "nothere", "wanted true []"},
		"expression, no needle": {torn, `\d\d`, "wanted true [not-json torn-tail]"},
	} {
		if got := searched(t, write(t, "log.jsonl", tc.text), tc.sought); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// searched searches a log for an expression, and gives in words what is told of it. Only
// sessions of /p are wanted, and what starts with C is a transcript of Codex.
func searched(t *testing.T, path, sought string) string {
	t.Helper()
	var told, none string
	opt := &search.Options{
		Match: func(t *sessiontree.Tree) bool { return t.Header().Cwd == "/p" },
		Detect: func(src store.Source) (sessiontree.Agent, error) {
			first := make([]byte, 1)
			_, err := src.ReadAt(first, 0)
			return map[string]sessiontree.Agent{"C": sessiontree.AgentCodex}[string(first)], err
		},
		Done: func(s search.Searched) {
			kinds := []sessiontree.DamageKind{}
			for _, d := range s.Damage {
				kinds = append(kinds, d.Kind)
			}
			told += fmt.Sprintf("wanted %v %v", s.Wanted, kinds)
		},
	}
	for r := range search.Files(context.Background(), []string{path}, compile(t, search.Query{Text: sought, Regexp: true}), opt) {
		if errors.Is(r.Err, sessiontree.ErrNoSession) {
			none = ", no session"
		}
	}
	return told + none
}

// TestEarlyEnd: whoever has enough, or gives up, is not kept waiting.
func TestEarlyEnd(t *testing.T) {
	text := log(slices.Repeat([]string{message("user", `"content":"same"`)}, 60)...)
	paths := slices.Repeat([]string{write(t, "log.jsonl", text)}, 30)
	p := compile(t, search.Query{Text: "same"})
	for range search.Files(context.Background(), paths, p, nil) {
		break
	}
	n := 0
	for range search.Files(context.Background(), paths, p, &search.Options{First: true}) {
		n++
	}
	if n != len(paths) {
		t.Errorf("got %d first hits, want one in each of %d", n, len(paths))
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n = 0
	for range search.Files(ctx, paths, p, nil) {
		if n++; n == 5 {
			cancel()
		}
	}
	if n == len(paths)*60 {
		t.Error("a search that was given up went on to its end")
	}
}

// TestBranches: each hit names its branch; with Active only those of the path to the
// leaf are hits.
func TestBranches(t *testing.T) {
	q := search.Query{Text: "backslash"}
	all, active := found(t, story, q), []string{}
	for r := range search.Files(context.Background(), []string{story}, compile(t, q), nil) {
		if r.Hit.Active {
			active = append(active, r.Hit.Entry.ID.Short())
		} else if tip := r.Hit.Tip.Short(); tip != "1CQNBZYK" {
			t.Errorf("%s is told to be on %s", r.Hit.Entry.ID, tip)
		}
	}
	q.Active = true
	if got := found(t, story, q); !slices.Equal(got, active) || len(active) == len(all) || len(active) == 0 {
		t.Errorf("got %v, want %v of %v", got, active, all)
	}
}

// TestMatchDecides: a session that the caller refuses has no hits.
func TestMatchDecides(t *testing.T) {
	opt := &search.Options{Match: func(t *sessiontree.Tree) bool { return t.Header().Cwd != "/home/u/parser" }}
	for r := range search.Files(context.Background(), []string{story}, compile(t, search.Query{Text: "quotes"}), opt) {
		t.Errorf("got %+v", r)
	}
}

func TestExitCode(t *testing.T) {
	for text, want := range map[string]string{
		message("bashExecution", `"command":"x","exitCode":3`):                                                                         "3 true",
		message("bashExecution", `"command":"x"`):                                                                                      "0 false",
		message("toolResult", `"toolName":"bash","content":[{"type":"text","text":"x\n\nCommand exited with code 2"}]`):                "2 true",
		message("toolResult", `"toolName":"Bash","content":"Exit code 1\nx"`):                                                          "1 true",
		message("toolResult", `"toolName":"exec_command","content":"Process exited with code 0\nOutput:\nx"`):                          "0 true",
		message("toolResult", `"toolName":"bash","content":"x"`):                                                                       "0 true",
		message("toolResult", `"toolName":"bash","content":"x","isError":true`):                                                        "0 false",
		message("toolResult", `"toolName":"read","content":"exit code 1"`):                                                             "0 false",
		message("toolResult", `"toolName":"x","content":"x","details":{"exitCode":-1}`):                                                "-1 true",
		message("toolResult", `"toolName":"shell","content":"x","details":{"exit_code":9}`):                                            "9 true",
		message("user", `"content":"Command exited with code 2"`):                                                                      "0 false",
		message("toolResult", `"toolName":"bash","content":"Command exited with code 2 was said\nexit code: 99999999999999999999999"`): "0 false",
	} {
		tree, err := sessiontree.Read(write(t, "log.jsonl", log(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := tree.Entry(entries.ID("e1"))
		if err != nil {
			t.Fatal(err)
		}
		code, ok := search.ExitCode(e)
		if got := fmt.Sprint(code, ok); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		tree.Close()
	}
}
