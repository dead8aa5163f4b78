package modelcontext

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// roleHookMessage is oh-my-pi's older word for a custom message.
const roleHookMessage = "hookMessage"

// Custom messages that oh-my-pi treats as more than a note (pi-wire/src/index.ts and
// pi-coding-agent/src/session/messages.ts).
const (
	customCollabPrompt = "collab-prompt"
	customSkillPrompt  = "skill-prompt"
)

var (
	byUser  = json.RawMessage(`"user"`)
	byAgent = json.RawMessage(`"agent"`)
)

// renderOmp gives messages as oh-my-pi 18.2.3 sends them to a model (convertToLlm of
// pi-coding-agent/src/session/messages.ts): of the roles user, developer, assistant
// and toolResult. A message of a role that it does not know is left out. Where it
// would fail, for content that is missing or null, the content is taken for empty.
func renderOmp(list []Message) (rendered []Message) {
	for i, m := range list {
		interrupted := i+1 < len(list) && list[i+1].Role == RoleCustom &&
			list[i+1].text("customType") == interruptedThinking
		rendered = append(rendered, renderOmpMessage(m, interrupted)...)
	}
	return rendered
}

// renderOmpMessage is convertOne.
func renderOmpMessage(m Message, interrupted bool) []Message {
	switch m.Role {
	case RoleUser:
		return []Message{m.attributed(byUser)}
	case RoleDeveloper:
		return []Message{m.attributed(byAgent)}
	case RoleAssistant:
		return ompAssistant(m, interrupted)
	case RoleToolResult:
		return []Message{ompToolResult(m).attributed(byAgent)}
	case RoleBashExecution, RolePythonExecution:
		return ompExecution(m)
	case RoleFileMention:
		return ompFileMention(m)
	case RoleCustom, roleHookMessage:
		return renderOmpCustom(m)
	case RoleBranchSummary:
		text := renderPrompt(ompBranchPrompt, "summary", shown(m.Field("summary")))
		return []Message{m.summary(arrayOf(text))}
	case RoleCompactionSummary:
		content := jsonvalue.Array(ompCompactionBlocks(m)...)
		return []Message{m.summary(content).with("providerPayload", m.Field("providerPayload"))}
	}
	return nil
}

// attributed says who a message is from, where it does not itself.
func (m Message) attributed(from json.RawMessage) Message {
	if jsonvalue.Null(m.Field("attribution")) {
		return m.with("attribution", from)
	}
	return m
}

// rendered is a new message that stands for m.
func (m Message) rendered(role string, content, attribution []byte) Message {
	o := new(object).text("role", role).raw("content", content).raw("attribution", attribution)
	return Message{Role: role, Entry: m.Entry, Raw: o.raw("timestamp", m.Field("timestamp")).json()}
}

// summary is the message of a summary. The time tells omp that what was said before
// is no longer what the provider has seen.
func (m Message) summary(content []byte) Message {
	return m.rendered(RoleUser, content, byAgent).with("historyRewriteAt", m.Field("timestamp"))
}

// ompCompactionBlocks gives the summary as stored before the blocks of an archive,
// else in words that introduce it.
func ompCompactionBlocks(m Message) []json.RawMessage {
	summary, archive := m.Field("summary"), m.Field("blocks")
	if archive != nil {
		return append([]json.RawMessage{rawTextBlock(summary)}, blocks(archive)...)
	}
	prompt := ompCompactionPrompt
	if m.text("method") == "handoff" {
		prompt = ompHandoffPrompt
	}
	text := textBlock(renderPrompt(prompt, "summary", shown(summary)))
	return append([]json.RawMessage{text}, blocks(m.Field("images"))...)
}

// ompAssistant takes away the thinking that was cut short when the user interrupted
// it: what was kept of it follows in a message of its own, if at all.
func ompAssistant(m Message, interrupted bool) []Message {
	stopped := m.text("stopReason") == "aborted" && interruptedByUser(m)
	if interrupted || stopped {
		m = withoutCutThinking(m)
	}
	if stopped && !interrupted && emptyContent(m.Content()) {
		return nil
	}
	return []Message{m}
}

