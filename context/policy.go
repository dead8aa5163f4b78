package modelcontext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A Policy asks for less than everything. The zero Policy asks for everything.
type Policy struct {
	// MaskResults leaves out the content of tool results that are older than the last
	// KeepTurns turns: a line of text takes its place. A turn is what a prompt of the
	// user's begins. Each request that masks more than the one before breaks the
	// provider's cache there, so masking by many results at a time costs less
	// (docs/rewind.md).
	MaskResults bool
	KeepTurns   int
	// NoImages puts a line of text in the place of images.
	NoImages bool
	// NoThinking leaves out what models thought.
	NoThinking bool
	// For, where it is set, is the model that is going to be asked. What another one
	// signed loses its signature: thinking becomes plain, and what is nothing but a
	// signature is left out. Providers refuse signatures that are not their own.
	For Model
	// Budget, where it is above 0, is how many tokens the context may take, by
	// Estimator. What is oldest goes first: results are masked, then whole turns are
	// left out. The last turn, system messages and a compaction's summary stay,
	// whether that fits or not; Report.Spending tells.
	Budget int
	// Estimator is used for Budget; nil stands for EstimateTokens.
	Estimator Estimator
}

// A Spending tells what a policy cost.
type Spending struct {
	Budget        int // 0 where none was asked for
	Before, After int // tokens, about
	Fits          bool
	Masked        int // results
	Turns         int // that were left out
}

// Apply gives the context as a policy asks for it. Calls keep their results, if only
// as a line, so that a list which was valid for a provider stays so: repair first. What
// is left out does not depend on anything but the messages and the policy, and a
// message that was masked looks the same ever after: a provider's prompt cache holds up
// to the first message that changes.
func (c *Context) Apply(p Policy) *Context {
	a := newApplying(c, p)
	if p.For != (Model{}) {
		a.withoutForeign()
	}
	if p.NoThinking {
		a.withoutThinking()
	}
	if p.NoImages {
		a.each(a.withoutImages)
	}
	if p.MaskResults {
		a.maskBefore(a.turnStart(p.KeepTurns))
	}
	a.fit()
	a.keepFirst()
	d := c.derive(a.list, a.report)
	left := a.left()
	d.reduced = &left
	return d
}

// An applying is a policy on its way through a list.
type applying struct {
	Policy
	ctx    *Context
	list   []Message
	report Report

	before    int // tokens, about
	all, rest int // what the estimator says of the whole list, and of what is left
}

func newApplying(c *Context, p Policy) *applying {
	if p.Estimator == nil {
		p.Estimator = EstimateTokens
	}
	a := &applying{Policy: p, ctx: c, list: slices.Clone(c.Messages), report: c.Report}
	a.report.Dropped = slices.Clone(c.Report.Dropped)
	a.before = c.Tokens(p.Estimator).Tokens
	for _, m := range a.list {
		a.all += a.size(m)
	}
	a.rest = a.all
	return a
}

// left is what the list takes now, about. The estimator only tells which part of the
// whole that is: what the whole takes the provider may have counted.
func (a *applying) left() int {
	if a.all <= 0 {
		return max(a.before, 0)
	}
	return int(float64(a.before) * float64(a.rest) / float64(a.all))
}

// change puts a message in the place of another.
func (a *applying) change(i int, m Message, reason Reason) {
	a.rest += a.size(m) - a.size(a.list[i])
	a.report.drop(m.Entry, reason, "")
	a.list[i] = m
}

// size is what a message takes, about, when it is rendered by itself.
func (a *applying) size(m Message) (n int) {
	for _, r := range (&Context{Dialect: a.ctx.Dialect, Messages: []Message{m}}).Render() {
		n += a.Estimator(r)
	}
	return n
}

func (a *applying) each(f func(i int)) {
	for i := range a.list {
		f(i)
	}
}

// blocks puts what f makes of an answer's blocks in their place, and leaves out answers
// of which nothing is left. nil leaves a block out.
func (a *applying) blocks(reason Reason, applies func(m Message) bool, f func(block []byte) []byte) {
	out := a.list[:0]
	for _, m := range a.list {
		before := blocks(m.Content())
		after := before
		if m.Role == RoleAssistant && applies(m) {
			after = mapBlocks(before, f)
		}
		if sameBlocks(before, after) {
			out = append(out, m)
			continue
		}
		a.report.drop(m.Entry, reason, "")
		a.rest -= a.size(m)
		if m = m.with("content", jsonvalue.Array(after...)); len(after) > 0 {
			a.rest += a.size(m)
			out = append(out, m)
		}
	}
	a.list = out
}

func mapBlocks(list []json.RawMessage, f func(block []byte) []byte) (out []json.RawMessage) {
	for _, b := range list {
		if b := f(b); b != nil {
			out = append(out, b)
		}
	}
	return out
}

// withoutThinking leaves out what models thought.
func (a *applying) withoutThinking() {
	every := func(Message) bool { return true }
	a.blocks(LeftOutThinking, every, func(block []byte) []byte {
		if isThought(block) {
			return nil
		}
		return block
	})
}

