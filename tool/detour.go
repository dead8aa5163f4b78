package tool

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// A detour is what a rewind leaves, and where it goes.
type detour struct {
	checkpoint Checkpoint
	target     entries.ID      // the last result of the answer that called checkpoint; "" is the root
	left       []entries.Entry // from the target, without it, down to the leaf
	kept       []entries.Draft // what ran beside rewind
	beside     map[string]bool // its calls
	tokens     int             // that are dropped, about
	uses       uses
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
		n, err := groupEnd(path, d.checkpoint)
		if err != nil {
			return nil, err
		}
		d.target, path = path[n].ID, path[n+1:]
	}
	d.left = path
	if d.kept, d.beside, err = kept(path, s.Request); err != nil {
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
// keeps all its calls with all their results, so that every reader agrees on it.
func groupEnd(path []entries.Entry, c Checkpoint) (last int, err error) {
	calls := map[string]bool{}
	for i, e := range path {
		if e.Type != entries.TypeMessage {
			continue
		}
		m, err := e.Message()
		if err != nil {
			return 0, err
		}
		switch {
		case i == 0 && m.Role == "assistant":
			for _, b := range m.Blocks() {
				calls[b.ID] = b.Type == "toolCall"
			}
			continue
		case i == 0 && e.ID == c.ID:
		case m.Role != "toolResult" || !calls[m.ToolCallID]:
			return last, nil
		}
		last = i
	}
	return last, nil
}

// kept copies what ran beside rewind: the answer with those calls alone, and their
// results with the file records before them. Nothing where rewind stood alone, or in the
// answer that called checkpoint, which stays as a whole.
func kept(left []entries.Entry, r *Request) (drafts []entries.Draft, calls map[string]bool, err error) {
	at := slices.IndexFunc(left, func(e entries.Entry) bool { return e.ID == r.Answer })
	if at < 0 {
		return nil, nil, nil
	}
	message, calls, err := answerWithout(left[at], r.CallID)
	if err != nil || len(calls) == 0 {
		return nil, nil, err
	}
	drafts = []entries.Draft{entries.MessageDraft(message)}
	for _, e := range left[at+1:] {
		d, ok, err := keptResult(e, calls)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			drafts = append(drafts, d)
		}
	}
	return drafts, calls, nil
}

// answerWithout copies an answer with its calls alone, but for one, and tells their ids.
// Its text was said already, and its thinking belongs to the exploration.
func answerWithout(e entries.Entry, callID string) (message json.RawMessage, calls map[string]bool, err error) {
	m, err := e.Message()
	if err != nil {
		return nil, nil, err
	}
	raw, err := messageOf(e)
	if err != nil {
		return nil, nil, err
	}
	calls = map[string]bool{}
	var blocks []json.RawMessage
	for _, b := range m.Blocks() {
		if b.Type == "toolCall" && b.ID != callID {
			calls[b.ID] = true
			blocks = append(blocks, b.Raw)
		}
	}
	raw = jsonvalue.Set(raw, "content", jsonvalue.Array(blocks...))
	raw = jsonvalue.Set(raw, "usage", []byte(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`))
	raw = jsonvalue.Set(raw, "providerPayload", nil)
	return jsonvalue.Set(raw, "details", encode(map[string]any{"copyOf": e.ID})), calls, nil
}

func messageOf(e entries.Entry) (message json.RawMessage, err error) {
	err = e.Fields(func(name string, value []byte) {
		if name == "message" {
			message = value
		}
	})
	return message, err
}

// The custom types of file records: docs/files.md.
const (
	fileSnapshot = "file-snapshot"
	fileRestore  = "file-restore"
)

// keptResult copies the result of a call that is kept, or a file record.
func keptResult(e entries.Entry, calls map[string]bool) (d entries.Draft, ok bool, err error) {
	if e.Type == entries.TypeCustom {
		c, err := e.Custom()
		ok = err == nil && (c.CustomType == fileSnapshot || c.CustomType == fileRestore)
		return entries.CustomDraft(c.CustomType, c.Data), ok, err
	}
	if e.Type != entries.TypeMessage || e.Role != "toolResult" {
		return d, false, nil
	}
	m, err := e.Message()
	if err != nil || !calls[m.ToolCallID] {
		return d, false, err
	}
	raw, err := messageOf(e)
	return entries.MessageDraft(raw), true, err
}

// measure tells what leaves the context.
func (t *Tools) measure(s State, d *detour) error {
	here, err := t.tokensAt(s.Leaf)
	if err != nil {
		return err
	}
	there, err := t.tokensAt(d.target)
	if err != nil {
		return err
	}
	d.tokens = max(here-there, 0)
	d.uses, err = usesOf(d.left, d.beside)
	return err
}

func (d *detour) rewound(s State, done sessiontree.Appended) *Rewound {
	return &Rewound{
		Checkpoint: d.checkpoint, Report: s.Request.Report, From: s.Leaf, Target: d.target, Entries: done.IDs, Leaf: done.Leaf,
		DroppedEntries: len(d.left), DroppedTokens: d.tokens, ForgottenReads: d.uses.read, ModifiedFiles: d.uses.modified,
	}
}
