package tool_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/tool"
)

// A checkpoint that was given up leaves phase none, whatever was rewound before it: a
// model must not be told that its report is there.
func TestGivenUpAfterARewind(t *testing.T) {
	both(t, tool.Options{}, func(p *play) {
		p.explored()
		p.answerAnd("w1 rewind", `{"report":"first"}`)
		p.end()
		p.answerAnd("c2 checkpoint", `{"goal":"second"}`)
		p.must(p.tools.Close(ctx))
		p.phase(tool.None)
		p.refused(p.answerAnd("w2 rewind", `{"report":"x"}`), "No active checkpoint")
		if last := p.state().Last; last == nil || last.Report != "first" {
			p.t.Errorf("got the last rewind %+v", last)
		}
	})
}

// A rewind that lapsed, or was cancelled, is told to the harness, and by the reminder to
// the model, which was told that its report is captured.
func TestLapsedIsTold(t *testing.T) {
	ways := map[string]func(p *play){
		"a user's message": func(p *play) { p.user("stop") },
		"cancelled":        func(p *play) { p.must(p.tools.Cancel(ctx)) },
	}
	for name, lapse := range ways {
		t.Run(name, func(t *testing.T) {
			both(t, tool.Options{}, func(p *play) {
				p.explored()
				p.answerAnd("w1 rewind", `{"report":"first"}`)
				lapse(p)
				if r := p.end(); r != nil {
					p.t.Fatalf("got %+v, want nothing", r)
				}
				if s := p.state(); s.Phase != tool.Active || s.Lapsed == nil || s.Lapsed.Report != "first" {
					p.t.Fatalf("got %s", encode(s))
				}
				p.answer("and now?")
				note, err := p.tools.PendingReminder(ctx)
				p.must(err)
				if !strings.HasPrefix(note, "Your rewind was not applied. ") {
					p.t.Errorf("got the note %q", note)
				}
				p.answerAnd("w2 rewind", `{"report":"second"}`)
				if r := p.end(); r.Report != "second" || p.state().Lapsed != nil {
					p.t.Errorf("got %+v and %s", r, encode(p.state()))
				}
			})
		})
	}
}

// What is wrong with arguments is said in the words of the schema.
func TestWrongArguments(t *testing.T) {
	for args, want := range map[string]string{
		`{"goal":1}`:                "goal has to be a string, not number.",
		`{"goal":"g","label":true}`: "label has to be a string, not bool.",
		`[]`:                        "they have to be a JSON object as the schema has it.",
		`{"goal":`:                  "they have to be a JSON object as the schema has it.",
	} {
		p := newPlay(t, nil, false)
		p.user("go")
		p.answer("", "1 checkpoint")
		if r := p.call("1", "checkpoint", args); !r.IsError || r.Text != "The arguments are wrong: "+want {
			t.Errorf("%s: got %q, want %q", args, r.Text, want)
		}
	}
}
