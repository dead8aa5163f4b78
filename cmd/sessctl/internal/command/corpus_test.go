package command

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
)

// corpus lists logs of other people's and of this repository.
func corpus(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("SESSCTL_CORPUS")
	if dir == "" {
		t.Skip("SESSCTL_CORPUS names no folder of other people's logs")
	}
	var logs []string
	for _, pattern := range []string{dir + "/pi/*.jsonl", dir + "/native/*.jsonl", dir + "/odd/*.jsonl", repo + "/testdata/*.jsonl", repo + "/testdata/omp/*.jsonl"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatalf("no logs in %s (%v)", pattern, err)
		}
		logs = append(logs, list...)
	}
	return logs
}

// TestCorpus runs every command that reads over every log: it ends as it may, its
// output is fit for a terminal, its JSON is JSON, and the log stays as it was.
func TestCorpus(t *testing.T) {
	for _, log := range corpus(t) {
		before := fileState(t, log)
		for _, args := range append(contextArgs(), [][]string{
			{"branches"}, {"branches", "--json"}, {"tree"}, {"tree", "--all"}, {"tree", "--json"}, {"tree", "--depth", "1"},
			{"show"}, {"show", "--full"}, {"show", "--brief"}, {"show", "--json"}, {"show", "--jsonl"}, {"show", "--raw"}, {"verify"}, {"verify", "--json"},
			{"files"}, {"files", "--json"},
			{"stats"}, {"stats", "--json"}, {"search", "-E", "."}, {"search", "-E", ".", "--json"}, {"search", "-C", "2", "-i", "THE", "--jsonl"},
		}...) {
			r := sessctl(t, append(args, log)...)
			what := strings.Join(args, " ") + " " + filepath.Base(log)
			switch r.code {
			case exitOK, exitProblems:
			case exitFailure:
				if args[0] != "search" || r.stdout != "" && args[len(args)-1] != "--json" {
					t.Errorf("%s: got exit code 1: %s", what, r.stderr)
				}
			case exitDamaged:
				if !strings.Contains(r.stderr, "not a session") {
					t.Errorf("%s: got exit code 12 and %q, want that it is none", what, r.stderr)
				}
				continue
			default:
				t.Errorf("%s: got exit code %d: %s", what, r.code, r.stderr)
			}
			checkPrintable(t, what, r.stderr)
			if !strings.HasSuffix(what, "--raw "+filepath.Base(log)) {
				checkPrintable(t, what, r.stdout)
			}
			checkDocuments(t, what, args, r.stdout)
			checkMessages(t, what, args, r.stdout)
		}
		if after := fileState(t, log); after != before {
			t.Errorf("%s: it was changed: got %s, want %s", log, after, before)
		}
	}
}

// fileState is what must not change: the bytes, and what the system tells.
func fileState(t *testing.T, path string) string {
	t.Helper()
	state := systemState(t, path) // before reading, which this test does the ordinary way
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return state + string(log)
}

// checkPrintable fails where a terminal might do something else than show.
func checkPrintable(t *testing.T, what, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("%s: got output that is no UTF-8", what)
	}
	for i, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || term.Bidi(r) {
			t.Errorf("%s: got %U in %q", what, r, s[max(i-20, 0):min(i+20, len(s))])
			return
		}
	}
}

func checkDocuments(t *testing.T, what string, args []string, out string) {
	t.Helper()
	switch args[len(args)-1] {
	case "--json":
		if !validJSON(out) {
			t.Errorf("%s: got no JSON", what)
		}
	case "--jsonl":
		for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
			if line != "" && !validJSON(line) {
				t.Errorf("%s: got a line that is no JSON: %.100s", what, line)
			}
		}
	}
}

// validJSON is json.Valid, however deep.
func validJSON(s string) bool {
	if json.Valid([]byte(s)) {
		return true
	}
	values, depth := 0, 0
	for dec := json.NewDecoder(strings.NewReader(s)); ; {
		token, err := dec.Token()
		if err != nil {
			return err == io.EOF && values == 1 && depth == 0
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth == 0 {
			values++
		}
	}
}

// TestValidJSON: the check of the other tests sees what is wrong.
func TestValidJSON(t *testing.T) {
	const deep = 20_000
	open, end := strings.Repeat(`[{"a":`, deep), strings.Repeat("}]", deep)
	for s, want := range map[string]bool{
		"1": true, "{}": true, "": false, "1 2": false, "[1": false, "[1}": false,
		open + "1" + end: true, open + "1" + end + "\n": true, open + end: false, open + "1" + end[1:]: false, open + "1" + end + "1": false, open + "1,1" + end: false,
		open + `"a""` + end: false, open + "01" + end: false, "[1]" + open + "1" + end: false,
	} {
		if got := validJSON(s); got != want {
			t.Errorf("%.20s (%d bytes): got %v", s, len(s), got)
		}
	}
}

// TestCorpusBranches: the branches of a session of pi's that people know.
func TestCorpusBranches(t *testing.T) {
	corpus(t)
	r := sessctl(t, "branches", "--json", os.Getenv("SESSCTL_CORPUS")+"/pi/before-compaction.v3-branched.jsonl")
	var doc struct {
		Branches []struct {
			Tip    string
			Active bool
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range doc.Branches {
		tip := b.Tip
		if b.Active {
			tip += "*"
		}
		got = append(got, tip)
	}
	if strings.Join(got, " ") != "16f7506b 38bf412c edffa6bb 3e5b66af*" {
		t.Errorf("got %v", got)
	}
}
