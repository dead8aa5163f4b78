package modelcontext

import (
	"bytes"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// ompCases are messages, and what oh-my-pi 18.2.3 makes of them: its convertToLlm was
// run for every one.
var ompCases = []struct{ name, in, want string }{
	{"a user's message says who it is from",
		`[{"role":"user","content":"hi","timestamp":7}]`,
		`[{"role":"user","content":"hi","timestamp":7,"attribution":"user"}]`},
	{"attribution that is null is none",
		`[{"role":"user","content":[],"attribution":null},{"role":"developer","content":"d","attribution":null},{"role":"toolResult","content":[],"attribution":"user"}]`,
		`[{"role":"user","content":[],"attribution":"user"},{"role":"developer","content":"d","attribution":"agent"},{"role":"toolResult","content":[],"attribution":"user"}]`},
	{"other roles are left out",
		`[{"role":"system","content":"x"},{"role":"weird"},{"content":"x"}]`,
		`[]`},
	{"thinking that a note follows goes",
		`[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"b"},{"type":"thinking","thinking":"c"},{"type":"text","text":" \u00a0\n"}]},{"role":"custom","customType":"interrupted-thinking","content":"was thinking","timestamp":7}]`,
		`[{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"developer","content":[{"type":"text","text":"was thinking"}],"timestamp":7}]`},
	{"signed thinking stays",
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"thinking","thinking":"b","thinkingSignature":"s"},{"type":"thinking","thinking":"c","thinkingSignature":""}]},{"role":"custom","customType":"interrupted-thinking","content":"was thinking","timestamp":7}]`,
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"thinking","thinking":"b","thinkingSignature":"s"}]},{"role":"developer","content":[{"type":"text","text":"was thinking"}],"timestamp":7}]`},
	{"blank thinking ends the run",
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"thinking","thinking":" \ufeff"},{"type":"thinking","thinking":"c"}]},{"role":"custom","customType":"interrupted-thinking","content":"was thinking","timestamp":7}]`,
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"thinking","thinking":" \ufeff"}]},{"role":"developer","content":[{"type":"text","text":"was thinking"}],"timestamp":7}]`},
	{"text after thinking keeps it",
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"text","text":"b"}]},{"role":"custom","customType":"interrupted-thinking","content":"was thinking","timestamp":7}]`,
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"text","text":"b"}]},{"role":"developer","content":[{"type":"text","text":"was thinking"}],"timestamp":7}]`},
	{"without a note nothing goes",
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"}],"stopReason":"aborted"},{"role":"user","content":"x"}]`,
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"}],"stopReason":"aborted"},{"role":"user","content":"x","attribution":"user"}]`},
	{"the user's interrupt, by its words",
		`[{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"thinking","thinking":"a"}],"stopReason":"aborted","errorMessage":"Interrupted by user"}]`,
		`[{"role":"assistant","content":[{"type":"text","text":"x"}],"stopReason":"aborted","errorMessage":"Interrupted by user"}]`},
	{"an answer that was only thinking is left out",
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"}],"stopReason":"aborted","errorId":67108864}]`,
		`[]`},
	{"but not before a note",
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"a"}],"stopReason":"aborted","errorId":67112960},{"role":"custom","customType":"interrupted-thinking","content":"was thinking","timestamp":7}]`,
		`[{"role":"assistant","content":[],"stopReason":"aborted","errorId":67112960},{"role":"developer","content":[{"type":"text","text":"was thinking"}],"timestamp":7}]`},
	{"flags are the lower 32 bits",
		`[{"role":"assistant","content":[],"stopReason":"aborted","errorId":4362076160},{"role":"assistant","content":[],"stopReason":"aborted","errorId":-1},{"role":"assistant","content":[],"stopReason":"aborted","errorId":-67108865},{"role":"assistant","content":[],"stopReason":"aborted","errorId":1e+300},{"role":"assistant","content":[],"stopReason":"aborted","errorId":"67108864"},{"role":"assistant","content":[],"stopReason":"aborted","errorId":null}]`,
		`[{"role":"assistant","content":[],"stopReason":"aborted","errorId":-67108865},{"role":"assistant","content":[],"stopReason":"aborted","errorId":1e+300},{"role":"assistant","content":[],"stopReason":"aborted","errorId":null}]`},
	{"an error is no interrupt",
		`[{"role":"assistant","content":[],"stopReason":"error","errorMessage":"Interrupted by user"}]`,
		`[{"role":"assistant","content":[],"stopReason":"error","errorMessage":"Interrupted by user"}]`},
	{"a pruned result has one text",
		`[{"role":"toolResult","content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"a\ud83d","textSignature":"s"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"\ude00b"}],"prunedAt":1}]`,
		`[{"role":"toolResult","content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"a\ud83d\ude00b"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"prunedAt":1,"attribution":"agent"}]`},
	{"a pruned result without text",
		`[{"role":"toolResult","content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":""}],"prunedAt":null},{"role":"toolResult","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"prunedAt":1},{"role":"toolResult","content":[],"prunedAt":1}]`,
		`[{"role":"toolResult","content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"[Output truncated]"}],"prunedAt":null,"attribution":"agent"},{"role":"toolResult","content":[{"type":"text","text":"[Output truncated]"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"prunedAt":1,"attribution":"agent"},{"role":"toolResult","content":[{"type":"text","text":"[Output truncated]"}],"prunedAt":1,"attribution":"agent"}]`},
	{"texts that are none",
		`[{"role":"toolResult","content":[{"type":"text","text":1},{"type":"text","text":null},{"type":"text"},{"type":"text","text":[2,[3]]},{"type":"text","text":{}}],"prunedAt":1}]`,
		`[{"role":"toolResult","content":[{"type":"text","text":"12,3[object Object]"}],"prunedAt":1,"attribution":"agent"}]`},
	{"a command",
		`[{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0,"cancelled":false,"timestamp":7}]`,
		`[{"role":"user","content":[{"type":"text","text":"Ran \u0060ls\u0060\n\u0060\u0060\u0060\na\nb\n\u0060\u0060\u0060"}],"attribution":"user","timestamp":7}]`},
	{"a command that failed, one that was cancelled, one without output",
		`[{"role":"bashExecution","command":"ls","output":"","exitCode":2,"cancelled":false,"timestamp":7},{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":1,"cancelled":true,"timestamp":7},{"role":"bashExecution","command":"ls","output":null,"exitCode":null,"cancelled":false,"timestamp":7},{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":"0","cancelled":false,"timestamp":7}]`,
		`[{"role":"user","content":[{"type":"text","text":"Ran \u0060ls\u0060\n(no output)\n\nCommand exited with code 2"}],"attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":"Ran \u0060ls\u0060\n\u0060\u0060\u0060\na\nb\n\u0060\u0060\u0060\n\n(command cancelled)"}],"attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":"Ran \u0060ls\u0060\n(no output)"}],"attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":"Ran \u0060ls\u0060\n\u0060\u0060\u0060\na\nb\n\u0060\u0060\u0060\n\nCommand exited with code 0"}],"attribution":"user","timestamp":7}]`},
	{"a command with images and a notice",
		`[{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0,"cancelled":false,"timestamp":7,"images":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"meta":{"truncation":{"direction":"tail","truncatedBy":"lines","totalLines":9,"outputLines":2,"shownRange":{"start":8,"end":9},"artifactId":"3"}}}]`,
		`[{"role":"user","content":[{"type":"text","text":"Ran \u0060ls\u0060\n\u0060\u0060\u0060\na\nb\n\u0060\u0060\u0060\n\n[Showing lines 8-9 of 9. Read artifact://3 for full output]"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"user","timestamp":7}]`},
	{"a command that no model is sent",
		`[{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0,"cancelled":false,"timestamp":7,"excludeFromContext":true},{"role":"pythonExecution","code":"1","excludeFromContext":1},{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0,"cancelled":false,"timestamp":7,"excludeFromContext":0}]`,
		`[{"role":"user","content":[{"type":"text","text":"Ran \u0060ls\u0060\n\u0060\u0060\u0060\na\nb\n\u0060\u0060\u0060"}],"attribution":"user","timestamp":7}]`},
	{"members that are missing",
		`[{"role":"bashExecution"},{"role":"pythonExecution"}]`,
		`[{"role":"user","content":[{"type":"text","text":"Ran \u0060undefined\u0060\n(no output)"}],"attribution":"user"},{"role":"user","content":[{"type":"text","text":"Ran Python:\n\u0060\u0060\u0060python\nundefined\n\u0060\u0060\u0060\n(no output)"}],"attribution":"user"}]`},
	{"Python",
		`[{"role":"pythonExecution","code":"1/0","output":"E","exitCode":1,"images":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"timestamp":7},{"role":"pythonExecution","code":"x","output":"","cancelled":true}]`,
		`[{"role":"user","content":[{"type":"text","text":"Ran Python:\n\u0060\u0060\u0060python\n1/0\n\u0060\u0060\u0060\nOutput:\n\u0060\u0060\u0060\nE\n\u0060\u0060\u0060\n\nExecution failed with code 1"}],"attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":"Ran Python:\n\u0060\u0060\u0060python\nx\n\u0060\u0060\u0060\n(no output)\n\n(execution cancelled)"}],"attribution":"user"}]`},
	{"files, images apart",
		`[{"role":"fileMention","files":[{"path":"a.md","content":"A"},{"path":"i.png","content":"","image":{"type":"image","data":"AAAA","mimeType":"image/png"}},{"path":"b.md","content":""},{"path":"j.png","content":"J","image":{"type":"image","data":"AAAA","mimeType":"image/png"}}],"timestamp":7}]`,
		`[{"role":"developer","content":[{"type":"text","text":"<file path=\"a.md\">\nA\n</file>\n<file path=\"b.md\">\n</file>"}],"attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":"<file path=\"i.png\">\n</file>\n<file path=\"j.png\">\nJ\n</file>"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"user","timestamp":7}]`},
	{"no files",
		`[{"role":"fileMention","files":[]}]`,
		`[]`},
	{"a custom message is the developer's",
		`[{"role":"custom","customType":"x","content":"note \ud800","timestamp":7},{"role":"custom","customType":"x","content":[{"type":"text","text":"a"}],"attribution":"user","timestamp":7},{"role":"hookMessage","customType":"x","content":"h","attribution":"agent","timestamp":7}]`,
		`[{"role":"developer","content":[{"type":"text","text":"note \ud800"}],"timestamp":7},{"role":"developer","content":[{"type":"text","text":"a"}],"attribution":"user","timestamp":7},{"role":"developer","content":[{"type":"text","text":"h"}],"attribution":"agent","timestamp":7}]`},
	{"a custom message without content is left out",
		`[{"role":"custom","customType":"x","content":null,"timestamp":7},{"role":"custom","customType":"x","content":5,"timestamp":7},{"role":"hookMessage","customType":"x","content":null,"timestamp":7}]`,
		`[]`},
	{"images are the user's",
		`[{"role":"custom","customType":"x","content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"o"},{"type":"text","text":"b"}],"attribution":"agent","timestamp":7},{"role":"hookMessage","customType":"y","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"timestamp":7}]`,
		`[{"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"attribution":"agent","timestamp":7},{"role":"user","content":[{"type":"text","text":"Images attached to x."},{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"agent","timestamp":7},{"role":"user","content":[{"type":"text","text":"Images attached to y."},{"type":"image","data":"AAAA","mimeType":"image/png"}],"timestamp":7}]`},
	{"a skill that the user called",
		`[{"role":"custom","customType":"skill-prompt","content":"do","attribution":"user","timestamp":7},{"role":"custom","customType":"skill-prompt","content":[{"type":"text","text":"do"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"user","timestamp":7},{"role":"custom","customType":"skill-prompt","content":"do","attribution":"agent","timestamp":7}]`,
		`[{"role":"user","content":[{"type":"text","text":"do"}],"attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":"do"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"user","timestamp":7},{"role":"developer","content":[{"type":"text","text":"do"}],"attribution":"agent","timestamp":7}]`},
	{"what a peer typed is an interjection",
		`[{"role":"custom","customType":"collab-prompt","content":"stop  \n\n\n</x>","attribution":"user","timestamp":7},{"role":"custom","customType":"collab-prompt","content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"o"},{"type":"text","text":"b"}],"attribution":"user","timestamp":7},{"role":"custom","customType":"collab-prompt","content":"a","attribution":"agent","timestamp":7}]`,
		`[{"role":"user","content":"<system-notice>\nUser interjection during work: priority; supersedes conflicting prior instructions. Re-read; ensure current work reflects user intent.\n</system-notice>\nstop\n</x>","attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":"<system-notice>\nUser interjection during work: priority; supersedes conflicting prior instructions. Re-read; ensure current work reflects user intent.\n</system-notice>\na\nb"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"user","timestamp":7},{"role":"developer","content":[{"type":"text","text":"a"}],"attribution":"agent","timestamp":7}]`},
	{"an interjection of nothing",
		`[{"role":"custom","customType":"collab-prompt","content":"","attribution":"user","timestamp":7},{"role":"custom","customType":"collab-prompt","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"user","timestamp":7},{"role":"custom","customType":"collab-prompt","content":[{"type":"text","text":""}],"attribution":"user","timestamp":7},{"role":"custom","customType":"collab-prompt","content":[{"type":"text"},{"type":"text","text":5}],"attribution":"user","timestamp":7}]`,
		`[{"role":"user","content":"","attribution":"user","timestamp":7},{"role":"user","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":""}],"attribution":"user","timestamp":7},{"role":"user","content":[{"type":"text","text":"<system-notice>\nUser interjection during work: priority; supersedes conflicting prior instructions. Re-read; ensure current work reflects user intent.\n</system-notice>\n5"}],"attribution":"user","timestamp":7}]`},
	{"a hook is no peer",
		`[{"role":"hookMessage","customType":"collab-prompt","content":"a","attribution":"user","timestamp":7}]`,
		`[{"role":"developer","content":[{"type":"text","text":"a"}],"attribution":"user","timestamp":7}]`},
	{"a branch's summary",
		`[{"role":"branchSummary","summary":"## Goal  \n\n\n| a | b |\n","fromId":"x","timestamp":7},{"role":"branchSummary"}]`,
		`[{"role":"user","content":[{"type":"text","text":"Branch-return summary:\n\n<summary>\n## Goal\n|a|b|\n</summary>"}],"attribution":"agent","historyRewriteAt":7,"timestamp":7},{"role":"user","content":[{"type":"text","text":"Branch-return summary:\n\n<summary>\n</summary>"}],"attribution":"agent"}]`},
	{"a compaction's summary",
		`[{"role":"compactionSummary","summary":"S","tokensBefore":5,"timestamp":7,"images":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"providerPayload":{"type":"p"}}]`,
		`[{"role":"user","content":[{"type":"text","text":"Prior model work/tool state available.\nMUST build on prior work; NEVER duplicate prior work.\n\n<summary>\nS\n</summary>"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"agent","historyRewriteAt":7,"providerPayload":{"type":"p"},"timestamp":7}]`},
	{"a handoff",
		`[{"role":"compactionSummary","summary":"H","method":"handoff"}]`,
		`[{"role":"user","content":[{"type":"text","text":"Context replaced. The <handoff> below is a handoff document a prior instance of you wrote from the full conversation. It is your own working memory, not user input.\n- First person inside it refers to you (the prior instance).\n- \"Next Steps\" is your own resumed plan; re-check it against the latest user message before acting.\n- The handoff already exists and is complete: NEVER write another handoff document unless the user explicitly asks.\nMUST build on prior work; NEVER duplicate prior work.\n\n<handoff>\nH\n</handoff>"}],"attribution":"agent"}]`},
	{"an archive comes after the summary as it is",
		`[{"role":"compactionSummary","summary":"S  \n\n\n","blocks":[{"type":"text","text":"old"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"images":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"timestamp":7},{"role":"compactionSummary","blocks":[]}]`,
		`[{"role":"user","content":[{"type":"text","text":"S  \n\n\n"},{"type":"text","text":"old"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"attribution":"agent","historyRewriteAt":7,"timestamp":7},{"role":"user","content":[{"type":"text"}],"attribution":"agent"}]`},
}

