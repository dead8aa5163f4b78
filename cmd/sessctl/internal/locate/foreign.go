package locate

import (
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// foreign gives the directories where agents of other formats keep their transcripts:
// Claude Code one a project, Codex one a day, below those of the year and the month.
func (p *Places) foreign() (dirs []string) {
	home := p.Getenv("HOME")
	if claude := p.configured("CLAUDE_CONFIG_DIR", home, ".claude"); claude != "" {
		dirs = append(dirs, filepath.Join(claude, "projects"))
	}
	if codex := p.configured("CODEX_HOME", home, ".codex"); codex != "" {
		for _, year := range numbered(filepath.Join(codex, "sessions")) {
			dirs = append(dirs, numbered(year)...)
		}
		dirs = append(dirs, filepath.Join(codex, "archived_sessions"))
	}
	return dirs
}

// configured gives the directory that a variable names, or else one in the user's home.
func (p *Places) configured(name, home, usual string) string {
	if dir := p.Getenv(name); dir != "" || home == "" {
		return dir
	}
	return filepath.Join(home, usual)
}

// numbered gives the directories in dir whose name is a number, the last one first.
func numbered(dir string) (list []string) {
	entries, _ := store.ReadDir(dir) // one that is missing has none
	for i := len(entries) - 1; i >= 0; i-- {
		name := entries[i].Name()
		if name != "" && strings.Trim(name, "0123456789") == "" {
			list = append(list, filepath.Join(dir, name))
		}
	}
	return list
}

// describe reads the beginning and the end of a session of any format that is known.
func (p *Places) describe(path string) sessiontree.Info {
	if p.Describe != nil {
		return p.Describe(path)
	}
	return sessiontree.Describe(path)
}
