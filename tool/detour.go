package tool

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/checkpoint"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// A detour is what a rewind leaves, and where it goes.
type detour struct {
	checkpoint Checkpoint
	target     entries.ID         // the last result of the answer that called checkpoint; "" is the root
	left       []entries.Entry    // from the target, without it, down to the leaf
	kept       []entries.Draft    // what ran beside rewind
	beside     map[string]bool    // its calls
	model      modelcontext.Model // of kept
	uses       uses

	here, there *modelcontext.Context // at the leaf, and at the target
	tokens      int                   // that are dropped, about
}

// detour reads the path from the checkpoint down to the leaf.
func (t *Tools) detour(s State) (*detour, error) {
	d := &detour{}
	if s.Request.Checkpoint == "" {
		if !t.opt.FallbackToRoot {
			return nil, fmt.Errorf("%w; the session is as it was (Tools.Cancel gives the rewind up, Options.FallbackToRoot drops the whole conversation)", ErrNoCheckpoint)
		}
		t.opt.Logger.Warn("the checkpoint of a rewind is not on the path; the whole conversation leaves the context", "session", t.s.Path(), "rewind", s.Request.Result)
	}
	at := slices.IndexFunc(s.Open, func(c Checkpoint) bool { return c.ID == s.Request.Checkpoint })
	if at >= 0 {
		d.checkpoint = s.Open[at]
	}
	path, err := t.below(s.Leaf, d.checkpoint)
	if err != nil {
		return nil, err
	}
	if at >= 0 {
		n, late, err := groupEnd(path, d.checkpoint)
		if err != nil {
			return nil, err
		}
		d.target, path, d.kept = path[n].ID, path[n+1:], late
	}
	d.left = path
	if err := d.keep(s.Request); err != nil {
		return nil, err
	}
	return d, t.measure(s, d)
}

// below gives the path from a checkpoint's answer (or its result, or the root) down to
// the leaf.
func (t *Tools) below(leaf entries.ID, c Checkpoint) (path []entries.Entry, err error) {
	tree, err := t.s.Tree()
	if err != nil {
		return nil, err
	}
	first := c.answer
	if first == "" {
		first = c.ID
	}
	for e, err := range tree.Ancestors(leaf) {
		if err != nil {
			return nil, err
		}
		if path = append(path, e); e.ID == first {
			break
		}
	}
	slices.Reverse(path)
	return path, nil
}

// groupEnd finds the last result of the answer that the path starts with: that answer
// keeps all its calls with all their results, so that every reader agrees on it, also
// where something else came between them. late are those that came behind another
// answer, which owns the results of its own calls.
func groupEnd(path []entries.Entry, c Checkpoint) (last int, late []entries.Draft, err error) {
	open := map[string]bool{}
	answers := 0
	for i, e := range path {
		if e.Type != entries.TypeMessage {
			continue
		}
		object, err := e.MessageObject()
		if err != nil {
			return 0, nil, err
		}
		m := entries.ParseMessage(object)
		switch {
		case e.Role == "assistant":
			for _, b := range m.Calls() {
				open[b.ID] = i == 0
			}
			answers++
		case e.ID != c.ID && (e.Role != "toolResult" || !open[m.ToolCallID]):
		case answers > 1:
			late, open[m.ToolCallID] = append(late, entries.MessageDraft(object)), false
		default:
			last, open[m.ToolCallID] = i, false
		}
	}
	return last, late, nil
}

