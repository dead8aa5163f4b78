package stats

import (
	"cmp"

	"github.com/sessctl/sessctl/entries"
)

// Known is what was counted of a session, which may be found in several files: Codex keeps
// a thread in segments, and files are copied.
type known struct {
	tips   map[entries.ID]bool
	groups map[string]bool
}

// name is by what a session is known again.
func (s *Session) name() string { return cmp.Or(s.ID, s.Path) }

// session counts a session, its branches, and the groups that it is in.
func (c *Counter) session(s *Session, in map[string]bool) {
	k := entry(c.known, s.name(), func() *known {
		c.total.Sessions++
		if c.unpriced(s) {
			c.unknown++
		}
		return &known{tips: map[entries.ID]bool{}, groups: map[string]bool{}}
	})
	for _, b := range s.Branches {
		if !k.tips[b.Tip] {
			k.tips[b.Tip] = true
			c.branches = append(c.branches, b)
		}
	}
	if c.opt.By == ByAgent || c.opt.By == ByCwd {
		in[c.key(s, &fact{})] = true // also of a session without entries
	}
	for key := range in {
		if !k.groups[key] {
			k.groups[key] = true
			c.group(key).Sessions++
		}
	}
}

// unpriced tells that a session took tokens, and that nobody says what they cost.
func (c *Counter) unpriced(s *Session) bool {
	if c.all() && len(s.Spent) > 0 {
		return false
	}
	var all entries.Tokens
	for i := range s.facts {
		if c.within(s.facts[i].at) {
			all.Add(s.facts[i].tokens)
		}
	}
	return all.Cost == 0 && all != entries.Tokens{}
}

// Unpriced counts the sessions that took tokens of which nobody says what they cost.
func (c *Counter) Unpriced() int { return c.unknown }
