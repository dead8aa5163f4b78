package modelcontext

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// outputNotice says what was left out of a command's output, as omp ends the text
// of one (pi-coding-agent/src/tools/output-meta.ts, formatOutputNotice). It is ""
// where there is nothing to say.
func outputNotice(meta []byte) string {
	var parts []string
	if truncation := jsonvalue.Get(meta, "truncation"); truthy(truncation) {
		parts = append(parts, truncationNotice(truncation, jsonvalue.Get(meta, "source")))
	}
	if failed := jsonvalue.Get(meta, "artifactError"); truthy(failed) {
		parts = append(parts, "Full output was not saved completely (artifact "+interpolated(failed)+" failed)")
	}
	parts = append(parts, limitNotices(jsonvalue.Get(meta, "limits"))...)
	notice := ""
	if len(parts) > 0 {
		notice = "\n\n[" + strings.Join(parts, ". ") + "]"
	}
	return notice + diagnosticsNotice(jsonvalue.Get(meta, "diagnostics"))
}

func limitNotices(limits []byte) (parts []string) {
	for _, limit := range []struct{ name, what string }{
		{"matchLimit", "matches"}, {"resultLimit", "results"}, {"headLimit", "results"},
	} {
		if l := jsonvalue.Get(limits, limit.name); truthy(l) {
			parts = append(parts, member(l, "reached")+" "+limit.what+" limit reached. Use limit="+member(l, "suggestion")+" for more")
		}
	}
	if column := jsonvalue.Get(limits, "columnTruncated"); truthy(column) {
		parts = append(parts, columnNotice(column))
	}
	return parts
}

func columnNotice(column []byte) string {
	unit := "chars" // of logs from before it was stored
	if u := jsonvalue.Get(column, "unit"); !jsonvalue.Null(u) {
		unit = interpolated(u)
	}
	notice := "Some lines truncated to " + member(column, "maxColumn") + " " + unit
	if id := jsonvalue.Get(column, "artifactId"); !jsonvalue.Null(id) {
		notice += ". " + fullOutput(id)
	}
	return notice
}

// fullOutput is formatFullOutputReference.
func fullOutput(artifact []byte) string {
	return "Read artifact://" + interpolated(artifact) + " for full output"
}

// member is an object's member in a template literal.
func member(object []byte, name string) string { return interpolated(jsonvalue.Get(object, name)) }

// truncationNotice is formatTruncationMetaNotice.
func truncationNotice(truncation, source []byte) string {
	notice, offset := "", "nextOffset"
	switch {
	case jsonvalue.String(jsonvalue.Get(truncation, "direction")) == "middle":
		notice = middleNotice(truncation)
	case truthy(jsonvalue.Get(truncation, "partialLine")):
		notice, offset = partialNotice(truncation), ""
	default:
		notice = endsNotice(truncation)
	}
	if next := jsonvalue.Get(truncation, offset); offset != "" && !jsonvalue.Null(next) {
		notice += ". Use :" + interpolated(next) + " to continue"
	}
	if id := jsonvalue.Get(truncation, "artifactId"); !jsonvalue.Null(id) {
		notice += ". " + artifactReference(id, source)
	}
	return notice
}

func artifactReference(id, source []byte) string {
	if jsonvalue.String(jsonvalue.Get(source, "type")) == "report" {
		return "Read artifact://" + interpolated(id) + " for full report (" + member(source, "value") + ")"
	}
	return fullOutput(id)
}

// middleNotice is for an output whose middle was left out.
func middleNotice(t []byte) string {
	head, tail, total := jsonvalue.Get(t, "headRange"), jsonvalue.Get(t, "tailRange"), jsonvalue.Get(t, "totalLines")
	bytes := elided(t, "elidedBytes", "totalBytes", "outputBytes")
	lines := elided(t, "elidedLines", "totalLines", "outputLines")
	switch {
	case truthy(head) && truthy(tail):
		return "Showing lines " + span(head) + " and " + span(tail) + " of " + interpolated(total) + "; " +
			localeText(lines) + " middle line" + plural(lines) + " (" + byteCount(bytes) + ") elided"
	case toNumber(bytes) > 0:
		return "Showing head and tail bytes of " + localeText(total) + " line" + plural(total) + "; " + byteCount(bytes) + " elided"
	}
	fewer := math.Min(toNumber(jsonvalue.Get(t, "outputLines")), toNumber(total))
	return "Showing " + floatText(fewer) + " of " + interpolated(total) + " lines; middle elided"
}

