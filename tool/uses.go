package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
)

// uses are what an exploration did, as far as its calls tell.
type uses struct {
	prompts  []string // what users wrote, verbatim
	said     []string // what the model wrote for them
	read     []string // files, each once
	modified []string
	commands []string
	others   []string // other tools, each once
}

// usesOf reads what was left, but for calls that are kept.
func usesOf(left []entries.Entry, kept map[string]bool) (u uses, err error) {
	for _, e := range left {
		if e.Type != entries.TypeMessage {
			continue
		}
		m, err := e.Message()
		if err != nil {
			return u, err
		}
		switch m.Role {
		case "user":
			u.prompts = append(u.prompts, m.Text())
		case "assistant":
			u.answer(m, kept)
		}
	}
	return u, nil
}

func (u *uses) answer(m entries.Message, kept map[string]bool) {
	if text := strings.TrimSpace(m.Text()); text != "" {
		u.said = append(u.said, text)
	}
	for _, b := range m.Blocks() {
		if b.Type == "toolCall" && !kept[b.ID] && b.Name != NameCheckpoint && b.Name != NameRewind {
			u.call(b)
		}
	}
}

// call sorts a call by its arguments, which most tools name alike: a command, or a path
// that is read or changed.
func (u *uses) call(b entries.Block) {
	var a struct {
		Command, Path string
		FilePath      string `json:"file_path"`
		Filename      string
	}
	_ = json.Unmarshal(b.Arguments, &a) // arguments of other shapes name nothing
	path := firstOf(a.Path, a.FilePath, a.Filename)
	switch {
	case a.Command != "":
		u.commands = once(u.commands, a.Command)
	case path != "" && changes(b.Name):
		u.modified = once(u.modified, path)
	case path != "" && reads(b.Name):
		u.read = once(u.read, path)
	default:
		u.others = once(u.others, b.Name)
	}
}

func firstOf(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

func once(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func changes(tool string) bool {
	return hasAny(tool, "edit", "write", "patch", "create", "replace", "delete", "move")
}

func reads(tool string) bool { return hasAny(tool, "read", "view", "open", "cat") }

func hasAny(s string, parts ...string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}