// withoutForeign takes away what another model signed.
func (a *applying) withoutForeign() {
	other := func(m Message) bool { return m.text("provider") != a.For.Provider || m.text("model") != a.For.ID }
	a.blocks(ForeignSignature, other, unsigned)
}

// withoutImages changes the type of a block with its content: a placeholder must not
// be taken for an image's data.
func (a *applying) withoutImages(i int) {
	m := a.list[i]
	for _, member := range []string{"content", "images"} {
		changed := false
		all := blocks(m.Field(member))
		for n, b := range all {
			if kindOf(b) == "image" {
				all[n], changed = textBlock("[an image was left out]"), true
			}
		}
		if changed {
			a.change(i, m.with(member, jsonvalue.Array(all...)), LeftOutImages)
			m = a.list[i]
		}
	}
}

// turnStart is where the last n turns begin; 0 where there are not that many.
func (a *applying) turnStart(n int) int {
	if n <= 0 {
		return len(a.list)
	}
	for i := len(a.list) - 1; i >= 0; i-- {
		if startsUserTurn(a.list[i]) {
			if n--; n == 0 {
				return i
			}
		}
	}
	return 0
}

func startsUserTurn(m Message) bool {
	return m.Role == RoleUser || m.Role == RoleCustom && startsTurn(m)
}

func (a *applying) maskBefore(end int) {
	for i := range a.list[:end] {
		a.mask(i)
	}
}

// maskLead is what the line of a masked result begins with.
const maskLead, maskEnd = "[result left out: ", " bytes]"

// mask puts a line in the place of a result's content, where that is shorter. A line
// that stands there already stays as it is.
func (a *applying) mask(i int) {
	m := a.list[i]
	if m.Role != RoleToolResult || m.made || isMask(m.Content()) {
		return
	}
	line := fmt.Sprint(maskLead, len(m.Content()), maskEnd)
	next := m.with("content", arrayOf(line)).with("details", nil)
	if a.size(next) < a.size(m) {
		a.change(i, next, MaskedResult)
	}
}

// fit masks results and leaves out turns, the oldest first, until the budget holds.
func (a *applying) fit() {
	over := func() bool { return a.Budget > 0 && a.left() > a.Budget }
	last := a.turnStart(1)
	for i := 0; i < last && over(); i++ {
		a.mask(i)
	}
	s := Spending{Budget: a.Budget, Before: a.before, Turns: a.dropTurns(over)}
	s.Masked = a.forgetMasks()
	s.After, s.Fits = a.left(), !over()
	a.report.Spending = &s
}

// keepFirst sees to it that a list which began with the user still does: without its
// images a message may be another speaker's.
func (a *applying) keepFirst() {
	r := &repairer{ctx: a.ctx}
	if r.speaksFirst(a.ctx.Messages) == RoleUser && r.speaksFirst(a.list) != RoleUser {
		a.list = r.withFirst(a.list)
	}
}

// isMask tells whether a content is the line of a masked result, and nothing else.
func isMask(content []byte) bool {
	const longest = len(maskLead) + 30
	text := textOf(content)
	return len(text) < longest && strings.HasPrefix(text, maskLead) && strings.HasSuffix(text, maskEnd) && !strings.Contains(text, "\n")
}

// forgetMasks takes from the report the results that were masked and then left out
// with their turns; it counts the others.
func (a *applying) forgetMasks() (masked int) {
	there := map[entries.ID]bool{}
	for _, m := range a.list {
		there[m.Entry] = true
	}
	a.report.Dropped = slices.DeleteFunc(a.report.Dropped, func(d Dropped) bool {
		if d.Reason == MaskedResult && there[d.Entry] {
			masked++
		}
		return d.Reason == MaskedResult && !there[d.Entry]
	})
	return masked
}

// dropTurns leaves out turns from the oldest on, as long as more says so, and counts
// them. The last turn stays; what stands before the first prompt goes like a turn.
func (a *applying) dropTurns(more func() bool) (turns int) {
	var kept []Message
	from := 0
	for end, m := range a.list {
		if !startsUserTurn(m) || !more() {
			continue
		}
		stay := a.leaveOut(a.list[from:end])
		if len(stay) < end-from {
			turns++
		}
		kept, from = append(kept, stay...), end
	}
	a.list = append(kept, a.list[from:]...)
	return turns
}

// stays tells whether a message is never left out for a budget.
func stays(m Message) bool { return m.Role == RoleSystem || m.Role == RoleCompactionSummary }

func (a *applying) leaveOut(turn []Message) (kept []Message) {
	dropped := map[entries.ID]bool{}
	for _, m := range turn {
		if stays(m) {
			kept = append(kept, m)
			continue
		}
		a.rest -= a.size(m)
		if !dropped[m.Entry] {
			dropped[m.Entry] = true
			a.report.drop(m.Entry, OverBudget, "")
		}
	}
	return kept
}
