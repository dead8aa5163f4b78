package sessiontree_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

func describe(t *testing.T, log []byte) sessiontree.Info {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	info := sessiontree.Describe(path)
	if info.Err != nil {
		t.Fatal(info.Err)
	}
	return info
}

// pad is entries that nobody looks for, about so many bytes of them.
func pad(from, size int) (list []string) {
	text := strings.Repeat("x", 1000)
	for n := from; size > 0; n++ {
		list = append(list, fmt.Sprintf(`{"type":"custom","id":"pad%d","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","customType":"%s"}`, n, text))
		size -= len(text)
	}
	return list
}

func named(name string) string {
	return fmt.Sprintf(`{"type":"session_info","id":"info","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","name":"%s"}`, name)
}

func titled(title string) string {
	return fmt.Sprintf(`{"type":"title_change","id":"title","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","title":"%s"}`, title)
}

// titleLine is the line that oh-my-pi puts in front.
func titleLine(title string) string {
	line := fmt.Sprintf(`{"type":"title","v":1,"title":"%s","updatedAt":"2026-01-05T09:00:00.000Z","pad":"`, title)
	return line + strings.Repeat(" ", entries.TitleSize-1-len(line)-2) + `"}`
}

// TestDescribeName: where a name is found, and where it may stand elsewhere.
func TestDescribeName(t *testing.T) {
	answer := strings.Replace(note("z", "", "answer"), `"user"`, `"assistant"`, 1)
	large := func(records ...string) []string {
		return append(append(append([]string{}, records...), pad(0, 400_000)...), answer)
	}
	for _, c := range []struct {
		what    string
		records []string
		name    string
		known   bool
	}{
		{"none", []string{answer}, "", true},
		{"early", []string{named("one"), answer}, "one", true},
		{"twice", []string{named("one"), named("two"), answer}, "two", true},
		{"cleared", []string{named("one"), named(""), answer}, "", true},
		{"blank", []string{named(" \u00a0\ufeff"), answer}, "", true},
		{"trimmed", []string{named("  one  ")}, "one", true},
		{"another field", []string{named("one"), strings.Replace(named("x"), "name", "nome", 1)}, "", true},
		{"a title", []string{titled("t1"), titled("t2"), answer}, "t2", true},
		{"a title and a name", []string{named("one"), titled("t"), answer}, "one", true},
		{"in a large log, early", large(named("one")), "one", false},
		{"in a large log, none", large(), "", false},
		{"in a large log, late", append(large(named("one")), named("two")), "two", true},
		{"in a large log, cleared late", append(large(named("one")), named("")), "", true},
		{"in a large log, a late title", append(large(titled("t1")), titled("t2"), titled("t3"), answer), "t3", false},
		{"in a large log, an early name and a late title", append(large(named("one")), titled("t")), "one", false},
		{"in a large log, far up from its end", append(append(large(), named("two"), note("u", "", "")), pad(900, 100_000)...), "", false},
	} {
		log := lines(append([]string{piHeader}, c.records...)...)
		info := describe(t, log)
		if info.Name != c.name || info.NameKnown != c.known {
			t.Errorf("%s: got %q, known %v, want %q, %v", c.what, info.Name, info.NameKnown, c.name, c.known)
		}
		want := must(t, of(tree(t, log, nil).Name()))
		if info.NameKnown && info.Name != want {
			t.Errorf("%s: got %q, want %q as Name gives", c.what, info.Name, want)
		}
	}
	headed := strings.Replace(piHeader, `"cwd"`, `"title":"header's","cwd"`, 1)
	for what, log := range map[string][]byte{
		"header's": lines(headed, answer), "one": lines(headed, named("one"), answer),
		"line's": lines(titleLine("line's"), headed, named("one"), answer),
	} {
		if info := describe(t, log); info.Name != what || !info.NameKnown || info.Agent != sessiontree.AgentOmp {
			t.Errorf("got %q of %s, want %q", info.Name, info.Agent, what)
		}
	}
}

func prompt(content string) string {
	return `{"type":"message","id":"u","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":` + content + `}}`
}

