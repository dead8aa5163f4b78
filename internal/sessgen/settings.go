package sessgen

// settings are what a native compaction carries: what is in force on its path.
type settings struct {
	known bool
	model int    // index of models, or -1
	level int    // index of levels
	name  string // escaped
}

func (l *logWriter) settings(s settings) {
	l.raw(`{"model":`)
	if s.model < 0 {
		l.raw("null")
	} else {
		l.raw(`{"provider":"`, models[s.model].provider, `","modelId":"`, models[s.model].name, `"}`)
	}
	l.text("thinkingLevel", levels[s.level])
	l.escaped("name", []byte(s.name))
	l.raw("}")
}
