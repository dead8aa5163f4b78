package modelcontext

import "github.com/sessctl/sessctl/entries"

// An edit is a context_edit: it takes an entry out of the context, or gives it
// another content.
type edit struct {
	id          entries.ID
	target      string
	replacement []byte
}

// edited applies edits, of several for one entry the last (pi: projectContextEntry).
func (b *builder) edited(list []Message, edits []edit) []Message {
	if len(edits) == 0 {
		return list
	}
	latest := map[entries.ID]edit{}
	for _, e := range edits {
		if e.replacement == nil {
			b.ctx.Report.drop(e.id, BadEdit, "")
			continue
		}
		latest[entries.ID(e.target)] = e
	}
	out := list[:0]
	dropped := entries.ID("")
	for _, m := range list {
		e, ok := latest[m.Entry]
		switch {
		case !ok:
			out = append(out, m)
		case string(e.replacement) != "null":
			out = append(out, e.apply(m))
		case dropped != m.Entry: // a compaction may be two messages
			dropped = m.Entry
			b.ctx.Report.drop(m.Entry, EditedAway, "")
		}
	}
	return out
}

// apply gives the message with the content of the replacement; without any where that
// has none, or is no object.
func (e edit) apply(m Message) Message {
	content := fieldOf(e.replacement, "content")
	switch m.Role {
	case RoleAssistant, RoleToolResult:
		if isString(content) {
			content = arrayOfText(content)
		}
	case RoleUser, RoleCustom:
	default:
		return m
	}
	return m.with("content", content)
}
