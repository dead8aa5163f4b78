package modelcontext_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Parts of the lists below.
const (
	ruleUser    = `{"role":"user","content":"hi"}`
	ruleAnswer  = `{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"yes"}]}`
	ruleThought = `{"type":"thinking","thinking":"hm","thinkingSignature":"c2ln"}`
	ruleSecret  = `{"type":"redactedThinking","data":"c2VjcmV0"}`
	rulePNG     = `{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAAA"}`
)

func ruleCall(id string) string {
	return `{"type":"toolCall","id":"` + id + `","name":"read","arguments":{}}`
}

func ruleAssistant(blocks ...string) string {
	return `{"role":"assistant","stopReason":"toolUse","content":[` + strings.Join(blocks, ",") + `]}`
}

func ruleResult(id string, blocks ...string) string {
	return `{"role":"toolResult","toolCallId":"` + id + `","toolName":"read","isError":false,"content":[` + strings.Join(blocks, ",") + `]}`
}

func ruleText(text string) string { return `{"type":"text","text":"` + text + `"}` }

func ruleList(messages ...string) (list []json.RawMessage) {
	for _, m := range messages {
		list = append(list, json.RawMessage(m))
	}
	return list
}

// ruleCase is a list and its breaches: a rule's name, each with its place.
type ruleCase struct {
	name string
	list []json.RawMessage
	want []violation // without details
}

func ruleBreach(at int, rule string) violation { return violation{at: at, rule: rule} }

func runRules(t *testing.T, cases []ruleCase, check func([]json.RawMessage) []violation) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []violation
			for _, v := range check(c.list) {
				got = append(got, ruleBreach(v.at, v.rule))
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", check(c.list), c.want)
			}
		})
	}
}

func checkWithThoughts(list []json.RawMessage) []violation {
	original := map[string]bool{ruleThought: true, ruleSecret: true}
	return checkProvider(list, original)
}

func TestProviderTakesSoundLists(t *testing.T) {
	one := ruleAssistant(ruleThought, ruleCall("a"))
	runRules(t, []ruleCase{
		{name: "nothing"},
		{name: "said before", list: ruleList(`{"role":"system","content":"be good"}`, `{"role":"developer","content":[`+ruleText("x")+`]}`, ruleUser, ruleAnswer)},
		{name: "system with tools only", list: ruleList(ruleUser, `{"role":"system","content":"","toolsAdded":[]}`)},
		{name: "a call", list: ruleList(ruleUser, one, ruleResult("a", ruleText("x")), ruleAnswer)},
		{name: "calls", list: ruleList(ruleUser, ruleAssistant(ruleText("x"), ruleCall("a"), ruleCall("b")), ruleResult("a", ruleText("x")), ruleResult("b", rulePNG), ruleUser)},
		{name: "calls of two messages", list: ruleList(ruleUser, one, ruleResult("a"), ruleAssistant(ruleCall("b")), ruleResult("b"))},
		{name: "an excluded execution between", list: ruleList(ruleUser, one, `{"role":"bashExecution","command":"ls","output":"","excludeFromContext":true}`, ruleResult("a"))},
		{name: "an unknown role between", list: ruleList(ruleUser, one, `{"role":"later","content":""}`, ruleResult("a"))},
		{name: "made-up roles first", list: ruleList(`{"role":"compactionSummary","summary":""}`, ruleAnswer)},
		{name: "execution first", list: ruleList(`{"role":"pythonExecution","code":"1","output":""}`, ruleAnswer)},
		{name: "result of nothing", list: ruleList(ruleUser, one, `{"role":"toolResult","toolCallId":"a"}`)},
		{name: "result of blank text", list: ruleList(ruleUser, one, ruleResult("a", ruleText("")))},
		{name: "redacted thinking", list: ruleList(ruleUser, ruleAssistant(ruleSecret, ruleText("x")))},
		{name: "unsigned thinking last", list: ruleList(ruleUser, ruleAssistant(`{"type":"thinking","thinking":"hm"}`))},
		{name: "blank unsigned thinking", list: ruleList(ruleUser, ruleAssistant(`{"type":"thinking","thinking":""}`, ruleText("x")))},
		{name: "image alone", list: ruleList(`{"role":"user","content":[` + rulePNG + `]}`)},
		{name: "a pair of surrogates", list: ruleList(`{"role":"user","content":"\ud83d\ude00"}`)},
		{name: "a backslash before u", list: ruleList(`{"role":"user","content":"\\ud83d"}`)},
		{name: "lone surrogate that is not sent", list: ruleList(`{"role":"user","content":"x","details":"\ud83d"}`)},
	}, checkWithThoughts)
}

