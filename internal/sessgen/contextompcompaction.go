package sessgen

import (
	"slices"
	"strings"
)

// ompCompaction draws what oh-my-pi's compactions have besides pi's. Where they
// carry what a provider made, the kept entry may be empty.
func (c *contextTree) ompCompaction(e *contextEntry) []string {
	preserved := c.maybe(0.6, c.preserved())
	return []string{
		"shortSummary", c.maybe(0.5, c.text()), "tokensAfter", c.maybe(0.5, "900"),
		"method", c.maybe(0.7, `"handoff"`, `"summary"`, `"snapcompact"`, `"remote"`),
		"providerReplayThroughEntryId", c.maybe(0.4, c.above(e, 10), c.above(e, 4), c.anyID(e), `""`, c.foreignID()),
		"details", c.rarely(c.maybe(0.4, `{"kind":"experimental-context-rollover"}`), `{"kind":"other"}`, "null", "[]"),
		"preserveData", c.rarely(preserved, "null", "{}"), "fromExtension", c.maybe(0.1, c.flag()), "warning", c.maybe(0.2, c.text()),
	}
}

// preserved holds what a provider or snapcompact will want again, right or not.
func (c *contextTree) preserved() string {
	return object("openaiRemoteCompaction", c.maybe(0.4, c.remote()), "anthropicCompaction", c.maybe(0.4, c.anthropic()),
		"snapcompact", c.maybe(0.5, c.archive()), "n", "1")
}

func (c *contextTree) remote() string {
	items := array(c.anyObject(2), object("type", `"compaction"`, "encrypted_content", `"ZW5j"`))
	history := c.rarely(items, "[]", "[5]", "{}", "[null]")
	right := object("provider", c.of(`"openai"`, `"openai"`, `""`, "5", ""), "replacementHistory", history, "n", "1")
	return c.rarely(right, "null", "[]", `"x"`)
}

func (c *contextTree) anthropic() string {
	return c.rarely(object("provider", c.rarely(`"anthropic"`, `""`, ""), "content", c.rarely(c.text(), `""`, ""),
		"encryptedContent", c.maybe(0.5, `"ZW5j"`, `""`, "5"),
		"filesText", c.maybe(0.4, c.text()), "model", c.maybe(0.3, `"m"`), "usedTokens", c.maybe(0.3, "5")), "null", "[]")
}

// archive is history as pictures, with text at both ends. Old frames have neither
// font nor variant; many of them are left out of a request.
func (c *contextTree) archive() string {
	var frames []string
	legacy := c.chance(0.4)
	for range c.r.IntN(4) {
		frames = append(frames, c.frame(legacy))
	}
	if c.chance(0.2) {
		frames = append(frames, slices.Repeat([]string{c.frame(true)}, 16)...)
	}
	return c.rarely(object("frames", c.rarely(array(frames...), "", "null", "{}"), "totalChars", "99", "truncatedChars", c.of("0", "12", "1000000", ""),
		"text", c.maybe(0.3, c.archived()), "textHead", c.maybe(0.7, c.archived(), c.archived(), `""`),
		"textTail", c.maybe(0.7, c.archived(), c.archived(), "5")), "null", "[]", "5")
}

// archived is text as snapcompact writes it, with marks for line ends and dim ink,
// and with what it takes out again.
func (c *contextTree) archived() string {
	text := c.text()
	mark := c.of("█", "██", `\u000edim\u000f`, "![a](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA)",
		"data:image/svg+xml;charset=utf-8;base64,AA==", "x")
	return text[:len(text)-1] + mark + c.of(contextTexts...) + `"`
}

func (c *contextTree) frame(legacy bool) string {
	font, variant := `"8x8"`, c.maybe(0.5, `"sent"`)
	if legacy {
		font, variant = "", ""
	}
	data := c.of(`"iVBORw0KGgo="`, `"AAAA"`, `"AAAABBBBCCCC"`, `""`, `"blob:sha256:`+strings.Repeat("0a", 32)+`"`, `"blob:sha256:x"`)
	return c.rarely(object("data", data, "mimeType", `"image/png"`, "cols", "80", "rows", "40", "chars", c.rarely("3000", `"3000"`), "font", font,
		"variant", variant, "detail", c.maybe(0.3, `"high"`)), "null", "5", "{}")
}