func TestRenderOmp(t *testing.T) {
	for _, c := range ompCases {
		got := ompRaws(renderOmp(ompMessages([]byte(c.in))))
		if !bytes.Equal(canonical(got), canonical([]byte(c.want))) {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.in, got, c.want)
		}
	}
}

// Where oh-my-pi throws, what is missing is empty.
func TestRenderOmpDoesNotFail(t *testing.T) {
	const aborted = `"stopReason":"aborted","errorMessage":"Interrupted by user"`
	for _, c := range [][2]string{
		{`[{"role":"assistant",` + aborted + `}]`, `[]`},
		{`[{"role":"assistant","content":null,` + aborted + `}]`, `[]`},
		{`[{"role":"assistant","content":[{"type":"text"},null,{"type":"thinking"}],` + aborted + `}]`,
			`[{"role":"assistant","content":[{"type":"text"},null,{"type":"thinking"}],` + aborted + `}]`},
		{`[{"role":"toolResult","prunedAt":1}]`,
			`[{"role":"toolResult","prunedAt":1,"content":[{"type":"text","text":"[Output truncated]"}],"attribution":"agent"}]`},
		{`[{"role":"toolResult","prunedAt":1,"content":"text"}]`,
			`[{"role":"toolResult","prunedAt":1,"content":"text","attribution":"agent"}]`},
		{`[{"role":"fileMention"},{"role":"fileMention","files":[null]}]`, `[]`},
		{`[{"role":"compactionSummary","summary":"S","blocks":null}]`,
			`[{"role":"user","content":[{"type":"text","text":"S"}],"attribution":"agent"}]`},
		{`[{"role":"custom","customType":"x","content":[null,{"type":"image"}]}]`,
			`[{"role":"user","content":[{"type":"text","text":"Images attached to x."},{"type":"image"}]}]`},
	} {
		got := ompRaws(renderOmp(ompMessages([]byte(c[0]))))
		if !bytes.Equal(canonical(got), canonical([]byte(c[1]))) {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

func TestRenderOmpKeepsBytes(t *testing.T) {
	in := ompMessages([]byte(`[{"role":"user","content":[{"type":"text", "text":"\ud800\/\u0061", "n":1.0e0}],"attribution":"user"},` +
		`{"role":"custom","customType":"x","content":"\ud800\/\u0061","timestamp":1.0e0}]`))
	in[1].Entry = "entry"
	got := renderOmp(in)
	if string(got[0].Raw) != string(in[0].Raw) {
		t.Errorf("got %s", got[0].Raw)
	}
	want := `{"role":"developer","content":[{"type":"text","text":"\ud800\/\u0061"}],"timestamp":1.0e0}`
	if string(got[1].Raw) != want || got[1].Entry != "entry" {
		t.Errorf("got %s of entry %q, want %s", got[1].Raw, got[1].Entry, want)
	}
}

// FuzzRenderOmp: every list of objects gives valid messages of the roles that a model
// has, and those stay as they are but for an answer that was cut short.
func FuzzRenderOmp(f *testing.F) {
	for _, c := range ompCases {
		f.Add([]byte(c.in))
	}
	for _, c := range snapcompactCases {
		f.Add([]byte(`[` + c.in + `]`))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if jsonvalue.Check(raw) != nil {
			return
		}
		list := ompMessages(raw)
		for _, m := range list {
			checkJSON(t, snapcompactBlocks(m.Raw)...)
		}
		once := renderOmp(list)
		for _, m := range once {
			checkJSON(t, m.Raw)
			if m.Role != m.text("role") || !slices.Contains([]string{RoleUser, RoleDeveloper, RoleAssistant, RoleToolResult}, m.Role) {
				t.Fatalf("role %q of %s", m.Role, m.Raw)
			}
		}
		once = slices.DeleteFunc(once, func(m Message) bool { return m.text("stopReason") == "aborted" })
		twice := renderOmp(once) // a note without attribution has become a developer's message, and now has one
		if thrice := renderOmp(twice); !bytes.Equal(ompRaws(thrice), ompRaws(twice)) {
			t.Fatalf("%s\nbecame %s", ompRaws(twice), ompRaws(thrice))
		}
	})
}

func ompMessages(raw []byte) (list []Message) {
	for _, m := range blocks(raw) {
		if isObject(m) {
			list = append(list, Message{Role: jsonvalue.String(jsonvalue.Get(m, "role")), Raw: m})
		}
	}
	return list
}

func ompRaws(list []Message) []byte {
	var raws [][]byte
	for _, m := range list {
		raws = append(raws, m.Raw)
	}
	return jsonvalue.Array(raws...)
}

func checkJSON[T ~[]byte](t *testing.T, values ...T) {
	t.Helper()
	for _, value := range values {
		if err := jsonvalue.Check(value); err != nil {
			t.Fatalf("%v: %s", err, value)
		}
	}
}

// canonical writes a value with its members in order and its strings escaped in one
// way; halves of pairs stay apart.
func canonical(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	switch {
	case isString(raw):
		return jsonvalue.AppendExact(nil, jsonvalue.Exact(raw))
	case isArray(raw):
		var values [][]byte
		jsonvalue.Elements(raw, func(value []byte) { values = append(values, canonical(value)) })
		return jsonvalue.Array(values...)
	case isObject(raw):
		var members [][]byte
		_ = jsonvalue.Members(raw, func(name string, value []byte) {
			member := append(jsonvalue.AppendString(nil, name), ':')
			members = append(members, append(member, canonical(value)...))
		})
		slices.SortFunc(members, bytes.Compare)
		return jsonvalue.Array(members...)
	case isNumber(raw):
		return []byte(numberText(raw))
	}
	return raw
}
