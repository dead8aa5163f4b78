package command

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/stats"
)

type jsonUsage struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Cost       float64 `json:"cost"`
}

func spentJSON(t entries.Tokens) jsonUsage {
	return jsonUsage{t.Input, t.Output, t.CacheRead, t.CacheWrite, millionths(t.Cost)}
}

// millionths rounds a cost, which is a sum of many, to what it is known to.
func millionths(cost float64) float64 { return math.Round(cost*1e6) / 1e6 }

type jsonCounts struct {
	Sessions   int            `json:"sessions"`
	Prompts    int            `json:"prompts"`
	Messages   map[string]int `json:"messages"`
	ToolCalls  int            `json:"toolCalls"`
	ToolErrors int            `json:"toolErrors"`
	Tokens     jsonUsage      `json:"tokens"`
	Seconds    jsonSeconds    `json:"seconds"`
}

type jsonSeconds struct {
	Model float64 `json:"model"`
	Tools float64 `json:"tools"`
}

func countsJSON(c stats.Counts) jsonCounts {
	messages := c.Messages
	if messages == nil {
		messages = map[string]int{}
	}
	return jsonCounts{
		c.Sessions, c.Prompts, messages, c.ToolCalls, c.ToolErrors, spentJSON(c.Tokens),
		jsonSeconds{c.Time.Model.Seconds(), c.Time.Tools.Seconds()},
	}
}

type jsonStats struct {
	Schema string `json:"schema"`
	jsonCounts
	Branches int               `json:"branches"`
	Copied   int               `json:"copied"`
	Unpriced int               `json:"unpriced"`
	By       *string           `json:"by"`
	Groups   []jsonGroup       `json:"groups"`
	ByModel  []jsonModelStats  `json:"byModel"`
	ByTool   []jsonToolStats   `json:"byTool"`
	ByBranch []jsonBranchStats `json:"byBranch"`
	Files    []jsonFileStats   `json:"files"`
	Rewinds  []jsonRewindStats `json:"rewinds"`
}

type jsonGroup struct {
	Key *string `json:"key"`
	jsonCounts
}

type jsonModelStats struct {
	Model   *string   `json:"model"`
	Answers int       `json:"answers"`
	Tokens  jsonUsage `json:"tokens"`
	Seconds float64   `json:"seconds"`
}

type jsonToolStats struct {
	Tool    string  `json:"tool"`
	Calls   int     `json:"calls"`
	Errors  int     `json:"errors"`
	Seconds float64 `json:"seconds"`
}

type jsonBranchStats struct {
	Session string     `json:"session"`
	Tip     entries.ID `json:"tip"`
	Active  bool       `json:"active"`
	Turns   int        `json:"turns"`
	Tokens  jsonUsage  `json:"tokens"`
	Own     jsonUsage  `json:"own"`
}

type jsonFileStats struct {
	Path  string `json:"path"`
	Reads int    `json:"reads"`
	Edits int    `json:"edits"`
}

type jsonRewindStats struct {
	Session        string      `json:"session"`
	Checkpoint     *entries.ID `json:"checkpoint"`
	DroppedEntries int         `json:"droppedEntries"`
	DroppedTokens  int         `json:"droppedTokens"`
}

// each makes the JSON of every element; an empty list is no null.
func each[T, J any](list []T, shape func(T) J) []J {
	out := make([]J, len(list))
	for i, v := range list {
		out[i] = shape(v)
	}
	return out
}

