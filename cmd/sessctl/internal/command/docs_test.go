package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func cliPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(repo + "/docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// A schema is the fields of a JSON shape by their paths, with their types.
type schema map[string]string

var (
	schemaHead = regexp.MustCompile("^### `(sessctl\\.[a-zA-Z]+/[0-9]+)`$")
	fieldRow   = regexp.MustCompile("^\\| `([^`]+)` \\| ([a-z]+\\??) \\|")
)

// documented reads the tables of docs/cli.md.
func documented(t *testing.T) map[string]schema {
	t.Helper()
	schemas := map[string]schema{}
	var now schema
	for _, line := range strings.Split(cliPage(t), "\n") {
		if m := schemaHead.FindStringSubmatch(line); m != nil {
			now = schema{}
			schemas[m[1]] = now
		} else if strings.HasPrefix(line, "#") {
			now = nil
		} else if m := fieldRow.FindStringSubmatch(line); m != nil && now != nil {
			now[m[1]] = m[2]
		}
	}
	if len(schemas) < 6 {
		t.Fatalf("docs/cli.md has only %d tables of fields", len(schemas))
	}
	return schemas
}

// fields collects the types that the fields of a document have.
type fields map[string]map[string]bool

// see adds a value's fields. Where the page lists nothing below an object, that is
// a record of a log, which may hold anything.
func (k fields) see(page schema, path string, value any) {
	name := "null"
	switch v := value.(type) {
	case map[string]any:
		name = "object"
		if path != "" && !page.below(path+".") {
			break
		}
		for field, value := range v {
			k.see(page, strings.TrimPrefix(path+"."+field, "."), value)
		}
	case []any:
		name = "array"
		for _, value := range v {
			k.see(page, path+"[]", value)
		}
	case string:
		name = "string"
	case bool:
		name = "boolean"
	case float64:
		name = "number"
	}
	if k[path] == nil {
		k[path] = map[string]bool{}
	}
	k[path][name] = true
}

func (s schema) below(prefix string) bool {
	for path := range s {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// check compares what was seen with the page: every field is listed, has its type,
// and was seen with a value.
func (k fields) check(t *testing.T, name string, page schema) {
	t.Helper()
	for path, want := range page {
		kind, optional := strings.CutSuffix(want, "?")
		if !k[path][kind] {
			t.Errorf("%s: docs/cli.md lists %s as %s, but it was seen as %v", name, path, want, slices.Sorted(maps.Keys(k[path])))
		}
		for seen := range k[path] {
			if seen != kind && !(optional && seen == "null") {
				t.Errorf("%s: docs/cli.md lists %s as %s, but it was seen as %s", name, path, want, seen)
			}
		}
	}
	for path := range k {
		if page[path] == "" && path != "" && !strings.HasSuffix(path, "[]") {
			t.Errorf("%s: docs/cli.md does not list %s", name, path)
		}
	}
}

// damagedLog has damage, a second root with a label, and a result without a call.
const damagedLog = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}
{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}
{"type":"message","id":"aaaa0002","parentId":"gone","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[]}}
{"type":"label","id":"aaaa0003","parentId":"aaaa0002","timestamp":"2026-01-01T00:00:02.000Z","targetId":"aaaa0002","label":"here"}
{"type":"mess
`

// leftLog has a branch that was left with a summary.
const leftLog = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}
{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}
{"type":"message","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"two"}}
{"type":"branch_summary","id":"aaaa0003","parentId":"aaaa0001","timestamp":"2026-01-01T00:00:03.000Z","fromId":"aaaa0002","summary":"two did not work"}
`

// contextRuns show every field of a context: settings that are told and that are not,
// with a report and without.
func contextRuns(t *testing.T, header string) [][]string {
	t.Helper()
	const line = `{"type":"message","id":"aaaa0002","parentId":"aaaa0001","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[]}}` + "\n"
	const compaction = `{"type":"compaction","id":"aaaa0009","parentId":"aaaa0008","timestamp":"2026-01-01T00:00:09.000Z","summary":"all","tokensBefore":9}` + "\n"
	far := header + `{"type":"custom","id":"aaaa0007","parentId":null,"customType":"x"}` + "\n" +
		`{"type":"custom","id":"aaaa0008","parentId":"aaaa0007","customType":"x","data":"` + strings.Repeat("x", 17<<20) + `"}` + "\n" + compaction
	repaired := header + `{"type":"message","id":"aaaa0001","parentId":null,"message":{"role":"assistant","content":[],"stopReason":"aborted"}}` + "\n" + line +
		`{"type":"message","id":"aaaa0003","parentId":"aaaa0002","message":{"role":"user","content":""}}` + "\n"
	return [][]string{
		{"context", segmented(t)}, {"context", story(t)}, {"context", write(t, "damaged.jsonl", damagedLog)}, {"context", write(t, "empty.jsonl", header)},
		{"context", story(t), "--budget", "10", "--rendered"}, {"context", story(t), "--mask-results", "0"}, {"context", repo + "/testdata/omp/custom.jsonl"},
		{"context", write(t, "far.jsonl", far)}, {"context", write(t, "repaired.jsonl", repaired), "--repair"},
	}
}

// searchRuns show every field of a hit.
func searchRuns(t *testing.T) [][]string {
	t.Helper()
	alone := `{"type":"session","version":3,"id":"s1","cwd":"/p"}` + "\n" + `{"type":"label","id":"aaaa0001","parentId":null,"targetId":"x","label":"parser"}` + "\n" +
		`{"type":"message","id":"aaaa0002","parentId":null,"message":{"role":"user","content":"x"}}` + "\n"
	return [][]string{{"search", "parser", story(t)}, {"search", "parser", write(t, "alone.jsonl", alone)}}
}

// segmented writes a thread of Codex in two segments, of which the first is damaged, and gives
// the second.
func segmented(t *testing.T) string {
	t.Helper()
	const thread, second = "01a22c41-9884-7103-92db-0f9008708fbe", "01a22c42-9884-7103-92db-0f9008708fbf"
	line := func(kind, payload string) string {
		return `{"timestamp":"2026-01-01T00:00:00.000Z","type":"` + kind + `","payload":{` + payload + "}}\n"
	}
	said := line("response_item", `"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]`)
	first := line("session_meta", `"id":"`+thread+`","history_mode":"paginated"`) + "{\"torn\n" + said
	base := fmt.Sprintf(`,"history_base":{"thread_id":"%s","end_byte_offset":%d}`, thread, len(first))
	dir := t.TempDir()
	for name, text := range map[string]string{thread: first, thread + "_" + second: line("session_meta", `"id":"`+thread+`","history_mode":"paginated"`+base) + said} {
		if err := os.WriteFile(filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+thread+"_"+second+".jsonl")
}

// unmodelled has an answer of nobody knows whom, and a rewind of nobody knows where to.
const unmodelled = `{"type":"message","id":"aaaa0001","parentId":null,"message":{"role":"assistant","content":[]}}
{"type":"custom_message","id":"aaaa0002","parentId":"aaaa0001","customType":"rewind-report","content":"x"}
`

// TestJSONFields: the documents have the fields that docs/cli.md lists, and no
// others.
func TestJSONFields(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}` + "\n"
	damaged, empty, junk := write(t, "damaged.jsonl", damagedLog), write(t, "empty.jsonl", header), write(t, "junk.jsonl", "hello\n")
	runs := map[string][][]string{
		"sessctl.branches/1": {{"branches", story(t)}, {"branches", damaged}, {"branches", empty}, {"branches", write(t, "left.jsonl", leftLog)}, {"branches", segmented(t)}},
		"sessctl.tree/1":     {{"tree", story(t)}, {"tree", damaged}, {"tree", empty}, {"tree", segmented(t)}},
		"sessctl.show/1":     {{"show", story(t)}, {"show", damaged}, {"show", empty}, {"show", write(t, "left.jsonl", leftLog), "aaaa0002"}, {"show", segmented(t)}},
		"sessctl.context/1":  contextRuns(t, header),
		"sessctl.search/1":   searchRuns(t),
		"sessctl.stats/1":    {{"stats", story(t)}, {"stats", "--by", "day", story(t)}, {"stats", "--by", "model", write(t, "odd.jsonl", header+unmodelled)}},
		"sessctl.ls/1":       {{"ls", dirOf(story(t))}, {"ls", "--count", dirOf(story(t))}, {"ls", dirOf(damaged)}, {"ls", dirOf(empty)}},
		"sessctl.verify/1":   {{"verify", story(t), damaged, empty, junk, segmented(t)}},
		"sessctl.version/1":  {{"version"}},
		"sessctl.append/1":   {{"name", story(t), "another"}, {"label", story(t), "@", "here"}, {"checkout", story(t), "root"}},
		"sessctl.return/1": {{"undo", "--yes", story(t)}, {"undo", "--yes", "--to", "VYEVCJQ3", story(t)}, {"undo", "--dry-run", "--to", "@~2", story(t)},
			{"undo", "--yes", "--force", "--scope", "both", worked(t)}, {"files", "restore", "--yes", "--force", worked(t), "root"}},
		"sessctl.finish/1":    {{"undo", "--yes", cutShort(t)}, {"files", "restore", "--dry-run", cutShort(t), "root"}},
		"sessctl.files/1":     {{"files", worked(t)}, {"files", undone(t)}, {"files", write(t, "cut.jsonl", cutLog)}, {"files", empty}},
		"sessctl.filesDiff/1": {{"files", "diff", worked(t)}, {"files", "diff", worked(t), "root", "@"}},
		"sessctl.filesPlan/1": {{"files", "plan", "--diff", worked(t), "root"}, {"files", "plan", "--root", t.TempDir(), write(t, "cut.jsonl", cutLog), "@"}},
		"sessctl.gc/1":        {{"gc", dirOf(worked(t))}},
		"sessctl.du/1":        {{"du", dirOf(worked(t))}},
		"sessctl.fork/1":      {{"fork", story(t), "--into", t.TempDir()}},
		"sessctl.rm/1":        {{"rm", "--yes", story(t)}},
		"sessctl.archive/1":   {{"archive", rested(t, story(t))}},
		"sessctl.demo/1":      {{"demo", t.TempDir()}},
	}
	pages := documented(t)
	for name := range runs {
		if pages[name] == nil {
			t.Errorf("docs/cli.md has no table of %s", name)
		}
	}
	for name, page := range pages {
		if runs[name] == nil {
			t.Errorf("nothing here prints %s, which docs/cli.md lists", name)
		}
		seen := fields{}
		for _, args := range runs[name] {
			r := sessctl(t, append(args, "--json")...)
			var doc map[string]any
			if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || doc["schema"] != name {
				t.Errorf("%v: got %q and %s (%v), want a document of %s", args, r.stdout, r.stderr, err, name)
			}
			seen.see(page, "", doc)
		}
		seen.check(t, name, page)
		if name == "sessctl.context/1" {
			seen.checkNulls(t, name, page)
		}
	}
}

// checkNulls fails where a field that may be null never was.
func (k fields) checkNulls(t *testing.T, name string, page schema) {
	t.Helper()
	for path, kind := range page {
		if strings.HasSuffix(kind, "?") && !k[path]["null"] {
			t.Errorf("%s: %s was never seen as null", name, path)
		}
	}
}

// TestReasonsAreDocumented: docs/cli.md has every reason and kind that a report may
// give, with its meaning.
func TestReasonsAreDocumented(t *testing.T) {
	page := cliPage(t)
	constant := regexp.MustCompile(`(?m)^\t\w+ +(?:modelcontext\.Reason|Reason|ChangeKind) += "([a-z-]+)"`)
	for file, least := range map[string]int{"context/report.go": 24, "context/repair.go": 15, "cmd/sessctl/internal/command/sent.go": 4} {
		source, err := os.ReadFile(repo + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := constant.FindAllSubmatch(source, -1)
		if len(found) < least {
			t.Errorf("%s: found only %d reasons", file, len(found))
		}
		for _, m := range found {
			if !strings.Contains(page, "\n| `"+string(m[1])+"` | ") {
				t.Errorf("docs/cli.md does not list %s", m[1])
			}
		}
	}
}

// TestJSONLines: each line is what the document has in its array.
func TestJSONLines(t *testing.T) {
	pages := documented(t)
	for _, c := range []struct {
		schema, array string
		args          [][]string
	}{
		{"sessctl.show/1", "entries", [][]string{{"show", "--jsonl", story(t)}, {"show", "--jsonl", "-q", write(t, "damaged.jsonl", damagedLog)},
			{"show", "--jsonl", write(t, "left.jsonl", leftLog), "aaaa0002"}}},
		{"sessctl.search/1", "hits", [][]string{{"search", "--jsonl", "parser", story(t)}, append([]string{"search", "--jsonl"}, searchRuns(t)[1][1:]...)}},
		{"sessctl.ls/1", "sessions", [][]string{{"ls", "--jsonl", dirOf(story(t))}, {"ls", "--jsonl", "--count", dirOf(story(t))}, {"ls", "--jsonl", dirOf(write(t, "damaged.jsonl", damagedLog))}}},
	} {
		page, seen := schema{}, fields{}
		for path, kind := range pages[c.schema] {
			if field, ok := strings.CutPrefix(path, c.array+"[]."); ok {
				page[field] = kind
			}
		}
		for _, args := range c.args {
			for _, line := range strings.Split(strings.TrimSpace(sessctl(t, args...).stdout), "\n") {
				var doc map[string]any
				if err := json.Unmarshal([]byte(line), &doc); err != nil {
					t.Errorf("%v: got %q: %v", args, line, err)
				}
				seen.see(page, "", doc)
			}
		}
		seen.check(t, c.schema+", a line each", page)
	}
}

// commands gives every command that users may call, by what it is called with, such as
// "files diff".
func commands() map[string]*cobra.Command {
	list := map[string]*cobra.Command{}
	todo := (&app{}).root().Commands()
	for len(todo) > 0 {
		c := todo[0]
		todo = append(todo[1:], c.Commands()...)
		if c.IsAvailableCommand() {
			list[nameOf(c)] = c
		}
	}
	return list
}

func nameOf(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "sessctl ") }

// named gives the command that some words begin with.
func named(words []string) string {
	c, _, err := (&app{}).root().Find(words)
	if err != nil {
		return words[0]
	}
	return nameOf(c)
}

// flagNames gives a flag as it is written, in both forms.
func flagNames(f *pflag.Flag) []string {
	if f.Shorthand != "" {
		return []string{"--" + f.Name, "-" + f.Shorthand}
	}
	return []string{"--" + f.Name}
}

// TestFlagsAreDocumented: docs/cli.md names every command and flag.
func TestFlagsAreDocumented(t *testing.T) {
	page := cliPage(t)
	rows := map[string]string{} // by command
	for _, line := range strings.Split(page, "\n") {
		if rest, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ := strings.Cut(rest, "`")
			rows[named(strings.Fields(name))] += line
		}
	}
	_, everywhere, _ := strings.Cut(page, "\nEverywhere: ")
	everywhere, _, _ = strings.Cut(everywhere, "\n\n")
	check := func(what, text string) func(*pflag.Flag) {
		return func(f *pflag.Flag) {
			for _, name := range flagNames(f) {
				if !regexp.MustCompile("`" + name + `\b`).MatchString(text) {
					t.Errorf("docs/cli.md does not list %s of %s", name, what)
				}
			}
		}
	}
	for name, c := range commands() {
		if rows[name] == "" {
			t.Errorf("docs/cli.md does not list the command %s", name)
		}
		c.LocalNonPersistentFlags().VisitAll(check(name, rows[name]))
	}
	(&app{}).root().PersistentFlags().VisitAll(check("every command", everywhere))
}

// TestAgentsAreDocumented: docs/cli.md names every agent that session.agent may be.
func TestAgentsAreDocumented(t *testing.T) {
	_, row, _ := strings.Cut(cliPage(t), "\n| `session.agent` | string | ")
	row, _, _ = strings.Cut(row, "|")
	for _, agent := range agents {
		if !strings.Contains(row, "`"+agent+"`") {
			t.Errorf("docs/cli.md does not say that session.agent may be %s, only %s", agent, row)
		}
	}
}

// TestExitCodesAreDocumented: the help topic and docs/cli.md say the same.
func TestExitCodesAreDocumented(t *testing.T) {
	page := cliPage(t)
	for _, line := range strings.Split(strings.TrimSpace(exitHelp), "\n") {
		code, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		row := "| " + code + " | " + strings.TrimSpace(meaning) + " |"
		if !strings.Contains(strings.ReplaceAll(page, "`", ""), row) {
			t.Errorf("docs/cli.md has no row %q", row)
		}
	}
}

// calls finds how scripts call the command; those that are usage errors do not count.
var calls = regexp.MustCompile(`(?m)^(?:! |\? )?(?:exec|exits (?:[013-9]|\d\d+)) .*?\bsessctl (.*)$`)

// TestScriptsUseEverything: each command and flag is used by some script.
func TestScriptsUseEverything(t *testing.T) {
	used := map[string]bool{} // "command flag" and "command"
	scripts, err := os.ReadDir("../../testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		text, err := os.ReadFile("../../testdata/script/" + s.Name())
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ")
		for _, m := range calls.FindAllStringSubmatch(script, -1) {
			words := strings.Fields(m[1])
			name := named(words)
			used[name] = true
			for _, w := range words[1:] {
				w, _, _ = strings.Cut(w, "=")
				used[name+" "+w], used[w] = true, true
			}
		}
	}
	for name, c := range commands() {
		if !used[name] {
			t.Errorf("no script runs %s", name)
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !slices.ContainsFunc(flagNames(f), func(n string) bool { return used[name+" "+n] }) && f.Name != "help" {
				t.Errorf("no script uses %s --%s", name, f.Name)
			}
		})
	}
	(&app{}).root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		for _, n := range flagNames(f) {
			if !used[n] {
				t.Errorf("no script uses %s", n)
			}
		}
	})
}
