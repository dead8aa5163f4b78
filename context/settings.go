package modelcontext

import (
	"encoding/json"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A Model names who answers.
type Model struct {
	Provider string
	ID       string
}

// Settings are what is in force at a leaf. They are read from the whole path: a
// compaction does not hide them.
type Settings struct {
	Model    Model  // the zero Model where nothing tells one
	Thinking string // the thinking level; "off" where nothing tells one

	// Complete tells that nothing above what was read could say otherwise. Where it is
	// false Thinking is "" if no entry that was read tells it; see Options.Lookback.
	Complete bool

	// What only oh-my-pi has.

	Models        map[string]string // "provider/id" by role: default, smol, slow, ...
	Configured    string            // the thinking level as it was chosen: auto, or a level
	ServiceTier   json.RawMessage   // as stored last, null included; nil where it is not
	Mode          string            // "none", plan, ...
	ModeData      json.RawMessage
	InjectedRules []string // in the order in which they first came
}

// defaultLookback is Options.Lookback where that is 0.
const defaultLookback = 16 << 20

// settings reads what is in force from what was read of the path, and goes on
// upwards as long as something is missing.
func (b *builder) settings() error {
	s := &seeker{builder: b, omp: b.ctx.Dialect == Omp}
	if s.omp {
		s.Mode = "none"
	}
	for _, e := range b.up {
		if err := s.see(e); err != nil {
			return err
		}
	}
	limit := b.opt.Lookback
	if limit == 0 {
		limit = defaultLookback
	}
	if b.next != "" && !s.done() && len(b.up) > 0 {
		start := b.up[len(b.up)-1].Offset
		climb := b.climb
		if limit < 0 {
			climb = b.climbToRoot
		}
		err := climb(func(e entries.Entry) (bool, error) {
			err := s.see(e)
			return !s.done() && (limit < 0 || start-e.Offset < limit), err
		})
		if err != nil {
			return err
		}
	}
	b.ctx.Settings = s.result()
	return nil
}

// A seeker finds settings on the way up: the first that it meets is in force.
type seeker struct {
	*builder
	Settings
	omp                         bool
	model, thinking, tier, mode bool // found
	inferred                    string
	told                        bool // a native compaction told the rest
	rules                       [][]string
}

// done tells that nothing above can matter. Of oh-my-pi's settings some add up over
// the whole path.
func (s *seeker) done() bool { return s.told || !s.omp && s.model && s.thinking }

func (s *seeker) see(e entries.Entry) error {
	if s.done() {
		return nil
	}
	switch e.Type {
	case entries.TypeThinkingLevelChange, entries.TypeModelChange, entries.TypeServiceTierChange,
		entries.TypeModeChange, entries.TypeTTSRInjection, entries.TypeCompaction:
	case entries.TypeMessage:
		if e.Role != RoleAssistant || s.model || s.inferred != "" {
			return nil
		}
	default:
		return nil
	}
	raw, err := e.Raw()
	if err != nil {
		return err
	}
	rec, err := readRecord(raw)
	if err != nil {
		return nil // what is damaged inside tells nothing
	}
	s.take(e.Type, rec)
	return nil
}

func (s *seeker) take(kind entries.Type, rec record) {
	switch {
	case kind == entries.TypeThinkingLevelChange && !s.thinking:
		s.thinking, s.Thinking = true, jsonvalue.String(rec["thinkingLevel"])
		s.ompThinking(rec)
	case kind == entries.TypeModelChange && s.omp:
		s.ompModel(rec)
	case kind == entries.TypeModelChange && !s.model:
		s.model, s.Model = true, Model{jsonvalue.String(rec["provider"]), jsonvalue.String(rec["modelId"])}
	case kind == entries.TypeMessage:
		s.answered(rec["message"])
	case kind == entries.TypeServiceTierChange && !s.tier:
		s.tier, s.ServiceTier = true, rec["serviceTier"]
	case kind == entries.TypeModeChange && !s.mode:
		s.mode, s.Mode, s.ModeData = true, jsonvalue.String(rec["mode"]), rec["data"]
	case kind == entries.TypeTTSRInjection:
		s.injected(rec["injectedRules"])
	case kind == entries.TypeCompaction && s.t.Native():
		s.compacted(rec)
	}
}

// answered takes the model from an answer. To oh-my-pi it is only a guess, which
// a model_change above it overrules.
func (s *seeker) answered(message []byte) {
	provider, model := fieldOf(message, "provider"), fieldOf(message, "model")
	if !s.omp {
		s.model, s.Model = true, Model{jsonvalue.String(provider), jsonvalue.String(model)}
	} else if s.inferred == "" {
		s.inferred = interpolated(provider) + "/" + interpolated(model)
	}
}

func (s *seeker) ompThinking(rec record) {
	if !s.omp {
		return
	}
	s.Configured = s.Thinking
	if s.Thinking == "" {
		s.Thinking = "off"
	}
	if c := rec["configured"]; !jsonvalue.Null(c) {
		s.Configured = jsonvalue.String(c)
	}
}

func (s *seeker) ompModel(rec record) {
	model := jsonvalue.String(rec["model"])
	if model == "" {
		return
	}
	role := "default"
	if r := rec["role"]; !jsonvalue.Null(r) {
		role = jsonvalue.String(r)
	}
	if s.Models == nil {
		s.Models = map[string]string{}
	}
	if _, found := s.Models[role]; !found {
		s.Models[role] = model
	}
	s.model = s.model || role == "default"
}

func (s *seeker) injected(rules []byte) {
	var names []string
	for _, r := range blocks(rules) {
		names = append(names, jsonvalue.String(r))
	}
	s.rules = append(s.rules, names)
}

// compacted takes what a native compaction says is in force, so that nobody has to
// go behind it.
func (s *seeker) compacted(rec record) {
	settings := fieldOf(rec["details"], "settings")
	if !isObject(settings) {
		return
	}
	s.told = true
	if level := fieldOf(settings, "thinkingLevel"); !s.thinking {
		s.thinking, s.Thinking = level != nil, jsonvalue.String(level)
	}
	if m := fieldOf(settings, "model"); !s.model && isObject(m) {
		s.model, s.Model = true, Model{jsonvalue.String(fieldOf(m, "provider")), jsonvalue.String(fieldOf(m, "modelId"))}
	}
}

func (s *seeker) result() Settings {
	out := s.Settings
	out.Complete = s.done() || s.next == ""
	if !s.thinking && out.Complete {
		out.Thinking = "off"
	}
	if s.omp {
		if s.Models["default"] == "" && s.inferred != "" {
			if out.Models == nil {
				out.Models = map[string]string{}
			}
			out.Models["default"] = s.inferred
		}
		out.Model.Provider, out.Model.ID, _ = strings.Cut(out.Models["default"], "/")
		out.InjectedRules = firstOf(s.rules)
	}
	return out
}

// firstOf gives each rule once, in the order of the path; runs are from the leaf up.
func firstOf(runs [][]string) (list []string) {
	seen := map[string]bool{}
	for i := len(runs) - 1; i >= 0; i-- {
		for _, rule := range runs[i] {
			if !seen[rule] {
				seen[rule] = true
				list = append(list, rule)
			}
		}
	}
	return list
}
