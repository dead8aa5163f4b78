package sessgen

// These are fitted: with the small lines in between, of which native logs have
// more, the lines have a median of 2.5 to 2.7 KB, a 90th percentile of 13 to
// 15 KB, a 99th of 50 to 60 KB and a mean of 6 KB.
const (
	lineMedian       = 3000.0
	nativeLineMedian = 3700.0
	lineSpread       = 1.24
)

// What a message takes besides its texts.
const (
	assistantFrame = 750
	resultFrame    = 260
	userFrame      = 200
)

type model struct {
	provider, api, name               string
	input, output, cacheRead, cacheWr float64 // per million tokens
}

var models = []model{
	{"anthropic", "anthropic-messages", "claude-opus-4-5", 5, 25, 0.5, 6.25},
	{"anthropic", "anthropic-messages", "claude-sonnet-4-5", 3, 15, 0.3, 3.75},
	{"openai", "openai-responses", "gpt-5.1-codex", 1.25, 10, 0.125, 0},
}

var levels = []string{"off", "minimal", "low", "medium", "high"}

func (s *session) openMessage(role string) *node {
	n := s.open("message")
	s.log.raw(`,"message":{"role":"`, role, `"`)
	return n
}

// closeMessage ends with the time in milliseconds, as pi's messages do.
func (s *session) closeMessage(n *node) {
	s.log.number("timestamp", float64(s.log.stamp.ms))
	s.log.raw("}")
	s.close(n)
}

func (s *session) user() {
	n := s.openMessage("user")
	n.turn.user = false
	s.log.raw(`,"content":[{"type":"text"`)
	s.log.escaped("text", s.prose(s.lineSize()/3-userFrame))
	s.log.raw("}]")
	s.closeMessage(n)
}

// assistant writes a model's answer: thinking, text and tool calls, which
// share the size that was drawn for the line.
func (s *session) assistant() {
	n := s.openMessage("assistant")
	size := max(0, s.lineSize()-assistantFrame)
	s.planTurn(n)
	thinking, arguments := 0, 0
	if n.level > 0 && s.chance(0.8) {
		thinking = size * s.between(20, 60) / 100
	}
	if n.turn.writes() {
		arguments = (size - thinking) * 9 / 10
	}
	s.log.raw(`,"content":[`)
	s.thinking(thinking)
	s.answer(size-thinking-arguments, n.turn.pending == 0)
	s.calls(n, arguments)
	s.endList()
	s.usage(n, size)
	s.closeMessage(n)
}

// endList ends an array whose elements each left a comma behind.
func (s *session) endList() {
	if last := len(s.log.buf) - 1; s.log.buf[last] == ',' {
		s.log.buf = s.log.buf[:last]
	}
	s.log.raw("]")
}

func (s *session) thinking(n int) {
	if n < 50 {
		return
	}
	signature := min(n/4, 1500)
	s.log.raw(`{"type":"thinking"`)
	s.log.escaped("thinking", s.prose(n-signature))
	s.log.escaped("thinkingSignature", takeSignature(s.r, signature))
	s.log.raw("},")
}

func (s *session) answer(n int, only bool) {
	if n < 50 && !only {
		return
	}
	s.log.raw(`{"type":"text"`)
	s.log.escaped("text", s.prose(n))
	s.log.raw("},")
}

func (s *session) usage(n *node, size int) {
	m := models[n.model]
	s.log.raw(`,"api":"`, m.api, `","provider":"`, m.provider, `","model":"`, m.name, `"`)
	counts := [4]float64{float64(s.between(1, 3000)), float64(size/4 + 40), float64(n.tokens), float64(s.between(0, 40000))}
	prices := [4]float64{m.input, m.output, m.cacheRead, m.cacheWr}
	s.log.raw(`,"usage":{"input":`)
	s.log.buf = appendNumber(s.log.buf, counts[0])
	s.log.number("output", counts[1])
	s.log.number("cacheRead", counts[2])
	s.log.number("cacheWrite", counts[3])
	s.log.number("totalTokens", counts[0]+counts[1]+counts[2]+counts[3])
	s.cost(counts, prices)
	s.log.raw(`},"stopReason":"`, n.turn.stopReason(), `"`)
}

// cost is computed as pi does it, so that the floats have its long tails.
func (s *session) cost(counts, prices [4]float64) {
	var parts [4]float64
	total := 0.0
	for i := range parts {
		parts[i] = prices[i] / 1e6 * counts[i]
		total += parts[i]
	}
	s.log.raw(`,"cost":{"input":`)
	s.log.buf = appendNumber(s.log.buf, parts[0])
	s.log.number("output", parts[1])
	s.log.number("cacheRead", parts[2])
	s.log.number("cacheWrite", parts[3])
	s.log.number("total", total)
	s.log.raw("}")
}
