package sessgen

import "strings"

// ompKinds are oh-my-pi's own.
var ompKinds = []contextKind{
	{2, (*contextTree).developer},
	{2, (*contextTree).python},
	{2, (*contextTree).fileMention},
	{2, (*contextTree).brokenAnswer},
	{1, (*contextTree).resetBoundary},
	{3, (*contextTree).contextNotes},
	{2, (*contextTree).ompModelChange},
	{2, (*contextTree).ompThinkingChange},
	{1, (*contextTree).serviceTierChange},
	{1, (*contextTree).modeChange},
	{1, (*contextTree).ttsrInjection},
	{1, (*contextTree).processRecord},
	{2, (*contextTree).ompRecord},
}

func (c *contextTree) developer(e *contextEntry) {
	c.message(e, "developer", "content", c.content(), "attribution", c.maybe(0.5, `"user"`, `"agent"`), "synthetic", c.maybe(0.2, "true"),
		"userInitiated", c.maybe(0.1, "true"), "providerPayload", c.maybe(0.1, c.responsesPayload()))
}

func (c *contextTree) responsesPayload() string {
	return object("type", `"openaiResponsesHistory"`, "provider", `"openai"`, "items", array(c.anyObject(1)))
}

func (c *contextTree) python(e *contextEntry) {
	c.message(e, "pythonExecution", "code", c.text(), "output", c.of(c.text(), `""`), "exitCode", c.of("", "0", "1", "null"),
		"cancelled", c.of("false", "false", "true"), "truncated", c.flag(), "excludeFromContext", c.maybe(0.2, "true", "false"),
		"meta", c.maybe(0.3, c.meta()))
}

// meta says what an output lacks, in the shapes that tools leave.
func (c *contextTree) meta() string {
	return object(
		"truncation", c.maybe(0.6, c.truncation()),
		"artifactError", c.maybe(0.1, `"write"`),
		"source", c.maybe(0.3, object("type", c.of(`"report"`, `"path"`), "value", `"all jobs"`)),
		"limits", c.maybe(0.4, c.limits(), "{}"),
		"diagnostics", c.maybe(0.2, c.diagnostics()))
}

func (c *contextTree) truncation() string {
	shown := object("start", c.of("1", "7"), "end", c.of("5", "20"))
	middle := c.of("", object("start", "1", "end", "5"))
	return object("direction", c.of(`"head"`, `"tail"`, `"middle"`), "truncatedBy", c.of(`"lines"`, `"bytes"`, `"middle"`),
		"totalLines", c.of("20", "12345"), "totalBytes", c.of("999", "123456", "2097152"), "outputLines", c.of("5", "1"),
		"outputBytes", c.of("512", "51200"),
		"maxBytes", c.maybe(0.5, "51200", "1024", "500"), "shownRange", c.maybe(0.5, shown), "headRange", middle, "tailRange", c.maybe(0.8, middle),
		"elidedBytes", c.maybe(0.5, "0", "1536", "123456789"), "elidedLines", c.maybe(0.5, "1", "12345"), "artifactId", c.maybe(0.5, `"3"`, "null"),
		"nextOffset", c.maybe(0.3, "21", "null"), "partialLine", c.maybe(0.15, "true"))
}

func (c *contextTree) limits() string {
	reached := object("reached", "100", "suggestion", "200")
	return object("matchLimit", c.maybe(0.3, reached), "resultLimit", c.maybe(0.3, reached), "headLimit", c.maybe(0.3, reached),
		"columnTruncated", c.maybe(0.4, object("maxColumn", "768", "unit", c.of("", `"bytes"`, `"chars"`), "artifactId", c.maybe(0.4, `"4"`))))
}

func (c *contextTree) diagnostics() string {
	return object("summary", `"1 error(s)"`, "messages", c.of("[]", `["a.go:1:2 [error] broken"]`,
		`["src/a.ts:3:4 [error] [ts] one","src/a.ts:9:1 [warning] two","no place"]`))
}

// fileMention has files that the user named; pictures come with an image.
func (c *contextTree) fileMention(e *contextEntry) {
	var files []string
	for range c.r.IntN(4) {
		files = append(files, object("path", c.of(`"a.go"`, `"naïve \"x\".md"`), "content", c.of(c.text(), `""`), "lineCount", c.maybe(0.5, "3"),
			"byteSize", c.maybe(0.3, "99"), "skippedReason", c.maybe(0.2, `"tooLarge"`, `"binary"`),
			"image", c.maybe(0.3, c.imageBlock(), c.imageBlock(), "null")))
	}
	c.message(e, "fileMention", "files", array(files...))
}

