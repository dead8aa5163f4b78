package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

var ctx = context.Background()

// TestMain lets the test binary be the agent.
func TestMain(m *testing.M) {
	dir := os.Getenv(AgentFolder)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := Agent(ctx, dir, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestPlay(t *testing.T) {
	dir := t.TempDir()
	var told []string
	p, err := Play(ctx, dir, func(line string) { told = append(told, line) })
	if err != nil {
		t.Fatal(err)
	}
	if !p.Killed || p.Before < 20*p.After || p.Dropped < 10 || p.Label != "before-the-hunt" {
		t.Errorf("got %+v", p)
	}
	for _, heading := range []string{"Turn 1", "Turn 2", "Crash", "Resume", "Turn 3"} {
		if !slices.Contains(told, heading) {
			t.Errorf("the story lacks %s:\n%s", heading, strings.Join(told, "\n"))
		}
	}
	tree, err := sessiontree.Read(p.Path, &sessiontree.ReadOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if v, err := tree.Verify(); err != nil || !v.OK || len(v.Damage)+len(v.Pairing) > 0 || v.Checksums != sessiontree.ChecksumsOK {
		t.Errorf("the log is not sound: %+v, %v", v, err)
	}
	branches, err := tree.Branches()
	if err != nil || len(branches) != 2 || branches[0].Report != report || branches[1].Origin != sessiontree.OriginRewind || branches[1].Turns != 3 {
		t.Errorf("got branches %+v, %v", branches, err)
	}
	goesOn(t, p.Path)
}

// goesOn checks that a harness can go on with what a demo left.
func goesOn(t *testing.T, path string) {
	t.Helper()
	s, err := sessiontree.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(s.Repairs()) > 0 {
		t.Errorf("opening repaired %+v", s.Repairs())
	}
	if state, err := tool.New(s, nil).State(); err != nil || state.Phase != tool.Closed {
		t.Errorf("got state %+v, %v", state, err)
	}
}

// An agent whose folder is not as it has to be says why, and Play passes that on.
func TestAgentThatFails(t *testing.T) {
	c, err := start(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.story(func(string) {}); err == nil || !strings.Contains(err.Error(), "workspace") {
		t.Errorf("got %v", err)
	}
}

// The agent does not outlive the process that started it.
func TestAgentEndsWithItsStarter(t *testing.T) {
	dir := t.TempDir()
	if err := writeWorkspace(workspaceOf(dir)); err != nil {
		t.Fatal(err)
	}
	var notes strings.Builder
	err := Agent(ctx, dir, strings.NewReader(""), &notes)
	if err == nil || !strings.Contains(notes.String(), `{"ready":"`) {
		t.Errorf("got %v and %s", err, notes.String())
	}
}

func TestFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, err := Folder("")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if again, err := Folder(dir); again != dir || err != nil {
		t.Errorf("an empty folder: got %s, %v", again, err)
	}
	file := dir + "/a"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, file} {
		if got, err := Folder(name); err == nil {
			t.Errorf("%s was taken: %s", name, got)
		}
	}
}

// TestLikeGo: of the workspace in each of its states, the simulated runs say what Go
// says.
func TestLikeGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeWorkspace(dir); err != nil {
		t.Fatal(err)
	}
	w, err := openWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	const all, details = "go test ./...", "go test -v ./..."
	for _, state := range []struct {
		edit     call
		commands []string
	}{
		{read("README.md"), []string{all, "go test -v -run TestDoubledQuote ./..."}},
		{edit("parser/lines.go", untrimmed, trimmed), []string{details}},
		{edit("parser/split.go", unfixed, fixed), []string{all, details}},
	} {
		if _, _, err := w.run(state.edit); err != nil {
			t.Fatal(err)
		}
		for _, command := range state.commands {
			got, _, err := w.test(command)
			if err != nil {
				t.Fatal(err)
			}
			if want := realRun(dir, command); untimed(got) != untimed(want) {
				t.Errorf("%v, %s:\ngot  %.600s\nwant %.600s", state.edit, command, got, want)
			}
		}
	}
}

func realRun(dir, command string) string {
	words := strings.Fields(command)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN=local")
	out, _ := cmd.Output() // failing tests are an error
	return string(out)
}

var timing = regexp.MustCompile(`\d+\.\d+s\b|\(cached\)`)

func untimed(s string) string { return timing.ReplaceAllString(s, "TIME") }

// TestPlacesInTheStory: the lines that the model names are there.
func TestPlacesInTheStory(t *testing.T) {
	after := strings.Replace(splitGo, unfixed, fixed, 1)
	for n, want := range map[int]string{13: "\t\t\tfield.WriteByte('\"')", 14: "\t\t\ti++"} {
		if got := strings.Split(after, "\n")[n-1]; got != want {
			t.Errorf("line %d of split.go is %q, want %q", n, got, want)
		}
	}
	if !strings.Contains(report, "split.go:13") || strings.Count(export(), "\n") != 240 {
		t.Error("the report names other places")
	}
}
