package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

// A harness owns the model, its own tools, and the loop; the session, the context, and
// the two tools are the library's.
type harness struct {
	s     *sessiontree.Session
	tools *tool.Tools
	ask   func([]modelcontext.Message, []tool.Definition) entries.Assistant // the model
	run   func(call entries.Block) (text string, failed bool)               // its own tools
}

// turn runs one turn of the user's, to the answer that calls no tool.
func (h *harness) turn(ctx context.Context, prompt string) error {
	if _, err := h.s.Append(ctx, entries.UserMessage(prompt)); err != nil {
		return err
	}
	for {
		t, err := h.s.Tree()
		if err != nil {
			return err
		}
		c, err := modelcontext.Build(t, t.Leaf(), nil)
		if err != nil {
			return err
		}
		answer := h.ask(c.Repair().Render(), h.tools.Definitions())
		if _, err := h.s.Append(ctx, entries.AssistantMessage(answer)); err != nil {
			return err
		}
		calls := answer.Calls()
		for _, call := range calls {
			if err := h.call(ctx, call); err != nil {
				return err
			}
		}
		if _, err := h.tools.EndTurn(ctx); err != nil { // a pending rewind is applied here
			return err
		}
		if len(calls) == 0 {
			return h.s.EndTurn(ctx)
		}
	}
}

// call runs a tool and has its result in the log, whatever happens.
func (h *harness) call(ctx context.Context, call entries.Block) error {
	if tool.Is(call.Name) {
		_, err := h.tools.Call(ctx, call.Name, call.ID, call.Arguments) // it appends its result
		return err
	}
	if _, err := h.s.Append(ctx, entries.ToolExecutionStart(call.ID, call.Name)); err != nil {
		return err
	}
	text, failed := h.run(call)
	_, err := h.s.Append(ctx, entries.ToolResult(call.ID, call.Name, []json.RawMessage{entries.TextBlock(text)}, failed, nil))
	return err
}

// A whole loop, with a model that explores, rewinds, and answers.
func Example_loop() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "loop")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := sessiontree.Create(dir, entries.Header{Cwd: dir, Records: []string{entries.CustomToolExecutionStart}}, nil) // or Open
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	h := &harness{s: s, tools: tool.New(s, nil), ask: scripted(), run: func(entries.Block) (string, bool) { return "a long file", false }}
	if _, err := h.tools.Resume(ctx); err != nil { // a crash may have left a rewind pending
		log.Fatal(err)
	}
	if err := h.turn(ctx, "why does the test fail?"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// the model reads: user
	// the model reads: user assistant toolResult
	// the model reads: user assistant toolResult assistant toolResult
	// the model reads: user assistant toolResult user user
}

// scripted stands in for a model.
func scripted() func([]modelcontext.Message, []tool.Definition) entries.Assistant {
	call := func(id, name, args string) []json.RawMessage {
		return []json.RawMessage{entries.ToolCallBlock(id, name, json.RawMessage(args))}
	}
	answers := [][]json.RawMessage{
		call("1", "checkpoint", `{"goal":"find the cause"}`), call("2", "read", `{"path":"a.go"}`),
		call("3", "rewind", `{"report":"a.go:3 compares the wrong way round"}`), {entries.TextBlock("a.go:3 is the cause.")},
	}
	return func(messages []modelcontext.Message, _ []tool.Definition) entries.Assistant {
		line := "the model reads:"
		for _, m := range messages {
			line += " " + m.Role
		}
		fmt.Println(line)
		answer := answers[0]
		answers = answers[1:]
		return entries.Assistant{Content: answer, Provider: "acme", Model: "m"}
	}
}
