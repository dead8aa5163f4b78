package tool

import (
	"encoding/json"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// Edits are the replacements of context_edits, by the entries that they edit: what was
// taken out of the context does not come back by a copy or a report.
type edits map[entries.ID]json.RawMessage

// editsOf reads the edits among entries. One without a replacement says nothing, as for
// pi.
func editsOf(left []entries.Entry) (edits, error) {
	all := edits{}
	for _, e := range left {
		if e.Type != entries.TypeContextEdit {
			continue
		}
		var target entries.ID
		var replacement json.RawMessage
		err := e.Fields(func(name string, value []byte) {
			switch name {
			case "targetId":
				target = entries.ID(jsonvalue.String(value))
			case "replacement":
				replacement = slices.Clone(value)
			}
		})
		if err != nil {
			return nil, err
		}
		if replacement != nil {
			all[target] = replacement
		}
	}
	return all, nil
}

// shown is the message of an entry as it is in the context; ok is false where it was
// taken out: then it has no content.
func (list edits) shown(id entries.ID, message json.RawMessage) (_ json.RawMessage, ok bool) {
	replacement, edited := list[id]
	if !edited {
		return message, true
	}
	content := jsonvalue.Get(replacement, "content")
	if len(content) > 0 && content[0] == '"' { // answers and results have blocks
		content = jsonvalue.Array(entries.TextBlock(jsonvalue.String(content)))
	}
	return jsonvalue.Set(message, "content", content), string(replacement) != "null"
}
