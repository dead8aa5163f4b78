package sessgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// contextDialects are all that ContextTree writes.
var contextDialects = map[string]ContextOptions{
	"pi": {}, "native": {Native: true}, "version 1": {Version: 1}, "version 2": {Version: 2}, "omp": {Omp: true},
}

func TestContextTreeIsDeterministic(t *testing.T) {
	for name, opt := range contextDialects {
		if !bytes.Equal(ContextTree(seeded(1), 300, &opt), ContextTree(seeded(1), 300, &opt)) {
			t.Errorf("%s: the same seed gave other bytes", name)
		}
	}
}

// A contextRecord is an entry with its place in the tree.
type contextRecord struct {
	line   string
	fields map[string]any
	parent int // index, or -1
}

func (r contextRecord) text(key string) string {
	s, _ := r.fields[key].(string)
	return s
}

// message is nil where the entry is none.
func (r contextRecord) message() map[string]any {
	m, _ := r.fields["message"].(map[string]any)
	return m
}

func readObject(t *testing.T, line []byte) map[string]any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber() // some are out of range
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil || !json.Valid(line) {
		t.Fatalf("%v in %.300q", err, line)
	}
	return fields
}

// readContextTree fails unless the log is sound.
func readContextTree(t *testing.T, log []byte, opt ContextOptions) []contextRecord {
	t.Helper()
	lines := linesOf(t, log)
	if opt.Omp {
		if len(lines[0]) != 255 || readObject(t, lines[0])["type"] != "title" {
			t.Fatalf("the title line is %q", lines[0])
		}
		lines = lines[1:]
	}
	if readObject(t, lines[0])["type"] != "session" {
		t.Fatalf("the header is %q", lines[0])
	}
	var list []contextRecord
	at := map[string]int{}
	for i, line := range lines[1:] {
		r := contextRecord{string(line), readObject(t, line), i - 1}
		if opt.Version != 1 {
			r.parent = placeIn(t, r, at)
			at[r.text("id")] = i
		}
		list = append(list, r)
	}
	return list
}

func placeIn(t *testing.T, r contextRecord, at map[string]int) int {
	t.Helper()
	if _, used := at[r.text("id")]; used || r.text("id") == "" {
		t.Fatalf("the id of %q is missing or was used before", r.line)
	}
	if r.fields["parentId"] == nil {
		return -1
	}
	parent, ok := at[r.text("parentId")]
	if !ok {
		t.Fatalf("the parent of %q is not before it", r.line)
	}
	return parent
}

func TestContextTreesAreSound(t *testing.T) {
	for name, opt := range contextDialects {
		for seed := range uint64(40) {
			log := ContextTree(seeded(seed), int(seed)*4, &opt)
			if got := len(readContextTree(t, log, opt)); got != int(seed)*4 {
				t.Errorf("%s, seed %d: %d entries", name, seed, got)
			}
			if opt.Native {
				checkSums(t, linesOf(t, log))
			}
		}
	}
}