func (c *counting) document() jsonStats {
	n := c.counter
	return jsonStats{
		Schema: "sessctl.stats/1", jsonCounts: countsJSON(n.Total()), Branches: len(n.Branches()), Copied: n.Copied(), Unpriced: n.Unpriced(),
		By:     optional(c.flags.by),
		Groups: each(n.Groups(), func(g stats.Group) jsonGroup { return jsonGroup{optional(g.Key), countsJSON(g.Counts)} }),
		ByModel: each(n.Models(), func(m stats.Model) jsonModelStats {
			return jsonModelStats{optional(m.Model), m.Answers, spentJSON(m.Tokens), m.Time.Seconds()}
		}),
		ByTool: each(n.Tools(), func(t stats.Tool) jsonToolStats {
			return jsonToolStats{t.Tool, t.Calls, t.Errors, t.Time.Seconds()}
		}),
		ByBranch: each(n.Branches(), func(b stats.Branch) jsonBranchStats {
			return jsonBranchStats{b.Session, b.Tip, b.Active, b.Turns, spentJSON(b.Tokens), spentJSON(b.Own)}
		}),
		Files: each(n.Files(), func(f stats.File) jsonFileStats { return jsonFileStats(f) }),
		Rewinds: each(n.Rewinds(), func(w stats.Rewind) jsonRewindStats {
			return jsonRewindStats{w.Session, optionalID(w.Checkpoint), w.DroppedEntries, w.DroppedTokens}
		}),
	}
}

// text writes the groups where they were asked for, else everything else.
func (c *counting) text(o *term.Output) error {
	if c.flags.by != "" {
		c.groups(o)
		return nil
	}
	c.total(o)
	c.models(o)
	c.tools(o)
	if c.counter.Total().Sessions == 1 {
		c.branches(o)
	}
	c.files(o)
	c.rewinds(o)
	return nil
}

func (c *counting) total(o *term.Output) {
	n, t := c.counter, c.counter.Total()
	parts := []string{
		plural(t.Sessions, "session", "sessions"), plural(len(n.Branches()), "branch", "branches"), plural(t.Prompts, "prompt", "prompts"),
		plural(t.ToolCalls, "call of a tool", "calls of tools"), fmt.Sprintf("%d failed", t.ToolErrors),
	}
	fmt.Fprintln(o, o.Style(term.Bold, strings.Join(parts, ", ")))
	var roles []string
	for _, role := range slices.Sorted(maps.Keys(t.Messages)) {
		roles = append(roles, fmt.Sprintf("%d %s", t.Messages[role], term.Line(role)))
	}
	fmt.Fprintf(o, "messages: %s\n", cmp.Or(strings.Join(roles, ", "), "none"))
	u := t.Tokens
	fmt.Fprintf(o, "tokens: %s input, %s output, %s read from caches, %s written to them; cost %s\n",
		amount(u.Input), amount(u.Output), amount(u.CacheRead), amount(u.CacheWrite), c.cost())
	fmt.Fprintf(o, "time: models %s, tools %s\n", span(t.Time.Model), span(t.Time.Tools))
	if left := n.Rewinds(); len(left) > 0 {
		entries, dropped := 0, 0.0
		for _, w := range left {
			entries, dropped = entries+w.DroppedEntries, dropped+float64(w.DroppedTokens)
		}
		fmt.Fprintf(o, "rewinds: %d, which took %s out of the context (%s tokens)\n", len(left), plural(entries, "entry", "entries"), amount(dropped))
	}
	if copied := n.Copied(); copied > 0 {
		fmt.Fprintf(o, "not counted again: %s that forks copied\n", plural(copied, "entry", "entries"))
	}
}

// cost is that of all sessions, as far as it is known.
func (c *counting) cost() string {
	n, known := c.counter.Unpriced(), cost(c.counter.Total().Tokens.Cost)
	if n == 0 || known == "-" {
		return known
	}
	return fmt.Sprintf("%s, and that of %s is not known", known, plural(n, "session", "sessions"))
}

// section writes a table with a blank line above it, at most so many rows, and how many
// more there are.
func section[T any](o *term.Output, list []T, what string, row func(T) []string, titles ...string) {
	const most = 12
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(o)
	table := newTable(o, titles...)
	for _, v := range list[:min(len(list), most)] {
		table.add("", row(v)...)
	}
	table.write()
	if more := len(list) - most; more > 0 {
		fmt.Fprintln(o, o.Style(term.Dim, fmt.Sprintf("and %d more %s (--json has all)", more, what)))
	}
}

