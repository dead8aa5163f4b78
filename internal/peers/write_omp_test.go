package peers

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

const (
	ompWritten = "testdata/omp-written"
	storyLog   = "../../testdata/story.jsonl"
)

type notes = map[sessiontree.DamageKind]int

// What oh-my-pi does to testdata/story.jsonl, each in a log of testdata/omp-written.
// RECORD=1 OMP=1 has it done anew.
var ompWrites = map[string]struct {
	steps [][]string
	notes notes
	// How many of the story's 20 entries stand there as they were, byte for byte.
	kept int
	// The header as it was, and no title line in front.
	appended bool
	types    string // of the last records
}{
	"appended": {steps: turn, notes: notes{"foreign-line": 4}, kept: 20, appended: true, types: "message message label custom"},
	// A title of its own is refused: titleSource says that the user gave one.
	"autonamed": {steps: [][]string{{"autoname", "an idea"}, {"user", "on"}}, notes: notes{"foreign-line": 1}, kept: 20, appended: true, types: "message"},
	// With a title the file is replaced: a title line in front, the title behind the header's sum.
	"named": {steps: [][]string{{"name", "parser, quoted"}, {"user", "on"}}, notes: notes{"title-slot": 1, "foreign-line": 2}, kept: 20, types: "title_change message"},
	// Pruning and such replace it as well; the entries' bytes stay.
	"rewritten": {steps: [][]string{{"user", "on"}, {"rewrite"}}, notes: notes{"title-slot": 1, "foreign-line": 1}, kept: 20, types: "message"},
	// An entry that is dropped, a mere leaf, is gone from the file.
	"discarded": {steps: [][]string{{"discard", "#19"}, {"user", "on"}}, notes: notes{"title-slot": 1, "foreign-line": 2}, kept: 19, types: "branch_summary message"},
}

// ompSteps runs oh-my-pi on a copy of the story.
func ompSteps(t *testing.T, steps [][]string) *dialogue {
	t.Helper()
	d := &dialogue{t: t, peer: omp, file: filepath.Join(t.TempDir(), "story.jsonl")}
	story, err := os.ReadFile(storyLog)
	d.must(err)
	d.must(os.WriteFile(d.file, story, 0o600))
	d.now = story
	d.theirs(false, steps...)
	return d
}

// TestGoingOnAfterOmp: what oh-my-pi left of a native log is read, nothing of it is
// damage, and sessctl goes on from it.
func TestGoingOnAfterOmp(t *testing.T) {
	story, err := os.ReadFile(storyLog)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(ompWrites)) {
		t.Run(name, func(t *testing.T) {
			log, err := os.ReadFile(filepath.Join(ompWritten, name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			checkOmpWrote(t, name, story, log)
			d := &dialogue{t: t, peer: omp, file: filepath.Join(t.TempDir(), "log.jsonl"), now: log}
			d.must(os.WriteFile(d.file, log, 0o600))
			d.verified(maps.Clone(ompWrites[name].notes))
			d.ours(string(read(t, d.file).Leaf()))
			d.verified(maps.Clone(ompWrites[name].notes))
			// What sessctl writes has sums, whoever rewrote the log before.
			if lines := bytes.SplitAfter(d.now, []byte("\n")); !sum.Match(bytes.TrimSpace(lines[len(lines)-2])) {
				t.Error("the last line has no sum")
			}
		})
	}
}

func checkOmpWrote(t *testing.T, name string, story, log []byte) {
	t.Helper()
	want := ompWrites[name]
	header, rest, _ := bytes.Cut(story, []byte("\n"))
	kept := 0
	for line := range bytes.Lines(rest) {
		if bytes.Contains(log, line) {
			kept++
		}
	}
	if kept != want.kept || bytes.HasPrefix(log, header) != want.appended {
		t.Errorf("got %d of the story's entries, the header kept: %v", kept, bytes.HasPrefix(log, header))
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	var types []string
	for _, line := range lines[len(lines)-len(strings.Fields(want.types)):] {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		types = append(types, e.Type)
	}
	if got := strings.Join(types, " "); got != want.types {
		t.Errorf("got records %s at the end, want %s", got, want.types)
	}
}

func needOmp(t *testing.T) {
	t.Helper()
	if os.Getenv("OMP") == "" {
		t.Skip("OMP=1 runs oh-my-pi, after internal/peers/install omp")
	}
	installed(t)
}

// TestOmpWritesToNativeLogs has oh-my-pi do what testdata/omp-written records, and
// read what sessctl writes behind it.
func TestOmpWritesToNativeLogs(t *testing.T) {
	needOmp(t)
	for _, name := range slices.Sorted(maps.Keys(ompWrites)) {
		d := ompSteps(t, ompWrites[name].steps)
		story, err := os.ReadFile(storyLog)
		d.must(err)
		checkOmpWrote(t, name, story, d.now)
		if os.Getenv("RECORD") != "" {
			d.must(os.MkdirAll(ompWritten, 0o755))
			d.must(os.WriteFile(filepath.Join(ompWritten, name+".jsonl"), d.now, 0o644))
		}
		d.agree(name + ": what oh-my-pi wrote")
		d.ours(string(read(t, d.file).Leaf()))
		d.agree(name + ": what sessctl wrote behind it")
	}
	d := ourSession(t, omp)
	d.agree("before")
	w := d.theirs(true, turn...)
	d.ours(w.Leaf)
	d.agree("a session of many kinds")
	d.verified(notes{"foreign-line": 4})
}

// TestWritingToLogsOfOmp: sessctl goes on in oh-my-pi's own logs, and oh-my-pi
// behind it. TestSessionAgreesWithItsTwin in sessiontree does so without running it.
func TestWritingToLogsOfOmp(t *testing.T) {
	needOmp(t)
	for _, file := range ompLogs(t) {
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := &dialogue{t: t, peer: omp, file: filepath.Join(t.TempDir(), "log.jsonl"), now: log}
		d.must(os.WriteFile(d.file, log, 0o600))
		d.ours(string(read(t, file).Leaf()))
		d.agree(filepath.Base(file))
		w := d.theirs(true, []string{"user", "oh-my-pi goes on"})
		d.ours(w.Leaf)
		d.agree(filepath.Base(file) + ", once more")
		if bytes.Contains(d.now, []byte(`"crc"`)) {
			t.Error("a log of oh-my-pi got sums")
		}
	}
}

// TestOmpCutsLongTexts: when oh-my-pi replaces a native log, texts of more than
// 500,000 characters lose their end. The sum tells; the entry stays one.
func TestOmpCutsLongTexts(t *testing.T) {
	needOmp(t)
	d := ourSession(t, omp)
	s, err := sessiontree.Open(d.file, nil)
	d.must(err)
	d.append(s, entries.UserMessage(strings.Repeat("long ", 120_000)))
	d.must(s.Close())
	w := d.theirs(false, []string{"user", "on"}, []string{"rewrite"})
	d.ours(w.Leaf)
	d.agree("after the cut")
	if !bytes.Contains(d.now, []byte("[Session persistence truncated large content]")) {
		t.Error("nothing was cut")
	}
	d.verified(notes{"title-slot": 1, "foreign-line": 1, "bad-checksum": 1})
}
