package checkpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A running tells other sessions in the same workspace of a turn or a restore. It lies in a
// cache of the user's, in a file a session, since sessions in other folders have other
// stores. It says nothing but that: what it is wrong about makes a conflict more or less in
// a plan.
type running struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Start int64  `json:"start"` // nanoseconds since 1970
	End   int64  `json:"end"`   // 0 while the turn runs
	Turn  bool   `json:"turn"`  // it is a turn; else a restore, or a single edit
	// Workspace names the folder whatever its path, Root is that path, and Store has the
	// contents of its files.
	Workspace string `json:"workspace"`
	Root      string `json:"root"`
	Store     string `json:"store"`
}

// key names the workspace in names of files.
func (w *workspace) key() string { return sumOf(encode(w.id))[:16] }

// turnsDir is where sessions tell of their turns: all of a user's, or where there is no
// home those with the same store.
func (st *Store) turnsDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return filepath.Join(st.dir, statesDir, "turns")
	}
	return filepath.Join(cache, "sessctl", "turns")
}

func (t *Tracker) turnFile() string {
	return filepath.Join(t.st.turnsDir(), sumOf([]byte(t.s.Path()))[:16]+".json")
}

// beginBeside says that a turn runs, or something else that writes.
func (t *Tracker) beginBeside(start time.Time) {
	host, _ := os.Hostname()
	t.running = running{Host: host, PID: os.Getpid(), Turn: t.turn != nil, Start: start.UnixNano(), Workspace: t.ws.key(), Root: t.ws.id.Path, Store: t.st.dir}
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

// editBeside says that a tool edits, where the harness does not tell of turns.
func (t *Tracker) editBeside(ph phase) {
	if t.turn != nil {
		return
	}
	now := time.Now()
	if ph == phaseBefore {
		t.beginBeside(now)
		return
	}
	t.running.End = now.UnixNano()
	t.tellRunning()
}

// endBeside says that the turn is over, and gives the sessions whose turns ran at the same
// time, in this workspace, in a folder of it or in one that it is in.
func (t *Tracker) endBeside(start time.Time) (beside []string) {
	t.running.End = time.Now().UnixNano()
	t.tellRunning()
	for name, r := range t.st.turns() {
		if name != t.turnFile() && r.overlaps(start) && (r.Workspace == t.ws.key() || r.meets(t.ws.id.Path)) {
			beside = append(beside, strings.TrimSuffix(filepath.Base(name), ".json"))
		}
	}
	slices.Sort(beside)
	return beside
}

// turns gives what sessions say of their last turns, by the files that say it. What is very
// old goes.
func (st *Store) turns() map[string]running {
	all := map[string]running{}
	list, _ := os.ReadDir(st.turnsDir())
	for _, e := range list {
		name := filepath.Join(st.turnsDir(), e.Name())
		r, ok := readRunning(name)
		if ok && time.Since(time.Unix(0, max(r.Start, r.End))) > forgotten {
			_ = os.Remove(name)
		} else if ok {
			all[name] = r
		}
	}
	return all
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
