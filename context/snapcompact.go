package modelcontext

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A compaction of oh-my-pi may keep what it takes away as pictures of text, with the
// oldest and newest of it as text. The rules are those of its package snapcompact
// (src/snapcompact.ts) and, where they guard against too much, of
// pi-coding-agent/src/session/session-context.ts.

const (
	frameBytesBudget = 3_000_000 // FRAME_DATA_BYTES_BUDGET
	newlineGlyph     = "\u2588"  // NEWLINE_GLYPH

	// Archives from before frames had a shape are sent without their frames from
	// these sizes on (LEGACY_SNAPCOMPACT_…_GUARD).
	legacyFrames    = 16
	legacyText      = 250_000
	legacyTruncated = 1_000_000
)

// snapcompactBlocks gives the blocks of the archive in a compaction's preserveData,
// oldest first; nil where there is none. Frames that are stored outside of the log,
// and those beyond the budget, are named instead (historyBlocks).
func snapcompactBlocks(preserveData []byte) []json.RawMessage {
	a := preservedArchive(preserveData)
	middle := a.middle()
	hasImages := slices.ContainsFunc(middle, func(p archivePart) bool { return p.image != nil })
	hasGaps := slices.ContainsFunc(middle, func(p archivePart) bool { return p.image == nil })
	var parts []archivePart
	if a.head != "" {
		text := plainArchiveText(a.head)
		if hasImages {
			text += "\n-------------- imaged middle below\n"
		}
		parts = append(parts, archivePart{text: text})
	}
	parts = append(parts, middle...)
	if a.tail != "" {
		parts = appendText(parts, a.tailPrefix(hasImages, hasGaps)+plainArchiveText(a.tail))
	}
	return partBlocks(parts)
}

// tailPrefix says before the newest text what is above it.
func (a snapArchive) tailPrefix(hasImages, hasGaps bool) string {
	switch {
	case hasImages:
		return "-------------- imaged middle above\n"
	case a.truncated > 0 || hasGaps:
		return "\n-------------- middle history omitted above\n"
	}
	return ""
}

// An archivePart is an image, or text.
type archivePart struct {
	image json.RawMessage
	text  string
}

// appendText adds to the text that parts end with, or as another part.
func appendText(parts []archivePart, text string) []archivePart {
	if n := len(parts); n > 0 && parts[n-1].image == nil {
		parts[n-1].text += text
		return parts
	}
	return append(parts, archivePart{text: text})
}

func partBlocks(parts []archivePart) (list []json.RawMessage) {
	for _, p := range parts {
		if p.image == nil {
			p.image = textBlock(p.text)
		}
		list = append(list, p.image)
	}
	return list
}

type snapArchive struct {
	frames    []archiveFrame
	truncated float64
	text      string // all of it
	head      string
	tail      string
}

type archiveFrame struct {
	record
	bytes  int  // of its data
	stored bool // outside of the log
}

// preservedArchive is getPreservedArchive. An archive without frames and text has
// no blocks, as one that is not there.
func preservedArchive(preserveData []byte) (a snapArchive) {
	archive, err := readRecord(jsonvalue.Get(preserveData, "snapcompact"))
	if err != nil {
		return a
	}
	jsonvalue.Elements(archive["frames"], func(raw []byte) {
		if frame, err := readRecord(raw); err == nil && isFrame(frame) {
			data := jsonvalue.Exact(frame["data"])
			a.frames = append(a.frames, archiveFrame{frame, units(data), strings.HasPrefix(data, "blob:sha256:")})
		}
	})
	if truncated := archive["truncatedChars"]; isNumber(truncated) {
		a.truncated = toNumber(truncated)
	}
	a.text, a.head, a.tail = jsonvalue.Exact(archive["text"]), jsonvalue.Exact(archive["textHead"]), jsonvalue.Exact(archive["textTail"])
	return a
}

