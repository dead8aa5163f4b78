package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/tool"
)

// edit gives an entry another content in the context, or with null takes it out.
func (p *play) edit(id entries.ID, replacement string) {
	p.t.Helper()
	p.append(entries.Raw(fmt.Appendf(nil, `{"type":"context_edit","targetId":%q,"replacement":%s}`, id, replacement)))
}

const redacted = `{"content":"[redacted]"}`

// What was taken out of the context comes back neither by a copy nor by a report, and
// what was done is told all the same.
func TestEditsHoldAfterARewind(t *testing.T) {
	cases := map[string]struct {
		play  func(p *play)
		wants string
	}{
		"a result that is kept": {func(p *play) {
			p.answer("", "b bash", "w rewind")
			p.edit(p.result("b", "bash", "HUNTER2"), redacted)
			p.call("w", "rewind", `{"report":"R"}`)
		}, "[redacted]"},
		"a result that was taken out": {func(p *play) {
			p.answer("", "b bash", "w rewind")
			p.edit(p.result("b", "bash", "HUNTER2"), "null")
			p.call("w", "rewind", `{"report":"R"}`)
		}, `"id":"b"`},
		"an answer whose calls are told": {func(p *play) {
			a := p.answer("HUNTER2", `e edit {"path":"x.go"}`)
			p.result("e", "edit", "ok")
			p.edit(a, redacted)
			p.answerAnd("w rewind", `{"report":"R"}`)
		}, `"modifiedFiles":["x.go"]`},
		"an edit that says nothing": {func(p *play) {
			u := p.user("the password is HUNTER2")
			p.edit(u, redacted)
			p.append(entries.Raw(fmt.Appendf(nil, `{"type":"context_edit","targetId":%q}`, u)))
			p.answerAnd("w rewind", `{"report":"R"}`)
		}, "[redacted]"},
		"a system message": {func(p *play) {
			p.edit(p.append(entries.SystemMessage(entries.System{Content: "HUNTER2"})), "null")
			p.answerAnd("w rewind", `{"report":"R"}`)
		}, "R"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			both(t, tool.Options{}, func(p *play) {
				p.explored()
				c.play(p)
				p.end()
				p.phase(tool.Closed)
				got := encode(p.context().Messages)
				if strings.Contains(got, "HUNTER2") || !strings.Contains(got, c.wants) {
					p.t.Errorf("want %s and no password, got %s", c.wants, got)
				}
			})
		})
	}
}

// A report that was edited is not told again from what it was about.
func TestEditedReport(t *testing.T) {
	both(t, tool.Options{MaxDepth: 2}, func(p *play) {
		p.explored()
		p.answerAnd("i checkpoint", `{"goal":"inner"}`)
		p.user("the password is HUNTER2")
		p.answerAnd("w1 rewind", `{"report":"one"}`)
		r := p.end()
		p.edit(r.Entries[1], redacted)
		p.answerAnd("w2 rewind", `{"report":"two"}`)
		p.end()
		if got := encode(p.context().Messages); strings.Contains(got, "HUNTER2") {
			p.t.Errorf("got %s", got)
		}
	})
}

// Results of the checkpoint's answer that came behind another answer are copied: the
// exploration between them leaves all the same.
func TestLateResults(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.user("go")
		p.answer("", "c checkpoint", "b bash")
		p.call("c", "checkpoint", `{"goal":"g"}`)
		p.answer("", "r read")
		p.result("r", "read", "text")
		p.answer("", "w rewind", "k read")
		p.result("b", "bash", "LATE")
		p.call("w", "rewind", `{"report":"R"}`)
		p.result("k", "read", "K")
		p.end()
		p.wantRoles("user assistant/c/b toolResult/c branchSummary custom toolResult/b assistant/k toolResult/k")
		for _, c := range p.context().Repair().Report.Repaired {
			if c.Kind != "moved-result" {
				p.t.Errorf("got %+v", c)
			}
		}
	})
}

// The prompt, the tools, the model and the thinking level stay in force.
func TestSummariseKeepsWhatIsInForce(t *testing.T) {
	for name, f := range map[string]func(*play, entries.ID) error{
		"from":  func(p *play, id entries.ID) error { _, err := p.tools.SummariseFrom(ctx, id, count); return err },
		"up to": func(p *play, id entries.ID) error { _, err := p.tools.SummariseUpTo(ctx, id, count); return err },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, nil, false)
			read, write := json.RawMessage(`{"name":"read","description":"d","parameters":{}}`), json.RawMessage(`{"name":"write","description":"d","parameters":{}}`)
			p.append(entries.SystemMessage(entries.System{Content: "P", Sections: map[string]json.RawMessage{"a": []byte(`"1"`), "b": []byte(`"2"`)}, ToolsAdded: []json.RawMessage{read}}))
			p.user("one")
			p.answer("ok")
			u := p.user("two")
			p.append(entries.SystemMessage(entries.System{Content: "RULE", Sections: map[string]json.RawMessage{"a": []byte(`"3"`), "b": []byte(`null`)}, ToolsAdded: []json.RawMessage{write}, ToolsRemoved: []string{"read"}}))
			p.append(entries.ThinkingLevelDraft("high"), entries.ModelChangeDraft("acme", "zzz"))
			before := p.context()
			p.must(f(p, u))
			after := p.context()
			if encode(after.System()) != encode(before.System()) || after.Model != before.Model || after.Thinking != before.Thinking {
				t.Errorf("got %s %+v, before %s %+v", encode(after.System()), after.Settings, encode(before.System()), before.Settings)
			}
		})
	}
}

// What users wrote is told also where a summary stood in its place meanwhile.
func TestSummarisedPromptIsTold(t *testing.T) {
	p := newPlay(t, nil, false)
	p.explored()
	u := p.user("NEVER touch main.go")
	p.answer("ok")
	_, err := p.tools.SummariseFrom(ctx, u, count)
	p.must(err)
	p.answerAnd("w rewind", `{"report":"R"}`)
	p.end()
	if told := reportOf(p); !strings.Contains(told, "NEVER touch main.go") {
		t.Errorf("got %s", told)
	}
}
