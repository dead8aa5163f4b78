package sessgen

// A tool that the model may call.
type tool uint8

const (
	toolRead tool = iota
	toolGrep
	toolBash
	toolEdit
	toolWrite
	toolCheckpoint
	toolRewind
)

var toolNames = [...]string{"read", "grep", "bash", "edit", "write", "checkpoint", "rewind"}

// toolMix has each tool as often as it is called: mostly the model looks.
var toolMix = [...]tool{
	toolRead, toolRead, toolRead, toolRead, toolRead, toolGrep, toolGrep, toolGrep, toolBash, toolEdit, toolWrite,
}

// hasEffects says whether the header's promise of tool_execution_start records
// covers the tool.
func (t tool) hasEffects() bool { return t == toolBash || t == toolEdit || t == toolWrite }

// A turn is where the conversation stands at an entry. Entries inherit it from
// their parent, so that every branch goes on from its own place: each call
// gets its result on each branch.
type turn struct {
	user           bool // the user is next to speak
	caller         entryID
	tools          [2]tool
	total, pending uint8
	started        bool  // the next call has its tool_execution_start
	checkpoint     int64 // the result that opened one, or -1
	detour         uint8 // answers until the rewind
	rewinding      bool  // the batch of a rewind is due
}

func (t *turn) next() int { return int(t.total - t.pending) }

func (t *turn) writes() bool {
	return t.pending > 0 && (t.tools[0] == toolEdit || t.tools[0] == toolWrite)
}

func (t *turn) stopReason() string {
	if t.pending > 0 {
		return "toolUse"
	}
	return "stop"
}

// planTurn decides which tools the answer calls. A rewind batch needs a native
// log: pi's format has no batches.
func (s *session) planTurn(n *node) {
	t := &n.turn
	t.caller, t.total, t.started = n.id, 1, false
	switch open := t.checkpoint >= 0 && s.remembered(t.checkpoint); {
	case open && t.detour == 0:
		t.tools[0] = toolRewind
	case !open && s.log.native && s.chance(0.03):
		t.tools[0], t.detour = toolCheckpoint, uint8(s.between(2, 9))
	default:
		s.planCalls(t)
	}
	t.pending = t.total
	t.user = t.total == 0
}

func (s *session) planCalls(t *turn) {
	t.detour -= min(t.detour, 1)
	switch dice := s.r.Float64(); {
	case dice < 0.12:
		t.total = 0
	case dice < 0.3:
		t.total = 2
	}
	for i := range t.tools {
		t.tools[i] = toolMix[s.r.IntN(len(toolMix))]
	}
}

// callID is derived from the caller's, so that nobody has to remember it.
func (s *session) callID(t *turn, index int) {
	s.log.raw(`"toolu_`)
	s.log.buf = append(s.log.buf, t.caller.text[:t.caller.n]...)
	s.log.buf = append(s.log.buf, '_', '0'+byte(index), '"')
}

// calls writes the answer's tool calls; the first one's arguments are as long
// as size says.
func (s *session) calls(n *node, size int) {
	for i := range int(n.turn.total) {
		s.log.raw(`{"type":"toolCall","id":`)
		s.callID(&n.turn, i)
		s.log.raw(`,"name":"`, toolNames[n.turn.tools[i]], `","arguments":{`)
		s.arguments(n.turn.tools[i], size)
		s.log.raw("}},")
		size = 0
	}
}

func (s *session) arguments(t tool, size int) {
	switch t {
	case toolEdit:
		s.path()
		s.log.escaped("oldText", s.code(size/2))
		s.log.escaped("newText", s.code(size/2))
	case toolWrite:
		s.path()
		s.log.escaped("content", s.code(size))
	case toolBash:
		s.log.raw(`"command":"go test ./`, word(s.r), `/... | grep \"`, word(s.r), `\"","timeout":120`)
	case toolCheckpoint:
		s.log.raw(`"goal":"find the `, word(s.r), ` of the `, word(s.r), `"`)
	case toolRewind:
		s.log.raw(`"report":"the `, word(s.r), ` is in src/`, word(s.r), `.ts"`)
	default:
		s.path()
	}
}

func (s *session) path() {
	s.log.raw(`"path":"src/`, word(s.r), `/`, word(s.r), `.ts"`)
}

// toolStep writes the next call's start where it is promised, else its result.
func (s *session) toolStep() {
	t := s.at(s.leaf).turn
	if s.log.native && !t.started && t.tools[t.next()].hasEffects() {
		s.toolStart()
		return
	}
	s.toolResult()
}

func (s *session) toolStart() {
	n := s.open("custom")
	name := toolNames[n.turn.tools[n.turn.next()]]
	n.turn.started = true
	s.log.raw(`,"customType":"tool_execution_start","data":{"toolCallId":`)
	s.callID(&n.turn, n.turn.next())
	s.log.raw(`,"toolName":"`, name, `","args":{`)
	s.path()
	s.log.raw("}")
	s.log.time("startedAt", s.log.stamp.ms)
	s.log.raw("}")
	s.close(n)
}

func (s *session) toolResult() {
	n := s.openMessage("toolResult")
	t := &n.turn
	index := t.next()
	kind := t.tools[index]
	t.pending, t.started, n.isResult = t.pending-1, false, true
	s.log.raw(`,"toolCallId":`)
	s.callID(t, index)
	s.log.raw(`,"toolName":"`, toolNames[kind], `","content":[{"type":"text"`)
	s.log.escaped("text", s.resultText(kind))
	s.log.raw(`}]`)
	s.resultDetails(n, kind)
	s.log.raw(`,"isError":`, boolText(kind < toolCheckpoint && s.chance(0.04)))
	s.closeMessage(n)
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func (s *session) resultText(kind tool) []byte {
	switch kind {
	case toolCheckpoint:
		return []byte("Checkpoint is set.")
	case toolRewind:
		return []byte("Rewind requested.")
	default:
		return s.code(s.lineSize() - resultFrame)
	}
}

// resultDetails also moves the state that checkpoint and rewind change.
func (s *session) resultDetails(n *node, kind tool) {
	switch kind {
	case toolCheckpoint:
		n.turn.checkpoint = n.seq
		s.log.raw(`,"details":{"goal":"explore"`)
		s.log.time("startedAt", s.log.stamp.ms)
		s.log.id("checkpoint", n.id)
		s.log.raw("}")
	case toolRewind:
		n.turn.rewinding = true
		s.log.raw(`,"details":{"report":"explored","rewound":true}`)
	}
}
