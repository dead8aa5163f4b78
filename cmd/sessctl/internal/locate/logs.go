package locate

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// Logs gives the session files of some directories, or where none are named of the known
// ones, the one that was written last first. A directory that cannot be read is an error,
// beside what the others have.
func (p *Places) Logs(dirs ...string) (paths []string, err error) {
	if len(dirs) == 0 {
		dirs = p.Known()
	}
	var files []store.LogFile
	for _, dir := range dirs {
		for f, unread := range store.LogFiles(dir) {
			if unread != nil {
				err = errors.Join(err, unread)
				continue
			}
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b store.LogFile) int {
		return cmp.Or(b.Info.ModTime().Compare(a.Info.ModTime()), strings.Compare(a.Path, b.Path))
	})
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return slices.Compact(paths), err
}

// Sessions gives the paths of what a user names, sessions and directories of such; where
// nothing is named, of all known sessions.
func (p *Places) Sessions(names []string) (paths []string, err error) {
	if len(names) == 0 {
		return p.Logs()
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			logs, err := p.Logs(name)
			if err != nil {
				return nil, err
			}
			paths = append(paths, logs...)
			continue
		}
		path, err := p.Session(name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return unique(paths), nil
}

// Suits is Match for a session that is open.
func (p *Places) Suits(t *sessiontree.Tree) bool {
	return p.Match(&sessiontree.Info{Agent: t.Agent(), Cwd: t.Header().Cwd})
}
