package sessgen

// A treeKind writes one kind of entry, everything but its seal.
type treeKind struct {
	weight int
	name   string
	write  func(*tree, *treeEntry)
}

var treeKinds = []treeKind{
	{24, "message", (*tree).user},
	{24, "message", (*tree).assistant},
	{16, "message", (*tree).toolResult},
	{3, "message", (*tree).bashExecution},
	{3, "model_change", (*tree).modelChange},
	{3, "thinking_level_change", (*tree).thinkingChange},
	{4, "label", (*tree).label},
	{3, "session_info", (*tree).sessionInfo},
	{4, "custom", (*tree).custom},
	{5, "custom_message", (*tree).customMessage},
	{4, "compaction", (*tree).compaction},
	{2, "usage", (*tree).usageEntry},
	{4, "context_edit", (*tree).contextEdit},
}

func (t *tree) writeAny(s stamp, e *treeEntry) {
	kind := t.chooseKind(e)
	t.log.open(kind.name, s)
	kind.write(t, e)
	t.log.close(false)
}

// chooseKind leaves out the kinds that would have nothing to refer to.
func (t *tree) chooseKind(e *treeEntry) treeKind {
	dice := t.r.IntN(99)
	for _, kind := range treeKinds {
		if dice -= kind.weight; dice < 0 {
			if kind.name == "context_edit" && len(t.editable(e)) == 0 {
				break
			}
			return kind
		}
	}
	return treeKinds[0]
}

// treeTexts are escaped as JSON.stringify does. Lone surrogates stand alone,
// lest two of them make a pair.
var treeTexts = []string{
	"look at the parser", "two\\nlines\\tand a tab", `a \"quote\" and a back\\slash`, "café 🎉 данные",
	"a\u2028separator\u2029raw", `high \ud83d alone`, `low \udc00 alone`, `nul \u0000 and \u001b[31mred\u001b[0m`,
	"<script>alert(1)</script> &amp;", "{} [] , : inside", `\b\f\r`, "", "e\u0301 combining", "\ufeffmark",
}

func (t *tree) sample() string {
	text := treeTexts[t.r.IntN(len(treeTexts))]
	for range t.r.IntN(3) {
		text += " " + treeTexts[t.r.IntN(len(treeTexts))]
	}
	return text
}

// text writes a sample behind a key; lead is the comma or nothing.
func (t *tree) text(lead, key string) { t.log.raw(lead, `"`, key, `":"`, t.sample(), `"`) }

func (t *tree) block() {
	t.log.raw(`{"type":"text"`)
	t.text(",", "text")
	t.log.raw("}")
}

// content writes a string or blocks, which mean the same.
func (t *tree) content(strings bool) {
	if strings && t.chance(0.4) {
		t.text(",", "content")
		return
	}
	t.log.raw(`,"content":[`)
	t.block()
	t.log.raw("]")
}

func (t *tree) endMessage() {
	t.log.number("timestamp", float64(t.log.stamp.ms))
	t.log.raw("}")
}

func (t *tree) user(e *treeEntry) {
	e.editable = true
	t.log.raw(`,"message":{"role":"user"`)
	t.content(true)
	t.endMessage()
}

func (t *tree) assistant(e *treeEntry) {
	e.editable = true
	t.log.raw(`,"message":{"role":"assistant","content":[`)
	t.block()
	stop := "stop"
	if t.chance(0.5) {
		e.call, stop = e.id, "toolUse"
		t.log.raw(`,{"type":"toolCall","id":`)
		t.log.buf = appendID(t.log.buf, e.call)
		t.log.raw(`,"name":"read","arguments":{"path":"a.ts"}}`)
	}
	m := t.chooseModel(e)
	t.log.raw(`],"api":"`, m.api, `","provider":"`, m.provider, `","model":"`, m.name, `"`)
	t.usage()
	t.log.raw(`,"stopReason":"`, stop, `"`)
	t.endMessage()
}

func (t *tree) usage() {
	t.log.raw(`,"usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15`)
	t.log.raw(`,"cost":{"input":0.00001,"output":2.5e-7,"cacheRead":0,"cacheWrite":0`)
	t.log.number("total", 0.00001+2.5e-7*float64(t.r.IntN(9)))
	t.log.raw("}}")
}

// toolResult answers the path's latest call, or a call that nobody made.
func (t *tree) toolResult(e *treeEntry) {
	e.editable = true
	call := e.call
	if call.n == 0 {
		call = e.id
	}
	t.log.raw(`,"message":{"role":"toolResult","toolCallId":`)
	t.log.buf = appendID(t.log.buf, call)
	t.log.raw(`,"toolName":"read"`)
	t.content(false)
	t.log.raw(`,"isError":`, boolText(t.chance(0.1)))
	t.endMessage()
}

func (t *tree) bashExecution(*treeEntry) {
	t.log.raw(`,"message":{"role":"bashExecution","command":"ls"`)
	t.text(",", "output")
	if t.chance(0.7) {
		t.log.number("exitCode", float64(t.r.IntN(2)))
	}
	t.log.raw(`,"cancelled":false,"truncated":false`)
	if t.chance(0.3) {
		t.log.raw(`,"excludeFromContext":true`)
	}
	t.endMessage()
}

func (t *tree) chooseModel(e *treeEntry) model {
	e.settings.model = t.r.IntN(len(models))
	return models[e.settings.model]
}

func (t *tree) modelChange(e *treeEntry) {
	m := t.chooseModel(e)
	t.log.text("provider", m.provider)
	t.log.text("modelId", m.name)
}

func (t *tree) thinkingChange(e *treeEntry) {
	e.settings.level = t.r.IntN(len(levels))
	t.log.text("thinkingLevel", levels[e.settings.level])
}

// label sets a label, or clears it in one of the two ways.
func (t *tree) label(e *treeEntry) {
	t.log.id("targetId", t.anyID(e))
	switch t.r.IntN(4) {
	case 0:
	case 1:
		t.log.text("label", "")
	default:
		t.text(",", "label")
	}
}

// anyID is the id of an entry that is there, if only of this one.
func (t *tree) anyID(e *treeEntry) entryID {
	if len(t.entries) == 0 {
		return e.id
	}
	return t.entries[t.r.IntN(len(t.entries))].id
}

// sessionInfo gives a name, or clears it.
func (t *tree) sessionInfo(e *treeEntry) {
	e.settings.name = ""
	if t.chance(0.8) {
		e.settings.name = t.sample()
		t.log.escaped("name", []byte(e.settings.name))
	}
}
