package tool_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

var update = flag.Bool("update", false, "make testdata/rewind anew; internal/peers has to record oh-my-pi's answers then")

// The logs of testdata/rewind, which other programs are asked about (internal/peers).
var fixtures = map[string]struct {
	script func(p *play)
	phase  tool.Phase
	roles  string
}{
	"open": {func(p *play) { p.explored() }, tool.Active, "user assistant toolResult assistant toolResult"},
	"rewound": {func(p *play) {
		p.explored()
		p.answer("It is in a.go.", "w1 rewind", "b1 bash {\"command\":\"go test\"}")
		p.call("w1", "rewind", `{"report":"a.go:3 is wrong"}`)
		p.result("b1", "bash", "ok")
		p.end()
		p.answer("Mended.")
	}, tool.Closed, "user assistant toolResult branchSummary custom assistant toolResult assistant"},
	"pending": {func(p *play) {
		p.explored()
		p.answerAnd("w1 rewind", `{"report":"a.go:3 is wrong"}`)
	}, tool.Pending, "user assistant toolResult assistant toolResult assistant toolResult"},
}

func TestFixtures(t *testing.T) {
	for name, f := range fixtures {
		file := filepath.Join("..", "testdata", "rewind", name+".jsonl")
		if *update {
			p := newPlay(t, nil, false)
			f.script(p)
			p.must(p.s.Close())
			log, err := os.ReadFile(p.s.Path())
			p.must(err)
			p.must(os.MkdirAll(filepath.Dir(file), 0o755))
			p.must(os.WriteFile(file, log, 0o644))
		}
		checkFixture(t, name, file, f.phase, f.roles)
	}
}

func checkFixture(t *testing.T, name, file string, phase tool.Phase, roles string) {
	t.Helper()
	tree, err := sessiontree.Read(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s, err := tool.StateOf(tree, tree.Leaf())
	if err != nil || s.Phase != phase {
		t.Errorf("%s: got phase %s (%v), want %s", name, s.Phase, err, phase)
	}
	c, err := modelcontext.Build(tree, tree.Leaf(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range c.Messages {
		got = append(got, m.Role)
	}
	if strings.Join(got, " ") != roles {
		t.Errorf("%s: got %s, want %s", name, strings.Join(got, " "), roles)
	}
}

// TestStateOfOmp: what oh-my-pi wrote is understood.
func TestStateOfOmp(t *testing.T) {
	checkFixture(t, "omp's open checkpoint", "../testdata/omp/checkpoint.jsonl", tool.Active, "user assistant toolResult custom assistant toolResult")
	checkFixture(t, "omp's rewind", "../testdata/omp/rewound.jsonl", tool.Closed, "user assistant toolResult branchSummary custom assistant")
}
