package command

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/demo"
)

// TestMain lets the test binary be the agent that a demo starts and kills, and keeps what
// tests remove out of the user's trash.
func TestMain(m *testing.M) {
	if os.Getenv(demo.AgentFolder) != "" {
		os.Exit(Main(os.Args[1:]))
	}
	data, err := os.MkdirTemp("", "data")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_DATA_HOME", data)
	code := m.Run()
	os.RemoveAll(data)
	os.Exit(code)
}

// TestTrashIsOfTheTests: what a test removes is not in the trash of whoever runs it.
func TestTrashIsOfTheTests(t *testing.T) {
	var doc jsonRm
	r, data := sessctl(t, "rm", "--yes", "--json", story(t)), os.Getenv("XDG_DATA_HOME")
	err := json.Unmarshal([]byte(r.stdout), &doc)
	if err != nil || len(doc.Files) != 1 || !strings.HasPrefix(data, os.TempDir()) || !strings.HasPrefix(doc.Files[0].Trash, data) {
		t.Errorf("it went to %+v (%v)", doc.Files, err)
	}
}

func TestShellWord(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/demo-1/a.jsonl": "/tmp/demo-1/a.jsonl",
		"/tmp/my demo":        `'/tmp/my demo'`,
		"/tmp/it's":           `'/tmp/it'\''s'`,
		"/tmp/\x1b[2J$(x)":    `'/tmp/\x1b[2J$(x)'`,
	} {
		if got := shellWord(path, "linux"); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
	if got, want := shellWord(`C:\my demo`, "windows"), `"C:\my demo"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := shellWord(`C:\demo`, "windows"); got != `C:\demo` {
		t.Errorf("got %s", got)
	}
}

// TestDemoShowsWhatTheCommandsShow: what stands below the story is what tree and
// branches print.
func TestDemoShowsWhatTheCommandsShow(t *testing.T) {
	r := sessctl(t, "demo", t.TempDir())
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	path := lines[len(lines)-1]
	for _, name := range []string{"tree", "branches"} {
		want := "\n$ sessctl " + name + " " + path + "\n" + sessctl(t, name, path).stdout + "\n"
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the demo does not show\n%s", want)
		}
	}
}
