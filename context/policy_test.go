package modelcontext_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
)

// turns is a session of n turns, each with a call and a large result.
func turns(n int) []string {
	lines := []string{piHeader}
	parent := ""
	add := func(line func(id, parent string) string) {
		id := fmt.Sprint("e", len(lines))
		lines = append(lines, line(id, parent))
		parent = id
	}
	for i := range n {
		c := fmt.Sprint("c", i)
		add(func(id, up string) string { return user(id, up, fmt.Sprint("prompt ", i)) })
		add(func(id, up string) string { return assistant(id, up, signed+","+call(c), "toolUse") })
		add(func(id, up string) string { return result(id, up, c, strings.Repeat("output ", 500)) })
		add(func(id, up string) string { return assistant(id, up, hi, "stop") })
	}
	return lines
}

func countMasked(c *modelcontext.Context) (n int) {
	for _, m := range c.Messages {
		if strings.Contains(string(m.Raw), "[result left out: ") {
			n++
		}
	}
	return n
}

func TestMaskResults(t *testing.T) {
	c := contextOf(t, nil, turns(5)...)
	for keep, want := range map[int]int{0: 5, 1: 4, 3: 2, 5: 0, 9: 0} {
		masked := c.Apply(modelcontext.Policy{MaskResults: true, KeepTurns: keep})
		if got := countMasked(masked); got != want || len(masked.Report.Dropped) != want || len(masked.Messages) != len(c.Messages) {
			t.Errorf("keep %d: got %d masked, %d reported, %d messages; want %d", keep, got, len(masked.Report.Dropped), len(masked.Messages), want)
		}
		checkRepaired(t, "masked", masked)
	}
	if countMasked(c) != 0 || len(c.Report.Dropped) != 0 {
		t.Error("Apply changed its receiver")
	}
}

// TestMaskedLooksTheSame: neither the next turn nor another policy changes what was
// masked before.
func TestMaskedLooksTheSame(t *testing.T) {
	short := []string{piHeader, user("a", "", "1"), assistant("b", "a", call("1"), "toolUse"), result("c", "b", "1", strings.Repeat("x", 60)), user("d", "c", "2")}
	once := contextOf(t, nil, short...).Apply(modelcontext.Policy{MaskResults: true})
	again := contextOf(t, nil, short...).Apply(modelcontext.Policy{MaskResults: true, Budget: 1})
	if n := len(again.Report.Dropped); n != 3 || once.Hash() != once.Apply(modelcontext.Policy{MaskResults: true}).Hash() {
		t.Errorf("got %d things left out (%s), want the result once; and masking twice to change nothing", n, reasons(again))
	}
	p := modelcontext.Policy{MaskResults: true, KeepTurns: 1}
	before, after := contextOf(t, nil, turns(4)...).Apply(p), contextOf(t, nil, turns(5)...).Apply(p)
	for i := range 12 {
		if string(before.Messages[i].Raw) != string(after.Messages[i].Raw) {
			t.Errorf("message %d: got %s, then %s", i, before.Messages[i].Raw, after.Messages[i].Raw)
		}
	}
}

func TestLeavingOutThinkingAndImages(t *testing.T) {
	picture := entry("message", "i", "", `"message":{"role":"user","content":[`+hi+`,{"type":"image","data":"`+png+`","mimeType":"image/png"}]}`)
	lines := []string{piHeader, picture, assistant("b", "i", signed+","+hi, "stop"), user("c", "b", "2"), assistant("d", "c", signed, "stop")}
	c := contextOf(t, nil, lines...)
	got := c.Apply(modelcontext.Policy{NoThinking: true, NoImages: true})
	if shape(got) != "i:user b:assistant c:user" || reasons(got) != "b:thinking-left-out d:thinking-left-out i:images-left-out" {
		t.Errorf("got %s (%s)", shape(got), reasons(got))
	}
	for _, m := range got.Messages {
		if strings.Contains(string(m.Raw), "c2ln") || strings.Contains(string(m.Raw), png) {
			t.Errorf("got %s, want neither thinking nor an image", m.Raw)
		}
	}
	if got.Tokens(nil).Tokens >= c.Tokens(nil).Tokens {
		t.Errorf("got %d tokens, want fewer than %d", got.Tokens(nil).Tokens, c.Tokens(nil).Tokens)
	}
}

func TestBudget(t *testing.T) {
	c := contextOf(t, nil, turns(20)...)
	all := c.Tokens(nil).Tokens
	for _, budget := range []int{all + 1, all - 1, all / 2, all / 10, 900, 10} {
		got := c.Apply(modelcontext.Policy{Budget: budget})
		b := got.Report.Spending
		if b.Before != all || b.After != got.Tokens(nil).Tokens || b.Fits != (b.After <= budget) || b.Masked != countMasked(got) {
			t.Errorf("budget %d: got %+v, tokens %d, %d masked", budget, b, got.Tokens(nil).Tokens, countMasked(got))
		}
		if want := budget >= 900; b.Fits != want {
			t.Errorf("budget %d: got %+v, want it to fit: %v", budget, b, want)
		}
		if (b.Masked+b.Turns == 0) != (budget >= all) {
			t.Errorf("budget %d of %d: got %+v", budget, all, b)
		}
		last := got.Messages[len(got.Messages)-1]
		if last.Entry != c.Messages[len(c.Messages)-1].Entry || got.Messages[0].Role != modelcontext.RoleUser {
			t.Errorf("budget %d: got %s", budget, shape(got))
		}
		checkRepaired(t, "budget", got)
	}
}

