package command

import (
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/demo"
)

// TestMain lets the test binary be the agent that a demo starts and kills.
func TestMain(m *testing.M) {
	if os.Getenv(demo.AgentFolder) != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
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
