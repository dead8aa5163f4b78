package peers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/sessiontree"
)

// A recording is what a peer made of a log, in short. Entries are named by their
// positions in the list of entries, apart from the leaf, since the ids of version 1
// are made up.
type recording struct {
	Name    string `json:"name"`
	Log     string `json:"log"` // the log's bytes
	Error   string `json:"error,omitempty"`
	Leaf    string `json:"leaf"`
	Entries int    `json:"entries"`
	Path    string `json:"path"`
	Paths   string `json:"paths"` // those of some other entries
	Labels  string `json:"labels"`
}

func (r recording) name() string { return r.Name }

// agrees tells whether two readers made the same of a log. They refuse it in their
// own words.
func (r recording) agrees(other recording) bool {
	return r == other || r.Error != "" && other.Error != ""
}

// recorded are the peers whose answers testdata holds.
var recorded = []struct {
	peer
	file string
}{
	{pi073, "testdata/pi-0.73.1.jsonl"},
	{omp, "testdata/omp-18.2.3.jsonl"},
}

// recordedTrees is how many of the generated trees the recordings have.
const recordedTrees = 60

// A subject is a log that recordings have.
type subject struct {
	name string
	request
}

func (s subject) hash(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(s.File)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// subjects are generated trees, logs that oh-my-pi wrote, and, where it is there,
// the corpus.
func subjects(t *testing.T) []subject {
	t.Helper()
	dir := t.TempDir()
	var list []subject
	for seed := uint64(1); seed <= recordedTrees; seed++ {
		list = append(list, subject{"tree/" + strconv.FormatUint(seed, 10), treeOf(seed).request(t, dir)})
	}
	for _, file := range ompLogs(t) {
		list = append(list, subject{"omp/" + filepath.Base(file), someRequest(t, file)})
	}
	if os.Getenv("SESSCTL_CORPUS") != "" {
		dir, names := corpus(t)
		for _, name := range names {
			list = append(list, subject{"corpus/" + name, someRequest(t, filepath.Join(dir, name))})
		}
	}
	return list
}

// record shortens an answer.
func record(s subject, log string, a answer) recording {
	r := recording{Name: s.name, Log: log, Error: a.Error}
	if a.Error != "" {
		return r
	}
	b := a.byPosition()
	r.Leaf, r.Entries, r.Path = b.Leaf, len(b.IDs), digest(b.Path...)
	var paths []string
	for name, path := range b.Paths {
		paths = append(paths, name+"="+strings.Join(path, " "))
	}
	var labels []string
	for id, label := range b.Labels {
		labels = append(labels, id+"="+label)
	}
	r.Paths, r.Labels = digest(sorted(paths)...), digest(sorted(labels)...)
	if !strings.HasPrefix(a.Leaf, "v1-") && len(s.Positions) == 0 {
		r.Leaf = a.Leaf
	}
	return r
}

// digest is of ids and labels, not of content, and short: it has to notice a
// difference and not to withstand an attack.
func digest(list ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
	return hex.EncodeToString(sum[:8])
}

// readRecordings gives the records of a file by their names.
func readRecordings[T interface{ name() string }](t *testing.T, file string) map[string]T {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]T{}
	for line := range bytes.Lines(data) {
		var r T
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[r.name()] = r
	}
	return all
}

// TestLikeRecorded compares this reader with what pi 0.73.1 and oh-my-pi answered
// when they were asked.
func TestLikeRecorded(t *testing.T) {
	all := subjects(t)
	for _, p := range recorded {
		answers := readRecordings[recording](t, p.file)
		for _, s := range all {
			want, ok := answers[s.name]
			log := s.hash(t)
			if !ok || want.Log != log {
				t.Errorf("%s: %s has no answer about this log; see doc.go how to record", s.name, p.file)
				continue
			}
			checkDisagreement(t, p.name, s.name, !ours(t, s, log).agrees(want))
		}
	}
}

// ours is this reader's own answer in the form of a recording.
func ours(t *testing.T, s subject, log string) recording {
	t.Helper()
	tree, err := sessiontree.Read(s.File, nil)
	if err != nil {
		return recording{Name: s.name, Log: log, Error: err.Error()}
	}
	tree.Close()
	return record(s, log, wholeScan(t, s.request))
}

// TestRecordingsAreCurrent runs the recorded peers, where OMP is set; where RECORD
// is set too, it takes up what they answer.
func TestRecordingsAreCurrent(t *testing.T) {
	if os.Getenv("OMP") == "" {
		t.Skip("OMP=1 runs pi 0.73.1 and oh-my-pi, after internal/peers/install omp")
	}
	all := subjects(t)
	for _, p := range recorded {
		var got []recording
		for i, a := range p.ask(t, requestsOf(all)) {
			got = append(got, record(all[i], all[i].hash(t), a))
		}
		if os.Getenv("RECORD") != "" {
			writeRecordings(t, p.file, "corpus/", got)
		}
		known := readRecordings[recording](t, p.file)
		for _, r := range got {
			if known[r.Name] != r {
				t.Errorf("%s, %s: got %+v, recorded is %+v", p.name, r.Name, r, known[r.Name])
			}
		}
	}
}

func requestsOf(all []subject) []request {
	var list []request
	for _, s := range all {
		list = append(list, s.request)
	}
	return list
}

// writeRecordings replaces a recording. Without the corpus, whose names begin with
// folder, it would lose answers.
func writeRecordings[T interface{ name() string }](t *testing.T, file, folder string, list []T) {
	t.Helper()
	if !slices.ContainsFunc(list, func(r T) bool { return strings.HasPrefix(r.name(), folder) }) {
		t.Fatal("RECORD needs SESSCTL_CORPUS too")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, r := range list {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.FromSlash(file), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
