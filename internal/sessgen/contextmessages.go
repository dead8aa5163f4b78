package sessgen

// A contextKind writes one kind of entry.
type contextKind struct {
	weight int
	write  func(*contextTree, *contextEntry)
}

// commonKinds are those that pi and oh-my-pi both have.
var commonKinds = []contextKind{
	{20, (*contextTree).user},
	{28, (*contextTree).assistant},
	{4, (*contextTree).toolResult},
	{6, (*contextTree).bash},
	{2, (*contextTree).storedCustom},
	{2, (*contextTree).unknownRole},
	{3, (*contextTree).compaction},
	{3, (*contextTree).branchSummary},
	{8, (*contextTree).customMessage},
	{2, (*contextTree).custom},
	{1, (*contextTree).label},
	{1, (*contextTree).unknownType},
}

// piKinds are pi's own.
var piKinds = []contextKind{
	{3, (*contextTree).system},
	{6, (*contextTree).contextEdit},
	{1, (*contextTree).sessionInfo},
	{1, (*contextTree).usageEntry},
	{2, (*contextTree).modelChange},
	{2, (*contextTree).thinkingChange},
}

func (c *contextTree) user(e *contextEntry) {
	omp := c.ifOmp("synthetic", c.maybe(0.1, "true"), "steering", c.maybe(0.15, "true", "true", "false"),
		"attribution", c.maybe(0.15, `"user"`, `"agent"`), "historyRewriteAt", c.maybe(0.05, "1767603600000"))
	c.message(e, "user", append([]string{"content", c.content()}, omp...)...)
}

// ifOmp gives the pairs in oh-my-pi's logs only.
func (c *contextTree) ifOmp(pairs ...string) []string {
	if c.opt.Omp {
		return pairs
	}
	return nil
}

// assistant draws an answer, whose calls later results may have.
func (c *contextTree) assistant(e *contextEntry) {
	blocks, calls := c.thinking(), c.drawCalls(e)
	for range c.r.IntN(3) {
		blocks = append(blocks, c.textBlock())
	}
	for _, id := range calls {
		blocks = append(blocks, c.call(id))
	}
	content := array(blocks...)
	if !c.opt.Omp { // which cannot do without an array
		content = c.rarely(content, "", "null", "[]", content)
	}
	c.answer(e, content, c.stopReason(len(calls)), c.ifOmp("retryRecovery", c.maybe(0.05, `{"attempt":1}`, "true", "false", "null"))...)
	e.calls = append(append([]string(nil), e.calls...), calls...)
}

// answer writes an assistant's message with everything that surrounds its content.
func (c *contextTree) answer(e *contextEntry, content, stop string, pairs ...string) {
	m := models[c.r.IntN(len(models))]
	e.aborted = stop == `"aborted"`
	c.message(e, "assistant", append([]string{
		"content", content, "api", quote(m.api), "provider", c.rarely(quote(m.provider), `"acme"`, `"github-copilot"`, ""), "model", quote(m.name),
		"usage", c.usage(), "stopReason", stop, "responseId", c.maybe(0.2, `"resp_1"`),
		"errorMessage", c.maybe(0.1, c.text(), `"Interrupted by user"`, `"Request was aborted"`),
	}, pairs...)...)
}

func (c *contextTree) stopReason(calls int) string {
	switch {
	case c.chance(0.2):
		return c.of(`"error"`, `"aborted"`, `"aborted"`, `"length"`)
	case calls > 0:
		return `"toolUse"`
	}
	return c.rarely(`"stop"`, "", `"deferred"`, "null")
}

// thinking draws blocks in either program's way of hiding what was thought.
func (c *contextTree) thinking() (blocks []string) {
	for range c.r.IntN(6) / 3 {
		signature := c.maybe(0.6, `"c2ln"`, `""`, `"  "`, `"{\"id\":\"rs_1\"}"`)
		blocks = append(blocks, object("type", `"thinking"`, "thinking", c.text(), "thinkingSignature", signature))
	}
	switch {
	case !c.chance(0.12):
	case c.opt.Omp:
		blocks = append(blocks, object("type", `"redactedThinking"`, "data", c.of(`"ZW5j"`, `"ZW5j"`, `""`)))
	default:
		blocks = append(blocks, `{"type":"thinking","thinking":"","thinkingSignature":"ZW5j","redacted":true}`)
	}
	return blocks
}

// drawCalls decides about the ids of an answer's calls; some come a second time.
func (c *contextTree) drawCalls(e *contextEntry) (calls []string) {
	for i := range []int{0, 0, 1, 1, 1, 2, 3, 4}[c.r.IntN(8)] {
		id := quote("call_" + e.id.String() + "_" + string(rune('0'+i)))
		if len(c.made) > 0 && c.chance(0.02) {
			id = c.of(c.made...)
		}
		calls, c.made = append(calls, id), append(c.made, id)
	}
	return calls
}