func isFrame(r record) bool {
	return isString(r["data"]) && len(r["data"]) > len(`""`) && isString(r["mimeType"]) &&
		isNumber(r["cols"]) && isNumber(r["rows"]) && isNumber(r["chars"])
}

// units counts the UTF-16 units of text, which are what a length is in JavaScript.
func units(text string) (n int) {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 0xF0:
			n += 2
		case c < 0x80 || c >= 0xC0:
			n++
		}
	}
	return n
}

// budget is how many bytes of images are sent (snapcompactHistoryBlockOptions).
func (a snapArchive) budget() int {
	if a.legacy() && a.heavy() && a.large() {
		return 0
	}
	return frameBytesBudget
}

// legacy is hasLegacySnapcompactFrames.
func (a snapArchive) legacy() bool {
	return slices.ContainsFunc(a.frames, func(f archiveFrame) bool {
		return f.record["font"] == nil && f.record["variant"] == nil
	})
}

// heavy is hasCrashRiskSnapcompactFramePayload.
func (a snapArchive) heavy() bool {
	bytes := 0
	for _, f := range a.frames {
		bytes += f.bytes
	}
	return len(a.frames) >= legacyFrames || bytes >= frameBytesBudget
}

// large is hasCrashRiskSnapcompactArchiveSize.
func (a snapArchive) large() bool {
	return len(a.frames) >= legacyFrames || a.truncated >= legacyTruncated || units(a.source()) >= legacyText
}

// source is archiveSourceText.
func (a snapArchive) source() string {
	text := a.text
	switch {
	case text == "" && a.head != "" && a.tail != "":
		text = a.head + newlineGlyph + a.tail
	case text == "":
		text = a.head + a.tail
	}
	return plainArchiveText(text)
}

// A frameGap is a run of frames that are not sent for one reason.
type frameGap struct {
	frames, bytes int
	stored        bool
}

// middle gives the frames, of which the newest have the budget (imagesWithinBudget),
// with a notice in the place of those that are not sent (frameBlocks).
func (a snapArchive) middle() (parts []archivePart) {
	sent := a.sent()
	var gap frameGap
	for i, f := range a.frames {
		if sent[i] || gap.stored != f.stored {
			parts, gap = gap.appendTo(parts), frameGap{stored: f.stored}
		}
		if sent[i] {
			parts = append(parts, archivePart{image: f.block()})
			continue
		}
		gap.frames++
		gap.bytes += f.bytes
	}
	return gap.appendTo(parts)
}

// sent tells for each frame whether it is sent.
func (a snapArchive) sent() []bool {
	sent, left := make([]bool, len(a.frames)), a.budget()
	for i, f := range slices.Backward(a.frames) {
		if !f.stored && f.bytes <= left {
			sent[i] = true
			left -= f.bytes
		}
	}
	return sent
}

// block is a frame as an image (images).
func (f archiveFrame) block() json.RawMessage {
	o := new(object).text("type", "image").raw("data", f.record["data"]).raw("mimeType", f.record["mimeType"])
	if detail := f.record["detail"]; truthy(detail) {
		o.raw("detail", detail)
	}
	return o.json()
}

// appendTo adds the notice of a gap: unavailableFrameNotice or omittedFrameNotice.
func (g frameGap) appendTo(parts []archivePart) []archivePart {
	if g.frames == 0 {
		return parts
	}
	frames := grouped(float64(g.frames)) + " archived image frame"
	if g.frames != 1 {
		frames += "s"
	}
	text := "-------------- " + frames + " unavailable here --------------"
	if !g.stored {
		text = "-------------- snapcompact image middle omitted\n" + frames + " could not be included. " + frameBytes(g.bytes) +
			" of base64 exceeded the per-request snapcompact payload budget." +
			" The compacted summary and visible text edges remain available.\n--------------"
	}
	return append(parts, archivePart{text: text})
}

