package locate

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/codex"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// byID looks at the file names, which have the id; only where none fits are the files
// opened.
func (p *Places) byID(name string) (string, error) {
	if len(name) < MinID {
		return "", notFoundf("session %q is too short: give at least %d characters of its id", name, MinID)
	}
	found, rest := p.files(name)
	if len(found) == 0 {
		for _, path := range rest {
			if fits(p.describe(path).ID, name) {
				found = append(found, path)
			}
		}
	}
	switch found = lastSegments(unique(found)); len(found) { // directories may overlap
	case 0:
		return "", fmt.Errorf("session %q: %w; 'sessctl ls' lists those in %s", name, sessiontree.ErrNotFound, strings.Join(p.Known(), ", "))
	case 1:
		return found[0], nil
	}
	return "", ambiguous("session", name, len(found), p.candidates(found))
}

// files splits the session files into those whose name has the id, and the rest.
// Directories that cannot be read have none.
func (p *Places) files(id string) (fit, rest []string) {
	for _, dir := range p.Known() {
		for f, err := range store.LogFiles(dir) {
			switch {
			case err != nil:
			case slices.ContainsFunc(idsOfFile(f.Path), func(whole string) bool { return fits(whole, id) }):
				fit = append(fit, f.Path)
			default:
				rest = append(rest, f.Path)
			}
		}
	}
	return fit, rest
}

// idsOfFile gives the ids by which a session's file can be named: what stands behind the
// time in its name, and of Codex's files the thread and the segment.
func idsOfFile(path string) []string {
	if thread, segment := codex.FileIDs(path); thread != "" {
		return []string{thread, segment}
	}
	name := nameOfFile(path)
	if _, id, ok := strings.Cut(name, "_"); ok {
		name = id
	}
	return []string{name}
}

// nameOfFile is a file's name without what tells that it is a log.
func nameOfFile(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), store.ArchiveSuffix), ".jsonl")
}

// lastSegments leaves out the segments of a thread that others among the files follow:
// reading any of them reads the whole thread, which is one session. The times in the
// names tell which is the last one.
func lastSegments(paths []string) []string {
	last := map[string]string{} // of a thread: the name
	for _, path := range paths {
		if thread, _ := codex.FileIDs(path); thread != "" {
			last[thread] = max(last[thread], nameOfFile(path))
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		thread, _ := codex.FileIDs(path)
		return thread != "" && nameOfFile(path) != last[thread]
	})
}

func fits(id, part string) bool {
	return id != "" && (strings.HasPrefix(id, part) || strings.HasSuffix(id, part) ||
		strings.HasPrefix(entries.ID(id).Short(), part)) // as output shows it
}

// mostListed is how many candidates an error lists.
const mostListed = 10

// candidates describes sessions, a line each: what tells them apart is what was said in
// them. The path is given as well where the id is that of another one, too.
func (p *Places) candidates(paths []string) (lines []string) {
	infos, count := []sessiontree.Info{}, map[string]int{}
	for _, path := range paths[:min(len(paths), mostListed)] {
		info := p.describe(path)
		infos = append(infos, info)
		count[info.ID]++
	}
	for _, info := range infos {
		line := candidate(info)
		if info.ID == "" || count[info.ID] > 1 {
			line += "  " + term.Line(info.Path)
		}
		lines = append(lines, line)
	}
	return lines
}

func candidate(info sessiontree.Info) string {
	const width = 60
	said := term.OneLine(cmp.Or(info.Name, info.FirstPrompt))
	parts := []string{term.Line(info.ID), string(info.Agent), term.Cut(said, width), term.Line(info.Cwd)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "  ")
}

// ambiguous lists the first of several candidates.
func ambiguous(what, name string, count int, candidates []string) error {
	list := candidates[:min(len(candidates), mostListed)]
	more := ""
	if n := count - len(list); n > 0 {
		more = fmt.Sprintf("\n  and %d more", n)
	}
	return fmt.Errorf("%s %q: %w:\n  %s%s", what, name, ErrAmbiguous, strings.Join(list, "\n  "), more)
}

// A notFound says in full why nothing is found; it is sessiontree.ErrNotFound, whose own
// words would say no more.
type notFound struct{ text string }

func (e notFound) Error() string { return e.text }

func (e notFound) Unwrap() error { return sessiontree.ErrNotFound }

func notFoundf(format string, args ...any) error { return notFound{fmt.Sprintf(format, args...)} }