// keep copies what ran beside rewind: the answer with those calls alone, and their
// results with the file records before them. Nothing where rewind stood alone, or in the
// answer that called checkpoint, which stays as a whole.
func (d *detour) keep(r *Request) error {
	at := slices.IndexFunc(d.left, func(e entries.Entry) bool { return e.ID == r.Answer })
	if at < 0 {
		return nil
	}
	edits, err := editsOf(d.left)
	if err != nil {
		return err
	}
	message, err := d.left[at].MessageObject()
	if err != nil {
		return err
	}
	message, ok := edits.shown(r.Answer, message)
	message, calls := answerWithout(d.left[at].ID, message)
	if !ok || len(calls) == 0 {
		return nil
	}
	m := entries.ParseMessage(message)
	d.kept, d.beside = append(d.kept, entries.MessageDraft(message)), calls
	d.model = modelcontext.Model{Provider: m.Provider, ID: m.Model}
	for _, e := range d.left[at+1:] {
		draft, ok, err := keptResult(e, edits, calls)
		if err != nil {
			return err
		}
		if ok {
			d.kept = append(d.kept, draft)
		}
	}
	return nil
}

// answerWithout copies an answer with its calls alone, but for those of the two tools,
// and tells their ids: a copy of a checkpoint or a rewind would be another one. Its text
// was said already, and its thinking belongs to the exploration.
func answerWithout(id entries.ID, message json.RawMessage) (copied json.RawMessage, calls map[string]bool) {
	calls = map[string]bool{}
	var blocks []json.RawMessage
	for _, b := range entries.ParseMessage(message).Calls() {
		if !Is(b.Name) {
			calls[b.ID] = true
			blocks = append(blocks, b.Raw)
		}
	}
	message = jsonvalue.Set(message, "content", jsonvalue.Array(blocks...))
	message = jsonvalue.Set(message, "usage", []byte(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`))
	message = jsonvalue.Set(message, "providerPayload", nil)
	return jsonvalue.Set(message, "details", encode(map[string]any{"copyOf": id})), calls
}

// keptResult copies the result of a call that is kept, as edits have left it (of one that
// was taken out nothing but that there was one), or a file record.
func keptResult(e entries.Entry, edits edits, calls map[string]bool) (d entries.Draft, ok bool, err error) {
	if e.Type == entries.TypeCustom {
		c, err := e.Custom()
		call, _, _ := checkpoint.Recorded(e, nil)
		ok = err == nil && checkpoint.IsSnapshot(e) && (calls[call] || call == "")
		return entries.CustomDraft(c.CustomType, c.Data), ok, err
	}
	if e.Type != entries.TypeMessage || e.Role != "toolResult" {
		return d, false, nil
	}
	message, err := e.MessageObject()
	if err != nil {
		return d, false, err
	}
	if message, ok = edits.shown(e.ID, message); !ok {
		message = jsonvalue.Set(message, "content", []byte("[]"))
	}
	m := entries.ParseMessage(message)
	return entries.MessageDraft(message), calls[m.ToolCallID] && !Is(m.ToolName), nil
}

// measure tells what leaves the context.
func (t *Tools) measure(s State, d *detour) error {
	tree, err := t.s.Tree()
	if err != nil {
		return err
	}
	if d.here, err = contextAt(tree, s.Leaf); err != nil {
		return err
	}
	if d.there, err = contextAt(tree, d.target); err != nil {
		return err
	}
	d.tokens = max(d.here.Tokens(t.opt.Estimator).Tokens-d.there.Tokens(t.opt.Estimator).Tokens, 0)
	all, err := whole(tree, d.left, map[entries.ID]bool{})
	if err == nil {
		d.uses, err = usesOf(all, s.Request.Answer, d.beside)
	}
	return err
}

// contextAt builds a context with the settings in force, wherever they stand.
func contextAt(tree *sessiontree.Tree, leaf entries.ID) (*modelcontext.Context, error) {
	return modelcontext.Build(tree, leaf, &modelcontext.Options{Lookback: -1})
}

func (d *detour) rewound(s State, ids []entries.ID, leaf entries.ID, f files) *Rewound {
	return &Rewound{
		Checkpoint: d.checkpoint, Report: s.Request.Report, From: s.Leaf, Target: d.target, Entries: ids, Leaf: leaf,
		DroppedEntries: len(d.left), DroppedTokens: d.tokens, ForgottenReads: d.uses.read, ModifiedFiles: f.left(d.uses.modified), Files: f.done, FilesKept: f.kept,
	}
}
