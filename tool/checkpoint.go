package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/sessctl/sessctl/entries"
)

// longestGoal is how long a goal may be, in UTF-16 units: it stays in the context, twice
// once the exploration is over.
const longestGoal = 10_000

// checkpoint marks where an exploration starts. Its text has nothing that would still
// stand in the context after the rewind and ask for another one.
func (t *Tools) checkpoint(s State, id entries.ID, args json.RawMessage) Result {
	var a struct{ Goal, Label string }
	if wrong := decode(args, &a); wrong != "" {
		return refuse("%s", wrong)
	}
	if s.Phase == Pending {
		return refuse("A rewind is pending; it is applied at the end of this turn. Set the next checkpoint after that.")
	}
	if len(s.Open) >= t.opt.MaxDepth {
		return refuse("Checkpoint already active.")
	}
	if len(utf16.Encode([]rune(a.Goal))) > longestGoal {
		return refuse("The goal is longer than %d characters; shorten it.", longestGoal)
	}
	label := strings.TrimSpace(a.Label)
	if label != "" && s.labelled(label) {
		return refuse("The label %q is taken by an open checkpoint; choose another.", label)
	}
	details := map[string]any{"checkpoint": id, "goal": a.Goal, "startedAt": t.now()}
	if label != "" {
		details["label"] = label
	}
	text := fmt.Sprintf("Checkpoint %s", id)
	if goal := strings.TrimSpace(a.Goal); goal != "" {
		text += ": " + goal
	}
	return Result{Text: text, Details: encode(details)}
}

func (s State) labelled(label string) bool {
	for _, c := range s.Open {
		if c.Label == label {
			return true
		}
	}
	return false
}

// decode reads arguments. A model that sends none means an empty object. Where they are
// wrong it tells the model how.
func decode(args json.RawMessage, v any) (wrong string) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	err := json.Unmarshal(args, v)
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) && e.Field != "" {
		return fmt.Sprintf("The arguments are wrong: %s has to be a string, not %s.", strings.ToLower(e.Field), e.Value)
	}
	if err != nil {
		return "The arguments are wrong: they have to be a JSON object as the schema has it."
	}
	return ""
}

// encode writes what consists of strings and numbers, which cannot fail.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
