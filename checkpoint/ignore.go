package checkpoint

import (
	"strings"

	"github.com/git-pkgs/gitignore"
)

// ignoreFile is what its rules stand in.
const ignoreFile = ".gitignore"

// largestIgnore bounds what is read of rules.
const largestIgnore = 1 << 20

// rules are the .gitignore files of a workspace, by their directory, as they were when a
// scan met them. Those of a turn's start hold until its end: what was ignored then was not
// seen, and must not look as if the turn had made it.
type rules map[string]*gitignore.Matcher

// A scope is the rules that hold in a directory: the nearest last.
type scope []scoped

type scoped struct {
	prefix string // of the paths that the rules are about, with a slash, or ""
	rules  *gitignore.Matcher
}

// in gives the rules that hold in a directory below one where s holds.
func (s scope) in(dir string, m *gitignore.Matcher) scope {
	if m == nil {
		return s
	}
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	return append(s[:len(s):len(s)], scoped{prefix, m})
}

// ignores tells whether a path is ignored, by the last rule of the nearest file that has
// one. That a directory above it is ignored is for the caller to know.
func (s scope) ignores(name string, dir bool) bool {
	if dir {
		name += "/"
	}
	for i := len(s) - 1; i >= 0; i-- {
		if m := s[i].rules.MatchDetail(strings.TrimPrefix(name, s[i].prefix)); m.Matched {
			return m.Ignored
		}
	}
	return false
}

func parseRules(data []byte) *gitignore.Matcher {
	m := &gitignore.Matcher{}
	m.AddPatterns(data, "")
	return m
}

// ignores tells whether a path, or a directory above it, is ignored.
func (r rules) ignores(name string) bool {
	var s scope
	parts := strings.Split(name, "/")
	dir := "."
	for i := range parts {
		s = s.in(dir, r[dir])
		dir = strings.Join(parts[:i+1], "/")
		if s.ignores(dir, i < len(parts)-1) {
			return true
		}
	}
	return false
}
