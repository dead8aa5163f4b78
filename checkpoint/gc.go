package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/store"
)

// A Log is a file that may refer to blobs, with what it refers to.
type Log struct {
	Path    string
	Size    int64
	Missing bool     // it is registered, and not there
	Blobs   []string // sums, each once, sorted
}

// Logs lists the files that refer to the store: logs, archives and saved pieces of logs
// beside it, in directories beside it and in a trash there, and logs elsewhere that were
// registered. They are not read as logs: whatever looks like a sum counts, also in what is
// damaged, so that nothing is taken for garbage that somebody may still bring back.
func (st *Store) Logs(ctx context.Context) (logs []Log, err error) {
	const tries = 10
	for range tries {
		if logs, err = st.logsNow(ctx); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		// One went away after it was listed: it may have another name now.
	}
	return logs, err
}

func (st *Store) logsNow(ctx context.Context) (logs []Log, err error) {
	beside, err := st.logsBeside()
	if err != nil {
		return nil, err
	}
	registered, err := st.registered()
	if err != nil {
		return nil, err
	}
	for i, name := range append(beside, registered...) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := Log{Path: name}
		if l.Blobs, l.Size, err = st.mentioned(name); errors.Is(err, fs.ErrNotExist) && i >= len(beside) {
			l.Missing, err = true, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s may refer to blobs, and cannot be read: %w", name, err)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// logsBeside lists the logs that are found without being registered.
func (st *Store) logsBeside() (paths []string, err error) {
	return logsIn(filepath.Dir(st.dir), st.dir)
}

// logsIn lists the logs in a folder and in the directories in it, but for one.
func logsIn(home, except string) (paths []string, err error) {
	dirs := []string{home}
	list, err := os.ReadDir(home)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if e.IsDir() && filepath.Join(home, e.Name()) != except {
			dirs = append(dirs, filepath.Join(home, e.Name()))
		}
	}
	for _, dir := range dirs {
		list, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if strings.Contains(e.Name(), ".jsonl") && !strings.HasSuffix(e.Name(), ".lock") && !e.IsDir() {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return paths, nil
}

// mentioned lists the sums in a file, and in the lists of files that it names.
func (st *Store) mentioned(name string) (sums []string, size int64, err error) {
	src, err := store.OpenFile(name)
	if errors.Is(err, store.ErrNotALog) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer src.Close()
	if size, err = src.Size(); err != nil {
		return nil, 0, err
	}
	m := &mentions{sums: map[string]bool{}, lists: map[string]bool{}}
	if err := m.read(io.NewSectionReader(src, 0, size)); err != nil {
		return nil, 0, err
	}
	for sum := range m.lists {
		data, err := st.Get(sum)
		if err != nil {
			continue // what it named is lost with it
		}
		m.see(data)
	}
	for sum := range m.sums {
		sums = append(sums, sum)
	}
	slices.Sort(sums)
	return sums, size, nil
}

// Garbage is what no log refers to.
type Garbage struct {
	Blobs   []Blob
	Bytes   int64
	Young   int   // blobs that nothing refers to yet, and that are too young to say, or of a running turn
	Kept    int   // blobs that are referred to
	Size    int64 // of those
	Missing []string
	indexes []string // what scans remembered of workspaces that nobody scans any more
}

// A Blob is one of a store.
type Blob struct {
	Sum  string
	Size int64 // as it is stored
	Time time.Time
}

const (
	// youngest is how old a blob has to be to be garbage: a writer stores it before it
	// refers to it.
	youngest = 24 * time.Hour
	// forgotten is when what a scan remembered is not needed any more.
	forgotten = 30 * 24 * time.Hour
)

// ErrMissingLog: a registered log is not where it was, so that what it refers to is not
// known.
var ErrMissingLog = errors.New("checkpoint: a log that refers to the store is missing")

// Garbage finds what no log refers to and no scan remembers. It changes nothing.
func (st *Store) Garbage(ctx context.Context) (*Garbage, error) {
	logs, err := st.Logs(ctx)
	if err != nil {
		return nil, err
	}
	return st.garbage(ctx, logs)
}

// garbage finds what none of some logs refers to.
func (st *Store) garbage(ctx context.Context, logs []Log) (*Garbage, error) {
	g := &Garbage{}
	named := map[string]bool{}
	for _, l := range logs {
		if l.Missing {
			g.Missing = append(g.Missing, l.Path)
		}
		for _, sum := range l.Blobs {
			named[sum] = true
		}
	}
	if err := st.remembered(g, named); err != nil {
		return nil, err
	}
	running := st.turnRuns()
	err := st.eachBlob(func(name, sum string, info fs.FileInfo) error {
		switch {
		case named[sum]:
			g.Kept++
			g.Size += info.Size()
		case running, st.isYoung(info):
			g.Young++
		default:
			g.Blobs = append(g.Blobs, Blob{sum, info.Size(), info.ModTime()})
			g.Bytes += info.Size()
		}
		return ctx.Err()
	})
	return g, err
}

// remembered adds what scans remember, and finds what may be forgotten.
func (st *Store) remembered(g *Garbage, named map[string]bool) error {
	list, err := os.ReadDir(filepath.Join(st.dir, statesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".index") {
			continue
		}
		name := filepath.Join(st.dir, statesDir, e.Name())
		info, err := e.Info()
		if err != nil {
			return err
		}
		if st.now().Sub(info.ModTime()) > forgotten {
			g.indexes = append(g.indexes, name)
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if x := decodeIndex(data); x != nil {
			x.mention(named)
		}
	}
	return err
}

func (x *index) mention(named map[string]bool) {
	for _, nodes := range x.dirs {
		for _, n := range nodes {
			if n.state.Kind == File {
				named[n.state.SHA256] = true
			}
		}
	}
}

// turnRuns tells whether a session's turn runs. What it found when it began is named nowhere
// until it ends, where another session has looked at the same workspace since.
func (st *Store) turnRuns() bool {
	for _, r := range st.turns() {
		if r.Turn && r.Store == st.dir && r.End == 0 && r.overlaps(st.now()) {
			return true
		}
	}
	return false
}

// eachBlob goes over the blobs of the store.
func (st *Store) eachBlob(see func(name, sum string, info fs.FileInfo) error) error {
	dirs, err := st.fsys.ReadDir(sumsDir)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		list, err := st.fsys.ReadDir(path.Join(sumsDir, d.Name()))
		if err != nil {
			return err
		}
		for _, e := range list {
			sum := d.Name() + strings.TrimSuffix(e.Name(), zstdSuffix)
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) || !validSum(sum) || err == nil && !info.Mode().IsRegular() {
				continue // it went away; or it is none of ours
			}
			if err != nil {
				return err
			}
			if err := see(path.Join(sumsDir, d.Name(), e.Name()), sum, info); err != nil {
				return err
			}
		}
	}
	return nil
}

// Collect removes garbage that was found before, if it still is: a writer that stores a
// content anew makes its blob young. While a log is missing nothing is removed, with an
// error that is ErrMissingLog. It returns how much was removed.
func (st *Store) Collect(ctx context.Context, g *Garbage) (blobs int, bytes int64, err error) {
	if len(g.Missing) > 0 {
		return 0, 0, fmt.Errorf("%w: %s; bring it back, or remove what names it in %s", ErrMissingLog, strings.Join(g.Missing, ", "), filepath.Join(st.dir, refsDir))
	}
	for _, name := range g.indexes {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return blobs, bytes, err
		}
	}
	for _, b := range g.Blobs {
		if err := ctx.Err(); err != nil {
			return blobs, bytes, err
		}
		gone, err := st.removeBlob(b.Sum)
		if err != nil {
			return blobs, bytes, err
		}
		if gone {
			blobs++
			bytes += b.Size
		}
	}
	return blobs, bytes, nil
}

// removeBlob removes a blob that is old. It takes the name away first and looks at the
// time then: a writer that relied on the blob has touched it before, which is seen, or does
// not find it any more, and stores it anew. What is found aside later, putBack brings back.
func (st *Store) removeBlob(sum string) (gone bool, err error) {
	name, info, err := st.find(sum)
	if err != nil || st.isYoung(info) {
		return false, nil // it went away, or is needed again
	}
	aside := asideOf(name)
	if err = st.fsys.Rename(name, aside); err == nil {
		info, err = st.fsys.Lstat(aside)
	}
	switch {
	case err == nil && st.isYoung(info):
		err = st.fsys.Rename(aside, name)
	case err == nil:
		err = st.fsys.Remove(aside)
		gone = err == nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // another process has it, or has brought it back
	}
	return gone, err
}

func (st *Store) isYoung(info fs.FileInfo) bool { return st.now().Sub(info.ModTime()) < youngest }

// asideOf names where a blob is while it is removed: so that whoever finds it there knows
// where it was.
func asideOf(name string) string {
	return path.Join(tempDir, tempName()+"-"+path.Base(path.Dir(name))+path.Base(name))
}

// putBack brings back what a removal left aside, where a process died in it: a writer may
// have relied on it. ok tells that it was such a file.
func (st *Store) putBack(aside string) (ok bool) {
	base := aside[strings.LastIndexByte(aside, '-')+1:]
	sum, suffix := strings.CutSuffix(base, zstdSuffix)
	if !validSum(sum) {
		return false
	}
	name := blobName(sum)
	if suffix {
		name += zstdSuffix
	}
	if st.Has(sum) {
		_ = st.fsys.Remove(path.Join(tempDir, aside))
	} else if st.fsys.Rename(path.Join(tempDir, aside), name) == nil {
		_ = st.fsys.SyncDir(path.Dir(name))
	}
	return true
}
