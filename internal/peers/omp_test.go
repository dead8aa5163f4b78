package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// ompLogs lists the logs of testdata/omp, which make-omp.ts made.
func ompLogs(t *testing.T) []string {
	t.Helper()
	dir, err := filepath.Abs("../../testdata/omp")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no logs in testdata/omp (%v)", err)
	}
	return files
}

// What a reader must find in the logs of testdata/omp. An entry is named by its
// position in the list of entries.
var ompFacts = map[string]struct {
	name     string
	types    string // of the leaf's path, shortened
	branches int
	labels   map[string]string
	moved    bool // oh-my-pi's own record made another branch the active one
}{
	"branches":   {types: "branch_summary message message", branches: 4},
	"checkpoint": {types: "message message message custom_message message message", branches: 1},
	"rewound":    {types: "message message message branch_summary custom_message message", branches: 2},
	"compaction": {types: "message message message message compaction message compaction message", branches: 1},
	"custom":     {types: "message message message custom custom custom_message custom_message ttsr_injection message", branches: 1},
	"exit":       {types: "message message message message custom", branches: 1},
	"labels": {
		types: "message message label message", branches: 2,
		labels: map[string]string{"#0": "start", "#1": "better"},
	},
	"reset": {types: "message message message reset_boundary message message", branches: 2},
	"settings": {
		types: "model_change model_change model_change thinking_level_change service_tier_change message message message " +
			"service_tier_change mode_change mode_change thinking_level_change credential_pin message", branches: 1,
	},
	"stale-exit": {types: "message message message message custom", branches: 2, moved: true},
	"subagent":   {types: "session_init message message", branches: 1},
	"title":      {name: "Parser, renamed ✓", types: "message message message title_change message title_change", branches: 1},
}

// TestOmpLogs reads logs that oh-my-pi wrote. TestLikeRecorded compares them with
// what oh-my-pi reads itself.
func TestOmpLogs(t *testing.T) {
	files := ompLogs(t)
	if len(files) != len(ompFacts) {
		t.Errorf("got %d logs, want %d", len(files), len(ompFacts))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) { checkOmpLog(t, file) })
	}
}

func checkOmpLog(t *testing.T, file string) {
	t.Helper()
	want, ok := ompFacts[strings.TrimSuffix(filepath.Base(file), ".jsonl")]
	if !ok {
		t.Fatalf("nothing is known of %s", file)
	}
	tree := read(t, file)
	if got := tree.Agent(); got != sessiontree.AgentOmp {
		t.Errorf("got agent %q, want %q", got, sessiontree.AgentOmp)
	}
	if got := pathTypes(t, tree); got != want.types {
		t.Errorf("got path %s, want %s", got, want.types)
	}
	a := wholeScan(t, request{File: file}).byPosition()
	if a.Name != want.name {
		t.Errorf("got name %q, want %q", a.Name, want.name)
	}
	if len(differences(answer{Labels: a.Labels}, answer{Labels: want.labels})) > 0 {
		t.Errorf("got labels %q, want %q", a.Labels, want.labels)
	}
	if got, err := tree.Branches(); err != nil || len(got) != want.branches {
		t.Errorf("got %d branches (%v), want %d", len(got), err, want.branches)
	}
	checkNotes(t, tree, want.moved)
}

func pathTypes(t *testing.T, tree *sessiontree.Tree) string {
	t.Helper()
	var types []string
	for e, err := range tree.Path(tree.Leaf()) {
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, string(e.Type))
	}
	return strings.Join(types, " ")
}

// checkNotes demands that there is no damage, and that the title line is noted, and
// a leaf that was moved.
func checkNotes(t *testing.T, tree *sessiontree.Tree, moved bool) {
	t.Helper()
	want := []sessiontree.DamageKind{"title-slot"}
	if moved {
		want = append(want, "leaf-moved")
	}
	var got []sessiontree.DamageKind
	for _, d := range tree.Damage() {
		if got = append(got, d.Kind); !d.Note {
			t.Errorf("got damage %+v, want notes only", d)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got notes %q, want %q", got, want)
	}
}

// TestOmpLeafMovedNamesTheWayBack: the note says which entry the stale process left.
func TestOmpLeafMovedNamesTheWayBack(t *testing.T) {
	tree := read(t, "../../testdata/omp/stale-exit.jsonl")
	if err := tree.Scan(); err != nil {
		t.Fatal(err)
	}
	all := ids(t, tree.Entries())
	left := all[len(all)-2]
	for _, d := range tree.Damage() {
		if d.Kind == "leaf-moved" && !strings.Contains(d.Detail, entries.ID(left).Short()) {
			t.Errorf("got %q, want %s named", d.Detail, left)
		}
	}
}

// TestMakeOmp runs the script that made testdata/omp and demands the same sorts of
// records; ids and times differ.
func TestMakeOmp(t *testing.T) {
	if os.Getenv("OMP") == "" {
		t.Skip("OMP=1 runs oh-my-pi, after internal/peers/install omp")
	}
	dir, work := installed(t), t.TempDir()
	script, err := filepath.Abs("make-omp.ts")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), omp.command(dir), script, filepath.Join(dir, omp.folder), filepath.Join(work, "logs"))
	cmd.Dir, cmd.Env = work, []string{"HOME=" + work, "TMPDIR=" + work, "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range ompLogs(t) {
		made := filepath.Join(work, "logs", filepath.Base(file))
		if got, want := lineTypes(t, made), lineTypes(t, file); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", filepath.Base(file), got, want)
		}
	}
}

func lineTypes(t *testing.T, file string) []string {
	t.Helper()
	var types []string
	for e, err := range read(t, file).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, string(e.Type))
	}
	return types
}
