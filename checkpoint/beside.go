package checkpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
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
}

// key names the workspace in names of files.
func (w *workspace) key() string { return sumOf(encode(w.id))[:16] }

// turnsDir is where sessions tell of their turns in the workspace.
func (t *Tracker) turnsDir() string {
	cache, err := os.UserCacheDir()
	if err != nil { // without a home: then only sessions with the same store know
		return filepath.Join(t.st.dir, statesDir, t.ws.key()+".turns")
	}
	return filepath.Join(cache, "sessctl", "turns", t.ws.key())
}

func (t *Tracker) turnFile() string {
	return filepath.Join(t.turnsDir(), sumOf([]byte(t.s.Path()))[:16]+".json")
}

// beginBeside says that a turn runs.
func (t *Tracker) beginBeside(start time.Time) {
	host, _ := os.Hostname()
	t.running = running{Host: host, PID: os.Getpid(), Start: start.UnixNano()}
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
// time.
func (t *Tracker) endBeside(start time.Time) (beside []string) {
	t.running.End = time.Now().UnixNano()
	t.tellRunning()
	dir := t.turnsDir()
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(name)
		var r running
		switch {
		case err != nil || name == t.turnFile() || json.Unmarshal(data, &r) != nil:
		case r.overlaps(start):
			beside = append(beside, strings.TrimSuffix(e.Name(), ".json"))
		case time.Since(time.Unix(0, r.Start)) > forgotten:
			_ = os.Remove(name)
		}
	}
	return beside
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
