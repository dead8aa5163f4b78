package modelcontext_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A session whose last answer was interrupted while its tool ran: what a harness
// sends when it goes on.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := sessiontree.Create(dir, entries.Header{Cwd: dir}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	_, err = s.Append(context.Background(),
		entries.UserMessage("why does the test fail?"),
		entries.AssistantMessage(entries.Assistant{
			Content:  []json.RawMessage{entries.ToolCallBlock("call_1", "bash", json.RawMessage(`{"command":"go test"}`))},
			Provider: "anthropic", Model: "claude-sonnet-5", StopReason: "toolUse",
		}))
	if err != nil {
		log.Fatal(err)
	}

	t, err := s.Tree()
	if err != nil {
		log.Fatal(err)
	}
	c, err := modelcontext.Build(t, t.Leaf(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range c.Repair().Render() {
		fmt.Println(m.Role)
	}
	pending, err := modelcontext.PendingCalls(t, t.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range pending {
		fmt.Println("no result of", call.Name, string(call.Arguments), call.State)
	}
	// Output:
	// user
	// assistant
	// toolResult
	// no result of bash {"command":"go test"} interrupted
}

// Old results are masked, and the oldest turns left out, until a budget holds.
func ExampleContext_Apply() {
	t, err := sessiontree.Read("../testdata/story.jsonl", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	c, err := modelcontext.Build(t, t.Leaf(), nil)
	if err != nil {
		log.Fatal(err)
	}
	less := c.Apply(modelcontext.Policy{Budget: 50})
	fmt.Println(len(c.Messages), "messages, then", len(less.Messages))
	fmt.Println("turns left out:", less.Report.Spending.Turns)
	// Output:
	// 10 messages, then 2
	// turns left out: 1
}
