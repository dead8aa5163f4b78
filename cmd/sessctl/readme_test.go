package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestReadmeShowsRealOutput runs the commands that README shows and compares.
func TestReadmeShowsRealOutput(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, screen, ok := strings.Cut(string(readme), "```\n$ ")
	screen, _, ok2 := strings.Cut(screen, "```")
	if !ok || !ok2 {
		t.Fatal("README shows no screen")
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
			t.Errorf("README shows of '%s'\n%s\nbut it prints\n%s", command, want, got)
		}
	}
}
