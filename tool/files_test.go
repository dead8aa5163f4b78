package tool_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

// A filesPlay is a play whose tools change files, which are followed.
type filesPlay struct {
	*play
	dir  string
	st   *checkpoint.Store
	root *os.Root
	f    *checkpoint.Tracker
}

func newFilesPlay(t *testing.T) *filesPlay {
	t.Helper()
	p := &filesPlay{play: newPlay(t, nil, false), dir: t.TempDir()}
	p.follow()
	t.Cleanup(func() { p.st.Close(); p.root.Close() })
	p.write("a.go", "0")
	return p
}

// follow makes the tools of an open session follow its files.
func (p *filesPlay) follow() {
	p.t.Helper()
	var err error
	p.root, err = os.OpenRoot(p.dir)
	p.must(err)
	p.st, err = checkpoint.OpenStore(checkpoint.StoreOf(p.s.Path()))
	p.must(err)
	p.f, err = checkpoint.Track(ctx, p.s, p.root, p.st, &checkpoint.TrackOptions{Scan: true})
	p.must(err)
	p.opt.Files = p.f
	p.tools = tool.New(p.s, p.opt)
}

// quit ends the process, as it were, and another one opens the session.
func (p *filesPlay) quit() {
	p.t.Helper()
	p.must(p.s.Close())
	s, err := sessiontree.Open(p.s.Path(), nil)
	p.must(err)
	p.s = s
	p.follow()
}

func (p *filesPlay) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.dir, filepath.FromSlash(name))
	p.must(os.MkdirAll(filepath.Dir(file), 0o755))
	p.must(os.WriteFile(file, []byte(text), 0o644))
}

// edit is a call of a tool that changes a file, which was answered already.
func (p *filesPlay) edit(id, name, text string) {
	p.t.Helper()
	p.must(p.f.BeforeEdit(ctx, id, name))
	p.write(name, text)
	p.must(p.f.AfterEdit(ctx, id, name))
	p.result(id, "write", "done")
}

func (p *filesPlay) has(when string, want ...string) {
	p.t.Helper()
	var got []string
	p.must(filepath.WalkDir(p.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(p.dir, name)
		got = append(got, filepath.ToSlash(rel)+"="+string(data))
		return err
	}))
	if !slices.Equal(got, want) {
		p.t.Errorf("%s: the workspace is %q, want %q", when, got, want)
	}
}

// explore sets a checkpoint and changes files behind it.
func (p *filesPlay) explore() {
	p.t.Helper()
	p.user("why?")
	p.answer("", `c1 checkpoint {"goal":"find out"}`)
	p.call("c1", "checkpoint", `{"goal":"find out"}`)
	p.end()
	p.answer("", `w1 write {"path":"a.go"}`, `w2 write {"path":"d/new.go"}`)
	p.edit("w1", "a.go", "1")
	p.edit("w2", "d/new.go", "n")
	p.end()
}

const restoreArgs = `{"report":"it is a.go","files":"restore"}`

func TestRewindTakesFilesBack(t *testing.T) {
	p := newFilesPlay(t)
	p.explore()
	p.answerAnd("r1 rewind", restoreArgs)
	r, err := p.tools.EndTurn(ctx)
	p.must(err)
	p.has("after the rewind", "a.go=0")
	if r.Files == nil || r.Files.Count(checkpoint.Restored) != 1 || r.Files.Count(checkpoint.Removed) != 2 || len(r.ModifiedFiles) != 0 {
		t.Errorf("told: %+v", r)
	}
	text := string(p.context().Messages[len(p.context().Messages)-1].Raw)
	if !strings.Contains(text, "Files taken back") || !strings.Contains(text, `"restored":["a.go","d","d/new.go"]`) || strings.Contains(text, "left as they are") {
		t.Errorf("the report is %s", text)
	}
	p.quit()
	p.has("opened again", "a.go=0")
	if s := p.state(); s.Phase != tool.Closed {
		t.Errorf("phase %s", s.Phase)
	}
	_, err = p.tools.UndoRewind(ctx)
	p.must(err)
	p.has("the rewind taken back", "a.go=1", "d/new.go=n")
	p.quit()
	redo, err := p.f.Redo(ctx, checkpoint.Both, nil)
	p.must(err)
	_, err = p.f.Commit(ctx, redo, nil)
	p.must(err)
	p.has("and again", "a.go=0")
}

