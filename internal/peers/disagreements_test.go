package peers

import (
	"strings"
	"testing"
)

// disagreements are the logs that a recorded peer reads otherwise than this reader
// does, with the heading of docs/interop.md that says why.
var disagreements = map[string]map[string]string{
	pi073.name: {
		"omp/*":                                         "What pi does not open",
		"corpus/odd/cycle.jsonl":                        "Cycles",
		"corpus/odd/header-not-first.jsonl":             "What pi does not open",
		"corpus/odd/json-but-not-object.jsonl":          "Values that are no objects",
		"corpus/odd/not-json.jsonl":                     "What pi does not open",
		"corpus/odd/parallel-tools-artifact-fork.jsonl": "What pi does not open",
		"corpus/odd/real-rewind.jsonl":                  "What pi does not open",
		"corpus/odd/torn-middle.jsonl":                  "A record behind a torn one",
	},
	omp.name: {
		"corpus/odd/cycle.jsonl":               "Cycles",
		"corpus/odd/header-not-first.jsonl":    "A missing or late header",
		"corpus/odd/json-but-not-object.jsonl": "Values that are no objects",
		"corpus/odd/torn-middle.jsonl":         "A record behind a torn one",
	},
}

// checkDisagreement demands that a peer differs where, and only where, it is
// known to.
func checkDisagreement(t *testing.T, peer, log string, differs bool) {
	t.Helper()
	if folder, _, _ := strings.Cut(log, "/"); disagreements[peer][folder+"/*"] != "" {
		log = folder + "/*"
	}
	switch heading, known := disagreements[peer][log]; {
	case differs && !known:
		t.Errorf("%s reads %s otherwise than this reader does", peer, log)
	case !differs && known:
		t.Errorf("%s reads %s as this reader does; want it to differ: %s", peer, log, heading)
	}
}