// contextFeatures are found in single lines; those of a dialect in its logs only.
var contextFeatures = map[string][]string{
	"all": {
		`"role":"user","content":"`, `"role":"user","content":\[\{"type":"text"`, `"content":\[.*"type":"image"`, `"role":"user","content":null`,
		`"role":"user","(n|timestamp)`,
		`"thinkingSignature":"c2ln"`, `"toolCall".*"toolCall".*"toolCall"`, `"deep":\[\{"a":\[\{"a":`, `12345678901234567890`, `1e21`, `1e-7`,
		`1e400`, `-0\.0`,
		`"stopReason":"error"`, `"stopReason":"aborted"`, `"stopReason":"length"`, `"role":"assistant","content":\[\]`,
		`"role":"bashExecution"`, `"output":""`, `"exitCode":null`, `"exitCode":0`, `"exitCode":1,`, `"output":"[^}]*,"cancelled`, `"cancelled":true`,
		`"truncated":true,"fullOutputPath":"/tmp`, `"excludeFromContext":true`,
		`"type":"compaction"`, `"type":"branch_summary".*"summary":""`, `"type":"branch_summary".*"summary":".`, `"fromHook":true`,
		`"type":"custom_message".*"content":"`, `"type":"custom_message".*"content":\[`, `"type":"custom_message".*"content":null`,
		`"type":"custom_message".*"type":"image"`,
		`"display":true`, `"display":false`, `"details":\{`, `"details":null`, `"type":"custom"[,}]`, `"type":"label"`, `"type":"acme.thing"`,
		`"role":"plan"`, `"role":"custom"`,
		`"role":"hookMessage"`, `"role":"toString"`, `"role":"compactionSummary"`, `"message":\{"content"`, `"timestamp":"not a date"`,
		`"timestamp":null`, `"timestamp":true`,
		"🎉", "\u2028", "\ufeff", "\u0085", `\\u0000`, `\\ud83d alone`, `in half \\ud83c"`, `one \\ud83c"`, "```go", `<summary>\\n`, `\\n\| :--`,
		`blank\\n\\n\\n`, `spaces   \\n`, `\{\{summary\}\}`,
		`"__proto__":`, `"n":.*"\\u006e":`, `"firstKeptEntry(Id|Index)":null`, `"tokensBefore":1`,
	},
	"pi": {
		`"redacted":true`, `"role":"assistant","content":null`, `"role":"assistant","api"`, `"role":"toolResult".*"content":null`,
		`"role":"system"`, `"sections":\{`, `"toolsAdded":\[\{`, `"toolsRemoved":`,
		`"systemMessage":\{"role"`, `"type":"compaction".*"usage":\{`, `"type":"session_info"`, `"type":"usage"`,
		`"type":"model_change".*"modelId":"`, `"thinkingLevel":"high"`,
		`"replacement":null`, `"replacement":\{"content":"`, `"replacement":\{"content":\[`, `"replacement":\{\}`, `"replacement":"text"`,
	},
	"omp": {
		`"type":"redactedThinking","data":"Z`, `"retryRecovery":\{`, `"steering":true`, `"synthetic":true`, `"role":"developer"`,
		`"role":"pythonExecution"`, `"role":"fileMention"`, `"image":\{`, `"prunedAt":1`, `"prunedAt":null`,
		`"type":"reset_boundary"`, `"model":"acme/small","role":"smol"`, `"role":"fallback"`, `"thinkingLevel":null`, `"configured":"auto"`,
		`"serviceTier":\{"anthropic"`, `"serviceTier":"priority"`, `"type":"mode_change"`,
		`"type":"title_change"`, `"injectedRules":\["`, `"type":"session_init"`, `"type":"credential_pin"`, `"type":"model_usage"`,
		`"session_exit"`, `"tool_execution_start"`,
		`"experimental_context_notes","data":\{"version":1,"text":".+?"\}`, `"text":"","version":1`, `"version":2,"text"`, `üü`,
		`"attribution":"user"`, `"attribution":"agent"`, `"attribution":"other"`,
		`"prewalk-plan"`, `"vibe-mode-context"`, `"skill-prompt"`, `"collab-prompt"`, `"interrupted-thinking"`, `"checkpoint-active-reminder"`,
		`"rewind-report"`, `"content":\[\],.*"stopReason":"error"`,
		`"method":"handoff"`, `"method":"summary"`, `"method":"snapcompact"`, `"shortSummary":"`, `"tokensAfter":900`, `"warning":"`,
		`"firstKeptEntryId":""`, `"openaiRemoteCompaction":\{"provider":"openai","replacementHistory":\[\{`,
		`"providerReplayThroughEntryId":"`, `"anthropicCompaction":\{"provider":"anthropic","content":"`, `"snapcompact":\{"frames":\[\{`,
		`"font":"8x8"`, `"textHead":"`, `"textTail":"`, `█`, `"experimental-context-rollover"`, `"truncation":\{`, `"diagnostics":\{`,
		`"limits":\{`,
		`"blob:sha256:0a`,
	},
	"version 1": {`"firstKeptEntryIndex":[0-9]`, `"firstKeptEntryIndex":-1`, `"firstKeptEntryIndex":0,`},
}

// TestContextTreesHaveEveryFeature counts what 200 logs of each dialect have.
func TestContextTreesHaveEveryFeature(t *testing.T) {
	for name, opt := range contextDialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkFeatures(t, name, opt)
		})
	}
}

func checkFeatures(t *testing.T, name string, opt ContextOptions) {
	t.Helper()
	counts := map[string]int{}
	var lines bytes.Buffer
	for seed := range uint64(200) {
		records := readContextTree(t, ContextTree(seeded(seed), 60, &opt), opt)
		for i, r := range records {
			lines.WriteString(r.line + "\n")
			countRelations(counts, records, i)
		}
	}
	features := slices.Concat(contextFeatures["all"], contextFeatures[name])
	if name == "native" || name == "version 2" {
		features = append(features, contextFeatures["pi"]...)
	}
	for _, feature := range features {
		counts[feature] = len(regexp.MustCompile(feature).FindAllIndex(lines.Bytes(), 4))
	}
	checkCounts(t, name, features, counts)
}

// contextRelations are between entries, named as countRelations does.
var contextRelations = []string{
	"root", "branch", "result in order", "result out of order", "result doubled", "result without a call", "result of another branch",
	"call without a result", "kept on the path", "kept before an older compaction", "kept itself", "kept off the path", "kept in no log",
	"kept missing",
	"three compactions on a path",
}