// interruptedByUser is isUserInterruptAbort, with the flag of
// pi-ai/src/error/flags.ts. A JavaScript operator on bits looks at the lower 32 of a
// number.
func interruptedByUser(m Message) bool {
	const userInterrupt = 0x0400_0000
	id := math.Mod(math.Trunc(toNumber(m.Field("errorId"))), 1<<32)
	return m.text("errorMessage") == "Interrupted by user" || !math.IsNaN(id) && int64(id)&userInterrupt != 0
}

func emptyContent(content []byte) bool {
	return jsonvalue.Null(content) || string(content) == `""` || isArray(content) && len(blocks(content)) == 0
}

// withoutCutThinking is stripDemotedThinkingForLlm: a run of thinking blocks that
// have no signature goes, if nothing but empty text follows it.
func withoutCutThinking(m Message) Message {
	list := blocks(m.Content())
	end := len(list)
	for end > 0 && kindOf(list[end-1]) == "text" && blank(list[end-1], "text") {
		end--
	}
	start := end
	for start > 0 && isCutThinking(list[start-1]) {
		start--
	}
	if start == end {
		return m
	}
	return m.with("content", jsonvalue.Array(list[:start]...))
}

func isCutThinking(block []byte) bool {
	return kindOf(block) == "thinking" && !blank(block, "thinking") && !truthy(jsonvalue.Get(block, "thinkingSignature"))
}

func blank(block []byte, name string) bool {
	return trimText(jsonvalue.String(jsonvalue.Get(block, name))) == ""
}

// ompToolResult puts the texts of a result that was pruned in the place of its first
// one (pi-agent-core/src/compaction/messages.ts, getPrunedToolResultContent).
func ompToolResult(m Message) Message {
	content := m.Content()
	if m.Field("prunedAt") == nil || !isArray(content) && !jsonvalue.Null(content) {
		return m
	}
	list := blocks(content)
	text := joined(ofKind(list, "text"), "")
	if text == "" {
		text = "[Output truncated]"
	}
	isText := func(block json.RawMessage) bool { return kindOf(block) == "text" }
	first := max(0, slices.IndexFunc(list, isText)) // no text comes before it, so that it is there in the rest too
	rest := slices.DeleteFunc(list, isText)
	return m.with("content", jsonvalue.Array(slices.Insert(rest, first, textBlock(text))...))
}

// ompExecution is a command, or a program in Python, with what it wrote.
func ompExecution(m Message) []Message {
	if truthy(m.Field("excludeFromContext")) {
		return nil
	}
	var images []json.RawMessage
	text, what, failed := "Ran `"+member(m.Raw, "command")+"`\n", "command", "Command exited"
	if m.Role == RolePythonExecution {
		text, what, failed = "Ran Python:\n```python\n"+member(m.Raw, "code")+"\n```\n", "execution", "Execution failed"
	} else {
		images = blocks(m.Field("images"))
	}
	text += ompOutput(m) + ompExit(m, what, failed) + outputNotice(m.Field("meta"))
	content := append([]json.RawMessage{textBlock(text)}, images...)
	return []Message{m.rendered(RoleUser, jsonvalue.Array(content...), byUser)}
}

func ompOutput(m Message) string {
	output := m.Field("output")
	if !truthy(output) {
		return "(no output)"
	}
	heading := ""
	if m.Role == RolePythonExecution {
		heading = "Output:\n"
	}
	return heading + "```\n" + interpolated(output) + "\n```"
}

func ompExit(m Message, what, failed string) string {
	code := m.Field("exitCode")
	switch {
	case truthy(m.Field("cancelled")):
		return "\n\n(" + what + " cancelled)"
	case !jsonvalue.Null(code) && !(isNumber(code) && toNumber(code) == 0):
		return "\n\n" + failed + " with code " + interpolated(code)
	}
	return ""
}

