package main

import (
	"os"
	"os/exec"
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
	for _, shown := range strings.Split(screen, "\n$ ") {
		command, want, _ := strings.Cut(shown, "\n")
		args := strings.Fields(command)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = "../.."
		cmd.Env = append(os.Environ(), "TZ=UTC")
		got, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		if strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
			t.Errorf("%s shows of '%s'\n%s\nbut it prints\n%s", page, command, want, got)
		}
	}
}
