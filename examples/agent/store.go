package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// provider is who signs thinking, as the log names it.
const provider = "anthropic"

const systemPrompt = `You are a coding agent. You work in one directory, the workspace, with the tools that you have; paths are relative to it. Look before you change something, and test what you changed. Where finding something out takes many steps, set a checkpoint first, and rewind with a report when you know it.`

// openSession opens the session at path, or makes one in dir for the current directory.
func openSession(path, dir string) (*sessiontree.Session, error) {
	if path != "" {
		return sessiontree.Open(path, nil)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	// The header promises a record before each tool with effects. So the model can be
	// told, after a crash, which calls never ran and which may have.
	return sessiontree.Create(dir, entries.Header{Cwd: cwd, Records: []string{entries.CustomToolExecutionStart, entries.CustomFileSnapshot}}, nil)
}

// introduce puts the prompt and the tools into a log that has none. Every request takes
// them from there, also when a later version of this program has others: a provider's
// cache holds only while no byte of a request's beginning changes.
func (a *agent) introduce(ctx context.Context) error {
	c, err := a.context()
	if err != nil || c.System().Text() != "" && len(c.System().Tools) > 0 {
		return err
	}
	system := entries.System{Content: systemPrompt}
	for _, d := range append(definitions, a.control.Definitions()...) {
		raw, _ := json.Marshal(map[string]any{"name": d.Name, "description": d.Description, "parameters": d.InputSchema})
		system.ToolsAdded = append(system.ToolsAdded, raw)
	}
	return a.append(ctx, entries.SystemMessage(system))
}

// append adds an entry to the log; on return it is on disk.
func (a *agent) append(ctx context.Context, d entries.Draft) error {
	_, err := a.session.Append(ctx, d)
	return err
}

var stopReasons = map[anthropic.StopReason]string{"end_turn": "stop", "stop_sequence": "stop", "tool_use": "toolUse", "max_tokens": "length"}

// stored is what came of a request, in the log's words. Repair leaves failed answers out
// of later requests; the log keeps them for people.
func (a *agent) stored(ctx context.Context, m *anthropic.Message, err error) entries.Draft {
	s := entries.Assistant{API: "anthropic-messages", Provider: provider, Model: a.model}
	if err != nil {
		s.StopReason, s.Error = "error", err.Error()
		if ctx.Err() != nil {
			s.StopReason = "aborted"
		}
		return entries.AssistantMessage(s)
	}
	if s.StopReason = stopReasons[m.StopReason]; s.StopReason == "" { // a refusal, for one
		s.StopReason, s.Error = "error", fmt.Sprintf("the model stopped: %s", m.StopReason)
	}
	s.Usage = entries.Tokens{Input: float64(m.Usage.InputTokens), Output: float64(m.Usage.OutputTokens),
		CacheRead: float64(m.Usage.CacheReadInputTokens), CacheWrite: float64(m.Usage.CacheCreationInputTokens)}
	for _, b := range m.Content {
		s.Content = append(s.Content, storedBlock(b))
	}
	return entries.AssistantMessage(s)
}

func storedBlock(b anthropic.ContentBlockUnion) json.RawMessage {
	switch b.Type {
	case "text":
		return entries.TextBlock(b.Text)
	case "thinking":
		return entries.ThinkingBlock(b.Thinking, b.Signature)
	case "redacted_thinking": // its data is base64
		return fmt.Appendf(nil, `{"type":"thinking","thinking":"","thinkingSignature":%q,"redacted":true}`, b.Data)
	case "tool_use":
		return entries.ToolCallBlock(b.ID, b.Name, b.Input)
	}
	return json.RawMessage(b.RawJSON()) // the log keeps it; no model is sent it
}