// elided is a stored count of what is not shown, else the difference of two others;
// nil where that is no number.
func elided(t []byte, name, total, output string) []byte {
	if value := jsonvalue.Get(t, name); !jsonvalue.Null(value) {
		return value
	}
	count := math.Max(0, toNumber(jsonvalue.Get(t, total))-toNumber(jsonvalue.Get(t, output)))
	if math.IsNaN(count) {
		return nil
	}
	return jsonvalue.AppendNumber(nil, count)
}

// partialNotice is for a part of one long line.
func partialNotice(t []byte) string {
	line := "1"
	if start := jsonvalue.Get(jsonvalue.Get(t, "shownRange"), "start"); !jsonvalue.Null(start) {
		line = interpolated(start)
	}
	return "Showing line " + line + " (partial, " + byteCount(jsonvalue.Get(t, "outputBytes")) + " of " +
		byteCount(jsonvalue.Get(t, "totalBytes")) + ") of " + member(t, "totalLines")
}

// endsNotice is for an output of which the start or the end is shown.
func endsNotice(t []byte) string {
	shown := jsonvalue.Get(t, "shownRange")
	notice := "Showing " + member(t, "outputLines") + " of " + member(t, "totalLines") + " lines"
	if toNumber(jsonvalue.Get(shown, "end")) >= toNumber(jsonvalue.Get(shown, "start")) {
		notice = "Showing lines " + span(shown) + " of " + member(t, "totalLines")
	}
	if jsonvalue.String(jsonvalue.Get(t, "truncatedBy")) == "bytes" {
		limit := jsonvalue.Get(t, "maxBytes")
		if jsonvalue.Null(limit) {
			limit = jsonvalue.Get(t, "outputBytes")
		}
		notice += " (" + byteCount(limit) + " limit)"
	}
	return notice
}

func span(lines []byte) string { return member(lines, "start") + "-" + member(lines, "end") }

func plural(count []byte) string {
	if isNumber(count) && toNumber(count) == 1 {
		return ""
	}
	return "s"
}

// byteCount is formatBytes of pi-utils/src/format.ts.
func byteCount(value []byte) string {
	switch f := toNumber(value); {
	case f < 1<<10:
		return interpolated(value) + "B"
	case f < 1<<20:
		return oneDecimal(f/(1<<10)) + "KB"
	case f < 1<<30:
		return oneDecimal(f/(1<<20)) + "MB"
	default: // what is no number, too
		return oneDecimal(f/(1<<30)) + "GB"
	}
}

// oneDecimal is toFixed(1), which rounds a half away from zero; strconv rounds it to
// even. With one decimal, a half is an odd number of quarters.
func oneDecimal(f float64) string {
	if math.IsNaN(f) || math.Abs(f) >= 1e21 {
		return floatText(f)
	}
	if math.Mod(math.Abs(f)*4, 2) == 1 {
		f += math.Copysign(0.05, f)
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// localeText is toLocaleString in the language en-US, which is omp's where the
// machine has no other: a context is the same everywhere. What is no number is
// shown as it is.
func localeText(value []byte) string {
	switch f := toNumber(value); {
	case value == nil:
		return "NaN"
	case !isNumber(value):
		return interpolated(value)
	case math.IsInf(f, 0):
		return strings.TrimSuffix(floatText(f), "Infinity") + "∞"
	default:
		return grouped(f)
	}
}

// grouped writes a number with a comma between thousands, and at most three decimals.
func grouped(f float64) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if _, decimals, _ := strings.Cut(text, "."); len(decimals) > 3 {
		text = strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 3, 64), "0"), ".")
	}
	whole, decimals, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if decimals != "" {
		whole += "." + decimals
	}
	return whole
}

// floatText is a number in a template literal.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return string(jsonvalue.AppendNumber(nil, f))
}

// toNumber is the number that JavaScript calculates with where it has this value;
// NaN where it has none.
func toNumber(value []byte) float64 {
	switch {
	case isNumber(value):
		f, _ := strconv.ParseFloat(string(value), 64) // infinite when out of range
		return f
	case string(value) == "null" || string(value) == "false":
		return 0
	case string(value) == "true":
		return 1
	case isString(value) || isArray(value):
		return decimal(trimText(interpolated(value)))
	}
	return math.NaN()
}

