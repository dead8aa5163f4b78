package sessiontree_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A harness's life with a session: it is made, a prompt and an answer are appended,
// and then another answer is tried from the prompt on.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	s, err := sessiontree.Create(dir, entries.Header{Cwd: "/home/u/parser"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	prompt, err := s.Append(ctx, entries.UserMessage("find the bug"))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := s.Append(ctx, replied("it is in quote.go")); err != nil {
		log.Fatal(err)
	}
	printPath(s)

	// A marker moves the leaf; nothing is deleted.
	if _, err := s.MoveLeaf(ctx, prompt.Leaf, sessiontree.ReasonCheckout); err != nil {
		log.Fatal(err)
	}
	if _, err := s.Append(ctx, replied("it is in split.go")); err != nil {
		log.Fatal(err)
	}
	printPath(s)
	// Output:
	// user: find the bug
	// assistant: it is in quote.go
	// branches: 1
	//
	// user: find the bug
	// leaf marker: checkout
	// assistant: it is in split.go
	// branches: 2
}

func replied(text string) entries.Draft {
	return entries.AssistantMessage(entries.Assistant{
		Content:  []json.RawMessage{entries.TextBlock(text)},
		Provider: "acme", Model: "large", StopReason: "stop",
	})
}

// printPath prints the active path: what a model is told.
func printPath(s *sessiontree.Session) {
	t, err := s.Tree()
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range t.Path(t.Leaf()) {
		if err != nil {
			log.Fatal(err)
		}
		if m, err := e.Message(); err == nil {
			fmt.Printf("%s: %s\n", m.Role, m.Text())
		} else if c, err := e.Custom(); err == nil {
			marker, _ := c.LeafMarker()
			fmt.Println("leaf marker:", marker.Reason)
		}
	}
	branches, err := t.Branches()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("branches: %d\n\n", len(branches))
}
