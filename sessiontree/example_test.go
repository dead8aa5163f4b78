package sessiontree_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/sessctl/sessctl/sessiontree"
)

// The session that these examples read: an agent looks for a bug, rewinds, and
// mends it; then somebody tries another way, and goes back.
const examplePath = "../testdata/story.jsonl"

// What a model has to go by is the path from the root to the leaf.
func ExampleRead() {
	t, err := sessiontree.Read(examplePath, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	for e, err := range t.Path(t.Leaf()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.ID.Short(), e.Type)
	}
	// Output:
	// VYEVCJQ3 message
	// QVX56R41 message
	// XSAM68BR message
	// H1TQ0KHQ branch_summary
	// HGH70H4P custom_message
	// XBYTZM82 message
	// 3E6KS2D3 message
	// 3DK2A0K2 message
	// EVECR3KV custom
	// F6G48JF0 message
	// D3VAPG87 message
	// CBERM9FP session_info
}

// Everything that was left behind is still there, on other branches.
func ExampleTree_Branches() {
	t, err := sessiontree.Read(examplePath, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	branches, err := t.Branches()
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range branches {
		fmt.Printf("%s from %s: %s, %d turns, active %v\n", b.Tip.Short(), b.ForkPoint.Short(), b.Origin, b.Turns, b.Active)
	}
	// Output:
	// 1CQNBZYK from XSAM68BR: branch, 1 turns, active false
	// 9HD5ASZB from 3DK2A0K2: branch, 2 turns, active false
	// CBERM9FP from 3DK2A0K2: branch, 2 turns, active true
}

// Without Stop the loop waits for more, until its context is done.
func ExampleFollow() {
	var at sessiontree.Cursor // of an earlier run; the zero one is the beginning
	for e, err := range sessiontree.Follow(context.Background(), examplePath, &at, &sessiontree.FollowOptions{Stop: true}) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Role == "user" {
			m, err := e.Message()
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(m.Text())
		}
	}
	// Output:
	// go test fails since yesterday, find out why
	// could we use strconv.Unquote instead?
	// add a test for it, then commit
}

// Sessions of one working directory, the newest first.
func ExampleList() {
	mine := func(i *sessiontree.Info) bool { return filepath.Base(i.Path) == "story.jsonl" }
	for info, err := range sessiontree.List([]string{"../testdata"}, &sessiontree.ListOptions{Match: mine, Count: true}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d branches, last active %s\n", info.Name, info.Branches, info.Modified.Format("2006-01-02 15:04"))
	}
	// Output:
	// quotes in the parser: 3 branches, last active 2026-11-30 12:04
}
