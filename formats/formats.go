package formats

import (
	"errors"
	"fmt"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/claude"
	"github.com/sessctl/sessctl/formats/codex"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// Read reads the session in the file at path, whichever agent wrote it. It takes no lock
// and changes nothing. A file that is no session of a known agent is
// sessiontree.ErrNoSession.
func Read(path string, opt *sessiontree.ReadOptions) (*sessiontree.Tree, error) {
	src, err := store.OpenFile(path)
	if err != nil {
		return nil, err
	}
	t, err := From(src, path, opt)
	if err != nil {
		src.Close()
	}
	return t, err
}

// From reads the session in src; name stands for its path. Closing the tree closes src.
func From(src store.Source, name string, opt *sessiontree.ReadOptions) (*sessiontree.Tree, error) {
	switch agent, err := Detect(src); {
	case err != nil:
		return nil, err
	case agent == sessiontree.AgentClaude:
		return claude.From(src, name, opt)
	case agent == sessiontree.AgentCodex:
		return codex.From(src, name, opt)
	}
	t, err := sessiontree.From(src, name, opt)
	return t, ofNobody(err, src, name)
}

// ofNobody says of what is no session that it is none of any agent here: sessiontree, whose
// error it is, knows fewer of them.
func ofNobody(err error, src store.Source, name string) error {
	if !errors.Is(err, sessiontree.ErrNoSession) {
		return err
	}
	if size, unknown := src.Size(); unknown == nil && size == 0 {
		return fmt.Errorf("%s: %w: it is empty", name, sessiontree.ErrNoSession)
	}
	return fmt.Errorf("%s: %w of any program that is known (pi, oh-my-pi, sessctl, Claude Code, Codex)", name, sessiontree.ErrNoSession)
}

// Describe reads the beginning and the end of one session, whichever agent wrote it.
func Describe(path string) sessiontree.Info {
	src, err := store.OpenFile(path)
	if err != nil {
		return sessiontree.Info{Path: path, Err: err}
	}
	ends, err := sessiontree.ReadEnds(src)
	if err != nil {
		return sessiontree.Info{Path: path, Err: fmt.Errorf("%s: %w", path, err)}
	}
	defer ends.Close()
	switch head := ends.Head(); detect(head[:min(len(head), headBytes)]) {
	case sessiontree.AgentClaude:
		return claude.Describe(ends, path)
	case sessiontree.AgentCodex:
		return codex.Describe(ends, path)
	}
	info := sessiontree.DescribeEnds(ends, path)
	info.Err = ofNobody(info.Err, ends, path)
	return info
}

// Prompt tells whether an entry is what a person typed: not a tool's result, nothing that
// a program put into the conversation, and no summary. What another model wrote to a
// subagent is none either.
func Prompt(e entries.Entry) bool {
	if e.Type != entries.TypeMessage || e.Role != "user" {
		return false
	}
	object, err := e.MessageObject()
	return err == nil && !jsonvalue.True(jsonvalue.Get(object, "agent"))
}

// Copied gives the session that an entry was copied from, or is shared with: what is
// counted over sessions counts it there. "" where the entry is the session's own, or its
// transcript does not tell.
func Copied(e entries.Entry) string {
	from, _ := e.Field("copied") // what cannot be read tells nothing
	return from
}
