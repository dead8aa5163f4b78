package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/command"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sessctl": func() { os.Exit(command.Main(os.Args[1:])) },
	})
}

// TestScripts runs the scripts of testdata/script: each command and each flag.
// Every script has $STORY, the session that README shows, and an empty home.
func TestScripts(t *testing.T) {
	story, err := filepath.Abs("../../testdata/story.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	omp, err := filepath.Abs("../../testdata/omp")
	if err != nil {
		t.Fatal(err)
	}
	claude, err := filepath.Abs("../../testdata/claude/projects")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("STORY", story)
			env.Setenv("OMP", omp)
			env.Setenv("CLAUDE", claude)
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("TZ", "UTC")
			return os.Mkdir(env.WorkDir+"/home", 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "bytes": writeBytes, "agent": agent, "last-word": lastWord, "eventually": eventually},
	})
}

// exits CODE COMMAND... runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		code = -1
		if exit, ok := err.(interface{ ExitCode() int }); ok {
			code = exit.ExitCode()
		}
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%v: exit code %d, want %s", args[1:], code, args[0])
	}
}

// bytes FILE STRING... appends to a file what a script cannot hold as a file: in a
// string \n is a newline, \0 a NUL, and \\ a backslash.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bytes FILE STRING...")
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	defer f.Close()
	decode := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\0`, "\x00")
	for _, a := range args[1:] {
		_, err := f.WriteString(decode.Replace(a))
		ts.Check(err)
	}
}

// eventually FILE TEXT waits until a file that something else writes has a text.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: eventually FILE TEXT")
	}
	const patience = 30 * time.Second // on a loaded machine; as a rule it is some milliseconds
	var got []byte
	for start := time.Now(); time.Since(start) < patience; time.Sleep(5 * time.Millisecond) {
		if got, _ = os.ReadFile(ts.MkAbs(args[0])); strings.Contains(string(got), args[1]) {
			return
		}
	}
	ts.Fatalf("%s never had %q; it has:\n%s", args[0], args[1], got)
}
