package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Usage is what takes the space of a folder of sessions.
type Usage struct {
	Logs      []LogUsage // what would free most first
	Size      int64      // of the logs
	Blobs     int        // in the store
	BlobBytes int64
	// Looks are the contents that no log refers to, and that a scan remembers of a
	// workspace: its next scan compares with them.
	Looks      int
	LooksBytes int64
	Garbage    Garbage
}

// A LogUsage is what one log takes.
type LogUsage struct {
	Path      string
	Missing   bool  // it is registered, and not there
	Size      int64 // of the file
	Blobs     int   // contents that it refers to, as far as the store has them
	BlobBytes int64 // as they are stored
	Own       int   // those that only it refers to
	OwnBytes  int64
}

// UsageOf tells what takes the space of a folder of sessions, with the logs elsewhere
// that refer to its store. It changes nothing.
func UsageOf(ctx context.Context, home string) (*Usage, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return nil, err
	}
	st, err := LookStore(StoreOf(filepath.Join(home, "log")))
	if errors.Is(err, fs.ErrNotExist) {
		return usageOfLogs(home)
	}
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return st.usage(ctx)
}

// usageOfLogs is that of a folder without a store.
func usageOfLogs(home string) (*Usage, error) {
	paths, err := logsIn(home, "")
	if err != nil {
		return nil, err
	}
	u := &Usage{}
	for _, name := range paths {
		if err := u.addLog(LogUsage{Path: name}); err != nil {
			return nil, err
		}
	}
	u.sort()
	return u, nil
}

func (u *Usage) addLog(l LogUsage) error {
	info, err := os.Stat(l.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.Missing = true
	case err != nil:
		return err
	default:
		l.Size = info.Size()
	}
	u.Size += l.Size
	u.Logs = append(u.Logs, l)
	return nil
}

func (u *Usage) sort() {
	slices.SortStableFunc(u.Logs, func(a, b LogUsage) int {
		return cmp.Compare(b.Size+b.OwnBytes, a.Size+a.OwnBytes)
	})
}

func (st *Store) usage(ctx context.Context) (*Usage, error) {
	logs, err := st.Logs(ctx)
	if err != nil {
		return nil, err
	}
	u := &Usage{}
	sizes := map[string]int64{}
	err = st.eachBlob(func(_, sum string, info fs.FileInfo) error {
		sizes[sum] = info.Size()
		u.Blobs++
		u.BlobBytes += info.Size()
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	users := map[string]int{}
	for _, l := range logs {
		for _, sum := range l.Blobs {
			users[sum]++
		}
	}
	for _, l := range logs {
		if err := u.addLog(l.usage(sizes, users)); err != nil {
			return nil, err
		}
	}
	u.sort()
	g, err := st.garbage(ctx, logs)
	if err != nil {
		return nil, err
	}
	u.Garbage, u.Looks, u.LooksBytes = *g, g.Kept, g.Size
	for sum := range users {
		if size, ok := sizes[sum]; ok {
			u.Looks, u.LooksBytes = u.Looks-1, u.LooksBytes-size
		}
	}
	return u, nil
}

func (l Log) usage(sizes map[string]int64, users map[string]int) LogUsage {
	u := LogUsage{Path: l.Path}
	for _, sum := range l.Blobs {
		size, ok := sizes[sum]
		if !ok {
			continue
		}
		u.Blobs++
		u.BlobBytes += size
		if users[sum] == 1 {
			u.Own++
			u.OwnBytes += size
		}
	}
	return u
}
