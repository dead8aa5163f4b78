package modelcontext

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A Change is one thing that Repair did.
type Change struct {
	Entry  entries.ID // of the message that it concerns
	Kind   ChangeKind
	Detail string
}

// A ChangeKind names what was changed. The set is open.
type ChangeKind string

// What Repair does. docs/context.md tells which provider's rule each answers.
const (
	DroppedFailed  ChangeKind = "dropped-failed"  // an answer that ended in an error or was aborted
	NotedFailed    ChangeKind = "noted-failed"    // a note in its place: its calls may have had effects
	DroppedResult  ChangeKind = "dropped-result"  // a result without a call, or a second one
	MovedResult    ChangeKind = "moved-result"    // it did not stand directly after its call
	AddedResult    ChangeKind = "added-result"    // of a call that had none
	RenamedCall    ChangeKind = "renamed-call"    // its id was used before, or cannot be sent
	MendedCall     ChangeKind = "mended-call"     // no name, or arguments that are no object
	DroppedBlock   ChangeKind = "dropped-block"   // an empty one, or one that no provider takes there
	UnsignedBlock  ChangeKind = "unsigned-block"  // its bytes had to change: the signature went
	ReplacedImage  ChangeKind = "replaced-image"  // by a text: it is none that can be sent
	FilledResult   ChangeKind = "filled-result"   // an empty result says so
	FilledSummary  ChangeKind = "filled-summary"  // a summary that is no text, or empty
	DroppedEmpty   ChangeKind = "dropped-empty"   // a message without content
	DroppedUnknown ChangeKind = "dropped-unknown" // a message of a role that no model is sent
	ValidText      ChangeKind = "valid-text"      // invalid UTF-8 or half of a surrogate pair
	AddedFirst     ChangeKind = "added-first"     // a user's message in front of an answer
)

// Repair gives the context with a list of messages that every provider takes,
// whatever the log went through: each call has one result, directly after its
// answer and in the order of the calls; ids are unique; answers that failed are gone,
// with their results; nothing is empty; text is valid; the first message is the
// user's; signed blocks have their bytes or are gone. Report.Repaired lists what was
// changed. Repairing what was repaired changes nothing.
func (c *Context) Repair() *Context {
	r := &repairer{ctx: c}
	list := r.withoutFailed(c.Messages)
	list = r.pair(list) // by the ids as they are stored
	list = r.clean(list)
	list = r.withoutEmpty(list)
	list = r.withFirst(list)
	report := c.Report
	report.Repaired = append(report.Repaired[:len(report.Repaired):len(report.Repaired)], r.changes...)
	return c.derive(list, report)
}

type repairer struct {
	ctx     *Context
	changes []Change
}

func (r *repairer) note(m Message, kind ChangeKind, detail string) {
	r.changes = append(r.changes, Change{m.Entry, kind, detail})
}

// withoutFailed takes out answers that ended in an error or were aborted. Providers
// refuse some and are misled by others. Where calls of one may have had effects, a
// note says so, lest the model repeats them.
func (r *repairer) withoutFailed(list []Message) []Message {
	gone := make([]bool, len(list))
	notes := map[int]Message{}
	calls := map[int]group{}
	for _, g := range groups(list) {
		calls[g.answer] = g
	}
	for i, m := range list {
		if m.Role != RoleAssistant || !failed(m) {
			continue
		}
		gone[i] = true
		r.note(m, DroppedFailed, m.text("stopReason"))
		for _, at := range calls[i].results {
			if at >= 0 {
				gone[at] = true
				r.note(list[at], DroppedResult, "of a failed answer")
			}
		}
		if note, ok := r.failedNote(m, calls[i]); ok {
			notes[i] = note
			r.note(m, NotedFailed, "")
		}
	}
	out := make([]Message, 0, len(list))
	for i, m := range list {
		if note, ok := notes[i]; ok {
			out = append(out, note)
		}
		if !gone[i] {
			out = append(out, m)
		}
	}
	return out
}

func failed(m Message) bool {
	reason := m.text("stopReason")
	return reason == "error" || reason == "aborted"
}

// failedNote tells which calls of a failed answer may have had effects.
func (r *repairer) failedNote(m Message, g group) (_ Message, ok bool) {
	var names []string
	for i, call := range g.calls {
		if g.results[i] >= 0 || r.ctx.call(m.Entry, call).State != NeverStarted {
			names = append(names, jsonvalue.Exact(fieldOf(call, "name")))
		}
	}
	if len(names) == 0 {
		return m, false
	}
	text := fmt.Sprintf("[An answer was cut off here (%s) and is left out. Calls that it had made may have run: %s. Check before repeating them.]",
		m.text("stopReason"), strings.Join(names, ", "))
	return made(m, "interrupted-answer", text), true
}