func (c *contextTree) call(id string) string {
	arguments := c.of(c.anyObject(3), c.anyObject(1), `{}`, `{"path":"a.ts"}`)
	if c.chance(0.05) {
		arguments = object("deep", c.nested())
	}
	return object("type", `"toolCall"`, "id", id, "name", c.of(`"read"`, `"bash"`, `"edit"`), "arguments", arguments,
		"thoughtSignature", c.maybe(0.1, `"c2ln"`), "intent", c.maybe(0.1, c.text()))
}

// toolResult answers a call: mostly the first that waits for it.
func (c *contextTree) toolResult(e *contextEntry) {
	id := c.answered(e)
	content := c.rarely(c.of(c.blocks(), array(c.textBlock())), "[]")
	if !c.opt.Omp {
		content = c.rarely(content, "", "null", c.text())
	}
	c.message(e, "toolResult", append([]string{
		"toolCallId", id, "toolName", `"read"`, "content", content, "details", c.details(), "isError", c.flag(),
	}, c.ifOmp("prunedAt", c.maybe(0.2, "1767603600000", "0", "null"), "attribution", c.maybe(0.05, `"user"`, `"agent"`),
		"useless", c.maybe(0.05, "true"))...)...)
	e.done = id
}

// answered chooses the call and takes it off those that wait.
func (c *contextTree) answered(e *contextEntry) string {
	switch {
	case e.done != "" && c.chance(0.08):
		return e.done // twice
	case len(c.made) > 0 && c.chance(0.06):
		return c.of(c.made...) // on any branch, at any time
	case len(e.calls) == 0 || c.chance(0.04):
		return c.foreignID()
	}
	i := 0
	if c.chance(0.25) {
		i = c.r.IntN(len(e.calls))
	}
	id := e.calls[i]
	e.calls = append(append([]string(nil), e.calls[:i]...), e.calls[i+1:]...)
	return id
}

// bash draws a command that the user ran.
func (c *contextTree) bash(e *contextEntry) {
	pairs := []string{
		"command", c.rarely(c.text(), "", "7", "null"), "output", c.rarely(c.of(c.text(), c.text(), `""`), "", "null", "0"),
		"exitCode", c.rarely(c.of("", "0", "0", "1", "127", "null"), "-1", "1.5", "1e21", `"2"`, `""`, "true"),
		"cancelled", c.rarely(c.of("false", "false", "false", "true"), ""), "truncated", c.flag(),
		"fullOutputPath", c.maybe(0.4, `"/tmp/out.log"`, c.text(), `""`, "null"),
		"excludeFromContext", c.maybe(0.25, "true", "true", "false", "null"),
	}
	c.message(e, "bashExecution", append(pairs, c.ifOmp("meta", c.maybe(0.4, c.meta()), "images", c.maybe(0.1, array(c.imageBlock()), "[]"))...)...)
}

// system is pi's: what the model is told besides the conversation.
func (c *contextTree) system(e *contextEntry) {
	sections := object("role", c.text(), c.of("tools", "10", "env"), c.of(c.text(), "null"))
	c.message(e, "system", "content", c.content(), "sections", c.maybe(0.4, sections, "{}"), "toolsAdded", c.maybe(0.3, array(c.tool()), "[]"),
		"toolsRemoved", c.maybe(0.2, `[{"name":"read"}]`))
}

func (c *contextTree) tool() string {
	return object("name", `"read"`, "description", c.text(), "parameters", c.anyObject(2))
}

// storedCustom is an extension's message as old versions have it.
func (c *contextTree) storedCustom(e *contextEntry) {
	c.message(e, c.of("custom", "hookMessage", "hookMessage"), append([]string{
		"customType", quote(c.customType()), "content", c.content(), "display", c.flag(), "details", c.details(),
	}, c.ifOmp("attribution", c.maybe(0.5, `"user"`, `"agent"`))...)...)
}

// unknownRole is a message of a program that nobody knows, or one that is made for
// a context and should not be in a log.
func (c *contextTree) unknownRole(e *contextEntry) {
	if c.chance(0.2) {
		c.entry(e, "message", "message", object("role", c.of("", "null", "7", "{}"), "content", c.content()))
		return
	}
	role := c.of("plan", "User", "", "toString", "branchSummary", "compactionSummary")
	c.message(e, role, "content", c.content(), "summary", c.text(), "n", c.number())
}
