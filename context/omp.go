package modelcontext

import (
	"slices"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// omp selects as oh-my-pi 18.2.3 does (session-context.ts, buildSessionContext):
// what follows a /clear; else the latest compaction's summary, what it keeps, and
// what follows it. A notebook that the model keeps comes first. Then calls without
// results and failed answers are taken out.
func (b *builder) omp() error {
	n, err := b.climbOmp()
	if err != nil {
		return err
	}
	list, err := b.ompSelection(n.reset)
	if err != nil {
		return err
	}
	if n.notes != nil {
		list = append([]Message{*n.notes}, list...)
	}
	if !b.all {
		list = b.withoutFailed(b.withoutDangling(list))
	}
	b.ctx.Messages = list
	return nil
}

// A notebook is what climbOmp finds besides the path.
type notebook struct {
	reset int      // where the latest reset_boundary is in builder.up; -1 where there is none
	notes *Message // the latest notes behind it that are not empty
	found bool     // there were notes behind it
}

// climbOmp goes further up where omp's rules need it: to the root, unless a
// reset_boundary below the latest compaction, or below everything, ends it all.
func (b *builder) climbOmp() (n notebook, err error) {
	n.reset = -1
	for i, e := range b.up {
		if err = n.see(i, e); err != nil {
			return n, err
		}
	}
	if n.reset >= 0 && (b.cut == nil || n.reset < b.cut.at) {
		return n, nil
	}
	return n, b.climbToRoot(func(e entries.Entry) (bool, error) {
		if b.cut.from < 0 && b.cut.kept != "" {
			b.meets(e)
		}
		return true, n.see(len(b.up)-1, e)
	})
}

func (n *notebook) see(at int, e entries.Entry) error {
	switch {
	case n.reset >= 0:
	case e.Type == entries.TypeResetBoundary:
		n.reset = at
	case e.Type == entries.TypeCustom && !n.found:
		raw, err := e.Raw()
		if err != nil {
			return err
		}
		n.take(e.ID, raw)
	}
	return nil
}

// notesType is the customType of the notebook (context-notes.ts).
const notesType = "experimental_context_notes"

// take reads a custom entry as a revision of the notebook, if it is a valid one.
func (n *notebook) take(id entries.ID, raw []byte) {
	const longest = 16384 // bytes
	rec, err := readRecord(raw)
	if err != nil || jsonvalue.String(rec["customType"]) != notesType {
		return
	}
	data, err := readRecord(rec["data"])
	text := jsonvalue.Exact(data["text"])
	if err != nil || len(data) != 2 || jsonvalue.Number(data["version"]) != 1 || !isString(data["text"]) || len(text) > longest {
		return
	}
	n.found = true
	if text == "" {
		return
	}
	o := new(object).raw("role", []byte(`"custom"`)).text("customType", notesType).text("content", renderContextNotes(text))
	o.raw("display", []byte("false")).raw("timestamp", milliseconds(rec["timestamp"]))
	n.notes = &Message{Role: RoleCustom, Entry: id, Raw: o.json()}
}

// ompSelection reads the messages of the selected part of the path.
func (b *builder) ompSelection(reset int) ([]Message, error) {
	switch {
	case reset >= 0 && (b.cut == nil || reset < b.cut.at):
		return b.ompMessages(b.after(reset))
	case b.cut == nil:
		return b.ompMessages(b.up)
	}
	first := []Message{b.ompSummary()}
	request, err := b.ompMessages(b.lastRequest(reset))
	if err != nil {
		return nil, err
	}
	kept, err := b.ompMessages(b.ompKept())
	if err != nil {
		return nil, err
	}
	rest, err := b.ompMessages(b.after(b.cut.at))
	return slices.Concat(first, outdated(request), outdated(kept), rest), err
}

func (b *builder) ompMessages(up []entries.Entry) ([]Message, error) {
	read, err := b.read(up, ompMessage)
	return read.messages, err
}

// ompKept gives the entries that the latest compaction keeps: where the provider has
// compacted by itself, only those that its history does not have.
func (b *builder) ompKept() []entries.Entry {
	id := b.up[b.cut.at].ID
	if remoteHistory(b.cut.rec["preserveData"]) != nil {
		if b.cut.from >= 0 {
			b.ctx.Report.drop(id, RemoteHistory, "")
		}
		through := entries.ID(jsonvalue.String(b.cut.rec["providerReplayThroughEntryId"]))
		for i := len(b.up) - 1; i > b.cut.at && through != ""; i-- {
			if b.up[i].ID == through {
				return b.between(i - 1)
			}
		}
		return nil
	}
	if b.cut.from < 0 {
		if b.cut.kept != "" {
			b.ctx.Report.drop(id, KeptNotOnPath, string(b.cut.kept))
		}
		return nil
	}
	return b.between(b.cut.from)
}

// lastRequest gives the user's latest request before a compaction that summarised
// nothing, where the kept range begins behind it.
func (b *builder) lastRequest(reset int) []entries.Entry {
	if jsonvalue.String(fieldOf(b.cut.rec["details"], "kind")) != "experimental-context-rollover" {
		return nil
	}
	last := reset
	if last < 0 {
		last = len(b.up)
	}
	kept := slices.IndexFunc(b.up, func(e entries.Entry) bool { return e.ID == b.cut.name })
	for i := b.cut.at + 1; i < last; i++ {
		if !userRequest(b.up[i]) {
			continue
		}
		if kept >= 0 && i > kept {
			return b.up[i : i+1]
		}
		return nil
	}
	return nil
}

// userRequest tells whether an entry is a request of the user's (isUserRequestEntry).
func userRequest(e entries.Entry) bool {
	if e.Type == entries.TypeMessage && e.Role != RoleCustom {
		return e.Role == RoleUser
	}
	if e.Type != entries.TypeMessage && e.Type != entries.TypeCustomMessage {
		return false
	}
	raw, err := e.Raw()
	if err != nil {
		return false
	}
	m := ompMessage(e, raw).message
	return m.Raw != nil && startsTurn(m)
}

// startsTurn tells whether a custom message is the user's own (isUserTurnInitiator).
func startsTurn(m Message) bool {
	kind := m.text("customType")
	return (kind == "skill-prompt" || kind == "collab-prompt") && m.text("attribution") == "user"
}

// ompMessage reads one entry.
func ompMessage(e entries.Entry, raw []byte) reading {
	if e.Type == entries.TypeMessage {
		return ompStored(e, raw)
	}
	rec, err := readRecord(raw)
	if err != nil {
		return reading{reason: Unreadable, detail: err.Error()}
	}
	switch e.Type {
	case entries.TypeCustomMessage:
		return ompCustom(e, rec)
	case entries.TypeBranchSummary:
		if !truthy(rec["summary"]) {
			return reading{reason: NoSummary}
		}
		return reading{message: rec.branchSummary(e.ID)}
	}
	return reading{}
}

func ompStored(e entries.Entry, raw []byte) reading {
	r := storedRaw(e, raw)
	if r.message.Role != RoleAssistant || r.message.Raw == nil {
		return r
	}
	switch {
	case truthy(r.message.Field("retryRecovery")):
		return reading{reason: RetryRecovery}
	case emptyError(r.message):
		return reading{reason: EmptyError}
	}
	return r
}

func ompCustom(e entries.Entry, rec record) reading {
	switch jsonvalue.String(rec["customType"]) {
	case "prewalk-plan", "vibe-mode-context":
		return reading{reason: ModeContext}
	}
	if content := rec["content"]; !isString(content) && !isArray(content) {
		return reading{reason: BadContent}
	}
	return reading{message: rec.ompCustomMessage(e.ID)}
}

// ompCustomMessage is customMessage with what omp makes of values of wrong types
// (normalizeCustomMessagePayload).
func (r record) ompCustomMessage(id entries.ID) Message {
	kind, display, attribution := r["customType"], r["display"], r["attribution"]
	if jsonvalue.String(kind) == "" {
		kind = []byte(`"custom-message"`)
	}
	if string(display) != "true" {
		display = []byte("false")
	}
	if attribution != nil && jsonvalue.String(attribution) != RoleUser {
		attribution = []byte(`"agent"`)
	}
	o := new(object).raw("role", []byte(`"custom"`)).raw("customType", kind).raw("content", r["content"])
	o.raw("display", display).raw("details", r["details"]).raw("attribution", attribution)
	return Message{Role: RoleCustom, Entry: id, Raw: o.raw("timestamp", milliseconds(r["timestamp"])).json()}
}

// ompSummary is what the latest compaction becomes (createCompactionSummaryMessage).
func (b *builder) ompSummary() Message {
	r, preserved := b.cut.rec, b.cut.rec["preserveData"]
	payload, native := remoteHistory(preserved), anthropicCompaction(preserved)
	timestamp := r["timestamp"]
	if native != nil {
		timestamp = b.beforeKept(timestamp)
		if payload == nil {
			payload = native
		}
	}
	blocks := snapcompactBlocks(preserved)
	o := new(object).raw("role", []byte(`"compactionSummary"`)).raw("summary", r["summary"])
	for _, name := range []string{"shortSummary", "tokensBefore", "tokensAfter", "method"} {
		o.raw(name, r[name])
	}
	o.raw("providerPayload", payload).raw("blocks", arrayOrNone(blocks)).raw("images", arrayOrNone(ofKind(blocks, "image")))
	o.raw("warning", r["warning"]).raw("timestamp", milliseconds(timestamp))
	return Message{Role: RoleCompactionSummary, Entry: b.up[b.cut.at].ID, Raw: o.json()}
}

// beforeKept gives the millisecond before the first retained entry: a summary that
// the provider replays must not look newer than what it keeps, or that would lose its
// signatures.
func (b *builder) beforeKept(timestamp []byte) []byte {
	at := b.cut.from
	if at < 0 {
		at = b.cut.at - 1
	}
	if at < 0 || b.up[at].Time.IsZero() {
		return timestamp
	}
	return jsonvalue.AppendString(nil, b.up[at].Time.Add(-time.Millisecond).Format("2006-01-02T15:04:05.000Z"))
}

// remoteHistory is what OpenAI's compaction left (getOpenAiRemoteCompactionPayload).
func remoteHistory(preserved []byte) []byte {
	remote := fieldOf(preserved, "openaiRemoteCompaction")
	provider, history := fieldOf(remote, "provider"), fieldOf(remote, "replacementHistory")
	if jsonvalue.String(provider) == "" || !isArray(history) {
		return nil
	}
	for _, item := range blocks(history) {
		if !isObject(item) {
			return nil
		}
	}
	return new(object).text("type", "openaiResponsesHistory").raw("provider", provider).raw("items", history).json()
}

// anthropicCompaction is what Anthropic's left (getAnthropicCompactionPayload).
func anthropicCompaction(preserved []byte) []byte {
	data := fieldOf(preserved, "anthropicCompaction")
	provider, content := fieldOf(data, "provider"), fieldOf(data, "content")
	if jsonvalue.String(provider) == "" || jsonvalue.String(content) == "" {
		return nil
	}
	o := new(object).text("type", "anthropicCompaction").raw("provider", provider).raw("content", content)
	for _, name := range []string{"encryptedContent", "filesText"} {
		if value := fieldOf(data, name); jsonvalue.String(value) != "" {
			o.raw(name, value)
		}
	}
	return o.json()
}

// emptyError tells whether an answer failed before it said anything
// (isEmptyErrorTurn). A block of an unknown kind counts as something.
func emptyError(m Message) bool {
	if m.text("stopReason") != "error" {
		return false
	}
	for _, b := range blocks(m.Content()) {
		if says(b) {
			return false
		}
	}
	return true
}

func says(block []byte) bool {
	filled := func(name string) bool {
		return trimText(jsonvalue.String(fieldOf(block, name))) != ""
	}
	switch kindOf(block) {
	case "text":
		return filled("text")
	case "thinking":
		return filled("thinking") || filled("thinkingSignature")
	case "redactedThinking":
		return filled("data")
	case "fallback":
		return false
	}
	return true
}
