package sessgen

// metadataShare is how often something else than the conversation is written.
const metadataShare = 0.03

// metadata writes what a session has besides messages. It begins with the
// model and the thinking level, and changes neither inside a detour: a rewind
// would have to write them again.
func (s *session) metadata() {
	dice := s.r.IntN(100)
	settled := s.at(s.leaf).turn.checkpoint < 0
	switch {
	case s.count == 0 || s.count > 1 && settled && dice < 8:
		s.modelChange()
	case s.count == 1 || settled && dice < 15:
		s.thinkingChange()
	case dice < 22:
		s.label()
	case dice < 25:
		s.sessionInfo()
	case dice < 40:
		s.customMessage()
	default:
		s.custom()
	}
}

func (s *session) modelChange() {
	n := s.open("model_change")
	n.model = uint8(s.r.IntN(len(models)))
	s.log.text("provider", models[n.model].provider)
	s.log.text("modelId", models[n.model].name)
	s.close(n)
}

func (s *session) thinkingChange() {
	n := s.open("thinking_level_change")
	n.level = uint8(s.r.IntN(len(levels)))
	s.log.text("thinkingLevel", levels[n.level])
	s.close(n)
}

func (s *session) label() {
	target := s.at(s.leaf).id
	n := s.open("label")
	s.log.id("targetId", target)
	if s.chance(0.8) { // else the label is cleared
		s.log.text("label", "before "+word(s.r))
	}
	s.close(n)
}

func (s *session) sessionInfo() {
	n := s.open("session_info")
	n.title = word(s.r) + " " + word(s.r)
	s.log.text("name", n.title)
	s.close(n)
}

func (s *session) customMessage() {
	n := s.open("custom_message")
	s.log.raw(`,"customType":"reminder"`)
	s.log.escaped("content", s.prose(s.lineSize()/4))
	s.log.raw(`,"display":true`)
	s.close(n)
}

func (s *session) custom() {
	n := s.open("custom")
	s.log.raw(`,"customType":"todo-state","data":{"version":1`)
	s.log.number("ratio", s.r.Float64())
	s.log.escaped("items", s.code(s.lineSize()))
	s.log.raw("}")
	s.close(n)
}
