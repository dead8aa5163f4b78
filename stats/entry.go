package stats

import (
	"encoding/json"
	"errors"
	"path"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A parser reads bodies.
type parser struct {
	prompt  func(entries.Entry) bool // nil stands for typed
	session *Session                 // its id and directory
	buf     []byte                   // of the record that is read
	names   map[string]string        // decoded, by what stands in the log
	both    [2]string                // a provider and its model
	joined  string                   // ... as one name
	cut     bool                     // of the message read last, something may be missing
}

// read reads the body of an entry. One that cannot be read adds nothing but itself.
func (p *parser) read(e entries.Entry, f *fact) error {
	switch e.Type {
	case entries.TypeMessage:
		return p.message(e, f)
	case entries.TypeUsage, entries.TypeModelUsage:
		return readable(e.Fields(func(name string, value []byte) {
			switch name {
			case "usage":
				f.tokens = entries.ParseUsage(value)
			case "model":
				f.model, f.told = jsonvalue.String(value), true
			}
		}))
	case entries.TypeCustomMessage:
		m, err := e.CustomMessage()
		if err == nil && m.CustomType == entries.CustomRewindReport {
			f.rewind = p.rewind(m.Details)
		}
		return readable(err)
	}
	return nil
}

// readable keeps what is wrong with the file, and lets pass what is wrong with a record:
// that is for verify to tell.
func readable(err error) error {
	if errors.Is(err, entries.ErrBody) {
		return nil
	}
	return err
}

// A message is what of one is counted. Its bytes are those of the record.
type message struct {
	provider, model, tool      []byte
	usage, content, call       []byte
	failed, synthetic, byAgent bool
}

func (m *message) set(key, value []byte) {
	switch string(jsonvalue.Key(key)) {
	case "provider":
		m.provider = value
	case "model":
		m.model = value
	case "toolName":
		m.tool = value
	case "toolCallId":
		m.call = value
	case "usage":
		m.usage = value
	case "content":
		m.content = value
	case "isError":
		m.failed = jsonvalue.True(value)
	case "synthetic":
		m.synthetic = jsonvalue.True(value)
	case "attribution":
		m.byAgent = jsonvalue.String(value) == "agent"
	}
}

// message reads a record in one pass and into one buffer: results are most of a log, and of
// each no more is asked than which tool gave it, and whether it failed.
func (p *parser) message(e entries.Entry, f *fact) error {
	raw, err := e.AppendRaw(p.buf[:0])
	if err != nil {
		return readable(err)
	}
	p.buf = raw
	m, err := parse(raw)
	if err != nil {
		return nil // that is for verify to tell
	}
	if f.role == "user" {
		f.prompt = p.prompted(e, &m)
	}
	s, _ := p.said(f.role, &m)
	f.tell(&s)
	return nil
}

func parse(record []byte) (m message, err error) {
	_, err = jsonvalue.Inner(record, "message", func() { m = message{} }, func(key []byte, at, end int) { m.set(key, record[at:end]) })
	return m, err
}

// said gives what a message says. It is not whole where null stands for what is looked for,
// as it may in a record that ScanRecords shows.
func (p *parser) said(role string, m *message) (s said, whole bool) {
	p.cut = false
	switch role {
	case "assistant":
		s.tokens, s.model = entries.ParseUsage(m.usage), p.modelName(m)
		s.calls = p.calls(m.content)
	case "toolResult":
		if s.tool, s.failed = p.name(m.tool), m.failed; m.failed {
			s.of = jsonvalue.String(m.call)
		}
	}
	return s, !p.cut
}

// look notes where a value is missing.
func (p *parser) look(value []byte) []byte {
	p.cut = p.cut || string(value) == "null"
	return value
}

func (p *parser) prompted(e entries.Entry, m *message) bool {
	if p.prompt != nil {
		return p.prompt(e)
	}
	return typed(m)
}

func (p *parser) calls(content []byte) (list []call) {
	jsonvalue.Elements(content, func(block []byte) {
		var kind, id, name, arguments []byte
		err := jsonvalue.Spans(p.look(block), func(key []byte, at, end int) {
			switch {
			case jsonvalue.Is(key, "type"):
				kind = block[at:end]
			case jsonvalue.Is(key, "id"):
				id = block[at:end]
			case jsonvalue.Is(key, "name"):
				name = block[at:end]
			case jsonvalue.Is(key, "arguments"):
				arguments = block[at:end]
			}
		})
		if err == nil && jsonvalue.String(kind) == "toolCall" {
			c := p.call(p.name(name), p.look(arguments))
			if c.path != "" {
				c.id = jsonvalue.String(id)
			}
			list = append(list, c)
		}
	})
	return list
}

// name decodes a string. There are few names, and many that bear them.
func (p *parser) name(value []byte) string {
	name, known := p.names[string(value)]
	if !known {
		name = jsonvalue.String(value)
		p.names[string(value)] = name
	}
	return name
}

func (p *parser) modelName(m *message) string {
	provider, model := p.name(m.provider), p.name(m.model)
	if provider == "" || model == "" {
		return model
	}
	if p.both != [2]string{provider, model} {
		p.both, p.joined = [2]string{provider, model}, provider+"/"+model
	}
	return p.joined
}

// typed tells a prompt that a person typed from what a program put into a user's mouth.
func typed(m *message) bool {
	if m.synthetic || m.byAgent {
		return false
	}
	text, image := strings.TrimSpace(entries.Text(m.content)), false
	for _, b := range entries.Blocks(m.content) {
		image = image || b.Type == "image"
	}
	for _, tag := range scaffolding {
		if strings.HasPrefix(text, tag) {
			return false
		}
	}
	return text != "" || image
}

// scaffolding is what messages begin with that programs write in a user's name.
var scaffolding = []string{
	"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions", "<system-reminder>",
	"<local-command-", "<command-name>", "<command-message>", "Caveat: The messages below were generated by the user while running local commands",
	"[Request interrupted by user",
}

func (p *parser) rewind(details json.RawMessage) *Rewind {
	w := &Rewind{Session: p.session.ID}
	_ = jsonvalue.Members(details, func(name string, value []byte) {
		switch name {
		case "checkpoint":
			w.Checkpoint = entries.ID(jsonvalue.String(value))
		case "droppedEntries":
			w.DroppedEntries = whole(value)
		case "droppedTokens":
			w.DroppedTokens = whole(value)
		}
	})
	return w
}

func whole(value []byte) int {
	if f := jsonvalue.Number(value); f > 0 && f < 1e12 {
		return int(f)
	}
	return 0
}

// call tells what the call of a tool does to which file.
func (p *parser) call(tool string, arguments []byte) call {
	c := call{tool: tool}
	does := verb(tool)
	if does == "" {
		return c
	}
	for _, key := range []string{"path", "file_path", "filePath", "notebook_path"} {
		if name := jsonvalue.String(p.look(jsonvalue.Get(arguments, key))); name != "" {
			c.path, c.edit = p.absolute(name), does == edits
			break
		}
	}
	return c
}

const (
	reads = "reads"
	edits = "edits"
)

// verb tells by a tool's name whether it reads a file or changes it; "" where it does
// something else.
func verb(tool string) string {
	name := strings.ToLower(tool)
	for _, part := range []string{"edit", "write", "patch", "replace", "create"} {
		if strings.Contains(name, part) {
			return edits
		}
	}
	for _, part := range []string{"read", "view"} {
		if strings.Contains(name, part) {
			return reads
		}
	}
	return ""
}

// absolute names a file so that it is the same in all calls. Paths are those of the
// machine that the session ran on, which need not be this one.
func (p *parser) absolute(name string) string {
	if windows := strings.Contains(p.session.Cwd, `\`); windows || path.IsAbs(name) || p.session.Cwd == "" || strings.HasPrefix(name, "~") {
		return name
	}
	return path.Join(p.session.Cwd, name)
}