func TestProviderFindsWhatIsWrongWithTheList(t *testing.T) {
	runRules(t, []ruleCase{
		{"no JSON", ruleList(ruleUser, `{"role":"user"`), []violation{ruleBreach(1, "json")}},
		{"no object", ruleList(ruleUser, `"user"`, `null`), []violation{ruleBreach(1, "json"), ruleBreach(2, "json")}},
		{"assistant first", ruleList(`{"role":"system","content":"x"}`, ruleAnswer), []violation{ruleBreach(1, "first")}},
		{"result first", ruleList(ruleResult("a")), []violation{ruleBreach(0, "first"), ruleBreach(0, "orphan")}},
		{"excluded execution first", ruleList(`{"role":"bashExecution","excludeFromContext":true}`, ruleAnswer), []violation{ruleBreach(1, "first")}},
		{"error", ruleList(ruleUser, strings.Replace(ruleAnswer, `"stop"`, `"error"`, 1)), []violation{ruleBreach(1, "unfinished")}},
		{"aborted", ruleList(ruleUser, strings.Replace(ruleAnswer, `"stop"`, `"aborted"`, 1)), []violation{ruleBreach(1, "unfinished")}},
		{"invalid UTF-8", ruleList("{\"role\":\"user\",\"content\":\"\xff\"}"), []violation{ruleBreach(0, "encoding")}},
		{"surrogate in UTF-8", ruleList("{\"role\":\"user\",\"content\":\"\xed\xa0\x80\"}"), []violation{ruleBreach(0, "encoding")}},
		{"high surrogate", ruleList(`{"role":"user","content":"\ud83d"}`), []violation{ruleBreach(0, "encoding")}},
		{"high surrogate and an escape", ruleList(`{"role":"user","content":"\ud83d\n"}`), []violation{ruleBreach(0, "encoding")}},
		{"two high surrogates", ruleList(`{"role":"user","content":"\ud83d\ud83d\ude00"}`), []violation{ruleBreach(0, "encoding")}},
		{"low surrogate", ruleList(`{"role":"user","content":"\\\uDE00"}`), []violation{ruleBreach(0, "encoding")}},
		{"surrogate in an argument's name", ruleList(ruleUser, ruleAssistant(`{"type":"toolCall","id":"a","name":"b","arguments":{"\ud83d":1}}`), ruleResult("a")), []violation{ruleBreach(1, "encoding")}},
		{"surrogate in a summary", ruleList(`{"role":"branchSummary","summary":"\ud83d"}`), []violation{ruleBreach(0, "encoding")}},
	}, checkWithThoughts)
}

