package stats

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sessctl/sessctl/entries"
)

// A By says what a Counter's groups are.
type By string

// The groups.
const (
	ByDay   By = "day" // of each entry
	ByModel By = "model"
	ByAgent By = "agent"
	ByCwd   By = "cwd"
)

// Counts are what was counted.
type Counts struct {
	Sessions              int            // that have an entry there, be it a copy
	Prompts               int            // that a person typed
	Messages              map[string]int // by role
	ToolCalls, ToolErrors int
	Tokens                entries.Tokens
	Time                  Time
}

// Time is how long messages came after those that they answer.
type Time struct {
	Model time.Duration // answers, after what was asked
	Tools time.Duration // results, after the call, or the result before
}

// A Group is what belongs together.
type Group struct {
	Key string // a day as 2026-11-30, a model, an agent, a directory; "" where it is not known
	Counts
}

// A Model is what one model did.
type Model struct {
	Model   string
	Answers int
	Tokens  entries.Tokens
	Time    time.Duration
}

// A Tool is what one tool did.
type Tool struct {
	Tool          string
	Calls, Errors int
	Time          time.Duration
}

// A File is how often tools read and changed a file, by their calls that did not fail.
type File struct {
	Path         string
	Reads, Edits int
}

// CounterOptions say how sessions are summed up. Nil stands for the zero value.
type CounterOptions struct {
	By       By             // "" makes no groups
	Location *time.Location // of days; nil stands for UTC
	// Since and Until, where set, leave out what was written before, or not before.
	Since, Until time.Time
}

// A Counter sums sessions up.
type Counter struct {
	opt     CounterOptions
	seen    map[uint64]struct{} // entries that were counted
	total   Counts
	copied  int
	known   map[string]*known // sessions, by their ids
	unknown int               // sessions whose cost is not known
	spent   map[Spent]float64 // what counts of each sum, by its run and model

	branches []Branch
	rewinds  []Rewind

	groups map[string]*Group
	models map[string]*Model
	tools  map[string]*Tool
	files  map[string]*File
}

// NewCounter makes a counter that has seen nothing.
func NewCounter(opt *CounterOptions) *Counter {
	c := &Counter{
		seen: map[uint64]struct{}{}, known: map[string]*known{}, spent: map[Spent]float64{},
		groups: map[string]*Group{}, models: map[string]*Model{}, tools: map[string]*Tool{}, files: map[string]*File{},
	}
	if opt != nil {
		c.opt = *opt
	}
	if c.opt.Location == nil {
		c.opt.Location = time.UTC
	}
	return c
}

// Add counts a session. Entries that were counted before, as copies that a fork made of
// them, are left out, and so is what another file of the same session has as well.
func (c *Counter) Add(s *Session) {
	in := map[string]bool{} // groups that the session is in
	within := c.all()
	for i := range s.facts {
		if f := &s.facts[i]; c.within(f.at) {
			within = true
			if c.opt.By != "" {
				in[c.key(s, f)] = true
			}
			c.count(s, f)
		}
	}
	if !within {
		return
	}
	c.session(s, in)
	if c.all() { // nobody knows when it was spent
		for _, told := range s.Spent {
			c.spend(s, told)
		}
	}
}

// all tells that no time is asked for.
func (c *Counter) all() bool { return c.opt.Since.IsZero() && c.opt.Until.IsZero() }

// count counts an entry, unless that was done.
func (c *Counter) count(s *Session, f *fact) {
	if _, again := c.seen[f.key]; again {
		if c.known[s.name()] == nil {
			c.copied++
		}
		return
	}
	c.seen[f.key] = struct{}{}
	c.total.add(f)
	c.sort(f)
	if f.rewind != nil {
		c.rewinds = append(c.rewinds, *f.rewind)
	}
	if c.opt.By != "" {
		c.group(c.key(s, f)).add(f)
	}
}

func (c *Counter) group(key string) *Group {
	return entry(c.groups, key, func() *Group { return &Group{Key: key} })
}

