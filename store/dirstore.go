package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/durable"
)

// A DirStore is a directory with a log `<session>.jsonl` for each session.
type DirStore struct {
	fsys durable.FS
	dir  string
}

var _ Store = (*DirStore)(nil)

// Dir gives the logs in a directory, which is made with the first log. Its logs take
// no lock: writers of one log are told apart by where they believe that it ends, as
// long as they do not write in the same instant (see [FileLog]).
func Dir(path string) *DirStore { return DirIn(durable.OS(), path) }

// DirIn is Dir on another file system, for this module's tests.
func DirIn(fsys durable.FS, path string) *DirStore { return &DirStore{fsys, path} }

// ErrSessionName: the name cannot be a file's.
var ErrSessionName = errors.New("not a name that a session can have here")

const logSuffix = ".jsonl"

// path gives the file of a session. A name leads nowhere but into the directory, and
// is not hidden, as temporary files are.
func (d *DirStore) path(session string) (string, error) {
	if session == "" || strings.HasPrefix(session, ".") || strings.ContainsAny(session, "/\\\x00:") || !filepath.IsLocal(session) {
		return "", fmt.Errorf("%w: %q", ErrSessionName, session)
	}
	return filepath.Join(d.dir, session+logSuffix), nil
}

// Open implements Store.
func (d *DirStore) Open(ctx context.Context, session string) (Log, error) {
	path, err := d.path(session)
	if err = errors.Join(ctx.Err(), err); err != nil {
		return nil, err
	}
	log, err := OpenFileLogIn(d.fsys, path)
	if err != nil {
		return nil, err
	}
	// Whoever made the log may have died before its name was durable.
	if err := d.fsys.SyncDir(d.dir); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// Create implements Store.
func (d *DirStore) Create(ctx context.Context, session string, lines []byte) (Log, error) {
	path, err := d.path(session)
	if err = errors.Join(ctx.Err(), err); err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(d.fsys, d.dir, 0o700); err != nil {
		return nil, err
	}
	log, err := CreateFileLogIn(d.fsys, path, lines)
	if err != nil {
		return nil, err // not log: a nil *FileLog would be a Log that is not nil
	}
	return log, nil
}

// List implements Store.
func (d *DirStore) List(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		list, err := d.fsys.ReadDir(d.dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			yield("", err)
			return
		}
		for _, entry := range list {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			session, ok := strings.CutSuffix(entry.Name(), logSuffix)
			if _, err := d.path(session); !ok || err != nil || entry.IsDir() {
				continue
			}
			if !yield(session, nil) {
				return
			}
		}
	}
}
