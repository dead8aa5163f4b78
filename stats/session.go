package stats

import (
	"cmp"
	"hash/maphash"
	"iter"
	"strings"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// Options say what of a session is read. Nil stands for the zero value.
type Options struct {
	// Tip reads the path to an entry; "" reads the whole log.
	Tip entries.ID
	// Prompt, where set, tells what a person typed: it may know what the programs of other
	// formats write in a user's name.
	Prompt func(entries.Entry) bool
}

// A Session is what one session has.
type Session struct {
	ID    string
	Path  string
	Agent sessiontree.Agent
	Cwd   string

	Branches []Branch
	// Spent is what the session's program says that models cost, where it does not say so
	// of each answer.
	Spent []Spent
	// Damage is what had to be worked around to read it.
	Damage []sessiontree.Damage

	facts []fact
}

// Spent is what a model cost in a run of a program, which may go over several sessions: of
// sums of the same run the largest counts.
type Spent struct {
	Run, Model string
	Cost       float64 // in US dollars
}

// A Branch is what the path to a tip has, and took.
type Branch struct {
	Session string // id of its session
	Tip     entries.ID
	Active  bool
	Turns   int
	Tokens  entries.Tokens // of the whole path
	// Own is what was spent on what only this branch has.
	Own        entries.Tokens
	LastPrompt string
}

// A Rewind is what a model left behind.
type Rewind struct {
	Session        string // id of its session
	Checkpoint     entries.ID
	DroppedEntries int // that went out of the context
	DroppedTokens  int // about; 0 where that is not recorded
}

// A fact is what one entry adds. It is small: a session has many.
type fact struct {
	said
	key    uint64 // the same in a copy
	at     time.Time
	role   string
	prompt bool
	told   bool // the entry itself says which model
	took   time.Duration
	rewind *Rewind
}

// Said is what an answer or a result says of what is counted.
type said struct {
	model  string // that answered; of a result, the one that called
	tool   string // of a result
	failed bool   // ... which says that its call failed
	of     string // the id of that call
	tokens entries.Tokens
	calls  []call
}

// A call is one of a tool.
type call struct {
	tool   string
	id     string // where it is about a file
	path   string // that file, absolute where the session's directory is known
	edit   bool   // ... which it changes
	failed bool   // its result says so: it did nothing to the file
}

// Read reads the messages of a session.
func Read(t *sessiontree.Tree, opt *Options) (*Session, error) {
	if opt == nil {
		opt = &Options{}
	}
	h := t.Header()
	session := &Session{ID: h.ID, Path: t.File(), Agent: t.Agent(), Cwd: h.Cwd}
	p := &parser{prompt: opt.Prompt, session: session, names: map[string]string{}}
	early, err := p.early(t, opt.Tip)
	if err != nil {
		return nil, err
	}
	n, err := t.Len()
	if err != nil {
		return nil, err
	}
	r := newReader(session, early, n)
	entriesOf := t.Entries()
	if opt.Tip != "" {
		entriesOf = t.Path(opt.Tip)
	}
	if err := r.all(entriesOf, p); err != nil {
		return nil, err
	}
	r.settle("")
	if opt.Tip == "" {
		r.session.Spent = spentOf(h)
	}
	session.Damage = t.Damage()
	branches, err := t.Branches()
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		if r.seen[b.Tip] > 0 && (opt.Tip == "" || opt.Tip == b.Tip) {
			r.branch(b)
		}
	}
	return r.session, nil
}

// spentOf reads what formats puts into the header of a translated transcript.
func spentOf(h entries.Header) (list []Spent) {
	jsonvalue.Elements(jsonvalue.Get(h.Raw(), "spent"), func(value []byte) {
		text := func(name string) string { return jsonvalue.String(jsonvalue.Get(value, name)) }
		s := Spent{cmp.Or(text("run"), h.ID), text("model"), jsonvalue.Number(jsonvalue.Get(value, "cost"))}
		if s.Cost > 0 {
			list = append(list, s)
		}
	})
	return list
}

// A reader goes over the entries of a session.
type reader struct {
	session *Session
	early   *early
	seen    map[entries.ID]int32 // indexes in places
	places  []place              // the first one is that of what is not known
	sums    []entries.Tokens     // of paths; the first one is nothing
	calls   map[string]*call     // those that are about files, by their ids
	asked   []int                // facts of prompts that no model has answered yet
}

