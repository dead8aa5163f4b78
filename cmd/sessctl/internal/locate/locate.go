// Package locate finds what a user names: sessions by path, by the end of their id
// or as the latest one, and entries of a session.
package locate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// MinID is the least number of characters by which an id can be named.
const MinID = 4

// ErrAmbiguous is wrapped by errors that list several candidates.
var ErrAmbiguous = errors.New("several fit")

// Places are the directories in which sessions are looked for.
type Places struct {
	Dirs   []string
	Getenv func(string) string
	Cwd    string            // "latest" and the list: only sessions of this directory
	Agent  sessiontree.Agent // ... and of this agent
	// Describe, where set, knows more formats than sessiontree.Describe; the places of
	// their agents are known then, too.
	Describe func(path string) sessiontree.Info
	// Read, where set, reads those formats, too.
	Read func(path string, opt *sessiontree.ReadOptions) (*sessiontree.Tree, error)
}

// Own is the directory where sessctl keeps sessions.
func (p *Places) Own() string {
	own, data, home := p.Getenv("SESSCTL_DIR"), p.Getenv("XDG_DATA_HOME"), p.Getenv("HOME")
	switch {
	case own != "":
		return filepath.Clean(own)
	case data != "":
		return filepath.Join(data, "sessctl/sessions")
	case home != "":
		return filepath.Join(home, ".local/share/sessctl/sessions")
	}
	return ""
}

// Known gives the directories where sessctl, pi and oh-my-pi keep sessions, and
// those that the user added.
func (p *Places) Known() []string {
	home := p.Getenv("HOME")
	data := p.Getenv("XDG_DATA_HOME")
	if data == "" && home != "" {
		data = filepath.Join(home, ".local", "share")
	}
	var dirs []string
	add := func(dir, rest string) {
		if dir != "" {
			dirs = append(dirs, filepath.Join(dir, rest))
		}
	}
	add(p.Own(), "")
	add(p.Getenv("PI_CODING_AGENT_SESSION_DIR"), "")
	if agent := p.Getenv("PI_CODING_AGENT_DIR"); agent != "" {
		add(agent, "sessions")
	} else {
		add(home, ".pi/agent/sessions")
		add(home, ".omp/agent/sessions")
	}
	add(data, "omp/sessions")
	if p.Describe != nil {
		dirs = append(dirs, p.foreign()...)
	}
	return unique(append(dirs, p.Dirs...))
}

// unique keeps the first of each.
func unique(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// Match tells whether a session is one of Cwd and Agent, where they are set.
func (p *Places) Match(info *sessiontree.Info) bool {
	return (p.Agent == "" || info.Agent == p.Agent) && (p.Cwd == "" || info.Cwd == p.Cwd)
}

// Session gives the path of the session that a user names: a path; "latest", the
// newest conversation; or the beginning or end of an id.
func (p *Places) Session(name string) (string, error) {
	if name == "latest" {
		return p.latest()
	}
	if _, err := os.Stat(name); err == nil {
		return name, nil
	} else if archive := name + store.ArchiveSuffix; strings.HasSuffix(name, ".jsonl") && exists(archive) {
		return archive, nil
	} else if strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(strings.TrimSuffix(name, store.ArchiveSuffix), ".jsonl") {
		return "", err
	}
	return p.byID(name)
}

func (p *Places) latest() (string, error) {
	for info, err := range sessiontree.List(p.Known(), &sessiontree.ListOptions{Limit: 1, Match: p.Match, Describe: p.Describe}) {
		if err != nil {
			return "", err
		}
		if info.Err == nil {
			return info.Path, nil
		}
	}
	return "", fmt.Errorf("no session%s in %s: %w", p.filters(), strings.Join(p.Known(), ", "), sessiontree.ErrNotFound)
}

// filters names what narrows the search.
func (p *Places) filters() (s string) {
	if p.Agent != "" {
		s += " of " + string(p.Agent)
	}
	if p.Cwd != "" {
		s += " with the working directory " + p.Cwd
	}
	return s
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