// spend counts what a program says that a model cost, as far as it is not counted yet.
func (c *Counter) spend(s *Session, told Spent) {
	key := Spent{Run: told.Run, Model: told.Model}
	more := told.Cost - c.spent[key]
	if more <= 0 {
		return
	}
	c.spent[key] = told.Cost
	c.total.Tokens.Cost += more
	entry(c.models, told.Model, func() *Model { return &Model{Model: told.Model} }).Tokens.Cost += more
	switch c.opt.By {
	case ByModel, ByAgent, ByCwd:
		c.group(c.key(s, &fact{said: said{model: told.Model}})).Tokens.Cost += more
	}
}

func (c *Counter) within(t time.Time) bool {
	return (c.opt.Since.IsZero() || !t.Before(c.opt.Since)) && (c.opt.Until.IsZero() || t.Before(c.opt.Until))
}

// entry gives what a map has for a key, and makes it where it is missing.
func entry[T any](m map[string]*T, key string, make func() *T) *T {
	v := m[key]
	if v == nil {
		v = make()
		m[key] = v
	}
	return v
}

func (c *Counter) key(s *Session, f *fact) string {
	switch c.opt.By {
	case ByModel:
		return f.model
	case ByAgent:
		return string(s.Agent)
	case ByCwd:
		return s.Cwd
	}
	if f.at.IsZero() {
		return ""
	}
	return f.at.In(c.opt.Location).Format(time.DateOnly)
}

func (c *Counts) add(f *fact) {
	if f.role != "" {
		if c.Messages == nil {
			c.Messages = map[string]int{}
		}
		c.Messages[f.role]++
	}
	if f.prompt {
		c.Prompts++
	}
	c.ToolCalls += len(f.calls)
	if f.failed {
		c.ToolErrors++
	}
	c.Tokens.Add(f.tokens)
	switch f.role {
	case "assistant":
		c.Time.Model += f.took
	case "toolResult":
		c.Time.Tools += f.took
	}
}

// sort counts an entry for its model, tools and files.
func (c *Counter) sort(f *fact) {
	if f.role == "assistant" || f.tokens != (entries.Tokens{}) {
		m := entry(c.models, f.model, func() *Model { return &Model{Model: f.model} })
		m.Tokens.Add(f.tokens)
		if f.role == "assistant" {
			m.Answers++
			m.Time += f.took
		}
	}
	for _, call := range f.calls {
		c.tool(call.tool).Calls++
		if call.path != "" && !call.failed {
			c.file(call)
		}
	}
	if f.role == "toolResult" {
		t := c.tool(f.tool)
		t.Time += f.took
		if f.failed {
			t.Errors++
		}
	}
}

func (c *Counter) tool(name string) *Tool {
	return entry(c.tools, name, func() *Tool { return &Tool{Tool: name} })
}

func (c *Counter) file(call call) {
	f := entry(c.files, call.path, func() *File { return &File{Path: call.path} })
	if call.edit {
		f.Edits++
	} else {
		f.Reads++
	}
}

// Total gives what all sessions have.
func (c *Counter) Total() Counts { return c.total }

// Copied counts the entries that were left out, since they were counted before.
func (c *Counter) Copied() int { return c.copied }

// Branches gives those of all sessions. What branches share is in the tokens of each.
func (c *Counter) Branches() []Branch { return c.branches }

// Rewinds gives what models left behind.
func (c *Counter) Rewinds() []Rewind { return c.rewinds }

// Groups gives what was asked for with By, in the order of the keys.
func (c *Counter) Groups() []Group {
	return sorted(c.groups, func(a, b Group) int { return cmp.Compare(a.Key, b.Key) })
}

// Models gives the models, the most costly first.
func (c *Counter) Models() []Model {
	return sorted(c.models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(b.Tokens.Cost, a.Tokens.Cost), cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Model, b.Model))
	})
}

// Tools gives the tools, the one that was called most first.
func (c *Counter) Tools() []Tool {
	return sorted(c.tools, func(a, b Tool) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Tool, b.Tool)) })
}

// Files gives the files that tools read or changed, those changed most first.
func (c *Counter) Files() []File {
	return sorted(c.files, func(a, b File) int {
		return cmp.Or(cmp.Compare(b.Edits, a.Edits), cmp.Compare(b.Reads, a.Reads), cmp.Compare(a.Path, b.Path))
	})
}

func sorted[T any](m map[string]*T, compare func(a, b T) int) []T {
	list := make([]T, 0, len(m))
	for v := range maps.Values(m) {
		list = append(list, *v)
	}
	slices.SortFunc(list, compare)
	return list
}
