package peers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"os"
	"slices"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
)

// A contextRecording is what oh-my-pi made of a log, in short: of each context a
// digest, under the entry that it was asked for ("" is the log's own leaf).
type contextRecording struct {
	Name     string            `json:"name"`
	Log      string            `json:"log"` // the log's bytes
	Error    bool              `json:"error,omitempty"`
	Contexts map[string]string `json:"contexts"`
}

func (r contextRecording) name() string { return r.Name }

const contextRecordings = "testdata/omp-18.2.3-contexts.jsonl"

// digestOf is the same for two contexts that are equal to JavaScript.
func digestOf(c peerContext) string {
	if c.Error != "" {
		return "error"
	}
	h := sha256.New()
	for _, part := range []json.RawMessage{c.Messages, c.LLM, c.Models, c.ThinkingLevel, c.ConfiguredThinking, c.Mode, c.ModeData, c.InjectedTtsrRules} {
		v, err := parseJS(orNull(part))
		if err != nil {
			return "error"
		}
		v.hash(h)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// hash feeds a value to h, members in the order of their keys.
func (v jsValue) hash(h hash.Hash) {
	switch v.kind {
	case '{':
		fmt.Fprintf(h, "{%d", len(v.members))
		for _, key := range slices.Sorted(maps.Keys(v.members)) {
			fmt.Fprintf(h, "%d:%s", len(key), key)
			v.members[key].hash(h)
		}
	case '[':
		fmt.Fprintf(h, "[%d", len(v.list))
		for _, e := range v.list {
			e.hash(h)
		}
	case '"':
		fmt.Fprintf(h, "%q", v.text)
	case 0:
		fmt.Fprintf(h, "n%v", v.number+0) // of -0 too
	default:
		fmt.Fprintf(h, "%c", v.kind)
	}
}

// recordedTips is how many of a log's branches are recorded: one log has 8,000.
const recordedTips = 20

func recordedSubjects(t *testing.T) (names []string, requests []contextRequest) {
	t.Helper()
	for _, s := range ompContextSubjects(t) {
		for i, name := range s.names {
			q := s.requests[i]
			q.Contexts = q.Contexts[:min(recordedTips, len(q.Contexts))]
			names, requests = append(names, name), append(requests, q)
		}
	}
	return names, requests
}

func recordContext(t *testing.T, name string, a contextAnswer, q contextRequest) contextRecording {
	t.Helper()
	r := contextRecording{Name: name, Log: subject{request: request{File: q.File}}.hash(t), Error: a.Error != "", Contexts: map[string]string{}}
	for leaf, c := range a.Contexts {
		r.Contexts[leaf] = digestOf(c)
	}
	return r
}

// TestContextsLikeRecorded compares this library's contexts with what oh-my-pi
// answered when it was asked: of its own logs, of generated ones, and of the corpus.
func TestContextsLikeRecorded(t *testing.T) {
	names, requests := recordedSubjects(t)
	recorded := readRecordings[contextRecording](t, contextRecordings)
	compared := 0
	for i, name := range names {
		want, ok := recorded[name]
		if log := (subject{request: request{File: requests[i].File}}).hash(t); !ok || want.Log != log {
			t.Errorf("%s: %s has no answer about this log; see doc.go how to record", name, contextRecordings)
			continue
		}
		if want.Error || ompContextDeviations[name] != "" {
			continue
		}
		tree := read(t, requests[i].File)
		for leaf, digest := range want.Contexts {
			if got := digestOf(ourContext(t, tree, leaf, modelcontext.Omp)); digest != "error" && got != digest {
				t.Errorf("%s at %q: oh-my-pi makes another context of it", name, leaf)
			}
			compared++
		}
	}
	if compared < 500 {
		t.Errorf("only %d contexts were compared", compared)
	}
}

// TestContextRecordingsAreCurrent runs oh-my-pi, where OMP is set; where RECORD is set
// too, it takes up what it answers.
func TestContextRecordingsAreCurrent(t *testing.T) {
	if os.Getenv("OMP") == "" {
		t.Skip("OMP=1 runs oh-my-pi, after internal/peers/install omp")
	}
	names, requests := recordedSubjects(t)
	var got []contextRecording
	for i, a := range omp.askContexts(t, requests) {
		got = append(got, recordContext(t, names[i], a, requests[i]))
	}
	if os.Getenv("RECORD") != "" {
		writeRecordings(t, contextRecordings, "odd/", got)
	}
	known := readRecordings[contextRecording](t, contextRecordings)
	for _, r := range got {
		if k := known[r.Name]; k.Log != r.Log || k.Error != r.Error || !maps.Equal(k.Contexts, r.Contexts) {
			t.Errorf("%s: got %+v, recorded is %+v", r.Name, r, k)
		}
	}
}
