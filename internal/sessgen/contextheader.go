package sessgen

import "strings"

// header writes the lines in front of the entries.
func (c *contextTree) header() {
	if c.opt.Omp {
		c.ompHeader()
		return
	}
	if c.opt.Native {
		format := `"sessiontree/1"`
		c.line(object("type", `"session"`, "version", "3", "id", quotedID(c.ids.ulid()), "timestamp", c.startTime(), "cwd", quote(workDir),
			"format", format))
		return
	}
	version := decimal(c.opt.Version)
	if c.opt.Version == 1 {
		version = c.of("", "1")
	}
	c.line(object("type", `"session"`, "version", version, "id", c.sessionID(), "timestamp", c.startTime(), "cwd", quote(workDir),
		"provider", c.maybe(0.2, `"acme"`), "modelId", c.maybe(0.2, `"large"`), "thinkingLevel", c.maybe(0.2, `"high"`),
		"parentSession", c.maybe(0.2, `"/srv/old.jsonl"`)))
}

func (c *contextTree) startTime() string { return string(appendTime(nil, c.ids.ms)) }

func (c *contextTree) sessionID() string { return string(appendUUID(nil, c.r, c.ids.ms)) }

// ompHeader writes the title, which has a line of fixed length since it is
// overwritten in place, and the header, where it stands too.
func (c *contextTree) ompHeader() {
	const length = 256
	title, source := c.of(`""`, `"Parser rename"`, `"naïve 🎉"`), c.maybe(0.7, `"auto"`, `"user"`)
	slot := object("type", `"title"`, "v", "1", "title", title, "source", source, "updatedAt", c.startTime(), "pad", `""`)
	pad := strings.Repeat(" ", length-1-len(slot))
	c.line(slot[:len(slot)-2] + pad + `"}`)
	c.line(object("type", `"session"`, "version", "3", "id", c.sessionID(), "title", c.maybe(0.5, title), "titleSource", source,
		"timestamp", c.startTime(), "cwd", quote(workDir), "additionalDirectories", c.maybe(0.2, `["/srv/other"]`),
		"parentSession", c.maybe(0.2, `"/srv/old.jsonl"`), "previousSessionFiles", c.maybe(0.1, `["/srv/a.jsonl"]`),
		"providerPromptCacheKey", c.maybe(0.2, `"key"`)))
}
