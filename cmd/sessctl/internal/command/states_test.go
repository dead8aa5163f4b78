package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// cutLog has a restore that was cut short, and a record that cannot be read.
const cutLog = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}
{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}
{"type":"custom","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-01-01T00:00:02.000Z","customType":"file-snapshot","data":"none"}
{"type":"custom","id":"aaaa0003","parentId":"aaaa0002","timestamp":"2026-01-01T00:00:03.000Z","customType":"file-restore","data":{"phase":"begin","plan":"1","to":"aaaa0001","scope":"code","files":[]}}
`

// worked is a session with file states: changes of all sorts, an undo and a redo; then
// somebody edited a file.
func worked(t *testing.T) string {
	t.Helper()
	w := &worker{T: t, dir: t.TempDir()}
	home := t.TempDir()
	var err error
	w.s, err = sessiontree.Create(home, entries.Header{Cwd: w.dir}, nil)
	w.must(err)
	defer w.s.Close()
	root, err := os.OpenRoot(w.dir)
	w.must(err)
	defer root.Close()
	st, err := checkpoint.OpenStore(checkpoint.StoreOf(w.s.Path()))
	w.must(err)
	defer st.Close()
	w.files, err = checkpoint.Track(t.Context(), w.s, root, st, &checkpoint.TrackOptions{Scan: true})
	w.must(err)
	w.play(st)
	return w.s.Path()
}

type worker struct {
	*testing.T
	dir   string
	s     *sessiontree.Session
	files *checkpoint.Tracker
}

func (w *worker) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *worker) write(name, text string) {
	w.Helper()
	w.must(os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644))
}

func (w *worker) append(d ...entries.Draft) {
	w.Helper()
	_, err := w.s.Append(w.Context(), d...)
	w.must(err)
}

func (w *worker) play(st *checkpoint.Store) {
	ctx := w.Context()
	w.write("a", "one\n")
	w.write(".env", "KEY=1")
	w.must(w.files.TurnStart(ctx))
	w.append(entries.UserMessage("change it"), entries.MessageDraft(json.RawMessage(
		`{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"write","arguments":{}},{"type":"toolCall","id":"c2","name":"bash","arguments":{"command":"git push"}}]}`)))
	w.must(w.files.BeforeEdit(ctx, "c1", "a"))
	w.write("a", "two\n")
	w.must(w.files.AfterEdit(ctx, "c1", "a"))
	w.write("made", "by a command")
	w.must(w.files.TurnEnd(ctx))
	for _, plan := range []func() (*checkpoint.Plan, error){
		func() (*checkpoint.Plan, error) { return w.files.Undo(ctx, checkpoint.Code, nil) },
		func() (*checkpoint.Plan, error) { return w.files.Redo(ctx, checkpoint.Code, nil) },
	} {
		p, err := plan()
		w.must(err)
		_, err = w.files.Commit(ctx, p, nil)
		w.must(err)
	}
	w.append(entries.UserMessage("more"))
	w.must(w.files.BeforeEdit(ctx, "c3", "a", "b"))
	w.write("a", "three\n")
	w.write("b", "b\n")
	w.must(w.files.AfterEdit(ctx, "c3", "a", "b"))
	_, err := w.s.SetName(ctx, "quotes")
	w.must(err)
	w.write("a", "by hand\n")
	w.must(os.Remove(filepath.Join(w.dir, "b")))
	sum, err := st.Put([]byte("nobody's"))
	w.must(err)
	old := time.Now().Add(-48 * time.Hour)
	w.must(os.Chtimes(filepath.Join(st.Dir(), "sha256", sum[:2], sum[2:]), old, old))
}

// undone is a session whose last turn was taken back, without its files.
func undone(t *testing.T) string {
	t.Helper()
	path := worked(t)
	if r := sessctl(t, "undo", "--yes", path); r.code != 0 {
		t.Fatal(r.stderr)
	}
	return path
}

// cutShort is a session with a restore that was cut short, of a file that is now something
// else than before it and after it.
func cutShort(t *testing.T) string {
	t.Helper()
	path := worked(t)
	s, err := sessiontree.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tree, err := s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	var data struct{ Workspace json.RawMessage }
	var first entries.ID
	for e, err := range tree.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = e.ID
		}
		if c, err := e.Custom(); err == nil && data.Workspace == nil {
			_ = json.Unmarshal(c.Data, &data) // which not every entry has
		}
	}
	raw, err := json.Marshal(map[string]any{"phase": "begin", "plan": "1", "to": first, "scope": "code", "workspace": data.Workspace,
		"files": []any{map[string]any{"path": "a", "from": map[string]any{"kind": "absent"}, "to": map[string]any{"kind": "symlink", "target": "x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), entries.CustomDraft(entries.CustomFileRestore, raw)); err != nil {
		t.Fatal(err)
	}
	return path
}