func TestDescribeFirstPrompt(t *testing.T) {
	for what, c := range map[string]struct {
		records []string
		want    string
	}{
		"a string":           {[]string{prompt(`"hello"`)}, "hello"},
		"blocks":             {[]string{prompt(`[{"type":"text","text":"one"},{"type":"image","data":"AA"},{"type":"text","text":"two"}]`)}, "one\ntwo"},
		"an image first":     {[]string{prompt(`[{"type":"image","data":"AA"}]`), prompt(`"then"`)}, "then"},
		"nothing to read":    {[]string{prompt(`5`), prompt(`null`), prompt(`[7,"x",{}]`), prompt(`"then"`)}, "then"},
		"an answer first":    {[]string{strings.Replace(prompt(`"no"`), `"user"`, `"assistant"`, 1), prompt(`"yes"`)}, "yes"},
		"none":               {[]string{named("one")}, ""},
		"a long line before": {append(pad(0, 1000), strings.Replace(pad(0, 1000)[0], "xx", strings.Repeat("x", 200_000), 1), prompt(`"far"`)), "far"},
		"too far":            {append(pad(0, 300_000), prompt(`"far"`)), ""},
	} {
		if got := describe(t, lines(append([]string{piHeader}, c.records...)...)).FirstPrompt; got != c.want {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
	unended := bytes.TrimSuffix(lines(piHeader, prompt(`"last"`)), []byte("\n"))
	if got := describe(t, unended).FirstPrompt; got != "last" {
		t.Errorf("without a final newline: got %q, want its prompt", got)
	}
	unended = bytes.TrimSuffix(lines(piHeader, named("last")), []byte("\n"))
	if got := describe(t, unended).Name; got != "last" {
		t.Errorf("without a final newline: got %q, want its name", got)
	}
	v1 := lines(`{"type":"session","id":"s"}`, `{"type":"message","timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"old"}}`)
	if got := describe(t, v1).FirstPrompt; got != "old" {
		t.Errorf("version 1: got %q, want its prompt", got)
	}
}

// TestDescribeAgreesWithTheTree: what is seen of a small log is all of it.
func TestDescribeAgreesWithTheTree(t *testing.T) {
	for seed := range uint64(100) {
		seed &^= 0b1000 // a repeated line is no later message, but only the whole log shows that it is one
		path, x := writeLog(t, randomLog(seed))
		info := sessiontree.Describe(path)
		var last, first string
		for e := range x.Entries() {
			m, _ := e.Message()
			if (e.Role == "user" || e.Role == "assistant") && !e.Time.IsZero() {
				last = e.Time.String()
			}
			if e.Role == "user" && first == "" {
				first = m.Text()
			}
		}
		name, damage := must(t, of(x.Name())), kinds(x.Damage())
		if !info.NameKnown || info.Name != name || info.FirstPrompt != first || last != "" && info.Modified.String() != last ||
			info.Agent != x.Agent() || info.ID != x.Header().ID || info.Size != x.Size() {
			t.Errorf("seed %d (%s): got %+v\nwant name %q, prompt %q, modified %s", seed, damage, info, name, first, last)
		}
	}
}

// TestDescribeDamage: what is lost near the beginning or the end shows.
func TestDescribeDamage(t *testing.T) {
	a, b := note("a", "", "1"), note("b", "a", "2")
	native := sealed(nativeHead, a, b)
	for what, c := range map[string]struct {
		log  []byte
		want bool
	}{
		"sound":              {lines(piHeader, a, b), false},
		"notes":              {lines(piHeader+"\r", "", a, "", b), false},
		"native":             {lines(native...), false},
		"NUL on a line":      {lines(piHeader, a+strings.Repeat("\x00", 9000), b), true},
		"NUL at the end":     {append(lines(piHeader, a), make([]byte, 143_000)...), true},
		"NUL first":          {append(make([]byte, 9000), lines(piHeader, a)...), true},
		"junk":               {lines(piHeader, "junk", a, b), true},
		"torn":               {append(lines(piHeader, a), b[:30]...), true},
		"a wrong sum":        {lines(native[0], strings.Replace(native[1], `"1"`, `"x"`, 1), native[2]), true},
		"a wrong last sum":   {lines(native[0], native[1], strings.Replace(native[2], `"2"`, `"x"`, 1)), true},
		"a wrong sum, omp's": {lines(titleLine("t"), native[0], strings.Replace(native[1], `"1"`, `"x"`, 1), native[2]), false},
	} {
		if got := describe(t, c.log).Damaged; got != c.want {
			t.Errorf("%s: got %v, want %v", what, got, c.want)
		}
	}
}

// TestDescribeAnySize: what is read of the ends fits together, whatever the size.
func TestDescribeAnySize(t *testing.T) {
	answer := strings.Replace(note("z", "", "answer"), `"user"`, `"assistant"`, 1)
	answer = strings.Replace(answer, "T09:", "T10:", 1)
	for _, size := range []int{0, 1, 1 << 10, 15 << 10, 16 << 10, 17 << 10, 63 << 10, 64 << 10, 65 << 10, 127 << 10, 128 << 10, 129 << 10, 300 << 10} {
		for _, more := range []int{0, 1, 700} {
			long := strings.Replace(pad(0, 1)[0], "xx", strings.Repeat("x", size+more), 1)
			log := lines(piHeader, prompt(`"first"`), long, named("name"), answer)
			info := describe(t, log)
			if info.FirstPrompt != "first" || info.Name != "name" || !info.NameKnown || info.Damaged || info.Size != int64(len(log)) || !info.Modified.After(info.Created) {
				t.Errorf("a line of %d bytes: got %+v", len(long), info)
			}
		}
	}
}