// ompFileMention gives the files that a user named: those that are text from the
// developer, and images, which providers take from a user only, from the user.
func ompFileMention(m Message) (list []Message) {
	var texts, pictures, images []json.RawMessage
	for _, file := range blocks(m.Field("files")) {
		image := jsonvalue.Get(file, "image")
		switch {
		case truthy(image):
			pictures, images = append(pictures, file), append(images, image)
		case !jsonvalue.Null(file):
			texts = append(texts, file)
		}
	}
	if texts != nil {
		list = append(list, m.rendered(RoleDeveloper, arrayOf(ompFiles(texts)), byUser))
	}
	if pictures != nil {
		content := append([]json.RawMessage{textBlock(ompFiles(pictures))}, images...)
		list = append(list, m.rendered(RoleUser, jsonvalue.Array(content...), byUser))
	}
	return list
}

func ompFiles(files []json.RawMessage) string {
	var parts []string
	for _, file := range files {
		inner := "\n"
		if content := jsonvalue.Get(file, "content"); truthy(content) {
			inner = "\n" + interpolated(content) + "\n"
		}
		parts = append(parts, `<file path="`+member(file, "path")+`">`+inner+"</file>")
	}
	return strings.Join(parts, "\n")
}

// renderOmpCustom gives a custom message, or a hook's: what a user typed as the user's,
// what an extension says as the developer's, with its images apart.
func renderOmpCustom(m Message) []Message {
	content, typed := m.Content(), ""
	if m.Role == RoleCustom && m.text("attribution") == "user" {
		typed = m.text("customType")
	}
	images := ofKind(blocks(content), "image")
	switch {
	case !isString(content) && !isArray(content):
		return nil
	case typed == customCollabPrompt:
		return []Message{m.rendered(RoleUser, interjection(content), byUser)}
	case typed == customSkillPrompt:
		return []Message{m.rendered(RoleUser, blockContent(content), byUser)}
	case len(images) > 0:
		return renderOmpImages(m, images)
	}
	return []Message{m.rendered(RoleDeveloper, blockContent(content), m.Field("attribution"))}
}

// renderOmpImages is convertImageBearingCustomMessage.
func renderOmpImages(m Message, images []json.RawMessage) (list []Message) {
	from := m.Field("attribution")
	if texts := ofKind(blocks(m.Content()), "text"); len(texts) > 0 {
		list = append(list, m.rendered(RoleDeveloper, jsonvalue.Array(texts...), from))
	}
	intro := textBlock("Images attached to " + interpolated(m.Field("customType")) + ".")
	return append(list, m.rendered(RoleUser, jsonvalue.Array(append([]json.RawMessage{intro}, images...)...), from))
}

// interjection is the content of a message that came while the model worked
// (wrapSteeringUserMessage).
func interjection(content []byte) []byte {
	list := blocks(content)
	text := jsonvalue.Exact(content)
	if isArray(content) {
		text = interjected(ofKind(list, "text"))
	}
	if text == "" {
		return content
	}
	text = renderPrompt(ompInterjectionPrompt, "message", text)
	if isString(content) {
		return jsonvalue.AppendExact(nil, text)
	}
	return jsonvalue.Array(append([]json.RawMessage{textBlock(text)}, ofKind(list, "image")...)...)
}

// interjected is getArrayContentText.
func interjected(list []json.RawMessage) string {
	for len(list) > 0 && jsonvalue.Get(list[0], "text") == nil {
		list = list[1:]
	}
	return joined(list, "\n")
}

// joined puts the texts of blocks together.
func joined(list []json.RawMessage, separator string) string {
	var texts []string
	for _, block := range list {
		texts = append(texts, shown(jsonvalue.Get(block, "text")))
	}
	return strings.Join(texts, separator)
}

// blockContent is content as an array of blocks.
func blockContent(content []byte) []byte {
	if isString(content) {
		return arrayOfText(content)
	}
	return content
}

// rawTextBlock is a block of a stored string.
func rawTextBlock(text []byte) json.RawMessage {
	return new(object).text("type", "text").raw("text", text).json()
}

func ofKind(list []json.RawMessage, kind string) (found []json.RawMessage) {
	for _, block := range list {
		if kindOf(block) == kind {
			found = append(found, block)
		}
	}
	return found
}