// A place is what is known of the path to an entry. Of a parent that stands further down
// in the file, which only damaged logs have, nothing is.
type place struct {
	at    time.Time // of the last entry of the conversation
	model string    // that answered last
	sum   int32     // of the path's tokens: its index in sums
}

// newReader makes a reader of about n entries.
func newReader(s *Session, early *early, n int) *reader {
	s.facts = make([]fact, 0, n)
	return &reader{
		session: s,
		early:   early,
		seen:    make(map[entries.ID]int32, n),
		places:  make([]place, 1, n+1),
		sums:    make([]entries.Tokens, 1),
		calls:   map[string]*call{},
	}
}

// all adds entries. What was not read of them while the log was scanned is read now.
func (r *reader) all(list iter.Seq2[entries.Entry, error], p *parser) error {
	for e, err := range list {
		if err != nil {
			return err
		}
		f := fact{key: keyOf(e), at: e.Time, role: e.Role}
		if known := r.early.of(e); known != nil {
			f.tell(known)
		} else if err := p.read(e, &f); err != nil {
			return err
		}
		r.entry(e, &f)
	}
	return nil
}

// tell takes over what an answer or a result says.
func (f *fact) tell(s *said) { f.said, f.told = *s, f.role == "assistant" }

// entry adds what was read of an entry to what is above it.
func (r *reader) entry(e entries.Entry, f *fact) {
	p := r.places[r.seen[e.Parent]]
	if !f.told {
		f.model = p.model
	}
	if !f.synthetic() {
		f.took = took(p, e)
	}
	if f.tokens != (entries.Tokens{}) {
		sum := r.sums[p.sum]
		sum.Add(f.tokens)
		p.sum, r.sums = int32(len(r.sums)), append(r.sums, sum)
	}
	if e.Type.Conversation() && !e.Time.IsZero() {
		p.at = e.Time
	}
	if e.Role == "assistant" && !f.synthetic() {
		p.model = f.model
	}
	r.called(f)
	r.seen[e.ID], r.places = int32(len(r.places)), append(r.places, p)
	if f.role != "" || f.tokens != (entries.Tokens{}) || f.rewind != nil {
		r.session.facts = append(r.session.facts, *f)
		r.answer(f)
	}
}

var seed = maphash.MakeSeed()

// keyOf is the same for an entry and its copy in a fork.
func keyOf(e entries.Entry) uint64 {
	return maphash.Comparable(seed, struct {
		id   entries.ID
		at   int64
		kind entries.Type
	}{e.ID, e.Time.UnixMilli(), e.Type})
}

// took is how long an entry came after what was said above it. A clock that was set back, and an entry
// without a time, say nothing.
func took(parent place, e entries.Entry) time.Duration {
	if parent.at.IsZero() || e.Time.IsZero() {
		return 0
	}
	return max(e.Time.Sub(parent.at), 0)
}

// answer gives prompts to the model that answers them.
func (r *reader) answer(f *fact) {
	switch {
	case f.prompt:
		r.asked = append(r.asked, len(r.session.facts)-1)
	case f.role == "assistant" && !f.synthetic():
		r.settle(f.model)
	}
}

// synthetic tells of what Claude Code writes in a model's name, such as "No response
// requested.", be it hours after what was asked.
func (f *fact) synthetic() bool { return strings.HasSuffix(f.model, "<synthetic>") }

// called leads failures to the calls that failed.
func (r *reader) called(f *fact) {
	for i := range f.calls {
		if c := &f.calls[i]; c.id != "" {
			r.calls[c.id] = c
		}
	}
	if c := r.calls[f.of]; c != nil && f.failed {
		c.failed = true
	}
}

func (r *reader) settle(model string) {
	for _, i := range r.asked {
		if model != "" {
			r.session.facts[i].model = model
		}
	}
	r.asked = r.asked[:0]
}

func (r *reader) branch(b sessiontree.Branch) {
	all := r.tokens(b.Tip)
	r.session.Branches = append(r.session.Branches, Branch{
		Session: r.session.ID, Tip: b.Tip, Active: b.Active, Turns: b.Turns, LastPrompt: b.LastPrompt,
		Tokens: all, Own: all.Minus(r.tokens(b.ForkPoint)),
	})
}

// tokens are those of the path to an entry.
func (r *reader) tokens(id entries.ID) entries.Tokens { return r.sums[r.places[r.seen[id]].sum] }
