package entries_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/entries"
)

// A log is a body of records that stand in memory.
type log []byte

func (l log) ReadRecord(offset, size int64) ([]byte, error) {
	if offset < 0 || offset+size > int64(len(l)) {
		return nil, errGone
	}
	return bytes.Clone(l[offset : offset+size]), nil
}

var errGone = errors.New("gone")

func entry(kind entries.Type, raw string) entries.Entry {
	return entries.Entry{ID: "12345678e1", Type: kind, Size: int64(len(raw))}.WithBody(log(raw))
}

func TestRaw(t *testing.T) {
	raw := " {\"b\":1e400,\"a\":\"\xff\\ud83d\",\"a\":12345678901234567890} "
	if got, err := entry("x", raw).Raw(); string(got) != raw || err != nil {
		t.Errorf("got %q (%v), want %q", got, err, raw)
	}
	if _, err := (entries.Entry{}).Raw(); !errors.Is(err, entries.ErrBody) {
		t.Errorf("an entry without a body: got %v, want ErrBody", err)
	}
	cut := entry("x", raw)
	cut.Offset = 1
	if _, err := cut.Raw(); !errors.Is(err, errGone) {
		t.Errorf("got %v, want the body's error", err)
	}
}

// views are all typed views, printed.
func views(e entries.Entry) map[string]string {
	show := func(v any, err error) string {
		if err != nil {
			return "error"
		}
		return fmt.Sprintf("%+v", v)
	}
	m := map[string]string{}
	message, err := e.Message()
	m["message"] = show([]any{message.Role, string(message.Content), message.Text(), message.ContextTokens(), message.IsError}, err)
	compaction, err := e.Compaction()
	m["compaction"] = show([]any{compaction.Summary, compaction.FirstKept, compaction.FirstKeptIndex, compaction.TokensBefore}, err)
	summary, err := e.BranchSummary()
	m["branch_summary"] = show([]any{summary.From, summary.Summary, string(summary.Details)}, err)
	custom, err := e.Custom()
	m["custom"] = show([]any{custom.CustomType, string(custom.Data)}, err)
	marker, ok := custom.LeafMarker()
	m["leaf"] = show([]any{marker.From, marker.Reason, ok}, err)
	note, err := e.CustomMessage()
	m["custom_message"] = show([]any{note.CustomType, string(note.Content), note.Display}, err)
	label, err := e.Label()
	m["label"] = show([]any{label.Target, label.Label}, err)
	return m
}

