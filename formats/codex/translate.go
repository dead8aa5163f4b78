package codex

import (
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// A translator reads rollouts into items.
type translator struct {
	*walker
	log      *transcript.Log
	opt      *sessiontree.ReadOptions
	w        *transcript.Writer
	now      item // of the record at hand
	r        *rollout
	tools    map[string]string // the names of tools, by their calls
	settings []setting
	effort   string
	total    string // the sums of the last token_count
	copying  copying
	left     bool // the record at hand was counted
}

func newTranslator(log *transcript.Log, opt *sessiontree.ReadOptions) *translator {
	return &translator{walker: newWalker(), log: log, opt: opt, tools: map[string]string{}}
}

// read reads one file.
func (t *translator) read(r *rollout, src sourceFile, limit int64) error {
	t.r, t.total, t.copying, t.effort = r, "", copying{}, ""
	t.settings = append(t.settings, setting{"", "openai"})
	r.fails, r.size = map[string]bool{}, limit
	scan := transcript.Scan[*walker]{Log: t.log, To: t, Options: t.opt}
	return scan.File(src, r.file, limit)
}

// Walker implements transcript.Translator.
func (t *translator) Walker(bool) *walker { return newWalker() }

// Take implements transcript.Translator.
func (t *translator) Take(walked *walker, w *transcript.Writer, at transcript.Place, size int64) {
	t.walker, t.w = walked, w
	t.now = item{at: at, size: size, time: t.str(t.walker.time), ordinal: -1}
	if !t.ordinal.None() {
		t.now.ordinal = int64(jsonvalue.Number(t.ordinal.Of(t.line)))
	}
	kind := t.str(t.kind)
	t.now.copied = t.copying.see(t, kind)
	items := len(t.r.items)
	t.left = false
	if t.record(kind); len(t.r.items) == items && !t.left {
		t.leave(name(kind) + ": without a content that can be read")
	}
}

// record takes a record by its type. In files of 2025 an item stands without a record
// around it, below a first line without a type.
func (t *translator) record(kind string) {
	switch kind {
	case "session_meta":
		t.sessionMeta()
	case "response_item":
		t.responseItem(t.str(t.payload.kind))
	case "event_msg":
		t.event(t.str(t.payload.kind))
	case "turn_context":
		t.turnContext()
	case "compacted":
		t.compacted()
	case "token_usage_record":
		t.usageRecord()
	case "world_state", "inter_agent_communication_metadata":
		t.leave(kind)
	case "":
		t.bare()
	default:
		if t.wrapped || !t.responseItem(kind) {
			t.unknown(kind)
		}
	}
}

// bare takes a record without a type: the first line of an old file, or a state.
func (t *translator) bare() {
	switch {
	case !t.r.meta.known && t.isString(t.payload.id) && !t.wrapped:
		t.sessionMeta()
	case !t.payload.role.None():
		t.responseItem("message")
	default:
		t.unknown("")
	}
}

// add takes what was drafted.
func (t *translator) add(class class, kind entries.Type) *item {
	i := t.now
	i.class, i.kind, i.draft, i.model = class, kind, t.w.Draft(), int32(len(t.settings)-1)
	t.r.items = append(transcript.Room(t.r.items, i.at.Offset, t.r.size), i)
	return &t.r.items[len(t.r.items)-1]
}

// prefix begins the customType of what pi has no type for.
const prefix = "codex:"

func name(kind string) string {
	if kind == "" {
		kind = "record"
	}
	return transcript.Cut(kind, 80) // a hostile file may have any type
}

// keep keeps the payload as it is.
func (t *translator) keep(kind string) {
	t.w.Begin()
	t.w.Text(`,"customType":`)
	t.w.String(prefix + name(kind))
	t.w.Text(`,"data":`)
	t.w.Raw(t.payload.all)
	t.add(entry, entries.TypeCustom)
}

func (t *translator) unknown(kind string) {
	if t.w.Crowded() {
		t.leave(name(kind) + ": a record of an unknown type, behind many others")
		return
	}
	t.log.Notes.Note(jsonl.UnknownRecord, t.now.at, t.now.size, `a record of the type "`+transcript.Cut(kind, 80)+`"; it is kept as it is`)
	t.keep(kind)
}

// leave counts a record that becomes no entry.
func (t *translator) leave(what string) {
	t.left = true
	t.log.Notes.Note(jsonl.LeftOut, t.now.at, t.now.size, what)
}

// sessionMeta takes what a file says of its thread. A further one belongs to history
// that was copied.
func (t *translator) sessionMeta() {
	if t.r.meta.known {
		t.leave("session_meta: of another thread, or again of this one")
		return
	}
	p := &t.payload
	m := meta{
		known: true, id: t.str(p.id), time: t.str(p.time), cwd: t.str(p.cwd), provider: transcript.Name(t.str(p.provider)), fork: t.str(p.fork),
		paginated: t.str(p.mode) == "paginated",
	}
	if m.time == "" {
		m.time = t.now.time
	}
	if !p.base.None() {
		m.base = jsonvalue.String(t.get(p.base, "thread_id"))
		m.end = int64(jsonvalue.Number(t.get(p.base, "end_byte_offset")))
		m.endOrdinal = int64(jsonvalue.Number(t.get(p.base, "end_ordinal_exclusive")))
	}
	t.r.meta = m
	if m.provider != "" {
		t.settings = append(t.settings, setting{t.last().model, m.provider})
	}
	t.keep("session_meta")
}

func (t *translator) last() setting { return t.settings[len(t.settings)-1] }

// turnContext takes the model of a turn, where it is another than before.
func (t *translator) turnContext() {
	model, effort := transcript.Name(t.str(t.payload.model)), transcript.Name(t.str(t.payload.effort))
	if model != "" && model != t.last().model {
		t.settings = append(t.settings, setting{model, t.last().provider})
		t.w.Begin()
		t.w.Text(`,"provider":`)
		t.w.String(t.last().provider)
		t.w.Text(`,"modelId":`)
		t.w.String(model)
		t.add(entry, entries.TypeModelChange)
	}
	if effort != "" && effort != t.effort {
		t.effort = effort
		t.w.Begin()
		t.w.Text(`,"thinkingLevel":`)
		t.w.String(effort)
		t.add(entry, entries.TypeThinkingLevelChange)
	}
	t.leave("turn_context: its model and its effort are told where they change")
}

// compacted takes a summary. What stood in the context beside it is not told again.
func (t *translator) compacted() {
	t.w.Begin()
	t.w.Text(`,"summary":`)
	if t.isString(t.payload.message) && t.payload.message.End-t.payload.message.At > len(`""`) {
		t.w.Raw(t.payload.message)
	} else {
		t.w.String(t.lastSaid())
	}
	t.w.Text(`,"tokensBefore":0`)
	t.add(entry, entries.TypeCompaction)
}

// lastSaid is the last text of a user's in the history that takes the place of what was
// compacted: the summary, where the record has none.
func (t *translator) lastSaid() (text string) {
	jsonvalue.Elements(t.payload.history.Of(t.line), func(element []byte) {
		if jsonvalue.String(jsonvalue.Get(element, "role")) != "user" {
			return
		}
		jsonvalue.Elements(jsonvalue.Get(element, "content"), func(part []byte) {
			if s := jsonvalue.String(jsonvalue.Get(part, "text")); s != "" {
				text = s
			}
		})
	})
	return text
}
