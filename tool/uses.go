package tool

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// uses are what an exploration did, as far as its calls tell.
type uses struct {
	prompts  []string // what users wrote, verbatim
	shell    []string // commands that users ran
	said     []string // what the model wrote for them
	read     []string // files, each once
	modified []string
	commands []string
	others   []string // other tools, each once
}

// whole gives what was left, and in the place of each summary among it what that one had
// left: what it told of that leaves the context too. Not where it was edited: what was
// taken out of it does not come back.
func whole(tree *sessiontree.Tree, left []entries.Entry, seen map[entries.ID]bool) (all []entries.Entry, err error) {
	edits, err := editsOf(left)
	if err != nil {
		return nil, err
	}
	for i, e := range left {
		edited := edits[e.ID] != nil || i+1 < len(left) && edits[left[i+1].ID] != nil // its report
		if e.Type == entries.TypeBranchSummary && !edited && !seen[e.ID] {
			seen[e.ID] = true
			inner, err := leftBy(tree, e)
			if err == nil {
				inner, err = whole(tree, inner, seen)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
		}
		all = append(all, e)
	}
	return all, nil
}

// leftBy gives what a summary took the place of; nothing where the log does not have it.
func leftBy(tree *sessiontree.Tree, summary entries.Entry) (left []entries.Entry, err error) {
	b, err := summary.BranchSummary()
	if err != nil {
		return nil, err
	}
	found := summary.Parent == ""
	for e, err := range tree.Ancestors(b.From) {
		if errors.Is(err, sessiontree.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if e.ID == summary.Parent {
			found = true
			break
		}
		left = append(left, e)
	}
	if !found {
		return nil, nil
	}
	slices.Reverse(left)
	return left, nil
}

// usesOf reads what was left, but for the calls of one answer that are kept.
func usesOf(left []entries.Entry, answer entries.ID, kept map[string]bool) (u uses, err error) {
	edits, err := editsOf(left)
	if err != nil {
		return u, err
	}
	for _, e := range left {
		if e.Type != entries.TypeMessage {
			continue
		}
		stored, err := e.MessageObject()
		if err != nil {
			return u, err
		}
		shown, _ := edits.shown(e.ID, stored)
		beside := kept
		if e.ID != answer { // its calls may have the same ids
			beside = nil
		}
		u.message(stored, shown, beside)
	}
	return u, nil
}

// message reads a message: what was said as edits have left it, and what was done.
func (u *uses) message(stored, shown json.RawMessage, kept map[string]bool) {
	m := entries.ParseMessage(shown)
	switch m.Role {
	case "user":
		if text := prompt(m); text != "" {
			u.prompts = append(u.prompts, text)
		}
	case "bashExecution":
		if !jsonvalue.True(jsonvalue.Get(stored, "excludeFromContext")) {
			u.shell = once(u.shell, m.Command)
		}
	case "assistant":
		if text := strings.TrimSpace(m.Text()); text != "" {
			u.said = append(u.said, text)
		}
		u.calls(entries.ParseMessage(stored), kept)
	}
}

// prompt is what a user wrote, verbatim, with a word for each image.
func prompt(m entries.Message) string {
	text := m.Text()
	for _, b := range m.Blocks() {
		if b.Type == "image" {
			text = strings.TrimPrefix(text+"\n(an image)", "\n")
		}
	}
	return text
}

func (u *uses) calls(m entries.Message, kept map[string]bool) {
	for _, b := range m.Calls() {
		if !kept[b.ID] && !Is(b.Name) {
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