// TestBudgetKeepsWhatStays: a compaction's summary and system messages are never left
// out.
func TestBudgetKeepsWhatStays(t *testing.T) {
	lines := turns(3)
	lines = append(lines, entry("compaction", "c", fmt.Sprint("e", len(lines)-1), `"summary":"so far","firstKeptEntryId":"e5","systemMessage":{"role":"system","content":"x"}`),
		user("z", "c", "now"))
	got := contextOf(t, nil, lines...).Apply(modelcontext.Policy{Budget: 1})
	if shape(got) != "c:system c:compactionSummary z:user" || got.Report.Spending.Turns != 2 {
		t.Errorf("got %s, %+v", shape(got), got.Report.Spending)
	}
}

// TestBudgetCountsAsTheProviderDid: where the provider counted more than the estimator
// does, so it is for what is left.
func TestBudgetCountsAsTheProviderDid(t *testing.T) {
	lines := turns(10)
	last := fmt.Sprint("e", len(lines)-1)
	lines = append(lines, user("y", last, "go on"), entry("message", "z", "y", `"message":{"role":"assistant","content":[`+hi+`],"stopReason":"stop","usage":{"totalTokens":50000}}`))
	c := contextOf(t, nil, lines...)
	got := c.Apply(modelcontext.Policy{Budget: 25000}).Report.Spending
	if got.Before != 50000 || got.After < 15000 || got.After > 25000 {
		t.Errorf("got %+v, want half of it", got)
	}
	if got = c.Apply(modelcontext.Policy{Budget: 1000}).Report.Spending; !got.Fits {
		t.Errorf("got %+v, want the last turn alone to fit", got)
	}
}

// TestForAnotherModel: it gets no signatures that are not its own.
func TestForAnotherModel(t *testing.T) {
	c := contextOf(t, nil, piHeader, user("a", "", "1"), assistant("b", "a", signed+`,{"type":"redactedThinking","data":"x"},`+hi, "stop"), user("c", "b", "2"))
	own := c.Apply(modelcontext.Policy{For: modelcontext.Model{Provider: "acme", ID: "m"}})
	if own.Hash() != c.Hash() {
		t.Error("its own signatures were taken away")
	}
	other := c.Apply(modelcontext.Policy{For: modelcontext.Model{Provider: "acme", ID: "other"}})
	if got := string(other.Messages[1].Raw); strings.Contains(got, "c2ln") || strings.Contains(got, "redacted") || !strings.Contains(got, `"thinking":"hm"`) {
		t.Errorf("got %s, want the thinking without signatures", got)
	}
	if reasons(other) != "b:foreign-signature" {
		t.Errorf("got %s", reasons(other))
	}
	checkRepaired(t, "for another model", other)
}

// TestRepairedStaysValid: what is repaired and then made smaller is still what
// providers take, and says what happened to calls.
func TestRepairedStaysValid(t *testing.T) {
	lines := append(turns(4), user("u", "e16", "more"), assistant("v", "u", call("z"), "toolUse"))
	fixed := contextOf(t, nil, lines...).Repair()
	got := fixed.Apply(modelcontext.Policy{MaskResults: true, NoThinking: true, NoImages: true, Budget: 300})
	if found := checkProvider(rawMessages(got.Messages), nil); len(found) > 0 {
		t.Errorf("got %v", found)
	}
	if last := string(got.Messages[len(got.Messages)-1].Raw); !strings.Contains(last, "Whether this call ran is not known") {
		t.Errorf("got %s, want what Repair said of the call", last)
	}
}

func TestTokens(t *testing.T) {
	answer := func(id, parent, stop string, total int) string {
		return entry("message", id, parent, fmt.Sprintf(`"message":{"role":"assistant","content":[%s],"stopReason":%q,"usage":{"input":%d,"output":0,"totalTokens":%d}}`, hi, stop, total, total))
	}
	for _, c := range []struct {
		name     string
		lines    []string
		recorded int
	}{
		{"the last answer's", []string{user("a", "", "1"), answer("b", "a", "stop", 500), user("c", "b", "2"), answer("d", "c", "stop", 700), user("e", "d", "3")}, 700},
		{"not a failed one's", []string{user("a", "", "1"), answer("b", "a", "stop", 500), answer("d", "b", "error", 700)}, 500},
		{"not one from before the compaction", []string{user("a", "", "1"), answer("b", "a", "stop", 500), entry("compaction", "c", "b", `"summary":"s","firstKeptEntryId":"a"`)}, 0},
		{"one from after it", []string{user("a", "", "1"), answer("b", "a", "stop", 500), entry("compaction", "c", "b", `"summary":"s","firstKeptEntryId":"a"`), answer("d", "c", "stop", 90)}, 90},
	} {
		got := contextOf(t, nil, append([]string{piHeader}, c.lines...)...).Tokens(func(modelcontext.Message) int { return 7 })
		if got.Recorded != c.recorded || (got.Tokens-got.Recorded)%7 != 0 || got.Tokens <= 0 {
			t.Errorf("%s: got %+v, want %d recorded", c.name, got, c.recorded)
		}
	}
	if got := modelcontext.EstimateTokens(modelcontext.Message{Raw: []byte(`{"role":"user","content":"` + strings.Repeat("x", 400) + `"}`)}); got < 100 || got > 110 {
		t.Errorf("400 letters: got %d tokens, want about 100", got)
	}
}

// What a budget leaves is in the order of the context.
func TestWhatIsLeftKeepsItsOrder(t *testing.T) {
	c := contextOf(t, nil, turns(6)...)
	got := c.Apply(modelcontext.Policy{Budget: c.Tokens(nil).Tokens / 4})
	before := 0
	for _, m := range got.Messages {
		at := slices.IndexFunc(c.Messages, func(o modelcontext.Message) bool { return o.Entry == m.Entry })
		if at < before {
			t.Errorf("got %s, out of order", shape(got))
		}
		before = at
	}
}
