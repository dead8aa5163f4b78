package main

import (
	"context"
	"encoding/json"
	"fmt"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

// A player is a harness with a model that does what a trace says.
type player struct {
	terms
	way   way // how the session goes
	views []*view
	s     *sessiontree.Session
	tools *tool.Tools

	calls   int
	open    bool // a checkpoint is set
	due     bool // the next answer rewinds, beside what it does
	rewinds int
	after   func(i int, t totals) // where it is set: called after each step
}

// A view is what is sent of a session: ways that only mask leave the session alone, and
// can look at the same one.
type view struct {
	way    way
	totals totals
	before []message // the last request
	masked map[entries.ID]modelcontext.Message
}

var background = context.Background()

// newPlayer makes a player with a new session. Of several ways only the first may do
// anything to it.
func newPlayer(dir string, set terms, ways ...way) (*player, error) {
	s, err := sessiontree.Create(dir, entries.Header{Cwd: "/srv/app"}, &sessiontree.Options{Sync: sessiontree.SyncNever})
	if err != nil {
		return nil, err
	}
	p := &player{terms: set, way: ways[0], s: s, tools: tool.New(s, nil)}
	for _, w := range ways {
		p.views = append(p.views, &view{way: w, masked: map[entries.ID]modelcontext.Message{}})
	}
	p.head += p.definitions()
	return p, nil
}

// play replays a trace.
func (p *player) play(t trace) error {
	defer p.s.Close()
	for i := range t.steps {
		if err := p.step(t, i); err != nil {
			return fmt.Errorf("%s, %s, call %d: %w", t.name(), p.way.name, i+1, err)
		}
		if p.after != nil {
			p.after(i, p.main().totals)
		}
	}
	return p.answer("Done.")
}

// main is the view of the way that the session goes.
func (p *player) main() *view { return p.views[0] }

// definitions is what the two tools add to each request.
func (p *player) definitions() (n int) {
	if !p.way.rewinds {
		return 0
	}
	for _, d := range p.tools.Definitions() {
		n += textTokens(d.Name, d.Description, string(d.InputSchema))
	}
	return n
}

func (p *player) step(t trace, i int) error {
	st := t.steps[i]
	if err := p.prompt(st.prompt, i); err != nil {
		return err
	}
	if p.way.rewinds && t.begins(i) && !p.open {
		if err := p.answer("", p.checkpoint()); err != nil {
			return err
		}
	}
	if err := p.answer(st.text, p.beside(t, i)...); err != nil {
		return err
	}
	return p.finish(t, i)
}

// prompt ends a turn, and begins another with what the user says.
func (p *player) prompt(text string, i int) error {
	if text == "" {
		return nil
	}
	if i > 0 {
		if err := p.answer("That is done. What next?"); err != nil {
			return err
		}
	}
	return p.append(entries.UserMessage(text))
}

// beside gives the calls of a step's answer.
func (p *player) beside(t trace, i int) []call {
	c := t.steps[i].call
	switch {
	case p.due:
		p.due = false
		return []call{p.rewind(), c}
	case p.way.beside && t.exploration(i) == 0 && t.begins(i+1) && t.steps[i+1].prompt == "":
		return []call{c, p.checkpoint()}
	}
	return []call{c}
}

// finish rewinds behind an exploration, now or beside the next call.
func (p *player) finish(t trace, i int) error {
	if !p.way.rewinds || !t.ends(i) {
		return nil
	}
	if p.way.beside && i+1 < len(t.steps) && t.exploration(i+1) == 0 && t.steps[i+1].prompt == "" {
		p.due = true
		return nil
	}
	return p.answer("", p.rewind())
}

func (p *player) checkpoint() call {
	p.open = true
	return p.own(tool.NameCheckpoint, `{"goal":"find where the offset of the record is computed"}`)
}

func (p *player) rewind() call {
	p.open = false
	p.rewinds++
	return p.own(tool.NameRewind, fmt.Sprintf(`{"report":%q}`, pool[p.rewinds:p.rewinds+4*p.report]))
}

// own is a call that only this way makes: the model writes it in addition.
func (p *player) own(name, args string) call {
	p.main().totals.output += textTokens(name, args)
	return call{name: name, args: args}
}

// answer asks the model, and runs what it calls.
func (p *player) answer(text string, calls ...call) error {
	if err := p.request(); err != nil {
		return err
	}
	a := entries.Assistant{Provider: "acme", Model: "m", StopReason: "toolUse"}
	if text != "" {
		a.Content = append(a.Content, entries.TextBlock(text))
	}
	for i, c := range calls {
		a.Content = append(a.Content, entries.ToolCallBlock(p.callID(i), c.name, json.RawMessage(c.args)))
	}
	if len(calls) == 0 {
		a.StopReason = "stop"
	}
	if err := p.append(entries.AssistantMessage(a)); err != nil {
		return err
	}
	return p.runAll(calls)
}

func (p *player) callID(i int) string { return fmt.Sprintf("toolu_%06d", p.calls+i) }

func (p *player) runAll(calls []call) error {
	ends := false
	for _, c := range calls {
		if err := p.run(c, p.callID(0)); err != nil {
			return err
		}
		p.calls++
		ends = ends || c.name == tool.NameRewind
	}
	if !ends {
		return nil
	}
	done, err := p.tools.EndTurn(background)
	if done != nil {
		p.main().totals.cuts++
	}
	return err
}

func (p *player) run(c call, id string) error {
	if !tool.Is(c.name) {
		return p.append(entries.ToolResult(id, c.name, []json.RawMessage{entries.TextBlock(c.result)}, false, nil))
	}
	r, err := p.tools.Call(background, c.name, id, json.RawMessage(c.args))
	if err == nil && r.IsError {
		err = fmt.Errorf("%s: %s", c.name, r.Text)
	}
	return err
}

func (p *player) append(d entries.Draft) error {
	_, err := p.s.Append(background, d)
	return err
}

// request counts what the model is sent next.
func (p *player) request() error {
	c, err := p.build()
	if err != nil {
		return err
	}
	list := p.main().list(p.terms, c)
	if p.way.compacts && p.head+tokens(list) > int(p.full*float64(p.window)) && len(c.Messages) > p.recent {
		if err = p.compact(c, list); err == nil {
			c, err = p.build()
		}
	}
	if err != nil {
		return err
	}
	for _, v := range p.views {
		v.send(p.head, v.list(p.terms, c), 0)
	}
	return nil
}

func (p *player) build() (*modelcontext.Context, error) {
	tree, err := p.s.Tree()
	if err != nil {
		return nil, err
	}
	return modelcontext.Build(tree, tree.Leaf(), nil)
}

// list gives the messages of a request.
func (v *view) list(t terms, c *modelcontext.Context) []message {
	return measured(v.mask(t, c).Render(), v.before)
}

// send counts a request, with so many tokens before its messages and behind them.
func (v *view) send(head int, list []message, more int) {
	cached := 0
	if v.totals.requests > 0 {
		cached = head + shared(v.before, list)
	}
	v.totals.request(head+tokens(list)+more, cached)
	v.before = list
}

// askForSummary is what a harness tells the model to have a summary, in tokens.
const askForSummary = 500

// compact has the context summarised, in a request of its own that reads the cache, and
// keeps the last messages.
func (p *player) compact(c *modelcontext.Context, list []message) error {
	v := p.main()
	v.send(p.head, list, askForSummary)
	v.totals.output += p.summary
	v.totals.cuts++
	at := len(c.Messages) - p.recent
	for at > 0 && c.Messages[at].Role == modelcontext.RoleToolResult {
		at--
	}
	return p.append(entries.CompactionDraft(pool[:4*p.summary], c.Messages[at].Entry, float64(tokens(list)), nil))
}