func TestViews(t *testing.T) {
	for _, test := range []struct {
		view, members, want string
	}{
		{"message", `"message":{"role":"user","content":"hi"}`, `[user "hi" hi 0 false]`},
		{"message", `"message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},7,{"type":"text","text":"b"}]}`,
			`[user [{"type":"text","text":"a"},{"type":"image"},7,{"type":"text","text":"b"}] a` + "\n" + `b 0 false]`},
		{"message", `"message":"no object"`, `[   0 false]`},
		{"message", `"message":null`, `[   0 false]`},
		{"message", `"Message":{"role":"user"}`, `[   0 false]`},
		{"message", `"message":{"Role":"user","role":7}`, `[   0 false]`},
		{"message", `"message":{"role":"user","content":"a"},"message":{"content":"b"}`, `[ "b" b 0 false]`},
		{"message", `"message":{"role":"user","content":"a"},"message":null`, `[   0 false]`},
		{"message", `"message":{"role":"a","r\u006fle":"b","content":null,"isError":true}`, `[b null  0 true]`},
		{"message", `"message":{"usage":{"totalTokens":7,"input":1}}`, `[   7 false]`},
		{"message", `"message":{"usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4}}`, `[   10 false]`},
		{"message", `"message":{"usage":{"totalTokens":1e300}}`, `[   2147483647 false]`},
		{"message", `"message":{"usage":{"totalTokens":-5,"input":"7"}}`, `[   0 false]`},
		{"message", `"message":{"usage":[1]}`, `[   0 false]`},
		{"compaction", `"summary":"s","firstKeptEntryId":"k","tokensBefore":12`, `[s k -1 12]`},
		{"compaction", `"summary":1,"firstKeptEntryId":2,"firstKeptEntryIndex":3,"tokensBefore":"4"`, `[  3 0]`},
		{"compaction", `"firstKeptEntryIndex":1e300`, `[  2147483647 0]`},
		{"branch_summary", `"fromId":"f","summary":"s","details":{"a":[1.50]}`, `[f s {"a":[1.50]}]`},
		{"branch_summary", `"fromId":null,"summary":["s"]`, `[  ]`},
		{"branch_summary", `"summary":"old","summary":"new"`, `[ new ]`},
		{"branch_summary", `"summary":"old","summary":null`, `[  ]`},
		{"custom", `"customType":"leaf","data":{"from":"a","reason":"undo"}`, `[leaf {"from":"a","reason":"undo"}]`},
		{"custom", `"customType":"x"`, `[x ]`},
		{"leaf", `"customType":"leaf","data":{"from":"a","reason":"undo","reason":"redo"}`, `[a redo true]`},
		{"leaf", `"customType":"leaf","data":{"from":null,"reason":7}`, `[  true]`},
		{"leaf", `"customType":"leaf","data":"text"`, `[  false]`},
		{"leaf", `"customType":"leaf"`, `[  false]`},
		{"leaf", `"customType":"other","data":{"from":"a"}`, `[  false]`},
		{"custom_message", `"customType":"n","content":"c","display":true`, `[n "c" true]`},
		{"custom_message", `"customType":"n","content":[],"display":"true"`, `[n [] false]`},
		{"label", `"targetId":"t","label":"l"`, `[t l]`},
		{"label", `"targetId":"t","label":null`, `[t ]`},
		{"label", `"target\u0049d":"\ud83d\ude00","label":"\ud83d"`, "[😀 \uFFFD]"},
		{"label", `"targetid":"t","LABEL":"l"`, `[ ]`},
	} {
		kind := entries.Type(test.view)
		if test.view == "leaf" {
			kind = entries.TypeCustom
		}
		e := entry(kind, `{"id":"e1",`+test.members+`}`)
		for name, got := range views(e) {
			want := test.want
			if name != test.view {
				if name == "leaf" || test.view == "leaf" {
					continue
				}
				want = "error" // the other views are of other types
			}
			if got != want {
				t.Errorf("%s: view %s: got %s, want %s", test.members, name, got, want)
			}
		}
	}
}

func TestViewsOfDamagedBodies(t *testing.T) {
	for _, raw := range []string{``, `null`, `[1]`, `{`, `{"message":}`, `{"message":{}}{}`, `{} x`, "{\"a\":\"\n\"}", `{"a":"\ud8"}`} {
		for kind := range views(entry("", "{}")) {
			if kind == "leaf" {
				continue
			}
			if got := views(entry(entries.Type(kind), raw))[kind]; got != "error" {
				t.Errorf("%q as %s: got %s, want an error", raw, kind, got)
			}
		}
	}
}

func TestBlocks(t *testing.T) {
	content := `[{"type":"text","text":"a"},{"type":"thinking","thinking":"b"},null,["x"],{"type":"toolCall","id":"c1","name":"read","arguments":{"n":9007199254740993}},` +
		`{"type":"image","mimeType":"image/png","data":"QUJD"},{"type":"image","data":7}]`
	want := "[{text a     0} {thinking b     0} {toolCall  c1 read {\"n\":9007199254740993}  0} {image     image/png 4} {image      0}]"
	var got []string
	for _, b := range entries.Blocks([]byte(content)) {
		got = append(got, fmt.Sprintf("{%s %s %s %s %s %s %d}", b.Type, b.Text, b.ID, b.Name, b.Arguments, b.MimeType, b.DataSize))
	}
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, none := range []string{``, `null`, `{}`, `7`, `[`} {
		if b := entries.Blocks([]byte(none)); len(b) != 0 {
			t.Errorf("%q: got %v, want none", none, b)
		}
	}
}

func TestTypesAreKnown(t *testing.T) {
	for kind, want := range map[entries.Type][2]bool{
		"message": {true, false}, "usage": {true, false}, "mode_change": {true, true}, "title_change": {true, true},
		"session": {false, false}, "": {false, false}, "Message": {false, false},
	} {
		if got := [2]bool{kind.Known(), kind.OnlyOmp()}; got != want {
			t.Errorf("%q: got known %v, only omp %v, want %v", kind, got[0], got[1], want)
		}
	}
}