func TestProviderFindsCallsWithoutResults(t *testing.T) {
	one, two := ruleAssistant(ruleCall("a")), ruleAssistant(ruleCall("a"), ruleCall("b"))
	runRules(t, []ruleCase{
		{"none at the end", ruleList(ruleUser, one), []violation{ruleBreach(1, "unanswered")}},
		{"none before the user", ruleList(ruleUser, one, ruleUser), []violation{ruleBreach(1, "unanswered")}},
		{"one of two", ruleList(ruleUser, two, ruleResult("b"), ruleAnswer), []violation{ruleBreach(1, "unanswered")}},
		{"late", ruleList(ruleUser, one, ruleUser, ruleResult("a")), []violation{ruleBreach(1, "unanswered"), ruleBreach(3, "orphan")}},
		{"a system message between", ruleList(ruleUser, one, `{"role":"system","content":"x"}`, ruleResult("a")), []violation{ruleBreach(1, "unanswered"), ruleBreach(3, "orphan")}},
		{"an execution between", ruleList(ruleUser, one, `{"role":"bashExecution","command":"ls"}`, ruleResult("a")), []violation{ruleBreach(1, "unanswered"), ruleBreach(3, "orphan")}},
		{"a message between two", ruleList(ruleUser, two, ruleResult("a"), ruleUser, ruleResult("b")), []violation{ruleBreach(1, "unanswered"), ruleBreach(4, "orphan")}},
		{"of an earlier message", ruleList(ruleUser, one, ruleResult("a"), ruleAssistant(ruleCall("b")), ruleResult("a"), ruleResult("b")), []violation{ruleBreach(4, "orphan")}},
		{"of none", ruleList(ruleUser, ruleAnswer, ruleResult("a")), []violation{ruleBreach(2, "orphan")}},
		{"twice", ruleList(ruleUser, one, ruleResult("a"), ruleResult("a")), []violation{ruleBreach(3, "twice")}},
		{"in another order", ruleList(ruleUser, two, ruleResult("b"), ruleResult("a")), []violation{ruleBreach(3, "order")}},
	}, checkWithThoughts)
}

func TestProviderFindsBadCalls(t *testing.T) {
	call := func(members string) []json.RawMessage {
		return ruleList(ruleUser, ruleAssistant(`{"type":"toolCall",`+members+`}`), ruleResult("a"))
	}
	runRules(t, []ruleCase{
		{"no id", ruleList(ruleUser, ruleAssistant(ruleCall("")), ruleResult("")), []violation{ruleBreach(1, "id")}},
		{"the same id in a message", ruleList(ruleUser, ruleAssistant(ruleCall("a"), ruleCall("a")), ruleResult("a")), []violation{ruleBreach(1, "id")}},
		{"the same id later", ruleList(ruleUser, ruleAssistant(ruleCall("a")), ruleResult("a"), ruleAssistant(ruleCall("a")), ruleResult("a")), []violation{ruleBreach(3, "id")}},
		{"no name", call(`"id":"a","arguments":{}`), []violation{ruleBreach(1, "name")}},
		{"empty name", call(`"id":"a","name":" ","arguments":{}`), []violation{ruleBreach(1, "name")}},
		{"no arguments", call(`"id":"a","name":"b"`), []violation{ruleBreach(1, "arguments")}},
		{"arguments of text", call(`"id":"a","name":"b","arguments":"{}"`), []violation{ruleBreach(1, "arguments")}},
		{"arguments of null", call(`"id":"a","name":"b","arguments":null`), []violation{ruleBreach(1, "arguments")}},
		{"arguments in a list", call(`"id":"a","name":"b","arguments":[]`), []violation{ruleBreach(1, "arguments")}},
	}, checkWithThoughts)
}

