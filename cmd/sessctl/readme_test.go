package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsShowRealOutput runs the commands that README and a page show, and compares.
func TestDocsShowRealOutput(t *testing.T) {
	for _, page := range []string{"README.md", "docs/context.md"} {
		t.Run(page, func(t *testing.T) { checkScreen(t, page) })
	}
}

func checkScreen(t *testing.T, page string) {
	t.Helper()
	readme, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, screen, ok := strings.Cut(string(readme), "```\n$ ")
	screen, _, ok2 := strings.Cut(screen, "```")
	if !ok || !ok2 {
		t.Fatal("it shows no screen")
	}
	for _, shown := range strings.Split(screen, "\n$ go ") {
		command, want, _ := strings.Cut(shown, "\n")
		checkCommand(t, page, strings.Fields("go "+strings.TrimPrefix(command, "go ")), want)
	}
}

// TestReadmeShowsAnotherAgentsSessions runs the commands that README shows over the
// project of Claude Code in testdata, as somebody who has it at home.
func TestReadmeShowsAnotherAgentsSessions(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, screen, ok := strings.Cut(string(readme), "```\n$ sessctl ")
	screen, _, ok2 := strings.Cut(screen, "```")
	if !ok || !ok2 {
		t.Fatal("README shows no such screen")
	}
	sessctl := filepath.Join(t.TempDir(), "sessctl.exe")
	if out, err := exec.Command("go", "build", "-o", sessctl, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join("testdata", "claude"))
	for _, shown := range strings.Split(screen, "\n$ sessctl ") {
		command, want, _ := strings.Cut(shown, "\n")
		checkCommand(t, "README.md", append([]string{sessctl}, words(command)...), want)
	}
}

// words splits a command as a shell does; only single quotes are known.
func words(command string) (list []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// checkCommand runs a command and demands what a page shows of it. "..." stands for
// lines that the page leaves out; what is another in each run counts for nothing.
func checkCommand(t *testing.T, page string, args []string, want string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "TZ=UTC", "TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	got := steady(string(out))
	for _, part := range strings.Split(steady(want), "\n...\n") {
		part = strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(part, "..."), "...\n"))
		_, after, ok := strings.Cut(got, part)
		if !ok {
			t.Fatalf("%s shows of %q\n%s\nwhich is not in what it prints from here on\n%s", page, args, part, got)
		}
		got = after
	}
}

// unsteady is what differs from run to run: ids, times, folders, processes, and token
// counts that go with the folders' names.
var unsteady = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{8}([0-9A-HJKMNP-TV-Z]{18})?\b|\d{4}-\d\d-\d\d \d\d:\d\dZ|(/[\w.+-]+)+/SESSION|\S*/workspace|\S*SESSION\.jsonl|/\S+\.jsonl|process \(\d+\)|\b6\d\d\b|\b7\d\d\b|about \d+ tokens|after it`)

func steady(s string) string { return unsteady.ReplaceAllString(s, "X") }
