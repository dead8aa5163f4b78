package sessiontree_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
)

// A model is a session as somebody would read it who has only the format's words,
// encoding/json and much time. It knows no batches and no glued lines.
type model struct {
	nodes  []*node // in file order
	holder map[string]*node
	leaf   *node
}

type node struct {
	at         int // in file order
	line       int
	offset     int64
	raw        []byte
	fields     map[string]json.RawMessage
	id, parent string
	kind, role string
	lost       bool // another entry has its id
	again      bool // ... since it is the same line once more
	up         *node
}

func readModel(log []byte) *model {
	m := &model{holder: map[string]*node{}}
	offset := int64(0)
	for i, line := range bytes.Split(log, []byte("\n")) {
		m.readLine(i+1, offset, line)
		offset += int64(len(line)) + 1
	}
	m.resolve()
	m.cutCycles()
	return m
}

func (m *model) readLine(number int, offset int64, line []byte) {
	n := &node{at: len(m.nodes), line: number, offset: offset, raw: line}
	if json.Unmarshal(line, &n.fields) != nil || n.fields == nil {
		return
	}
	n.id, n.parent, n.kind = n.text("id"), n.text("parentId"), n.text("type")
	if n.id == "" || n.kind == "session" {
		return
	}
	n.role = n.member("message")["role"]
	m.nodes = append(m.nodes, n)
	m.leaf = n
	before := m.holder[n.id]
	switch {
	case before == nil:
	case bytes.Equal(withoutSum(before.raw), withoutSum(n.raw)):
		n.lost, n.again, m.leaf = true, true, before
		return
	default:
		before.lost = true
	}
	m.holder[n.id] = n
}

func withoutSum(line []byte) []byte {
	if i := bytes.LastIndex(line, []byte(`,"crc":"`)); i >= 0 {
		return line[:i]
	}
	return line
}

// text gives a string field; anything else is "".
func (n *node) text(name string) string {
	var s string
	_ = json.Unmarshal(n.fields[name], &s)
	return s
}

// member gives the string fields of a field that is an object.
func (n *node) member(name string) map[string]string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(n.fields[name], &fields)
	texts := map[string]string{}
	for key, value := range fields {
		var s string
		if json.Unmarshal(value, &s) == nil {
			texts[key] = s
		}
	}
	return texts
}

func (m *model) resolve() {
	for _, n := range m.nodes {
		if n.parent != "" {
			n.up = m.holder[n.parent] // nil where it is missing: n is a root
		}
	}
}

// cutCycles goes in file order, so the first entry of each cycle is cut.
func (m *model) cutCycles() {
	for _, n := range m.nodes {
		up := n.up
		for steps := 0; up != nil && up != n && steps <= len(m.nodes); steps++ {
			up = up.up
		}
		if up == n {
			n.up = nil
		}
	}
}

// path goes from the root to n.
func (n *node) path() (path []*node) {
	for ; n != nil; n = n.up {
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}

func (n *node) isOn(path []*node) bool { return slices.Contains(path, n) }

func (m *model) children(parent *node) (ids []entries.ID) {
	for _, n := range m.nodes {
		if !n.lost && n.up == parent {
			ids = append(ids, entries.ID(n.id))
		}
	}
	return ids
}

func (m *model) labels() map[entries.ID]string {
	labels := map[entries.ID]string{}
	for _, n := range m.nodes {
		if n.kind == "label" {
			labels[entries.ID(n.text("targetId"))] = n.text("label")
		}
	}
	for id, label := range labels {
		if label == "" {
			delete(labels, id)
		}
	}
	return labels
}

// name is what pi shows: the last session_info that there is.
func (m *model) name() (name string) {
	for _, n := range m.nodes {
		if n.kind == "session_info" {
			name = n.text("name")
		}
	}
	return strings.TrimFunc(name, func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r\u00a0\ufeff\u2028\u2029", r) })
}

// prompt is the text of a message.
func (n *node) prompt() string {
	var body struct {
		Message struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(n.raw, &body)
	var text string
	if json.Unmarshal(body.Message.Content, &text) == nil {
		return text
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(body.Message.Content, &blocks)
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// tokens is what an assistant message says of its context.
func (n *node) tokens() int {
	var body struct {
		Message struct{ Usage struct{ TotalTokens int } }
	}
	_ = json.Unmarshal(n.raw, &body)
	return body.Message.Usage.TotalTokens
}
