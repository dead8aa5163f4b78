package checkpoint

import (
	"bytes"
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
type rules map[string]*ruleFile

// A ruleFile is the rules of one file. The matcher takes what a rule says of a directory for
// what is below it, too, so that `!*/` would take back what `*` ignores at any depth. Here
// each path is asked about by itself, from the root down.
type ruleFile struct {
	any  gitignore.Matcher // all rules: what it does not match, none does
	list []rule
}

type rule struct {
	gitignore.Matcher
	dirOnly bool
}

// match tells what the last rule says that is about this path itself.
func (f *ruleFile) match(name string, dir bool) (ignored, matched bool) {
	if !f.any.MatchDetail(name + "/").Matched {
		return false, false
	}
	for i := len(f.list) - 1; i >= 0; i-- {
		r := &f.list[i]
		if r.dirOnly && !dir {
			continue
		}
		// The rule is written as one for directories: such a rule matches a file only where it
		// matches a directory above it.
		if m := r.MatchDetail(name + "/"); m.Matched && !r.MatchDetail(name).Matched {
			return m.Ignored, true
		}
	}
	return false, false
}

// A scope is the rules that hold in a directory: the nearest last.
type scope []scoped

type scoped struct {
	prefix string // of the paths that the rules are about, with a slash, or ""
	rules  *ruleFile
}

// in gives the rules that hold in a directory below one where s holds.
func (s scope) in(dir string, m *ruleFile) scope {
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
	for i := len(s) - 1; i >= 0; i-- {
		if ignored, ok := s[i].rules.match(strings.TrimPrefix(name, s[i].prefix), dir); ok {
			return ignored
		}
	}
	return false
}

func parseRules(data []byte) *ruleFile {
	f := &ruleFile{}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // as git does
	for line := range strings.SplitSeq(string(data), "\n") {
		text, dirOnly := ruleOf(line)
		if text == "" || text[0] == '#' {
			continue
		}
		r := rule{dirOnly: dirOnly}
		r.AddPatterns([]byte(text+"/"), "")
		f.any.AddPatterns([]byte(text+"/"), "")
		f.list = append(f.list, r)
	}
	return f
}

// ruleOf takes from a rule what a matcher of one path does not need: the spaces at the end,
// and the slash of a rule for directories alone. `x/**` is what is in x, and not x itself.
func ruleOf(line string) (text string, dirOnly bool) {
	line = strings.TrimSuffix(line, "\r")
	text = strings.TrimRight(line, " ")
	if strings.HasSuffix(text, `\`) && len(text) < len(line) {
		text += " " // which was escaped
	}
	text, dirOnly = strings.CutSuffix(text, "/")
	if strings.HasSuffix(text, "/**") {
		text += "/*"
	}
	return text, dirOnly
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
