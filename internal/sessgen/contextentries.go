package sessgen

// customType names an extension. Oh-my-pi has a meaning for some.
func (c *contextTree) customType() string {
	if c.opt.Omp && c.chance(0.6) {
		return c.of("prewalk-plan", "vibe-mode-context", "skill-prompt", "skill-prompt", "collab-prompt", "collab-prompt",
			"interrupted-thinking", "checkpoint-active-reminder", "rewind-report")
	}
	return c.of("note", "acme.hint", "café", "", `\ud83d`)
}

func (c *contextTree) customMessage(e *contextEntry) {
	c.extensionMessage(e, quote(c.customType()))
}

// interruptedThinking goes on for an answer that was cut off.
func (c *contextTree) interruptedThinking(e *contextEntry) {
	c.extensionMessage(e, `"interrupted-thinking"`)
}

func (c *contextTree) extensionMessage(e *contextEntry, customType string) {
	c.entry(e, "custom_message", append([]string{
		"customType", c.rarely(customType, "", "null", "7"), "content", c.rarely(c.content(), "{}", "5", "false"),
		"display", c.rarely(c.flag(), "", "null", "1"), "details", c.details(),
	}, c.ifOmp("attribution", c.maybe(0.7, `"user"`, `"user"`, `"agent"`, `"other"`))...)...)
}

// branchSummary says what was left. It has no text where it only marks the leaf.
func (c *contextTree) branchSummary(e *contextEntry) {
	c.entry(e, "branch_summary", "fromId", c.rarely(c.anyID(e), `"root"`, "", "null"),
		"summary", c.rarely(c.of(c.text(), c.text(), c.text(), `""`), "", "null", "5", "true"),
		"details", c.details(), "usage", c.maybe(0.1, c.usage()), "fromHook", c.maybe(0.1, c.flag()))
}

// compaction writes the fields of both dialects' compactions, and the kept entry.
func (c *contextTree) compaction(e *contextEntry) {
	kept, id := "firstKeptEntryId", c.firstKept(e)
	if c.opt.Version == 1 {
		kept, id = "firstKeptEntryIndex", c.firstKeptIndex()
	}
	pairs := []string{
		"summary", c.rarely(c.text(), "", "null", "5", "[1,null]"), kept, id,
		"tokensBefore", c.rarely(c.of("5000", "120000"), "", "null", c.number()),
	}
	if c.opt.Omp {
		c.entry(e, "compaction", append(pairs, c.ompCompaction(e)...)...)
		return
	}
	c.entry(e, "compaction", append(pairs, "details", c.details(), "usage", c.maybe(0.2, c.usage()), "fromHook", c.maybe(0.2, c.flag()),
		"systemMessage", c.maybe(0.3, c.systemMessage(), c.systemMessage(), c.systemMessage(), "null", "{}"))...)
}

// systemMessage is what pi repeats behind a compaction.
func (c *contextTree) systemMessage() string {
	return object("role", `"system"`, "content", c.content(), "sections", c.maybe(0.4, object("a", c.text())), "timestamp", "1767603600000")
}

// firstKept is on the path mostly. Else it is anywhere, the compaction itself, in
// no log, before an older compaction, or missing.
func (c *contextTree) firstKept(e *contextEntry) string {
	switch c.r.IntN(14) {
	case 0:
		return c.anyID(e)
	case 1:
		return quotedID(e.id)
	case 2:
		return c.foreignID()
	case 3:
		return c.of("", "null", `""`)
	case 4, 5:
		return c.aboveCompaction(e)
	}
	return c.above(e, 15)
}

// aboveCompaction is an entry that an older compaction may have kept, too.
func (c *contextTree) aboveCompaction(e *contextEntry) string {
	for _, i := range c.path(e, 60) {
		if c.entries[i].kind == "compaction" {
			return c.above(&c.entries[i], 10)
		}
	}
	return c.above(e, 30)
}

// firstKeptIndex counts the lines, the header's included. It may be the
// compaction's own, ahead of it, or none.
func (c *contextTree) firstKeptIndex() string {
	n := len(c.entries) + 1
	if c.chance(0.3) {
		return c.of("", "0", "-1", "1.5", `"2"`, "null", "1e9", decimal(n), decimal(n+1))
	}
	return decimal(c.r.IntN(n))
}

func decimal(n int) string { return string(appendNumber(nil, float64(n))) }

// contextEdit changes what the model sees of an entry on the path, of whatever
// kind: now and then of one that was changed before, or that is not there.
func (c *contextTree) contextEdit(e *contextEntry) {
	target := c.above(e, 15)
	switch c.r.IntN(10) {
	case 0:
		target = c.anyID(e)
	case 1:
		target = c.of(c.foreignID(), quotedID(e.id), "", "null")
	case 2, 3:
		target = c.editedBefore(e, target)
	}
	c.entry(e, "context_edit", "targetId", target, "replacement", c.replacement())
}

// editedBefore repeats the target of the nearest edit above e.
func (c *contextTree) editedBefore(e *contextEntry, otherwise string) string {
	for _, i := range c.path(e, 40) {
		if c.entries[i].target.n > 0 {
			return quotedID(c.entries[i].target)
		}
	}
	return otherwise
}

func (c *contextTree) replacement() string {
	content := c.rarely(c.of(c.text(), c.blocks()), "", "null", "5", "{}")
	return c.rarely(c.of("null", object("content", content), object("content", content, "n", "1")), `"text"`, "5", "{}", "{}")
}

func (c *contextTree) custom(e *contextEntry) {
	c.entry(e, "custom", "customType", c.of(`"state"`, `"leaf"`, `"acme"`), "data", c.maybe(0.7, c.anyObject(2), c.number(), "null"))
}

func (c *contextTree) label(e *contextEntry) {
	c.entry(e, "label", "targetId", c.anyID(e), "label", c.of("", `""`, c.text(), c.text()))
}

// unknownType is an entry of a later version.
func (c *contextTree) unknownType(e *contextEntry) {
	c.entry(e, c.of("acme.thing", "Message", "context_note"), "content", c.content(), "summary", c.text())
}

func (c *contextTree) sessionInfo(e *contextEntry) {
	c.entry(e, "session_info", "name", c.maybe(0.8, c.text()))
}

func (c *contextTree) usageEntry(e *contextEntry) {
	c.entry(e, "usage", "kind", `"cache_warm"`, "provider", `"acme"`, "model", `"large"`, "usage", c.usage(), "note", c.maybe(0.3, c.text()))
}

func (c *contextTree) modelChange(e *contextEntry) {
	m := models[c.r.IntN(len(models))]
	c.entry(e, "model_change", "provider", quote(m.provider), "modelId", c.rarely(quote(m.name), "", "null"))
}

func (c *contextTree) thinkingChange(e *contextEntry) {
	c.entry(e, "thinking_level_change", "thinkingLevel", c.rarely(quote(c.of(levels...)), "", "null", `"xhigh"`, "7"))
}
