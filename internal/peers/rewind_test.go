package peers

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/tool"
)

// rewindLogs are logs with a checkpoint, or a rewind: of this library's own making
// (testdata/rewind), and of oh-my-pi's.
func rewindLogs(t *testing.T) (names []string, requests []contextRequest) {
	t.Helper()
	for _, pattern := range []string{"rewind/*.jsonl", "omp/checkpoint.jsonl", "omp/rewound.jsonl"} {
		files, err := filepath.Glob(filepath.Join("../../testdata", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no logs %s (%v)", pattern, err)
		}
		for _, file := range files {
			abs, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file))
			requests = append(requests, contextRequest{File: abs, Here: true})
		}
	}
	return names, requests
}

// TestRewoundLogsInPi: pi reads the context that this library reads, and the summary
// and the report stand in it where they belong.
func TestRewoundLogsInPi(t *testing.T) {
	names, requests := rewindLogs(t)
	for i, a := range pi.askContexts(t, requests) {
		if filepath.Dir(names[i]) != "rewind" {
			continue // pi opens no logs of oh-my-pi
		}
		if compareContexts(t, names[i], modelcontext.Pi, a, requests[i].File) != 1 {
			t.Errorf("%s: got %+v", names[i], a)
		}
	}
}

// TestDemoInPi: what `sessctl demo` leaves behind is a log that pi opens, with the
// context that this library reads.
func TestDemoInPi(t *testing.T) {
	installed(t)
	dir := filepath.Join(t.TempDir(), "demo")
	cmd := exec.CommandContext(t.Context(), "go", "run", "./cmd/sessctl", "demo", dir)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	log := string(lines[len(lines)-1])
	a := pi.askContexts(t, []contextRequest{{File: log, Here: true}})[0]
	if compareContexts(t, "the demo's log", modelcontext.Pi, a, log) != 1 {
		t.Errorf("got %+v", a)
	}
}

// A rewindRecording is what oh-my-pi thinks of a log's checkpoint.
type rewindRecording struct {
	Name   string `json:"name"`
	Log    string `json:"log"`
	Rewind struct {
		Active    string `json:"active,omitempty"`
		Completed string `json:"completed,omitempty"`
	} `json:"rewind"`
}

func (r rewindRecording) name() string { return r.Name }

const rewindRecordings = "testdata/omp-18.2.3-rewinds.jsonl"

// TestRewindsAreRecorded runs oh-my-pi, where OMP is set; where RECORD is set too, it
// takes up what it answers.
func TestRewindsAreRecorded(t *testing.T) {
	if os.Getenv("OMP") == "" {
		t.Skip("OMP=1 runs oh-my-pi, after internal/peers/install omp")
	}
	names, requests := rewindLogs(t)
	var out bytes.Buffer
	for i, a := range omp.askContexts(t, requests) {
		r := rewindRecording{Name: names[i], Log: subject{request: request{File: requests[i].File}}.hash(t)}
		if err := json.Unmarshal(a.Contexts[""].Rewind, &r.Rewind); err != nil {
			t.Fatalf("%s: %v (%+v)", names[i], err, a)
		}
		if err := json.NewEncoder(&out).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv("RECORD") != "" {
		if err := os.WriteFile(rewindRecordings, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known, err := os.ReadFile(rewindRecordings)
	if err != nil || !bytes.Equal(known, out.Bytes()) {
		t.Errorf("got\n%s(%v) recorded is\n%s", out.Bytes(), err, known)
	}
}

// TestRewindsLikeOmp: oh-my-pi takes an open checkpoint of ours for active, and a rewind
// for completed; and so do we of its own.
func TestRewindsLikeOmp(t *testing.T) {
	recorded := readRecordings[rewindRecording](t, rewindRecordings)
	names, requests := rewindLogs(t)
	for i, name := range names {
		want := recorded[name]
		if log := (subject{request: request{File: requests[i].File}}).hash(t); want.Log != log {
			t.Errorf("%s: nothing is recorded of this log; see doc.go how to record", name)
			continue
		}
		tree := read(t, requests[i].File)
		s, err := tool.StateOf(tree, tree.Leaf())
		if err != nil {
			t.Fatal(err)
		}
		active, completed := "", ""
		if c, ok := s.Innermost(); ok {
			active = c.StartedAt
		} else if s.Last != nil {
			completed = s.Last.Report
		}
		if active != want.Rewind.Active || completed != want.Rewind.Completed || active+completed == "" {
			t.Errorf("%s: got active %q, completed %q; oh-my-pi has %+v", name, active, completed, want.Rewind)
		}
	}
}
