package claude

import (
	"slices"

	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// seeCost takes what Claude Code says that a session cost: sums by model, which it writes
// again and again while they grow. A session that is resumed goes on with them, and so does
// one that was forked from it; by the time at which a sum began it is known again.
func (t *translator) seeCost() {
	run := t.number(t.rec.started)
	if t.rec.models.None() {
		return
	}
	_ = jsonvalue.Members(t.rec.models.Of(t.line), func(model string, value []byte) {
		t.spend(transcript.Spent{Run: run, Model: "anthropic/" + model, Cost: jsonvalue.Number(jsonvalue.Get(value, "costUSD"))})
	})
}

func (t *translator) spend(s transcript.Spent) {
	list := t.header.Spent
	i := slices.IndexFunc(list, func(before transcript.Spent) bool { return before.Run == s.Run && before.Model == s.Model })
	if i >= 0 {
		list[i].Cost = max(list[i].Cost, s.Cost)
	} else if s.Cost > 0 {
		t.header.Spent = append(list, s)
	}
}

// number gives a number as it is written; anything else is "".
func (t *translator) number(s span) string {
	if s.None() || jsonvalue.Number(s.Of(t.line)) == 0 {
		return ""
	}
	return string(s.Of(t.line))
}
