package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// agent LOG STEP... plays a harness that records file states: it makes the log where it is
// missing, works in the folder ws beside it, and does the steps, such as 'prompt fix it'
// and 'write a.txt one\n'. In a step \n is a newline, \r a
// carriage return, \0 a NUL and \e an escape.
func agent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: agent LOG STEP...")
	}
	log := ts.MkAbs(args[0])
	p := &player{log: log, ws: filepath.Join(filepath.Dir(log), "ws")}
	defer p.close()
	ts.Check(p.open())
	decode := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\0`, "\x00", `\e`, "\x1b")
	for _, step := range args[1:] {
		verb, rest, _ := strings.Cut(step, " ")
		if err := p.step(verb, decode.Replace(rest)); err != nil {
			ts.Fatalf("%s: %v", step, err)
		}
	}
}

type player struct {
	log, ws string
	s       *sessiontree.Session
	root    *os.Root
	st      *checkpoint.Store
	files   *checkpoint.Tracker
	calls   int
}

func (p *player) open() (err error) {
	if err := os.MkdirAll(p.ws, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(p.log); err != nil {
		s, err := sessiontree.Create(filepath.Dir(p.log), entries.Header{Cwd: p.ws}, nil)
		if err != nil {
			return err
		}
		s.Close()
		if err := os.Rename(s.Path(), p.log); err != nil {
			return err
		}
	}
	if p.s, err = openLog(p.log); err != nil {
		return err
	}
	if p.root, err = os.OpenRoot(p.ws); err != nil {
		return err
	}
	if p.st, err = checkpoint.OpenStore(checkpoint.StoreOf(p.log)); err != nil {
		return err
	}
	p.files, err = checkpoint.Track(context.Background(), p.s, p.root, p.st, &checkpoint.TrackOptions{Scan: true})
	return err
}

// openLog opens a session that was closed a moment ago. A command that another script
// starts just then has a copy of its lock, until it is the command.
func openLog(path string) (s *sessiontree.Session, err error) {
	for range 100 {
		if s, err = sessiontree.Open(path, nil); !errors.Is(err, sessiontree.ErrLocked) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return s, err
}

func (p *player) close() {
	if p.s != nil {
		p.s.Close()
	}
	if p.root != nil {
		p.root.Close()
	}
	if p.st != nil {
		p.st.Close()
	}
}

func (p *player) step(verb, rest string) error {
	path, more, _ := strings.Cut(rest, " ")
	file := filepath.Join(p.ws, filepath.FromSlash(path))
	switch verb {
	case "prompt":
		return p.append(entries.UserMessage(rest))
	case "write":
		return p.tool(verb, path, func() error { return put(file, more) })
	case "rm":
		return p.tool(verb, path, func() error { return os.Remove(file) })
	case "link":
		return p.tool(verb, path, func() error { return os.Symlink(more, file) })
	case "chmod":
		mode, err := strconv.ParseUint(more, 8, 32)
		if err != nil {
			return err
		}
		return p.tool(verb, path, func() error { return os.Chmod(file, os.FileMode(mode)) })
	case "many":
		return p.many(rest)
	case "bash": // a command that no file record tells of
		return p.call("bash", map[string]string{"command": rest})
	case "start":
		return p.files.TurnStart(context.Background())
	case "end":
		return p.files.TurnEnd(context.Background())
	case "hand": // nobody tells of it
		return put(file, more)
	case "label":
		_, err := p.s.SetLabel(context.Background(), p.s.Leaf(), rest)
		return err
	case "go": // as a program does that knows nothing of file states
		t, err := p.s.Tree()
		if err != nil {
			return err
		}
		e, err := locate.Entry(t, rest)
		if err != nil {
			return err
		}
		_, err = p.s.MoveLeaf(context.Background(), e.ID, sessiontree.ReasonCheckout)
		return err
	case "cut":
		return p.cut(rest)
	case "nobody": // a content that no log refers to
		sum, err := p.st.Put([]byte(rest))
		if err != nil {
			return err
		}
		old := time.Now().Add(-48 * time.Hour)
		return os.Chtimes(filepath.Join(p.st.Dir(), "sha256", sum[:2], sum[2:]), old, old)
	}
	return fmt.Errorf("no step %q", verb)
}

func put(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func (p *player) append(d entries.Draft) error {
	_, err := p.s.Append(context.Background(), d)
	return err
}

// call appends an answer that calls a tool.
func (p *player) call(tool string, args map[string]string) error {
	p.calls++
	raw, err := json.Marshal(map[string]any{"role": "assistant", "content": []any{map[string]any{
		"type": "toolCall", "id": fmt.Sprintf("c%d", p.calls), "name": tool, "arguments": args,
	}}})
	if err != nil {
		return err
	}
	return p.append(entries.MessageDraft(raw))
}

// tool changes a file as a tool does.
func (p *player) tool(name, path string, do func() error) error {
	if err := p.call(name, map[string]string{"path": path}); err != nil {
		return err
	}
	id := fmt.Sprintf("c%d", p.calls)
	if err := p.files.BeforeEdit(context.Background(), id, path); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	if err := p.files.AfterEdit(context.Background(), id, path); err != nil {
		return err
	}
	return p.append(entries.ToolResult(id, name, nil, false, nil))
}

// many makes so many files in one call.
func (p *player) many(count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	var paths []string
	for i := range n {
		paths = append(paths, fmt.Sprintf("f%d", i))
	}
	if err := p.files.BeforeEdit(context.Background(), "", paths...); err != nil {
		return err
	}
	for _, name := range paths {
		if err := put(filepath.Join(p.ws, name), "x"); err != nil {
			return err
		}
	}
	return p.files.AfterEdit(context.Background(), "", paths...)
}

// cut begins to restore the files of an entry, or of a rewind to it, does the first of
// them, and dies. With "both" the leaf was to follow.
func (p *player) cut(entry string) error {
	entry, rewind, _ := strings.Cut(entry, " ")
	scope := checkpoint.Code
	if rewind == "both" {
		scope, rewind = checkpoint.Both, ""
	}
	ctx := context.Background()
	t, err := p.s.Tree()
	if err != nil {
		return err
	}
	e, err := locate.Entry(t, entry)
	if err != nil {
		return err
	}
	plan, err := p.files.Plan(ctx, e.ID, scope, nil)
	if err != nil {
		return err
	}
	var files []any
	for _, it := range plan.Items {
		files = append(files, map[string]any{"path": it.Path, "from": it.Disk, "to": it.To})
	}
	begin := map[string]any{"phase": "begin", "plan": plan.ID, "to": e.ID, "scope": scope, "files": files, "rewind": rewind, "workspace": workspaceIn(t)}
	if scope == checkpoint.Both {
		begin["move"] = map[string]any{"to": e.ID, "reason": "restore"}
	}
	raw, err := json.Marshal(begin)
	if err != nil {
		return err
	}
	if err := p.append(entries.CustomDraft(entries.CustomFileRestore, raw)); err != nil {
		return err
	}
	first := plan.Items[0]
	data, err := p.st.Get(first.To.SHA256)
	if err != nil {
		return err
	}
	return put(filepath.Join(p.ws, filepath.FromSlash(first.Path)), string(data))
}

// workspaceIn gives the workspace as the records of a log name it.
func workspaceIn(t *sessiontree.Tree) (w json.RawMessage) {
	for e, err := range t.Entries() {
		if err != nil {
			break
		}
		var data struct{ Workspace json.RawMessage }
		if c, err := e.Custom(); err == nil && json.Unmarshal(c.Data, &data) == nil && data.Workspace != nil {
			w = data.Workspace
		}
	}
	return w
}

// last-word FILE NAME puts the word that a file ends in into a variable: the id of a plan, or
// the path of a fork.
func lastWord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: last-word FILE NAME")
	}
	words := strings.Fields(ts.ReadFile(args[0]))
	ts.Setenv(args[1], words[len(words)-1])
}
