package checkpoint

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A running tells other sessions in the same workspace of a turn or a restore. It lies in the store, in
// a file a session, and says nothing but that: what it is wrong about makes a conflict more
// or less in a plan.
type running struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Start int64  `json:"start"` // nanoseconds since 1970
	End   int64  `json:"end"`   // 0 while the turn runs
	Root  string `json:"root"`  // of the workspace
}

// statePath is where a workspace's disposable files are, by their suffix.
func (t *Tracker) statePath(suffix string) string {
	return filepath.Join(t.st.dir, statesDir, sumOf(encode(t.ws.id))[:16]+suffix)
}

func (t *Tracker) turnFile() string {
	return filepath.Join(t.statePath(".turns"), sumOf([]byte(t.s.Path()))[:16]+".json")
}

// beginBeside says that a turn runs.
func (t *Tracker) beginBeside(start time.Time) {
	host, _ := os.Hostname()
	t.running = running{Host: host, PID: os.Getpid(), Start: start.UnixNano(), Root: t.ws.id.Path}
	t.tellRunning()
}

// restoreBeside says that a restore runs, and gives what says that it is over: to another
// session's turn its writes are as foreign as a turn's.
func (t *Tracker) restoreBeside() (over func()) {
	if t.turn != nil {
		return func() {} // which the others know of
	}
	t.beginBeside(time.Now())
	return func() {
		t.running.End = time.Now().UnixNano()
		t.tellRunning()
	}
}

// endBeside says that the turn is over, and gives the sessions whose turns ran at the same
// time, in this workspace, in a folder of it or in one that it is in.
func (t *Tracker) endBeside(start time.Time) (beside []string) {
	t.running.End = time.Now().UnixNano()
	t.tellRunning()
	own := t.turnFile()
	for _, name := range t.st.turnFiles() {
		if filepath.Base(name) == filepath.Base(own) {
			continue
		}
		here := filepath.Dir(name) == filepath.Dir(own)
		if r, ok := readRunning(name); ok && r.overlaps(start) && (here || r.meets(t.ws.id.Path)) {
			beside = append(beside, strings.TrimSuffix(filepath.Base(name), ".json"))
		}
	}
	return beside
}

// turnFiles lists what the sessions of a store say of their turns.
func (st *Store) turnFiles() []string {
	list, _ := fs.Glob(os.DirFS(st.dir), statesDir+"/*.turns/*.json")
	for i, name := range list {
		list[i] = filepath.Join(st.dir, filepath.FromSlash(name))
	}
	return list
}

// meets tells whether a folder is in the workspace of a turn, or that in it.
func (r running) meets(root string) bool {
	return r.Root != "" && (covers([]string{r.Root}, root) || covers([]string{root}, r.Root))
}

// readRunning reads what a session says; ok is false where that cannot be read.
func readRunning(name string) (r running, ok bool) {
	data, err := os.ReadFile(name)
	return r, err == nil && json.Unmarshal(data, &r) == nil
}

// overlaps tells whether a turn still ran at a time, or began later. One whose process died
// is over.
func (r running) overlaps(start time.Time) bool {
	switch host, _ := os.Hostname(); {
	case r.Start >= start.UnixNano():
		return true
	case r.End != 0:
		return r.End >= start.UnixNano()
	case r.Host == host:
		return alive(r.PID)
	}
	return time.Since(time.Unix(0, r.Start)) < leftoverAge
}

// tellRunning writes the file. Where that fails other sessions do not know of the turn,
// which is no reason to stop it.
func (t *Tracker) tellRunning() {
	if t.ws.root == nil {
		return
	}
	if err := writeState(t.turnFile(), encode(t.running)); err != nil {
		t.opt.Logger.Warn("other sessions in this workspace will not know of this turn", "error", err)
	}
}

// writeState replaces a disposable file: it is there as a whole, and need not survive.
func writeState(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
