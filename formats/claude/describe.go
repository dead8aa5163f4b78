package claude

import (
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/syntax"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// Describe describes the session in src as its beginning and its end show it; path is
// where it stands.
func Describe(src store.Source, path string) sessiontree.Info {
	t := newTranslator(src, 0, path)
	info := transcript.Describe(src, sessiontree.Info{Path: path, Agent: sessiontree.AgentClaude}, transcript.Describer{
		See: t.sight, Name: []byte(`Title"`), Known: func() bool { return t.header.ID == t.base },
	})
	switch {
	case info.Err != nil:
	case t.subagent:
		info.ID = t.base
	case t.header.ID != "":
		info.ID = t.header.ID
	default:
		info.ID = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	}
	return info
}

// sight shows what a record tells of the session.
func (t *translator) sight(text *syntax.Text, line []byte, i int) (s transcript.Sight, end int) {
	if end = t.Walk(text, line, i); end < 0 {
		return s, end
	}
	n := node{moment: moment{time: t.str(t.rec.time)}}
	kind := t.str(t.rec.kind)
	t.seeHeader(&n)
	t.judge(kind)
	s = transcript.Sight{ID: t.str(t.rec.session), Cwd: t.str(t.rec.cwd), Time: n.time}
	side := t.rec.sidechain && !t.subagent
	switch kind {
	case "user":
		s.Said = !side
		if !side && !t.rec.summary && !t.byProgram() {
			s.Prompt = t.typed()
		}
	case "assistant":
		s.Said = !side
	case "custom-title", "ai-title":
		s.Named = kind == "custom-title" || !t.named
		t.named = t.named || kind == "custom-title"
		s.Name = t.str(t.rec.title)
	}
	return s, end
}

// typed gives what a person typed in a user's record.
func (t *translator) typed() string {
	if t.isString(t.rec.content) {
		_, typed := speaks(t.str(t.rec.content))
		return typed
	}
	var all []string
	for i := range t.rec.blocks {
		b := &t.rec.blocks[i]
		if t.is(b.kind, "tool_result") || !t.isString(b.text) {
			continue
		}
		if who, typed := speaks(t.str(b.text)); who == person && typed != "" {
			all = append(all, typed)
		}
	}
	return strings.Join(all, "\n")
}
