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
	head := make([]byte, headBytes)
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

	parentID, parent, session, leaf, snapshot bool // id and parentId, parentUuid, sessionId, leafUuid, messageId
	payload, instructions, content, id, call  bool
}

func (m *marks) member(key []byte, at int) (end int) {
	for name, mark := range map[string]*bool{
		"parentId": &m.parentID, "parentUuid": &m.parent, "sessionId": &m.session, "leafUuid": &m.leaf, "messageId": &m.snapshot,
		"payload": &m.payload, "instructions": &m.instructions, "content": &m.content, "id": &m.id, "call_id": &m.call,
	} {
		*mark = *mark || string(key) == name
	}
	if end = m.text.Value(at); end >= 0 && string(key) == "type" {
		m.kind = jsonvalue.String(m.line[at:end])
	}
	return end
}

// agent judges a record. A line that tells nothing is followed by others.
func (m *marks) agent() (agent sessiontree.Agent, known bool) {
	switch {
	case m.kind == "session" || m.parentID:
		return "", true // a log of pi's format
	case m.parent, m.session && m.kind != "", m.kind == "summary" && m.leaf, m.kind == "file-history-snapshot" && m.snapshot:
		return sessiontree.AgentClaude, true
	case m.payload && m.codexRecord(), m.kind == "" && m.id && m.instructions:
		return sessiontree.AgentCodex, true
	case (m.kind == "message" && m.content || m.call) && !m.parentID:
		return sessiontree.AgentCodex, true
	}
	return "", false
}

func (m *marks) codexRecord() bool {
	switch m.kind {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record", "":
		return true
	}
	return false
}
