package sessgen

import (
	"math/rand/v2"
	"strings"
)

// A dice draws JSON values, as text. The empty text stands for a member that is
// missing.
type dice struct{ r *rand.Rand }

func (d dice) chance(p float64) bool { return d.r.Float64() < p }

// of draws one of the values.
func (d dice) of(values ...string) string { return values[d.r.IntN(len(values))] }

// maybe draws one of the values, or none.
func (d dice) maybe(p float64, values ...string) string {
	if d.chance(p) {
		return d.of(values...)
	}
	return ""
}

// rarely draws one of the odd values in place of what is usual.
func (d dice) rarely(usual string, odd ...string) string {
	if d.chance(0.04) {
		return d.of(odd...)
	}
	return usual
}

// object makes an object of keys and values; those without a value are left out.
func object(pairs ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(quote(pairs[i]) + ":" + pairs[i+1])
	}
	return b.String() + "}"
}

func array(values ...string) string { return "[" + strings.Join(values, ",") + "]" }

// quote is for text that is escaped already.
func quote(escaped string) string { return `"` + escaped + `"` }

// contextTexts are escaped, some of them not as JSON.stringify would. The halves of
// surrogate pairs at an end may come together with those of the next text.
var contextTexts = append([]string{
	"look at the parser", "```go\\nfunc main() {\\n\\n\\n\\treturn   \\n}\\n```", "~~~\\nMUST NOT -> x\\n~~~",
	`| a |  b |\n| :-- | --: |\n|  1 | 2   |`, "<summary>\\n\\n  inner\\n\\n</summary>", `<file path=\"x\">\n</file>\n\n`,
	"**MUST NOT** and **NEVER**, SHOULD NOT, `MUST NOT`", "a -> b <- c <-> d != e <= f >= g ...", "<!-- a -> b -->",
	"trailing spaces   \\nand tabs\\t\\t\\nend ", "\\n\\nblank\\n\\n\\n\\nlines\\n \\n\\n", "{{summary}} {{{x}}} {{#if a}}b{{/if}}",
	"line\\r\\nwith carriage\\rreturns", "ends in half \\ud83c", "\\udf89 begins with half", "\\uD83C\\uDF89 escaped",
	`\u0041\/slash`, "nbsp\u00a0", "\u00a0\u2003wide\u3000", "nel\u0085", "\ufeff", "\u2028", "zero\u200bwidth", "\x7f", `\u0000`,
	"<handoff>a</handoff>", "&lt;&amp;&quot;&#39; ' \\\" ` $& $1 %s %d", "  indented\\n\\tlines\\n", "* * *\\n---\\n# title\\n",
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUg== in text", "</summary>", "1. one\\n\\n2. two", "🎉", "👩‍👩‍👧 e\u0301 ﬁ",
}, treeTexts...)

// text draws a string, which may be empty.
func (d dice) text() string {
	text := d.of(contextTexts...)
	for range d.r.IntN(4) {
		text += d.of(" ", " ", "\\n", "\\n\\n", "") + d.of(contextTexts...)
	}
	return quote(text)
}

// contextNumbers are those that a program may change by reading and writing them.
var contextNumbers = append([]string{"1e21", "1E5", "1.0", "-0", "-0.0", "0.10", "1e400", "5e-324", "100000000000000000000"}, bigNumbers...)

func (d dice) number() string { return d.of(contextNumbers...) }

// value draws any value, up to a few levels deep.
func (d dice) value(levels int) string {
	if levels == 0 || d.chance(0.3) {
		return d.of(d.text(), d.number(), "true", "false", "null", "[]", "{}", `""`)
	}
	if d.chance(0.3) {
		return array(d.value(levels-1), d.value(levels-1))
	}
	return d.anyObject(levels - 1)
}

// anyObject has keys that are odd in JavaScript, and now and then one twice.
func (d dice) anyObject(levels int) string {
	pairs := []string{"path", d.text(), "n", d.number()}
	for range d.r.IntN(3) {
		pairs = append(pairs, d.of("10", "2", "id", "type", "content", "role", "__proto__", "constructor", "", "a b", "café", "n", `\u006e`),
			d.value(levels))
	}
	return object(pairs...)
}

// nested is deep enough to be in a recursive reader's way, and no more.
func (d dice) nested() string {
	n := 20 + d.r.IntN(60)
	return strings.Repeat(`[{"a":`, n) + d.value(1) + strings.Repeat("}]", n)
}

// details draws what extensions leave on an entry.
func (d dice) details() string {
	return d.maybe(0.3, d.anyObject(2), "null", `"text"`, "[]", d.number())
}

func (d dice) flag() string { return d.of("true", "false") }

// textBlock, imageBlock and their like are what contents consist of.
func (d dice) textBlock() string {
	return object("type", `"text"`, "text", d.text(), "textSignature", d.maybe(0.1, `"sig"`))
}

func (d dice) imageBlock() string {
	data := d.of(`"iVBORw0KGgo="`, `"AAAA"`, `""`, `"blob:sha256:`+strings.Repeat("0a", 32)+`"`)
	return object("type", `"image"`, "data", data, "mimeType", d.of(`"image/png"`, `"image/jpeg"`), "detail", d.maybe(0.1, `"high"`))
}

func (d dice) block() string {
	switch d.r.IntN(12) {
	case 0, 1, 2:
		return d.imageBlock()
	case 3:
		return object("type", `"acme"`, "text", d.text())
	}
	return d.textBlock()
}

// blocks draws up to three blocks, mostly one.
func (d dice) blocks() string {
	if d.chance(0.05) { // two that make a character where they are put together
		return `[{"type":"text","text":"one \ud83c"},{"type":"text","text":"\udf89 two"}]`
	}
	var list []string
	for range d.r.IntN(9)/3 + d.r.IntN(2) {
		list = append(list, d.block())
	}
	return array(list...)
}

// content is a string or blocks, or what old and edited logs have instead.
func (d dice) content() string {
	return d.rarely(d.of(d.text(), d.blocks(), array(d.textBlock())), "", "null", "[]", `""`)
}

// usage is what a request took.
func (d dice) usage() string {
	return object("input", d.of("10", "0", "12345"), "output", "5", "cacheRead", d.of("0", "1e3"), "cacheWrite", "0", "totalTokens", "15",
		"cost", `{"input":0.00001,"output":2.5e-7,"cacheRead":0,"cacheWrite":0,"total":0.0000102500}`)
}
