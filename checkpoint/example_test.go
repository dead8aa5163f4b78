package checkpoint_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A turn that changes a file, and its undo.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte("package main\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	s, err := sessiontree.Create(filepath.Join(dir, "sessions"), entries.Header{Cwd: dir}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	f, err := checkpoint.Follow(ctx, s, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()

	if _, err := s.Append(ctx, entries.UserMessage("rename the package")); err != nil {
		log.Fatal(err)
	}
	if err := f.BeforeEdit(ctx, "call-1", "main.go"); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("package app\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := f.AfterEdit(ctx, "call-1", "main.go"); err != nil {
		log.Fatal(err)
	}

	plan, err := f.Undo(ctx, checkpoint.Both, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, it := range plan.Items {
		fmt.Println(it.Action, it.Path)
	}
	prompt, _ := plan.Return.Prompt.Message()
	fmt.Println("the prompt comes back:", prompt.Text())
	if _, err := f.Commit(ctx, plan, nil); err != nil {
		log.Fatal(err)
	}
	text, _ := os.ReadFile(file)
	fmt.Printf("%s", text)
	// Output:
	// restore main.go
	// the prompt comes back: rename the package
	// package main
}