func TestProviderFindsBadContent(t *testing.T) {
	user := func(blocks string) []json.RawMessage { return ruleList(`{"role":"user","content":[` + blocks + `]}`) }
	image := func(mime, data string) []json.RawMessage {
		return user(`{"type":"image","mimeType":"` + mime + `","data":"` + data + `"}`)
	}
	failed := func(blocks ...string) []json.RawMessage {
		return ruleList(ruleUser, ruleAssistant(ruleCall("a")), strings.Replace(ruleResult("a", blocks...), "false", "true", 1))
	}
	bad := []violation{ruleBreach(0, "image")}
	runRules(t, []ruleCase{
		{"no content", ruleList(`{"role":"user"}`), []violation{ruleBreach(0, "empty")}},
		{"empty text", ruleList(`{"role":"user","content":""}`), []violation{ruleBreach(0, "empty")}},
		{"white space", ruleList(`{"role":"custom","content":" \n\t"}`), []violation{ruleBreach(0, "empty")}},
		{"no blocks", user(``), []violation{ruleBreach(0, "empty")}},
		{"a blank block only", user(ruleText("")), []violation{ruleBreach(0, "empty"), ruleBreach(0, "text")}},
		{"a blank block beside", user(ruleText(" ") + "," + ruleText("x")), []violation{ruleBreach(0, "text")}},
		{"a block without text", user(`{"type":"text"},` + ruleText("x")), []violation{ruleBreach(0, "text")}},
		{"empty system message", ruleList(ruleUser, `{"role":"system","content":""}`), []violation{ruleBreach(1, "empty")}},
		{"empty assistant message", ruleList(ruleUser, ruleAssistant()), []violation{ruleBreach(1, "empty")}},
		{"assistant message of text", ruleList(ruleUser, `{"role":"assistant","content":"yes"}`), []violation{ruleBreach(1, "empty")}},
		{"assistant message of blank thinking", ruleList(ruleUser, ruleAssistant(`{"type":"thinking","thinking":" "}`)), []violation{ruleBreach(1, "empty")}},
		{"assistant's blank block", ruleList(ruleUser, ruleAssistant(ruleText(""), ruleCall("a")), ruleResult("a")), []violation{ruleBreach(1, "text")}},
		{"blank text beside an image", ruleList(ruleUser, ruleAssistant(ruleCall("a")), ruleResult("a", ruleText(""), rulePNG)), []violation{ruleBreach(2, "text")}},
		{"unknown block", user(`{"type":"video"},` + ruleText("x")), []violation{ruleBreach(0, "block")}},
		{"a block that is no object", user(`7,` + ruleText("x")), []violation{ruleBreach(0, "block")}},
		{"unknown image type", image("image/bmp", "eA=="), bad},
		{"no image type", user(`{"type":"image","data":"eA=="}`), bad},
		{"no image data", image("image/png", ""), bad},
		{"an image elsewhere", image("image/png", "blob:sha256:00ff"), bad},
		{"an image's address", image("image/png", "data:image/png;base64,eA=="), bad},
		{"cut base64", image("image/png", "iVBOR"), bad},
		{"another image type", image("image/jpeg", "iVBORw0KGgoAAAAA"), bad},
		{"an image in a result", ruleList(ruleUser, ruleAssistant(ruleCall("a")), ruleResult("a", `{"type":"image","mimeType":"image/png","data":"?"}`)), []violation{ruleBreach(2, "image")}},
		{"an error of nothing", failed(), []violation{ruleBreach(2, "error")}},
		{"an error of blank text", failed(ruleText("")), []violation{ruleBreach(2, "error")}},
		{"an error", failed(ruleText("no such file")), nil},
	}, checkWithThoughts)
}

func TestProviderFindsChangedThinking(t *testing.T) {
	runRules(t, []ruleCase{
		{"last", ruleList(ruleUser, ruleAssistant(ruleText("x"), ruleThought)), []violation{ruleBreach(1, "thinking-last")}},
		{"alone", ruleList(ruleUser, ruleAssistant(ruleSecret), ruleUser), []violation{ruleBreach(1, "thinking-last")}},
		{"last but for what is not sent", ruleList(ruleUser, ruleAssistant(ruleThought, `{"type":"thinking","thinking":""}`)), []violation{ruleBreach(1, "thinking-last")}},
		{"other text", ruleList(ruleUser, ruleAssistant(strings.Replace(ruleThought, "hm", "ha", 1), ruleText("x"))), []violation{ruleBreach(1, "signed")}},
		{"other spacing", ruleList(ruleUser, ruleAssistant(strings.Replace(ruleThought, ",", ", ", 1), ruleText("x"))), []violation{ruleBreach(1, "signed")}},
		{"another secret", ruleList(ruleUser, ruleAssistant(`{"type":"thinking","thinking":"","redacted":true}`, ruleText("x"))), []violation{ruleBreach(1, "signed")}},
	}, checkWithThoughts)
}

func TestSignedSet(t *testing.T) {
	list := ruleList(ruleUser, ` {"role":"assistant","content":[ `+ruleThought+` ,`+ruleSecret+`,{"type":"thinking","thinking":"hm"}]}`)
	want := map[string]bool{ruleThought: true, ruleSecret: true}
	if got := signedSet(list); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := checkProvider(ruleList(ruleUser, ruleAssistant(ruleThought, ruleText("x"))), nil); got != nil {
		t.Errorf("compared with nothing: %v", got)
	}
}