func usageCells(t entries.Tokens) []string {
	return []string{amount(t.Input), amount(t.Output), amount(t.CacheRead), amount(t.CacheWrite), cost(t.Cost)}
}

// usageTitles go with usageCells.
var usageTitles = []string{">INPUT", ">OUTPUT", ">CACHE READ", ">WRITTEN", ">COST"}

func (c *counting) models(o *term.Output) {
	section(o, c.counter.Models(), "models", func(m stats.Model) []string {
		return append(append([]string{fmt.Sprint(m.Answers)}, usageCells(m.Tokens)...), span(m.Time), known(m.Model))
	}, append(append([]string{">ANSWERS"}, usageTitles...), ">TIME", "MODEL")...)
}

func (c *counting) tools(o *term.Output) {
	section(o, c.counter.Tools(), "tools", func(t stats.Tool) []string {
		return []string{fmt.Sprint(t.Calls), fmt.Sprint(t.Errors), span(t.Time), known(t.Tool)}
	}, ">CALLS", ">FAILED", ">TIME", "TOOL")
}

func (c *counting) branches(o *term.Output) {
	list := c.counter.Branches()
	spent := []string{">COST", ">OF ITS OWN"}
	if !slices.ContainsFunc(list, func(b stats.Branch) bool { return b.Tokens.Cost != 0 }) {
		spent = nil // Claude Code tells of whole sessions only, Codex of none
	}
	section(o, list, "branches", func(b stats.Branch) []string {
		mark := ""
		if b.Active {
			mark = "*"
		}
		cells := []string{mark, short(b.Tip), fmt.Sprint(b.Turns), amount(b.Tokens.Output), amount(b.Own.Output)}
		if spent != nil {
			cells = append(cells, cost(b.Tokens.Cost), cost(b.Own.Cost))
		}
		return append(cells, term.OneLine(b.LastPrompt))
	}, append(append([]string{"", "TIP", ">TURNS", ">OUTPUT", ">OF ITS OWN"}, spent...), "LAST PROMPT")...)
}

func (c *counting) files(o *term.Output) {
	section(o, c.counter.Files(), "files", func(f stats.File) []string {
		return []string{fmt.Sprint(f.Edits), fmt.Sprint(f.Reads), term.Line(f.Path)}
	}, ">CHANGED", ">READ", "FILE")
}

func (c *counting) rewinds(o *term.Output) {
	section(o, c.counter.Rewinds(), "rewinds", func(w stats.Rewind) []string {
		return []string{fmt.Sprint(w.DroppedEntries), amount(float64(w.DroppedTokens)), tail(w.Session), short(w.Checkpoint)}
	}, ">LEFT ENTRIES", ">TOKENS", "SESSION", "REWOUND TO")
}

func (c *counting) groups(o *term.Output) {
	titles := append([]string{">SESSIONS", ">PROMPTS", ">CALLS", ">FAILED"}, usageTitles...)
	table := newTable(o, append(titles, strings.ToUpper(c.flags.by))...)
	for _, g := range c.counter.Groups() {
		cells := []string{fmt.Sprint(g.Sessions), fmt.Sprint(g.Prompts), fmt.Sprint(g.ToolCalls), fmt.Sprint(g.ToolErrors)}
		table.add("", append(append(cells, usageCells(g.Tokens)...), known(g.Key))...)
	}
	table.write()
}

// known is a name, or a dash where the log says none.
func known(name string) string { return cmp.Or(term.OneLine(name), "-") }

// amount shortens a number of tokens, of which many sessions have millions.
func amount(n float64) string {
	const million, many = 1e6, 1e7
	if n < many {
		return tokens(int(n))
	}
	return fmt.Sprintf("%.0fM", n/million)
}

// cost is in US dollars.
func cost(c float64) string {
	if c == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.2f", c)
}

// span rounds a duration to what a person wants to know of it.
func span(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < time.Minute:
		return d.Round(time.Second / 10).String()
	}
	return d.Round(time.Second).String()
}
