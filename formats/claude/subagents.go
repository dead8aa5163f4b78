package claude

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/store"
)

// A Subagent is a session that a tool call of another one started.
type Subagent struct {
	Path  string
	ID    string // of its session: agent-<id>
	Type  string // of the agent, as Claude Code calls it
	Title string // what it was to do
	// ToolCallID is the call that started it, "" where Claude Code did not note that. It
	// may stand in another subagent's session: all are in one folder, whatever started them.
	ToolCallID string
	Depth      int
}

// Subagents lists the subagents of the session in the file at path, by their names. A
// session without any has none.
func Subagents(path string) ([]Subagent, error) {
	path = strings.TrimSuffix(path, store.ArchiveSuffix)
	dir := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	files, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Subagent
	for _, f := range files {
		name, log := strings.CutSuffix(strings.TrimSuffix(f.Name(), store.ArchiveSuffix), ".jsonl")
		if log && strings.HasPrefix(name, "agent-") {
			list = append(list, subagent(dir, f.Name(), name))
		}
	}
	slices.SortFunc(list, func(a, b Subagent) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// subagent reads what stands beside a subagent's file. Older versions wrote nothing there.
func subagent(dir, file, name string) Subagent {
	s := Subagent{Path: filepath.Join(dir, file), ID: name}
	meta, err := os.ReadFile(filepath.Join(dir, name+".meta.json"))
	if err != nil {
		return s
	}
	_ = jsonvalue.Members(meta, func(key string, value []byte) {
		switch key {
		case "agentType":
			s.Type = jsonvalue.String(value)
		case "description":
			s.Title = jsonvalue.String(value)
		case "toolUseId":
			s.ToolCallID = jsonvalue.String(value)
		case "spawnDepth":
			s.Depth = int(min(max(jsonvalue.Number(value), 0), 1<<20))
		}
	})
	return s
}