func TestSignedRuns(t *testing.T) {
	a, b, c := ruleThought, ruleSecret, strings.Replace(ruleThought, "hm", "so", 1)
	x, y := ruleCall("x"), ruleText("y")
	log := ruleList(ruleUser, ruleAssistant(a, b, x, c, y))
	check := func(list []json.RawMessage) []violation { return checkSignedRuns(list, log) }
	whole := ruleAssistant(a, b, x, c, y)
	runRules(t, []ruleCase{
		{"as it was", ruleList(ruleUser, whole), nil},
		{"without", ruleList(ruleUser, ruleAssistant(x, y)), nil},
		{"other blocks", ruleList(ruleUser, ruleAssistant(a, b, y, c, x)), nil},
		{"a part, earlier", ruleList(ruleUser, ruleAssistant(a, b, x, y), ruleResult("x"), ruleUser), nil},
		{"a part, in the last turn", ruleList(ruleUser, ruleAssistant(a, b, x, y), ruleResult("x")), []violation{ruleBreach(1, "signed-turn")}},
		{"joined, earlier", ruleList(ruleUser, ruleAssistant(a, b, c, y), ruleUser), []violation{ruleBreach(1, "signed-run")}},
		{"joined by what is not sent", ruleList(ruleUser, ruleAssistant(a, b, ruleText(""), c, y), ruleUser), []violation{ruleBreach(1, "signed-run")}},
		{"halved", ruleList(ruleUser, ruleAssistant(a, x), ruleUser), []violation{ruleBreach(1, "signed-run")}},
		{"turned round", ruleList(ruleUser, ruleAssistant(b, a, x), ruleUser), []violation{ruleBreach(1, "signed-run")}},
		{"halved, in the last turn", ruleList(ruleUser, ruleAssistant(a, x, c, y)), []violation{ruleBreach(1, "signed-run"), ruleBreach(1, "signed-turn")}},
	}, check)
}

func TestStrict(t *testing.T) {
	call := func(id, name string) string {
		return ruleAssistant(`{"type":"toolCall","id":"` + id + `","name":"` + name + `","arguments":{}}`)
	}
	system := `{"role":"system","content":"x"}`
	long := strings.Repeat("a", 65)
	runRules(t, []ruleCase{
		{"sound", ruleList(system, system, ruleUser, call("call_1-A", "read"), ruleResult("call_1-A"), system, ruleAnswer, ruleUser), nil},
		{"two ids", ruleList(ruleUser, call("call_1|fc_2", "read"), ruleResult("call_1|fc_2")), []violation{ruleBreach(1, "id-form")}},
		{"long id", ruleList(ruleUser, call(long, "read"), ruleResult(long)), []violation{ruleBreach(1, "id-form")}},
		{"name with dots", ruleList(ruleUser, call("a", "browser.open"), strings.Replace(ruleResult("a"), "read", "browser.open", 1)), []violation{ruleBreach(1, "name-form")}},
		{"another name", ruleList(ruleUser, call("a", "write"), ruleResult("a")), []violation{ruleBreach(2, "result-name")}},
		{"an image in an error", ruleList(ruleUser, call("a", "read"), strings.Replace(ruleResult("a", rulePNG), "false", "true", 1)), []violation{ruleBreach(2, "error-image")}},
		{"system after the assistant", ruleList(ruleUser, ruleAnswer, system), []violation{ruleBreach(2, "system-place")}},
		{"system before the user", ruleList(ruleUser, system, ruleUser), []violation{ruleBreach(1, "system-place")}},
		{"system twice", ruleList(ruleUser, system, system), []violation{ruleBreach(1, "system-place"), ruleBreach(2, "system-place")}},
		{"ends with the assistant", ruleList(ruleUser, ruleAnswer), []violation{ruleBreach(1, "end")}},
		{"nothing", nil, []violation{ruleBreach(0, "end")}},
	}, checkStrict)
}