// frameBytes is formatFrameDataBytes.
func frameBytes(n int) string {
	switch f := float64(n); {
	case n >= 1_000_000:
		return oneDecimal(f/1_000_000) + " MB"
	case n >= 1_000:
		return oneDecimal(f/1_000) + " KB"
	}
	return strconv.Itoa(n) + " B"
}

// plainArchiveText is toPlainText, then elideDataUrls: text is stored with glyphs for
// the ends of its lines and signs for faint ink.
func plainArchiveText(text string) string {
	return elideDataURLs(strings.NewReplacer("\x0e", "", "\x0f", "", newlineGlyph, "\n").Replace(text))
}

// elisionMark stands in the data of a URL that was shortened (ELIDED_MARKER).
const elisionMark = `[` + white + `]*\[(?:…|\.{3})(\d+)ch elided(?:…|\.{3})\][` + white + `]*`

var (
	elision = regexp.MustCompile(elisionMark)
	// dataURL is DATA_URL_ATOM. JavaScript folds no letters beyond ASCII here, so that
	// an s or a k must not be left to Go's (?i), which does.
	dataURL = regexp.MustCompile(`^(?i:data:)([A-Za-z][\w.+-]*/[\w.+-]+(?:;` + mediaToken + `=` + mediaToken + `)*);(?i:ba)[sS](?i:e64),` +
		`([A-Za-z0-9+/=]*(?:(?i:` + elisionMark + `)[A-Za-z0-9+/=]*)?)([` + white + `]*\))?`)
)

const mediaToken = `[\w!#$%&'*+.^|~-]+` // MEDIA_TYPE_TOKEN

// elideDataURLs puts a note in the place of every data URL, and of a Markdown link
// or image around it (elideDataUrls in the mode "archive": a provider refuses data
// that was cut short, and text of an archive may be).
func elideDataURLs(text string) string {
	var out strings.Builder
	done := 0
	for at := nextDataURL(text, 0); at >= 0; at = nextDataURL(text, max(at+1, done)) {
		m := dataURL.FindStringSubmatchIndex(text[at:])
		if m == nil {
			continue
		}
		url := text[at:]
		note := "[data URL omitted: " + url[m[2]:m[3]] + ", " + dataLength(url[m[4]:m[5]]) + " base64 chars]"
		opener, closed := openerBefore(text[done:at]), m[8] >= 0
		out.WriteString(text[done : at-len(opener)])
		switch {
		case opener != "" && closed:
			out.WriteString(note)
		case closed:
			out.WriteString(note + url[m[8]:m[9]])
		default:
			out.WriteString(opener + note)
		}
		done = at + m[1]
	}
	return out.String() + text[done:]
}

// nextDataURL finds where a data URL may start.
func nextDataURL(text string, from int) int {
	for at := from; ; {
		colon := strings.IndexByte(text[at:], ':')
		if colon < 0 {
			return -1
		}
		if at += colon; at >= from+len("data") && strings.EqualFold(text[at-len("data"):at], "data") {
			return at - len("data")
		}
		at++
	}
}

// dataLength counts the characters that the data of a URL had before it was
// shortened.
func dataLength(data string) string {
	m := elision.FindStringSubmatchIndex(data)
	if m == nil {
		return strconv.Itoa(units(data))
	}
	f := toNumber([]byte(data[m[2]:m[3]]))
	return floatText(float64(units(data)-units(data[m[0]:m[1]])) + f)
}

// openerBefore gives the start of a Markdown link or image that text ends with, up
// to the place of its address (adjacentMarkdownOpenerStart).
func openerBefore(text string) string {
	head, ok := strings.CutSuffix(trimTextRight(text), "](")
	if !ok {
		return ""
	}
	from := strings.LastIndexAny(head, "]\n") + 1
	label := strings.IndexByte(head[from:], '[')
	if label < 0 {
		return ""
	}
	if from += label; from > 0 && head[from-1] == '!' {
		from--
	}
	return text[from:]
}
