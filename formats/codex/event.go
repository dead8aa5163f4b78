package codex

import (
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// doubles are the events that tell again what items tell, or of which only an end
// matters that something else tells.
var doubles = map[string]bool{
	"exec_command_begin": true, "exec_command_end": true, "exec_command_output_delta": true, "patch_apply_begin": true, "patch_apply_end": true,
	"mcp_tool_call_begin": true, "mcp_tool_call_end": true, "web_search_begin": true, "web_search_end": true, "view_image_tool_call": true,
	"image_generation_begin": true, "image_generation_end": true, "dynamic_tool_call_request": true, "dynamic_tool_call_response": true,
	"task_started": true, "task_complete": true, "turn_started": true, "turn_complete": true, "thread_settings_applied": true, "context_compacted": true,
	"session_configured": true, "turn_diff": true, "agent_message_delta": true, "agent_reasoning_delta": true, "agent_reasoning_section_break": true,
	"agent_reasoning_raw_content": true, "item_started": true, "raw_response_item": true,
}

// kept are the events that nothing else tells.
var kept = map[string]bool{
	"turn_aborted": true, "error": true, "warning": true, "stream_error": true, "entered_review_mode": true, "exited_review_mode": true,
	"thread_goal_updated": true, "sub_agent_activity": true, "collab_agent_spawn_end": true, "collab_agent_interaction_end": true,
	"collab_waiting_end": true, "collab_close_end": true, "guardian_assessment": true, "undo_completed": true, "background_event": true, "plan_update": true,
}

// event takes what Codex tells its screen.
func (t *translator) event(kind string) {
	p := &t.payload
	switch {
	case kind == "user_message":
		t.userEvent(p.message)
	case kind == "agent_message":
		t.said(p.message, agentSaid, byEvent)
	case kind == "agent_reasoning":
		t.thought(t.str(p.text), byEvent)
	case kind == "tool_call":
		t.callBlock(t.str(p.call), t.str(p.name), byEvent)
	case kind == "token_count":
		t.tokenCount()
	case kind == "thread_rolled_back":
		t.rolledBack()
	case kind == "thread_name_updated":
		t.w.Begin()
		t.w.Text(`,"name":`)
		t.w.String(t.str(p.title))
		t.add(entry, entries.TypeSessionInfo)
	case kind == "item_completed":
		t.completed()
	case doubles[kind]:
		t.outcome(kind)
		t.leave(kind + ": told by items")
	case kept[kind]:
		t.keep(kind)
	default:
		t.unknown("event_msg/" + kind)
	}
}

func (t *translator) userEvent(text span) {
	if !t.isString(text) || noticed(t.str(text)) {
		t.leave("user_message: not typed")
		return
	}
	t.typed([][]byte{text.Of(t.line)}, userSaid, byEvent)
}

// completed takes an item_completed, which newer versions write beside the item.
func (t *translator) completed() {
	item := t.payload.item
	kind := jsonvalue.String(t.get(item, "type"))
	switch kind {
	case "UserMessage":
		t.userItem(t.get(item, "content"))
		return
	case "AgentMessage":
		t.elements(t.get(item, "content"), func(element []byte) {
			t.w.Begin()
			t.w.Block(element)
			t.tell(t.add(block, ""), agentSaid, byEvent)
		})
		return
	case "CommandExecution", "FileChange", "McpToolCall":
		t.itemOutcome(kind)
	case "Plan":
		t.keep("item_completed/Plan")
		return
	case "Reasoning", "Extension", "ContextCompaction", "WebSearch", "ImageView", "ImageGeneration":
	default:
		t.unknown("item_completed/" + kind)
		return
	}
	t.leave("item_completed/" + kind + ": told by items")
}

func (t *translator) userItem(content []byte) {
	var typed [][]byte
	t.elements(content, func(element []byte) { typed = append(typed, element) })
	if len(typed) > 0 {
		t.typed(typed, userSaid, byEvent)
	}
}

// outcome remembers the calls that came to nothing: their results do not always say so.
func (t *translator) outcome(kind string) {
	p := &t.payload
	failed := false
	switch kind {
	case "exec_command_end":
		failed = !p.exit.None() && jsonvalue.Number(p.exit.Of(t.line)) != 0
	case "patch_apply_end", "dynamic_tool_call_response":
		failed = string(p.success.Of(t.line)) == "false"
	case "mcp_tool_call_end":
		failed = t.get(p.result, "Err") != nil || string(t.get(p.result, "Ok", "isError")) == "true" || string(t.get(p.result, "Ok", "is_error")) == "true"
	}
	if failed {
		t.r.fails[t.str(p.call)] = true
	}
}

func (t *translator) itemOutcome(kind string) {
	item := t.payload.item
	exit, status := t.get(item, "exit_code"), jsonvalue.String(t.get(item, "status"))
	if status == "failed" || status == "declined" || kind == "CommandExecution" && jsonvalue.Number(exit) != 0 {
		t.r.fails[jsonvalue.String(t.get(item, "id"))] = true
	}
}

func (t *translator) rolledBack() {
	t.w.Begin()
	const most = 1 << 30
	i := t.add(rollback, entries.TypeCustom)
	i.turns = int(min(max(jsonvalue.Number(t.payload.turns.Of(t.line)), 0), most))
}

// usageRecord takes what one response took.
func (t *translator) usageRecord() {
	u, ok := t.usage(t.payload.usage.Of(t.line))
	if !ok {
		t.leave("token_usage_record: without counts")
		return
	}
	t.w.Begin()
	i := t.add(tokens, entries.TypeUsage)
	i.usage = u
	t.tell(i, tokensUsed, byItem)
}

// tokenCount takes what older versions tell of it: the sums, and what the last response
// added. It is repeated where only limits have changed.
func (t *translator) tokenCount() {
	p := &t.payload
	last, total := t.get(p.info, "last_token_usage"), t.get(p.info, "total_token_usage")
	u, ok := t.usage(last)
	switch {
	case total != nil && string(total) == t.total:
		ok = false
	case !ok && !p.inTokens.None():
		u, ok = t.usage(p.all.Of(t.line))
	case !ok && len(t.get(p.info, "prompt")) > 0:
		u.Input, u.Output = jsonvalue.Number(t.get(p.info, "prompt")), jsonvalue.Number(t.get(p.info, "completion"))
		ok = true
	}
	if !ok {
		t.leave("token_count: nothing new")
		return
	}
	t.total = string(total)
	t.w.Begin()
	i := t.add(tokens, entries.TypeUsage)
	i.usage = u
	t.tell(i, tokensUsed, byEvent)
}

// usage reads counts. Codex counts what was cached as a part of the input; pi does not.
func (t *translator) usage(counts []byte) (u transcript.Usage, ok bool) {
	var cached, written float64
	_ = jsonvalue.Spans(counts, func(key []byte, at, end int) {
		n := jsonvalue.Number(counts[at:end])
		switch string(key) {
		case "input_tokens":
			u.Input, ok = n, true
		case "output_tokens":
			u.Output, ok = n, true
		case "cached_input_tokens":
			cached = n
		case "cache_write_input_tokens":
			written = n
		}
	})
	u.CacheRead, u.CacheWrite = cached, written
	u.Input = max(u.Input-cached-written, 0)
	return u, ok && u != transcript.Usage{}
}

// Copying finds out which records of a forked thread's file were copied from another
// one: those behind a session_meta that is not the file's own, as long as their turns
// are older than the thread or, where turns do not tell, they were written with it.
type copying struct {
	on, sure bool
	until    float64 // milliseconds
}

func (c *copying) see(t *translator, kind string) bool {
	m := &t.r.meta
	if kind == "session_meta" && m.known {
		if id := t.str(t.payload.id); id != m.id {
			c.on, c.until = true, transcript.Millis(t.now.time)+2000
		}
	}
	if !c.on {
		return false
	}
	if turn, own := born(t.str(t.payload.turn)), born(m.id); turn > 0 && own > 0 {
		c.sure, c.on = true, turn < own
	} else if !c.sure {
		c.on = transcript.Millis(t.now.time) <= c.until
	}
	return c.on
}

// born gives the time of a UUID of version 7 in milliseconds, 0 of anything else.
func born(id string) (millis int64) {
	if len(id) != 36 || id[14] != '7' {
		return 0
	}
	for _, c := range strings.ReplaceAll(id[:13], "-", "") {
		n := strings.IndexRune("0123456789abcdef", c)
		if n < 0 {
			return 0
		}
		millis = millis<<4 | int64(n)
	}
	return millis
}
