package modelcontext

import (
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A record holds the members of an entry that is no message; of a doubled one the
// last.
type record map[string][]byte

func readRecord(raw []byte) (record, error) {
	r := record{}
	err := jsonvalue.Members(raw, func(name string, value []byte) { r[name] = value })
	return r, err
}

// orEmpty is JavaScript's value ?? [].
func orEmpty(value []byte) []byte {
	if jsonvalue.Null(value) {
		return []byte("[]")
	}
	return value
}

// customMessage is what a custom_message becomes (pi: createCustomMessage).
func (r record) customMessage(id entries.ID) Message {
	o := new(object).raw("role", []byte(`"custom"`)).raw("customType", r["customType"])
	o.raw("content", orEmpty(r["content"])).raw("display", r["display"]).raw("details", r["details"])
	return Message{Role: RoleCustom, Entry: id, Raw: o.raw("timestamp", milliseconds(r["timestamp"])).json()}
}

// branchSummary is what a branch_summary becomes (pi: createBranchSummaryMessage).
func (r record) branchSummary(id entries.ID) Message {
	o := new(object).raw("role", []byte(`"branchSummary"`)).raw("summary", r["summary"]).raw("fromId", r["fromId"])
	return Message{Role: RoleBranchSummary, Entry: id, Raw: o.raw("timestamp", milliseconds(r["timestamp"])).json()}
}

// compactionSummary is what a compaction becomes (pi: createCompactionSummaryMessage).
func (r record) compactionSummary(id entries.ID) Message {
	o := new(object).raw("role", []byte(`"compactionSummary"`)).raw("summary", r["summary"])
	o.raw("tokensBefore", r["tokensBefore"])
	return Message{Role: RoleCompactionSummary, Entry: id, Raw: o.raw("timestamp", milliseconds(r["timestamp"])).json()}
}