// unquoted reads a JSON string by way of a view.
func unquoted(t *testing.T, quoted []byte) string {
	t.Helper()
	s, err := entry("x", `{"name":`+string(quoted)+`}`).Field("name")
	if err != nil {
		t.Fatalf("%q: %v", quoted, err)
	}
	return s
}

func FuzzUnquote(f *testing.F) {
	for _, s := range []string{
		`plain`, `\"\\\/\b\f\n\r\t`, `\u0041\u00e9\uFFFF\uabCD`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\ud83d\ud83d\ude00`, `\ud83dx\ude00`, `\ud83d\u0041`,
		"raw 🎉 \u2028", "\xff\xfe", "\xe2\x82", "\xed\xa0\xbd", "\\u0041\xff\\n\xe2\x82", "\xc3\\u00a9", `\u0000`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		quoted := append(append([]byte{'"'}, s...), '"')
		var want string
		if json.Unmarshal(quoted, &want) != nil {
			return
		}
		if got := unquoted(t, quoted); got != want {
			t.Errorf("%q: got %q, want %q", quoted, got, want)
		}
	})
}

func FuzzViews(f *testing.F) {
	f.Add("message", []byte(`{"type":"message","id":"a","message":{"role":"user","content":[{"type":"text","text":"\ud83d"}],"usage":{"input":1e999}}}`))
	f.Add("custom", []byte(`{"customType":"leaf","data":{"from":"a","reason":"\u00"}}`))
	f.Add("label", []byte(`{"targetId":"a`))
	f.Fuzz(func(t *testing.T, kind string, raw []byte) {
		e := entry(entries.Type(kind), string(raw))
		views(e)
		if got, err := e.Raw(); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("Raw: got %q (%v), want %q", got, err, raw)
		}
		fault := e.Fields(func(string, []byte) {})
		if json.Valid(raw) != (fault == nil) && len(raw) < 9000 && bytes.IndexByte(raw, '{') == 0 {
			t.Errorf("%q: got %v, encoding/json says valid: %v", raw, fault, json.Valid(raw))
		}
	})
}

func TestCallsAndMessageObject(t *testing.T) {
	const message = `{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"read"},{"type":"text","text":"x"},{"type":"toolCall","id":"b","name":"bash"}]}`
	e := entry(entries.TypeMessage, `{"message":{"role":"user"},"message":`+message+`}`)
	object, err := e.MessageObject()
	if err != nil || string(object) != message {
		t.Errorf("got %s, %v, want the last message", object, err)
	}
	var ids []string
	for _, c := range entries.ParseMessage(object).Calls() {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("got the calls %q", ids)
	}
	if object, err := entry(entries.TypeMessage, `{}`).MessageObject(); object != nil || err != nil {
		t.Errorf("without a message: got %s, %v", object, err)
	}
	if _, err := entry(entries.TypeLabel, `{}`).MessageObject(); !errors.Is(err, entries.ErrBody) {
		t.Errorf("of another type: got %v, want ErrBody", err)
	}
}

func TestLeafMarkerOfAnEntry(t *testing.T) {
	for _, test := range []struct {
		kind   entries.Type
		raw    string
		ok     bool
		failed bool
	}{
		{entries.TypeCustom, `{"customType":"leaf","data":{"from":"a","reason":"undo"}}`, true, false},
		{entries.TypeCustom, `{"customType":"note","data":{"from":"a","reason":"undo"}}`, false, false},
		{entries.TypeLabel, `{"customType":"leaf","data":{"from":"a","reason":"undo"}}`, false, false},
		{entries.TypeCustom, `{"customType":"leaf",`, false, true},
	} {
		m, ok, err := entry(test.kind, test.raw).LeafMarker()
		if ok != test.ok || (err != nil) != test.failed || ok && (m.From != "a" || m.Reason != "undo") {
			t.Errorf("%s %s: got %+v, %v, %v", test.kind, test.raw, m, ok, err)
		}
	}
}
