package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain lets the test's binary be the child that perf starts.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-case") {
		main()
		return
	}
	os.Exit(m.Run())
}

func small(t *testing.T, dir string, args ...string) *config {
	t.Helper()
	args = append([]string{"-dir", dir, "-peers", "", "-n", "1", "-wait", "0", "-big", "2", "-small", "1", "-chain", "30000", "-files", "500", "-farm", "30", "-foreign", "1"}, args...)
	c, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRows runs every case on small sessions. Each checks what it read; how long it
// took is nobody's business here.
func TestRows(t *testing.T) {
	var out bytes.Buffer
	c := small(t, t.TempDir())
	if err := c.run(&out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, r := range plan(c) {
		if !strings.Contains(out.String(), "| "+r.title+" ") {
			t.Errorf("no row %q", r.title)
		}
	}
	if n := strings.Count(out.String(), "| not run "); n != 24 {
		t.Errorf("%d cells say that pi did not run, want 24", n)
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// TestPeers lets the drivers count what the cases count.
func TestPeers(t *testing.T) {
	dir := os.Getenv("SESSCTL_PEERS")
	if dir == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("SESSCTL_PEERS is not set; CI must run internal/peers/install first")
		}
		t.Skip("pi is not installed: export SESSCTL_PEERS=$(internal/peers/install)")
	}
	p, err := newPeer(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	home := t.TempDir()
	for _, s := range []*session{{format: "native", mb: 2}, {format: "pi", mb: 2}, {format: "pi", shape: flat, mb: 1}} {
		if err := s.make(home); err != nil {
			t.Fatal(err)
		}
		for name, c := range peerCases {
			if got, err := p.run(c, s.path); err != nil || got.Result != c.want(s) {
				t.Errorf("%s on a session of %s: %d, %v; want %d", name, s.name(), got.Result, err, c.want(s))
			}
		}
	}
}

// TestKept looks at when a session is made again.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	s := &session{format: "pi", mb: 1}
	if err := s.make(dir); err != nil {
		t.Fatal(err)
	}
	again := &session{format: "pi", mb: 1, path: s.path}
	if !again.kept() || again.Stats != s.Stats || again.Recent != s.Recent || again.Messages != s.Messages {
		t.Errorf("kept as %+v, was %+v", again, s)
	}
	if err := os.Truncate(s.path, s.Bytes-1); err != nil {
		t.Fatal(err)
	}
	if again.kept() {
		t.Error("a session that was cut counts as whole")
	}
}

func TestErrors(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-case", "scan"}, {"x"}, {"-format", "omp"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	c := small(t, t.TempDir(), "-profile", "nothing", "x")
	if err := c.run(io.Discard, io.Discard); err == nil {
		t.Error("a case that does not exist can be profiled")
	}
	if _, err := newPeer(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a peer was found in no folder")
	}
}
