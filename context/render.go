package modelcontext

import (
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// Render gives the messages as a model reads them, in the roles system, developer,
// user, assistant and toolResult: summaries, shell commands and custom messages are
// written out as text, in the words of the dialect's program (its convertToLlm).
// What no model is sent is left out. Encoders for providers build on this.
func (c *Context) Render() []Message {
	if c.Dialect == Omp {
		return renderOmp(c.Messages)
	}
	var list []Message
	for _, m := range c.Messages {
		if r, ok := renderPi(m); ok {
			list = append(list, r)
		}
	}
	return list
}

// What pi 1.6.0 says around summaries (messages.js).
const (
	compactionLead  = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	compactionClose = "\n</summary>"
	branchLead      = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	branchClose     = "</summary>"
)

// renderPi is convertToLlm of pi 1.6.0 for one message.
func renderPi(m Message) (_ Message, ok bool) {
	switch m.Role {
	case RoleSystem, RoleUser, RoleAssistant, RoleToolResult:
		return m, true
	case RoleBashExecution:
		if truthy(m.Field("excludeFromContext")) {
			return m, false
		}
		return m.asUser(arrayOf(bashText(m))), true
	case RoleCustom:
		content := m.Content()
		if isString(content) {
			content = arrayOfText(content)
		}
		return m.asUser(content), true
	case RoleBranchSummary:
		return m.asUser(arrayOf(branchLead + interpolated(m.Field("summary")) + branchClose)), true
	case RoleCompactionSummary:
		return m.asUser(arrayOf(compactionLead + interpolated(m.Field("summary")) + compactionClose)), true
	}
	return m, false
}

// asUser gives a user's message with a content, at the time of m.
func (m Message) asUser(content []byte) Message {
	o := new(object).raw("role", []byte(`"user"`)).raw("content", content).raw("timestamp", m.Field("timestamp"))
	return Message{Role: RoleUser, Entry: m.Entry, Raw: o.json()}
}

// arrayOf is content of one block of text, as jsonvalue.Exact gives it.
func arrayOf(text string) []byte { return jsonvalue.Array(textBlock(text)) }

// bashText tells a shell command and what came of it (pi: bashExecutionToText).
func bashText(m Message) string {
	text := "Ran `" + interpolated(m.Field("command")) + "`\n"
	if output := m.Field("output"); truthy(output) {
		text += "```\n" + interpolated(output) + "\n```"
	} else {
		text += "(no output)"
	}
	code := m.Field("exitCode")
	switch {
	case truthy(m.Field("cancelled")):
		text += "\n\n(command cancelled)"
	case !jsonvalue.Null(code) && !(isNumber(code) && !truthy(code)):
		text += "\n\nCommand exited with code " + interpolated(code)
	}
	if path := m.Field("fullOutputPath"); truthy(m.Field("truncated")) && truthy(path) {
		text += "\n\n[Output truncated. Full output: " + interpolated(path) + "]"
	}
	return text
}