// contextEdited are the kinds that a context_edit of pi's is aimed at.
var contextEdited = []string{
	"edit of user", "edit of assistant", "edit of toolResult", "edit of bashExecution", "edit of custom_message", "edit of compaction",
	"edit of branch_summary",
	"edit of custom", "edit of system", "edit off the path", "edit of nothing", "second edit",
}

func checkCounts(t *testing.T, name string, features []string, counts map[string]int) {
	t.Helper()
	if name != "version 1" {
		features = append(features, contextRelations...)
		if name != "omp" {
			features = append(features, contextEdited...)
		}
	}
	for _, feature := range features {
		if counts[feature] < 3 {
			t.Errorf("%s: %d times %s", name, counts[feature], feature)
		}
	}
}

// countRelations counts how the entry at index stands to those above it.
func countRelations(counts map[string]int, records []contextRecord, index int) {
	r := records[index]
	if r.parent < 0 {
		counts["root"]++
	} else if r.parent != index-1 {
		counts["branch"]++
	}
	above := map[string]int{} // distance from the entry, by id
	compactions := 0
	for i := r.parent; i >= 0; i = records[i].parent {
		above[records[i].text("id")] = len(above) + 1
		if records[i].text("type") == "compaction" {
			compactions++
		}
	}
	switch r.text("type") {
	case "compaction":
		counts[keptRelation(records, index, above)]++
		if compactions == 2 {
			counts["three compactions on a path"]++
		}
	case "context_edit":
		countEdit(counts, records, index, above)
	case "message":
		if r.message()["role"] == "toolResult" {
			counts[resultRelation(records, index)]++
		} else if len(waiting(records, index)) > 0 {
			counts["call without a result"]++
		}
	}
}

func keptRelation(records []contextRecord, index int, above map[string]int) string {
	id := records[index].text("firstKeptEntryId")
	switch {
	case id == "":
		return "kept missing"
	case id == records[index].text("id"):
		return "kept itself"
	case above[id] == 0 && indexOf(records, id) < 0:
		return "kept in no log"
	case above[id] == 0:
		return "kept off the path"
	}
	for i := records[index].parent; records[i].text("id") != id; i = records[i].parent {
		if records[i].text("type") == "compaction" {
			return "kept before an older compaction"
		}
	}
	return "kept on the path"
}

func indexOf(records []contextRecord, id string) int {
	for i, r := range records {
		if r.text("id") == id {
			return i
		}
	}
	return -1
}

func countEdit(counts map[string]int, records []contextRecord, index int, above map[string]int) {
	id := records[index].text("targetId")
	target := indexOf(records, id)
	switch {
	case target < 0:
		counts["edit of nothing"]++
		return
	case above[id] == 0:
		counts["edit off the path"]++
		return
	}
	kind := records[target].text("type")
	if m := records[target].message(); m != nil {
		kind = fmt.Sprint(m["role"])
	}
	counts["edit of "+kind]++
	for i := records[index].parent; i >= 0; i = records[i].parent {
		if records[i].text("type") == "context_edit" && records[i].text("targetId") == id {
			counts["second edit"]++
		}
	}
}

// waiting lists the calls above an entry that have no result above it, the oldest
// first.
func waiting(records []contextRecord, index int) (calls []string) {
	var path []int
	for i := records[index].parent; i >= 0; i = records[i].parent {
		path = append([]int{i}, path...)
	}
	for _, i := range path {
		calls = append(calls, callsOf(records[i])...)
		if answered := fmt.Sprint(records[i].message()["toolCallId"]); answered != "" {
			for at, call := range calls {
				if call == answered {
					calls = append(calls[:at:at], calls[at+1:]...)
					break
				}
			}
		}
	}
	return calls
}

func callsOf(r contextRecord) (calls []string) {
	content, _ := r.message()["content"].([]any)
	for _, block := range content {
		if b, ok := block.(map[string]any); ok && b["type"] == "toolCall" {
			calls = append(calls, fmt.Sprint(b["id"]))
		}
	}
	return calls
}

func resultRelation(records []contextRecord, index int) string {
	call := fmt.Sprint(records[index].message()["toolCallId"])
	for at, id := range waiting(records, index) {
		if id == call && at == 0 {
			return "result in order"
		} else if id == call {
			return "result out of order"
		}
	}
	for i := records[index].parent; i >= 0; i = records[i].parent {
		if fmt.Sprint(records[i].message()["toolCallId"]) == call {
			return "result doubled"
		}
	}
	for i := range records[:index] {
		if strings.Contains(strings.Join(callsOf(records[i]), " "), call) {
			return "result of another branch"
		}
	}
	return "result without a call"
}