// TestRewindKeepsFiles: what stays is no news to a later restore, and is not lost by one.
func TestRewindKeepsFiles(t *testing.T) {
	p := newFilesPlay(t)
	p.explore()
	p.answerAnd("r1 rewind", `{"report":"it is a.go"}`)
	p.end()
	p.has("after the rewind", "a.go=1", "d/new.go=n")
	p.quit()
	p.user("go on")
	p.answer("", `w3 write {"path":"b.go"}`, `w4 write {"path":"a.go"}`)
	p.edit("w3", "b.go", "b")
	p.edit("w4", "a.go", "2")
	p.end()
	undo, err := p.f.Undo(ctx, checkpoint.Both, nil)
	p.must(err)
	if n := undo.Count(checkpoint.ActConflict); n != 0 {
		t.Errorf("%d false conflicts: %+v", n, undo.Items)
	}
	_, err = p.f.Commit(ctx, undo, nil)
	p.must(err)
	p.has("the turn after it taken back", "a.go=1", "d/new.go=n")
}

func TestRewindKeepsWhatRanBesideIt(t *testing.T) {
	p := newFilesPlay(t)
	p.explore()
	p.answer("", "r1 rewind "+restoreArgs, `w5 write {"path":"a.go"}`, `w6 write {"path":"c.go"}`)
	p.call("r1", "rewind", restoreArgs)
	p.edit("w5", "a.go", "beside")
	p.edit("w6", "c.go", "c")
	p.end()
	p.has("after the rewind", "a.go=beside", "c.go=c")
	p.quit()
	p.user("go on")
	p.answer("", `w7 write {"path":"a.go"}`)
	p.edit("w7", "a.go", "later")
	p.end()
	undo, err := p.f.Undo(ctx, checkpoint.Both, nil)
	p.must(err)
	_, err = p.f.Commit(ctx, undo, nil)
	p.must(err)
	p.has("the turn after it taken back", "a.go=beside", "c.go=c")
	undo, err = p.f.Undo(ctx, checkpoint.Both, nil)
	p.must(err)
	_, err = p.f.Commit(ctx, undo, nil)
	p.must(err)
	p.has("the turn with the rewind taken back", "a.go=0")
}

// TestRewindLeavesHandEdits: the conversation goes back, the files stay, and the model is
// told.
func TestRewindLeavesHandEdits(t *testing.T) {
	p := newFilesPlay(t)
	p.explore()
	p.write("a.go", "by hand")
	p.answerAnd("r1 rewind", restoreArgs)
	r, err := p.tools.EndTurn(ctx)
	p.must(err)
	p.has("after the rewind", "a.go=by hand", "d/new.go=n")
	if r.Files != nil || !strings.Contains(r.FilesKept, "a.go: its content changed since") {
		t.Errorf("told: %+v", r)
	}
	if text := string(p.context().Messages[len(p.context().Messages)-1].Raw); !strings.Contains(text, "stay as they are: ") || !strings.Contains(text, `"restored":[]`) {
		t.Errorf("the report is %s", text)
	}
	if s := p.state(); s.Phase != tool.Closed {
		t.Errorf("phase %s", s.Phase)
	}
}

// TestRewindLeavesWhatNoToolDid: a model cannot know whose that is.
func TestRewindLeavesWhatNoToolDid(t *testing.T) {
	p := newFilesPlay(t)
	p.must(p.f.TurnStart(ctx))
	p.explore()
	p.write("shell", "made")
	p.must(p.f.TurnEnd(ctx))
	p.answerAnd("r1 rewind", restoreArgs)
	p.end()
	p.has("after the rewind", "a.go=0", "shell=made")
}

// TestRewindCutShort: a crash in the middle of the restore leaves the rewind pending; only
// Resume finishes it, and Cancel gives it up.
func TestRewindCutShort(t *testing.T) {
	for _, finish := range []string{"resume", "cancel"} {
		t.Run(finish, func(t *testing.T) {
			p := newFilesPlay(t)
			p.explore()
			p.answerAnd("r1 rewind", restoreArgs)
			p.end()
			p.must(p.s.Close())
			p.cutBehindBegin()
			p.write("d/new.go", "n") // as it was: the crash came before it went
			p.quit()
			if s := p.state(); s.Phase != tool.Pending {
				t.Fatalf("phase %s", s.Phase)
			}
			p.has("opened again", "a.go=0", "d/new.go=n")
			if finish == "cancel" {
				p.must(p.tools.Cancel(ctx))
				p.quit()
				p.has("given up", "a.go=0", "d/new.go=n")
				return
			}
			r, err := p.tools.Resume(ctx)
			p.must(err)
			if r == nil || r.Files.Count(checkpoint.Restored) != 1 {
				t.Errorf("told: %+v", r)
			}
			p.quit()
			p.has("finished", "a.go=0")
		})
	}
}

// cutBehindBegin cuts the log behind the last begin of a restore.
func (p *filesPlay) cutBehindBegin() {
	p.t.Helper()
	log, err := os.ReadFile(p.s.Path())
	p.must(err)
	at := bytes.LastIndex(log, []byte(`"phase":"begin"`))
	if at < 0 {
		p.t.Fatal("the log has no begin of a restore")
	}
	end := at + bytes.IndexByte(log[at:], '\n') + 1
	p.must(os.WriteFile(p.s.Path(), log[:end], 0o600))
}
