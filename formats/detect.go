package formats

import (
	"bytes"
	"errors"
	"io"

	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/internal/syntax"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// headBytes is how much of a file is looked at to tell whose it is.
const headBytes = 64 << 10

// Detect tells by the beginning of a file whose session it is. What is not known to be
// another agent's is left to sessiontree, which says so itself: "".
func Detect(src store.Source) (sessiontree.Agent, error) {
	size, err := src.Size()
	if err != nil {
		return "", err
	}
	head := make([]byte, min(size, headBytes))
	n, err := src.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return detect(head[:n]), nil
}

// detect looks at the lines until one tells. The last may be cut: its first members tell
// as much.
func detect(head []byte) sessiontree.Agent {
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	var text syntax.Text
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		text.Reset(line)
		m := marks{line: line, text: &text}
		text.Object(text.Space(0), m.member)
		if agent, known := m.agent(); known {
			return agent
		}
		head = rest
	}
	return ""
}

// Marks are the members of a record by which its writer is known.
type marks struct {
	line []byte
	text *syntax.Text
	kind string

	parentID                           bool // of pi's entries
	parent, session, leaf, snapshot    bool // of Claude Code's records: parentUuid, sessionId, leafUuid, messageId
	payload, instructions, item, named bool // of Codex's records and, before it had those, its items
}

func (m *marks) member(key []byte, at int) (end int) {
	switch string(key) {
	case "parentId":
		m.parentID = true
	case "parentUuid":
		m.parent = true
	case "sessionId":
		m.session = true
	case "leafUuid":
		m.leaf = true
	case "messageId":
		m.snapshot = true
	case "payload":
		m.payload = true
	case "instructions":
		m.instructions = true
	case "content", "call_id":
		m.item = true
	case "id":
		m.named = true
	}
	if end = m.text.Value(at); end >= 0 && string(key) == "type" {
		m.kind = jsonvalue.String(m.line[at:end])
	}
	return end
}

// agent judges a record. One that tells nothing is followed by others.
func (m *marks) agent() (agent sessiontree.Agent, known bool) {
	switch {
	case m.kind == "session" || m.parentID:
		return "", true
	case m.parent, m.session && m.kind != "", m.kind == "summary" && m.leaf, m.kind == "file-history-snapshot" && m.snapshot:
		return sessiontree.AgentClaude, true
	case m.payload && m.codexRecord(), m.kind == "" && m.named && m.instructions, m.codexItem():
		return sessiontree.AgentCodex, true
	}
	return "", false
}

func (m *marks) codexRecord() bool {
	switch m.kind {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record":
		return true
	}
	return false
}

func (m *marks) codexItem() bool {
	switch m.kind {
	case "message", "reasoning", "function_call", "function_call_output", "local_shell_call":
		return m.item
	}
	return false
}