// made is a message that no entry has, at the time of m: a hidden custom message,
// which every dialect renders.
func made(m Message, kind, text string) Message {
	o := new(object).raw("role", []byte(`"custom"`)).text("customType", kind).text("content", text)
	o.raw("display", []byte("false")).raw("timestamp", m.Field("timestamp"))
	return Message{Role: RoleCustom, Entry: m.Entry, Raw: o.json()}
}

// withoutEmpty takes out messages that say nothing.
func (r *repairer) withoutEmpty(list []Message) []Message {
	out := make([]Message, 0, len(list))
	for _, m := range list {
		switch {
		case m.Role == RoleToolResult:
			m = r.filled(m)
		case !r.rendered(m.Role):
			r.note(m, DroppedUnknown, m.Role)
			continue
		case isEmpty(m):
			r.note(m, DroppedEmpty, "")
			continue
		}
		out = append(out, m)
	}
	return out
}

// rendered tells whether a message of a role reaches a model in the dialect.
func (r *repairer) rendered(role string) bool {
	switch role {
	case RoleUser, RoleAssistant, RoleBashExecution, RoleCustom, RoleBranchSummary, RoleCompactionSummary:
		return true
	case RoleSystem:
		return r.ctx.Dialect != Omp
	case RoleDeveloper, RolePythonExecution, RoleFileMention, roleHookMessage:
		return r.ctx.Dialect == Omp
	}
	return false
}

// isEmpty tells whether a message has a content that says nothing.
func isEmpty(m Message) bool {
	switch m.Role {
	case RoleUser, RoleAssistant, RoleDeveloper, RoleCustom, roleHookMessage:
		return saysNothing(m.Content())
	case RoleSystem: // it may bring tools, and no text
		return saysNothing(m.Content()) && bare(m.Field("sections")) && bare(m.Field("toolsAdded")) && bare(m.Field("toolsRemoved"))
	case RoleFileMention:
		return len(blocks(m.Field("files"))) == 0
	}
	return false
}

// bare tells whether a value has no members or elements.
func bare(value []byte) bool {
	members := 0
	_ = jsonvalue.Spans(value, func([]byte, int, int) { members++ })
	return members == 0 && len(blocks(value)) == 0
}

// saysNothing tells whether a content is neither text nor blocks.
func saysNothing(content []byte) bool {
	if isString(content) {
		return isBlank(jsonvalue.String(content))
	}
	return !slices.ContainsFunc(blocks(content), func(b json.RawMessage) bool { return isKnown(b) })
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// filled gives a result something to say.
func (r *repairer) filled(m Message) Message {
	if !saysNothing(m.Content()) {
		return m
	}
	r.note(m, FilledResult, "")
	return m.with("content", arrayOf("(no output)"))
}

// withFirst puts a user's message in front where an answer stands first. (Anthropic:
// "first message must use the user role".)
func (r *repairer) withFirst(list []Message) []Message {
	for i, m := range list {
		switch r.firstRole(m) {
		case RoleUser:
			return list
		case RoleAssistant:
			r.note(m, AddedFirst, "")
			o := new(object).raw("role", []byte(`"user"`)).raw("content", arrayOf("[What came before is not part of this conversation.]"))
			first := Message{Role: RoleUser, Entry: m.Entry, Raw: o.raw("timestamp", m.Field("timestamp")).json()}
			return slices.Insert(slices.Clone(list), i, first)
		}
	}
	return list
}

// speaksFirst is the role that a list begins with, as far as it says who speaks.
func (r *repairer) speaksFirst(list []Message) string {
	for _, m := range list {
		if role := r.firstRole(m); role != "" {
			return role
		}
	}
	return ""
}

// firstRole is the role in which a message reaches a model; "" where that says nothing
// about who speaks.
func (r *repairer) firstRole(m Message) string {
	for _, sent := range (&Context{Dialect: r.ctx.Dialect, Messages: []Message{m}}).Render() {
		if sent.Role != RoleSystem && sent.Role != RoleDeveloper {
			return sent.Role
		}
	}
	return ""
}

// unusedID gives a call's id that no other call has, made of one that is taken; next is
// the number to try first.
func unusedID(id string, taken map[string]bool, next map[string]int) string {
	if id == "" {
		id = "call"
	}
	for n := max(next[id], 2); ; n++ {
		if other := id + "_" + strconv.Itoa(n); !taken[other] {
			next[id] = n + 1
			return other
		}
	}
}