// brokenAnswer is a turn that ended with an error, mostly before it said anything.
func (c *contextTree) brokenAnswer(e *contextEntry) {
	block := c.of(`{"type":"text","text":"  \n"}`, `{"type":"thinking","thinking":" "}`, `{"type":"thinking","thinking":"","thinkingSignature":"s"}`,
		`{"type":"redactedThinking","data":" "}`, `{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}`,
		`{"type":"text","text":"\u00a0\ufeff"}`,
		`{"type":"text","text":"\u0085"}`, `{"type":"anthropicServerTool","block":{}}`, c.textBlock())
	c.answer(e, c.of("[]", array(block), array(block, c.textBlock())), c.of(`"error"`, `"error"`, `"aborted"`))
}

func (c *contextTree) resetBoundary(e *contextEntry) { c.entry(e, "reset_boundary") }

// contextNotes are the model's own; only an exact shape counts.
func (c *contextTree) contextNotes(e *contextEntry) {
	long := quote(strings.Repeat("ü", 8190) + c.of("aaaa", "aaaaa"))
	data := c.of(object("version", "1", "text", c.text()), object("version", "1", "text", c.text()), object("text", `""`, "version", "1"))
	odd := c.of("", "null", "[]", object("version", "2", "text", c.text()), object("version", "1", "text", c.text(), "n", "1"),
		object("version", `"1"`, "text", c.text()), object("version", "1", "text", "5"), object("version", "1.0", "text", c.text()),
		object("version", "1", "text", long))
	if c.chance(0.3) {
		data = odd
	}
	c.entry(e, "custom", "customType", `"experimental_context_notes"`, "data", data)
}

func (c *contextTree) ompModelChange(e *contextEntry) {
	role := c.maybe(0.6, `"default"`, `"smol"`, `"slow"`, `"plan"`, `"fallback"`, `"toString"`)
	c.entry(e, "model_change", "model", c.rarely(c.of(`"acme/large"`, `"acme/small"`), "", `""`, "null"), "role", c.rarely(role, "null", `""`),
		"resolvedModelIsFallback", c.maybe(0.8, c.flag()))
}

func (c *contextTree) ompThinkingChange(e *contextEntry) {
	level := func() string { return c.of("", "null", `"high"`, `"low"`, `"off"`) }
	c.entry(e, "thinking_level_change", "thinkingLevel", level(), "configured", c.rarely(level(), `"auto"`))
}

func (c *contextTree) serviceTierChange(e *contextEntry) {
	c.entry(e, "service_tier_change", "serviceTier", c.of("null", "", `{"anthropic":"priority"}`,
		`{"openai":"flex","google":"auto","acme":"priority"}`, `{"openai":"best"}`,
		`"priority"`, `"openai-only"`, `"claude-only"`, `"auto"`, `"flex"`, `"none"`, "5"))
}

func (c *contextTree) modeChange(e *contextEntry) {
	c.entry(e, "mode_change", "mode", c.of(`"plan"`, `"none"`, `"vibe"`), "data", c.maybe(0.5, c.anyObject(1)))
}

func (c *contextTree) ttsrInjection(e *contextEntry) {
	c.entry(e, "ttsr_injection", "injectedRules", c.of("[]", `["no-any"]`, `["no-any","b","b"]`, `["c"]`))
}

// processRecord is what a process leaves about itself.
func (c *contextTree) processRecord(e *contextEntry) {
	started := object("toolCallId", c.maybe(0.9, c.foreignID()), "toolName", `"bash"`, "args", `{"command":"ls"}`, "startedAt", c.startTime())
	ended := object("reason", `"quit"`, "kind", c.of(`"normal"`, `"signal"`, `"fatal"`), "recordedAt", c.startTime(),
		"pendingToolCalls", c.maybe(0.3, array(started)))
	if c.chance(0.5) {
		c.entry(e, "custom", "customType", `"tool_execution_start"`, "data", started)
		return
	}
	c.entry(e, "custom", "customType", `"session_exit"`, "data", ended)
}

// ompRecord is one of the entries that say nothing to a model.
func (c *contextTree) ompRecord(e *contextEntry) {
	switch c.r.IntN(4) {
	case 0:
		c.entry(e, "title_change", "title", c.text(), "previousTitle", c.maybe(0.5, c.text()), "source", c.of(`"auto"`, `"user"`),
			"trigger", c.maybe(0.3, `"first-turn"`))
	case 1:
		c.entry(e, "session_init", "systemPrompt", c.text(), "task", c.text(), "tools", `["read"]`, "agent", `"scout"`, "spawns", `""`)
	case 2:
		c.entry(e, "credential_pin", "provider", `"acme"`, "hash", quote(strings.Repeat("0", 64)))
	default:
		c.entry(e, "model_usage", "purpose", `"title"`, "api", `"anthropic-messages"`, "provider", `"acme"`, "model", `"small"`,
			"usage", c.usage(), "stopReason", `"stop"`)
	}
}