func decimal(text string) float64 {
	if text == "" {
		return 0
	}
	f, err := strconv.ParseFloat(text, 64)
	if strings.Trim(text, "0123456789+-.eE") != "" || err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// diagnosticsNotice gives the messages of a language server.
func diagnosticsNotice(diagnostics []byte) string {
	messages := blocks(jsonvalue.Get(diagnostics, "messages"))
	if len(messages) == 0 {
		return ""
	}
	return "\n\nLSP Diagnostics (" + member(diagnostics, "summary") + "):\n" + strings.Join(groupDiagnostics(messages), "\n")
}

// shown is a value where JavaScript joins several or a template has its place: what
// is missing or null is nothing.
func shown(value json.RawMessage) string {
	if jsonvalue.Null(value) {
		return ""
	}
	return interpolated(value)
}

// white is what \s stands for in JavaScript, in a class of Go's expressions.
const white = `\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`

// diagnosticPath is DIAG_PATH_RE: it parts a path from "line:column message".
var diagnosticPath = regexp.MustCompile(`^([^` + lineEnds + `]+?):(\d+:\d+[` + white + `]+[^` + lineEnds + `]*)$`)

// groupDiagnostics gives messages below headings for their files, and at the end
// those that name none (lsp/utils.ts, formatGroupedDiagnosticMessages, with
// tools/grouped-file-output.ts, formatGroupedFiles).
func groupDiagnostics(messages []json.RawMessage) (lines []string) {
	var root diagnosticFolder
	var other []string
	seen := map[string]*diagnosticFile{}
	for _, message := range messages {
		match := diagnosticPath.FindStringSubmatch(interpolated(message))
		if match == nil {
			other = append(other, shown(message))
			continue
		}
		path := strings.ReplaceAll(match[1], `\`, "/")
		if seen[path] == nil {
			seen[path] = root.file(path)
		}
		seen[path].lines = append(seen[path].lines, "  "+match[2])
	}
	lines = root.appendLines(nil, "#")
	if len(seen) > 0 && len(other) > 0 {
		lines = append(lines, "")
	}
	return append(lines, other...)
}

// A diagnosticFolder is a node of pi-utils/src/path-tree.ts (buildPathTree).
type diagnosticFolder struct {
	name    string
	files   []*diagnosticFile
	folders []*diagnosticFolder
	index   map[string]*diagnosticFolder
	names   map[string]bool // of files
}

type diagnosticFile struct {
	name  string
	lines []string
}

// locator is isUrlLikePath: what has no folders.
var locator = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)

// file places a path below the folder. Of two that have one name there, as "a" and
// "a/", the tree has the first; the other is not shown, and neither is "/".
func (d *diagnosticFolder) file(path string) *diagnosticFile {
	name := path
	if !locator.MatchString(path) {
		parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
		for _, part := range parts[:len(parts)-1] {
			d = d.folder(part)
		}
		name = parts[len(parts)-1]
	}
	f := &diagnosticFile{name: name}
	if path != "/" && !d.names[name] {
		d.files = append(d.files, f)
		setIn(&d.names, name, true)
	}
	return f
}

func (d *diagnosticFolder) folder(name string) *diagnosticFolder {
	child := d.index[name]
	if child == nil {
		child = &diagnosticFolder{name: name}
		d.folders = append(d.folders, child)
		setIn(&d.index, name, child)
	}
	return child
}

func setIn[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

// appendLines writes the files of a folder, then the folders in it, of which a chain
// has one heading (walkPathTree). A folder, and a file outside of all, begins after
// an empty line.
func (d *diagnosticFolder) appendLines(lines []string, marks string) []string {
	for _, f := range d.files {
		if marks == "#" {
			lines = appendGap(lines)
		}
		lines = append(append(lines, marks+" "+f.name), f.lines...)
	}
	for _, child := range d.folders {
		name := child.name
		for len(child.files) == 0 && len(child.folders) == 1 {
			child = child.folders[0]
			name += "/" + child.name
		}
		lines = append(appendGap(lines), marks+" "+name+"/")
		lines = child.appendLines(lines, marks+"#")
	}
	return lines
}

func appendGap(lines []string) []string {
	if len(lines) == 0 {
		return lines
	}
	return append(lines, "")
}
