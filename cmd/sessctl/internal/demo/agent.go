package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/checkpoint"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

// A turn is a user's prompt, and what the model answers until it calls nothing more.
type turn struct {
	prompt  string
	answers []answer
}

// An answer is a scripted one of the model.
type answer struct {
	text  string
	calls []call
}

// A call is one of a tool.
type call struct {
	name string
	args args
}

// args are the arguments of any tool here.
type args struct {
	Path    string `json:"path,omitempty"`
	OldText string `json:"oldText,omitempty"`
	NewText string `json:"newText,omitempty"`
	Command string `json:"command,omitempty"`
	Goal    string `json:"goal,omitempty"`
	Label   string `json:"label,omitempty"`
	Report  string `json:"report,omitempty"`
	Files   string `json:"files,omitempty"`
}

// An agent is a harness with a scripted model.
type agent struct {
	s     *sessiontree.Session
	tools *tool.Tools
	files *checkpoint.Tracker
	work  *workspace
	say   func(line string)
	// beforeRewind, where set, is called when rewind has its result, before the turn ends.
	beforeRewind func() error
}

// newAgent makes an agent on an open session. It follows the files of its workspace, so
// that they go back and forward with the conversation.
func newAgent(ctx context.Context, s *sessiontree.Session, work string, say func(string)) (*agent, error) {
	w, err := openWorkspace(work)
	if err != nil {
		return nil, err
	}
	blobs, err := checkpoint.OpenStore(checkpoint.StoreOf(s.Path()))
	if err != nil {
		return nil, err
	}
	w.blobs = blobs
	files, err := checkpoint.Track(ctx, s, w.root, blobs, &checkpoint.TrackOptions{Scan: true})
	if err != nil {
		return nil, err
	}
	return &agent{s: s, tools: tool.New(s, &tool.Options{Files: files}), files: files, work: w, say: say}, nil
}

// turn is a harness's loop. A real one would send the model the context of each step.
func (a *agent) turn(ctx context.Context, title string, t turn) error {
	a.say(title)
	a.say("  user: " + t.prompt)
	if err := a.files.TurnStart(ctx); err != nil {
		return err
	}
	if _, err := a.s.Append(ctx, entries.UserMessage(t.prompt)); err != nil {
		return err
	}
	for _, answer := range t.answers {
		if err := a.step(ctx, answer); err != nil {
			return err
		}
	}
	if err := a.files.TurnEnd(ctx); err != nil {
		return err
	}
	return a.s.EndTurn(ctx)
}

// step appends an answer, runs its calls, and ends the turn for the tools.
func (a *agent) step(ctx context.Context, answer answer) error {
	ids, err := a.append(ctx, answer)
	if err != nil {
		return err
	}
	if answer.text != "" {
		a.say("  agent: " + answer.text)
	}
	for i, c := range answer.calls {
		if err := a.call(ctx, ids[i], c); err != nil {
			return err
		}
		if c.name == tool.NameRewind && a.beforeRewind != nil {
			if err := a.beforeRewind(); err != nil {
				return err
			}
		}
	}
	_, err = a.tools.EndTurn(ctx)
	return err
}

// append puts an answer into the log and gives the ids of its calls.
func (a *agent) append(ctx context.Context, answer answer) (ids []string, err error) {
	input, err := tokensAt(a.s, a.s.Leaf())
	if err != nil {
		return nil, err
	}
	m := entries.Assistant{API: "demo", Provider: "demo", Model: "scripted", StopReason: "stop"}
	if answer.text != "" {
		m.Content = append(m.Content, entries.TextBlock(answer.text))
	}
	for _, c := range answer.calls {
		id, err := a.s.NewID()
		if err != nil {
			return nil, err
		}
		ids = append(ids, "call-"+string(id))
		m.Content = append(m.Content, entries.ToolCallBlock(ids[len(ids)-1], c.name, encode(c.args)))
		m.StopReason = "toolUse"
	}
	output := modelcontext.EstimateTokens(modelcontext.Message{Raw: encode(map[string]any{"content": m.Content})})
	m.Usage = entries.Tokens{Input: float64(input), Output: float64(output)}
	_, err = a.s.Append(ctx, entries.AssistantMessage(m))
	return ids, err
}

// call runs a call and puts its result into the log.
func (a *agent) call(ctx context.Context, id string, c call) error {
	if tool.Is(c.name) {
		r, err := a.tools.Call(ctx, c.name, id, encode(c.args))
		if err == nil && r.IsError {
			err = fmt.Errorf("%s: %s", c.name, r.Text)
		}
		a.say("  " + described(c))
		return err
	}
	text, outcome, err := a.run(ctx, id, c)
	if err != nil { // a real agent would tell its model; here it is a mistake of the script
		return err
	}
	a.say(fmt.Sprintf("  %s (%s)", described(c), outcome))
	_, err = a.s.Append(ctx, entries.ToolResult(id, c.name, []json.RawMessage{entries.TextBlock(text)}, false, nil))
	return err
}

// run runs one of the agent's tools. What an edit is about to change is on disk, and in
// the log, before it does.
func (a *agent) run(ctx context.Context, id string, c call) (text, outcome string, err error) {
	if c.name != "edit" {
		return a.work.run(c)
	}
	if err := a.files.BeforeEdit(ctx, id, c.args.Path); err != nil {
		return "", "", err
	}
	text, outcome, err = a.work.run(c)
	return text, outcome, errors.Join(err, a.files.AfterEdit(ctx, id, c.args.Path))
}

// described tells a call in a line.
func described(c call) string {
	switch c.name {
	case tool.NameCheckpoint:
		return fmt.Sprintf("checkpoint %s: %s", c.args.Label, c.args.Goal)
	case tool.NameRewind:
		return "rewind: " + c.args.Report
	}
	return strings.Join([]string{c.name, c.args.Path + c.args.Command}, " ")
}

// encode writes what consists of strings and JSON, which cannot fail.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
