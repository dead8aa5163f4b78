package command

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// foreignNames are what people call the agents whose transcripts are only read.
var foreignNames = map[sessiontree.Agent]string{sessiontree.AgentClaude: "Claude Code", sessiontree.AgentCodex: "Codex"}

// refuseForeign refuses to touch a transcript of another agent. It is asked before a lock is
// taken, whose file would stay in that agent's folder.
func refuseForeign(path string) error {
	src, err := store.OpenFile(path)
	if err != nil {
		return nil // whoever opens it next says so
	}
	defer src.Close()
	agent, err := formats.Detect(src)
	if name := foreignNames[agent]; err == nil && name != "" {
		return fmt.Errorf("%s: %w: it is a transcript of %s, which stays as it is; 'sessctl fork' makes a session of it that can be written",
			path, sessiontree.ErrReadOnly, name)
	}
	return nil
}

// writable gives the path of a session that is to be changed.
func (a *app) writable(name string) (string, error) {
	if name == "-" {
		return "", usagef("standard input can only be read")
	}
	path, err := a.path(name)
	if err != nil {
		return "", err
	}
	return path, refuseForeign(path)
}

// internal tells the records that an agent keeps for itself (snapshots, the environment, how
// long a turn took): neither a person nor the model has seen them, and a transcript has many.
func internal(e entries.Entry) bool {
	if e.Type != entries.TypeCustom {
		return false
	}
	c, err := e.Custom()
	if err != nil {
		return false
	}
	switch c.CustomType {
	case "codex:error", "codex:turn_aborted", "claude:system/api_error": // a person has
		return false
	}
	return strings.HasPrefix(c.CustomType, "claude:") || strings.HasPrefix(c.CustomType, "codex:")
}
