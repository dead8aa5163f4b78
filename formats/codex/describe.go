package codex

import (
	"strings"

	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/internal/syntax"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// Describe describes the rollout in src as its beginning and its end show it; path is
// where it stands. Other segments of its thread are not looked at.
func Describe(src store.Source, path string) sessiontree.Info {
	t := newTranslator(nil, nil)
	info := transcript.Describe(src, sessiontree.Info{Path: path, Agent: sessiontree.AgentCodex}, transcript.Describer{
		See: t.sight, Name: []byte(`"thread_name_updated"`),
	})
	if info.Err == nil && info.ID == "" {
		info.ID = segmentOf(path)
	}
	return info
}

// sight shows what a record tells of the session.
func (t *translator) sight(text *syntax.Text, line []byte, i int) (s transcript.Sight, end int) {
	if end = t.Walk(text, line, i); end < 0 {
		return s, end
	}
	p := &t.payload
	s.Time = t.str(t.walker.time)
	switch kind := t.str(t.kind); {
	case kind == "session_meta", kind == "" && !t.wrapped && !p.id.None():
		s.ID, s.Cwd = t.str(p.id), t.str(p.cwd)
	case kind == "event_msg":
		s.Said, s.Prompt = t.eventSight()
		if t.str(p.kind) == "thread_name_updated" {
			s.Name, s.Named = t.str(p.title), true
		}
	case !p.role.None():
		role := t.str(p.role)
		s.Said = role == "user" || role == "assistant"
		if role == "user" {
			s.Prompt = typedText(p.content.Of(line))
		}
	}
	return s, end
}

func (t *translator) eventSight() (said bool, prompt string) {
	switch t.str(t.payload.kind) {
	case "user_message":
		if text := t.str(t.payload.message); !noticed(text) {
			return true, text
		}
		return true, ""
	case "agent_message", "item_completed":
		return true, ""
	}
	return false, ""
}

// typedText gives what a person typed in a message's content.
func typedText(content []byte) string {
	if text := jsonvalue.String(content); text != "" && !noticed(text) {
		return text
	}
	var all []string
	jsonvalue.Elements(content, func(element []byte) {
		if text := jsonvalue.String(jsonvalue.Get(element, "text")); text != "" && !noticed(text) {
			all = append(all, text)
		}
	})
	return strings.Join(all, "\n")
}
