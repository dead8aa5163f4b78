package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// A Summariser is the harness's: it asks some model to summarise messages, which are
// rendered and fit for a provider.
type Summariser func(ctx context.Context, messages []modelcontext.Message) (string, error)

// errNoSummary keeps an empty answer of a model's from taking the place of a
// conversation.
var errNoSummary = errors.New("tool: the summary is empty")

// errCompacted keeps SummariseFrom from bringing back what was summarised already.
var errCompacted = errors.New("tool: a compaction stands behind this entry, and going back before it would bring back what that has summarised; choose a later one")

// SummariseFrom summarises the conversation from an entry of the path down to the leaf,
// and goes back to before that entry: a branch_summary takes the place of what followed,
// which stays a branch. Where the summariser fails, and where a compaction stands
// behind the entry, nothing is written.
func (t *Tools) SummariseFrom(ctx context.Context, from entries.ID, f Summariser) (sessiontree.Appended, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := t.partition(from)
	if err != nil {
		return sessiontree.Appended{}, err
	}
	if err := p.uncompacted(from); err != nil {
		return sessiontree.Appended{}, err
	}
	there, err := contextAt(p.tree, p.parent)
	if err != nil {
		return sessiontree.Appended{}, err
	}
	summary, err := p.summary(ctx, f, p.after)
	if err != nil {
		return sessiontree.Appended{}, err
	}
	drafts := []entries.Draft{entries.BranchSummaryDraft(p.leaf, summary, nil)}
	drafts = append(drafts, inForce(p.ctx, there, modelcontext.Model{})...)
	if drafts, err = t.withCarried(drafts, p.leaf, p.parent); err != nil {
		return sessiontree.Appended{}, err
	}
	return t.s.Branch(ctx, p.parent, p.leaf, drafts...)
}

// SummariseUpTo summarises the conversation before an entry of the path: a compaction
// keeps what stands from there on. Where the summariser fails nothing is written.
func (t *Tools) SummariseUpTo(ctx context.Context, upTo entries.ID, f Summariser) (sessiontree.Appended, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := t.partition(upTo)
	if err != nil {
		return sessiontree.Appended{}, err
	}
	summary, err := p.summary(ctx, f, p.before)
	if err != nil {
		return sessiontree.Appended{}, err
	}
	tokens := float64(p.ctx.Tokens(t.opt.Estimator).Tokens)
	return t.s.AppendIf(ctx, p.leaf, entries.CompactionWithSystem(summary, p.first, tokens, p.settings(), systemOf(p.ctx.System())))
}

// A partition is a context in two parts, at an entry that is no result: calls and their
// results stay together.
type partition struct {
	tree          *sessiontree.Tree
	ctx           *modelcontext.Context
	leaf          entries.ID
	first         entries.ID // of the second part
	parent        entries.ID // of first
	before, after []modelcontext.Message
}

// partition splits the context at an entry; at a result it splits before the answer.
func (t *Tools) partition(at entries.ID) (*partition, error) {
	tree, err := t.s.Tree()
	if err != nil {
		return nil, err
	}
	p := &partition{tree: tree, leaf: tree.Leaf()}
	if p.ctx, err = contextAt(tree, p.leaf); err != nil {
		return nil, err
	}
	list := p.ctx.Messages
	i := slices.IndexFunc(list, func(m modelcontext.Message) bool { return m.Entry == at })
	if i < 0 {
		return nil, fmt.Errorf("tool: entry %q is not in the context: %w", at, sessiontree.ErrNotFound)
	}
	i = beforeGroup(list, i)
	first, err := tree.Entry(list[i].Entry)
	if err != nil {
		return nil, err
	}
	p.first, p.parent = first.ID, first.Parent
	p.before, p.after = list[:i], list[i:]
	return p, nil
}

// beforeGroup gives the place of the answer whose results a split at i would part from
// it, or from each other; i where there is none.
func beforeGroup(list []modelcontext.Message, i int) int {
	answer := i
	for answer > 0 && list[answer].Role != modelcontext.RoleAssistant {
		answer--
	}
	calls := map[string]bool{}
	for _, b := range entries.ParseMessage(list[answer].Raw).Calls() {
		calls[b.ID] = true
	}
	for _, m := range list[max(i, answer+1):] {
		switch m.Role {
		case modelcontext.RoleAssistant:
			return i
		case modelcontext.RoleToolResult:
			if calls[jsonvalue.String(m.Field("toolCallId"))] {
				return answer
			}
		}
	}
	return i
}

// uncompacted refuses where a compaction stands at the first entry of the second part, or
// between it and the leaf.
func (p *partition) uncompacted(from entries.ID) error {
	for e, err := range p.tree.Ancestors(p.leaf) {
		if err != nil {
			return err
		}
		if e.Type == entries.TypeCompaction {
			return fmt.Errorf("%w: entry %q", errCompacted, from)
		}
		if e.ID == p.first {
			break
		}
	}
	return nil
}

// summary asks for a summary of a part.
func (p *partition) summary(ctx context.Context, f Summariser, part []modelcontext.Message) (string, error) {
	if len(part) == 0 {
		return "", fmt.Errorf("%w: there is nothing to summarise", ErrNothing)
	}
	c := *p.ctx
	c.Messages = part
	summary, err := f(ctx, c.Repair().Render())
	if err == nil && strings.TrimSpace(summary) == "" {
		err = errNoSummary
	}
	return summary, err
}

// settings are what a native compaction says is in force, so that nobody has to go
// behind it.
func (p *partition) settings() json.RawMessage {
	s := map[string]any{"thinkingLevel": p.ctx.Thinking}
	if m := p.ctx.Model; m != (modelcontext.Model{}) {
		s["model"] = map[string]string{"provider": m.Provider, "modelId": m.ID}
	}
	return encode(map[string]any{"settings": s})
}
