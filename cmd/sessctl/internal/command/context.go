package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// contextFlags are the flags of context.
type contextFlags struct {
	leaf, dialect, blobs string
	repair, rendered     bool
	settings             bool
	brief, full          bool
	mask                 int
	budget               int
	noImages, noThought  bool
	masked               bool // --mask-results was given
}

func (a *app) context() *cobra.Command {
	var f contextFlags
	cmd := &cobra.Command{
		Use:   "context S",
		Short: "Show what the model is sent at the leaf",
		Long: `context rebuilds what a model is sent at the leaf of a session: the messages of
the active path, with the latest compaction's summary in the place of what it
replaced, rewinds, edits, and messages that no screen shows. Of sessions of pi and
sessctl it is what pi makes of them, of oh-my-pi's what oh-my-pi does. The log is
read from its end, as far as the context reaches.

--repair shows what a provider can be sent whatever the session went through: every
call with one result, no failed answers, nothing empty. --rendered writes summaries
and shell commands out as the model reads them. --mask-results, --no-images,
--no-thinking and --budget ask for less, and tell what that cost.`,
		Example: "  sessctl context latest\n  sessctl context session.jsonl --json | jq '.tokens, .report'\n  sessctl context latest --leaf @~4 --repair --rendered\n  sessctl context latest --mask-results 3 --budget 100000 --brief",
		Args:    needs(1, 1, aSession),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.masked = cmd.Flags().Changed("mask-results")
			return a.runContext(&f, args[0])
		},
	}
	f.register(cmd)
	return cmd
}

func (f *contextFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.leaf, "leaf", "", "the context at `ENTRY` instead of the leaf")
	fl.StringVar(&f.dialect, "dialect", "", "select as `PROGRAM` does, pi or omp, whosever the session is")
	fl.BoolVar(&f.repair, "repair", false, "make it valid for providers, and tell what was changed")
	fl.BoolVar(&f.rendered, "rendered", false, "as the model reads it: only system, developer, user, assistant and toolResult messages")
	fl.IntVar(&f.mask, "mask-results", 0, "leave out tool results that are older than the last `N` turns")
	fl.BoolVar(&f.noImages, "no-images", false, "leave out images")
	fl.BoolVar(&f.noThought, "no-thinking", false, "leave out thinking")
	fl.IntVar(&f.budget, "budget", 0, "leave out the oldest until it takes about `N` tokens")
	fl.BoolVar(&f.settings, "settings", false, "look for the thinking level in the whole log, however large it is")
	fl.StringVar(&f.blobs, "blobs", "", "the `DIR` where oh-my-pi keeps images (default: beside its sessions)")
	fl.BoolVar(&f.brief, "brief", false, "one line a message")
	fl.BoolVar(&f.full, "full", false, "do not cut long results")
}

func (a *app) runContext(f *contextFlags, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	t, err := a.open(name, false)
	if err != nil {
		return err
	}
	defer t.Close()
	c, err := f.build(t)
	if err != nil {
		return err
	}
	a.reportDamage(t)
	return a.write(true, func(o *term.Output) error {
		if a.flags.json {
			return f.json(o, t, c)
		}
		return a.contextText(o, f, t, c)
	})
}

func (f *contextFlags) check() error {
	switch {
	case f.dialect != "" && f.dialect != string(modelcontext.Pi) && f.dialect != string(modelcontext.Omp):
		return usagef("--dialect is pi or omp, not %q", f.dialect)
	case f.mask < 0:
		return usagef("--mask-results is a number of turns, not %d", f.mask)
	case f.budget < 0:
		return usagef("--budget is a number of tokens, not %d", f.budget)
	}
	return nil
}

func (f *contextFlags) build(t *sessiontree.Tree) (*modelcontext.Context, error) {
	leaf := t.Leaf()
	if f.leaf != "" {
		e, err := locate.Entry(t, f.leaf)
		if err != nil {
			return nil, err
		}
		leaf = e.ID
	}
	opt := &modelcontext.Options{Dialect: modelcontext.Dialect(f.dialect), Blob: f.blob(t.File())}
	if f.settings {
		opt.Lookback = -1
	}
	c, err := modelcontext.Build(t, leaf, opt)
	if err != nil {
		return nil, err
	}
	p := modelcontext.Policy{
		MaskResults: f.masked, KeepTurns: f.mask, NoImages: f.noImages, NoThinking: f.noThought, Budget: f.budget,
	}
	if p.MaskResults || p.NoImages || p.NoThinking || p.Budget > 0 {
		c = c.Apply(p)
	}
	if f.repair {
		c = c.Repair()
	}
	return c, nil
}

// blob reads from oh-my-pi's folder of blobs, which stands beside its sessions.
func (f *contextFlags) blob(session string) func(string) ([]byte, error) {
	dir := f.blobs
	if before, _, ok := strings.Cut(filepath.ToSlash(session), "/sessions/"); ok && dir == "" {
		dir = filepath.Join(filepath.FromSlash(before), "blobs")
	}
	if dir == "" {
		return nil
	}
	return func(sum string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, sum)) }
}

type jsonContext struct {
	Schema   string               `json:"schema"`
	ID       string               `json:"id"`
	Path     string               `json:"path"`
	Leaf     *entries.ID          `json:"leaf"`
	Dialect  modelcontext.Dialect `json:"dialect"`
	Entries  int                  `json:"entries"`
	Scanned  string               `json:"scanned"`
	Model    *jsonModel           `json:"model"`
	Thinking *string              `json:"thinkingLevel"`
	Mode     *string              `json:"mode"`
	Tokens   jsonTokens           `json:"tokens"`
	Hash     string               `json:"hash"`
	Report   jsonReport           `json:"report"`
	Damage   []jsonDamage         `json:"damage"`
	EntryIDs []entries.ID         `json:"entryIds"`
}

type jsonModel struct {
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

type jsonTokens struct {
	Estimate int   `json:"estimate"`
	Recorded int   `json:"recorded"`
	Budget   *int  `json:"budget"`
	Before   *int  `json:"before"`
	Fits     *bool `json:"fits"`
}

type jsonReport struct {
	Dropped  []jsonDropped `json:"dropped"`
	Repaired []jsonChange  `json:"repaired"`
}

type jsonDropped struct {
	Entry  entries.ID          `json:"entry"`
	Reason modelcontext.Reason `json:"reason"`
	Detail *string             `json:"detail"`
}

type jsonChange struct {
	Entry  entries.ID              `json:"entry"`
	Kind   modelcontext.ChangeKind `json:"kind"`
	Detail *string                 `json:"detail"`
}

// json writes the document. The messages are written as they are in the log: they may
// be nested deeper, and be larger, than an encoder should have to take.
func (f *contextFlags) json(o *term.Output, t *sessiontree.Tree, c *modelcontext.Context) error {
	list := f.messages(c)
	doc := jsonContext{
		Schema: "sessctl.context/1", ID: t.Header().ID, Path: t.File(), Leaf: optionalID(c.Leaf), Dialect: c.Dialect,
		Entries: c.Report.Entries, Scanned: scanned(t), Thinking: optional(c.Thinking), Mode: optional(c.Mode),
		Tokens: tokensJSON(c), Hash: c.Hash(), Report: reportJSON(c.Report), Damage: damageJSON(t.Damage()),
		EntryIDs: make([]entries.ID, len(list)),
	}
	if c.Model != (modelcontext.Model{}) {
		doc.Model = &jsonModel{c.Model.Provider, c.Model.ID}
	}
	for i, m := range list {
		doc.EntryIDs[i] = m.Entry
	}
	var head bytes.Buffer
	if err := writeJSON(&head, doc, true); err != nil {
		return err
	}
	o.Write(bytes.TrimSuffix(head.Bytes(), []byte("}\n")))
	o.WriteString(",\"messages\":[")
	for i, m := range list {
		separator := ",\n"
		if i == 0 {
			separator = "\n"
		}
		o.WriteString(separator)
		o.Write(term.JSON(m.Raw))
	}
	_, err := o.WriteString("]}\n")
	return err
}

func (f *contextFlags) messages(c *modelcontext.Context) []modelcontext.Message {
	if f.rendered {
		return c.Render()
	}
	return c.Messages
}

func tokensJSON(c *modelcontext.Context) jsonTokens {
	e := c.Tokens(nil)
	out := jsonTokens{Estimate: e.Tokens, Recorded: e.Recorded}
	if b := c.Report.Budget; b != nil {
		out.Budget, out.Before, out.Fits = &b.Budget, &b.Before, &b.Fits
	}
	return out
}

func reportJSON(r modelcontext.Report) jsonReport {
	out := jsonReport{Dropped: make([]jsonDropped, len(r.Dropped)), Repaired: make([]jsonChange, len(r.Repaired))}
	for i, d := range r.Dropped {
		out.Dropped[i] = jsonDropped{d.Entry, d.Reason, optional(d.Detail)}
	}
	for i, c := range r.Repaired {
		out.Repaired[i] = jsonChange{c.Entry, c.Kind, optional(c.Detail)}
	}
	return out
}

// contextText shows the messages as show does, and then what is not among them.
func (a *app) contextText(o *term.Output, f *contextFlags, t *sessiontree.Tree, c *modelcontext.Context) error {
	fmt.Fprintln(o, o.Style(term.Bold, o.Cut(contextHeading(t, c), o.Width)))
	fmt.Fprintln(o)
	p := &printer{app: a, o: o, flags: &showFlags{brief: f.brief, full: f.full}}
	for _, m := range f.messages(c) {
		p.contextMessage(m)
	}
	for _, d := range c.Report.Dropped {
		fmt.Fprintln(o, o.Style(term.Dim, o.Cut(strings.TrimSpace("left out  "+short(d.Entry)+"  "+string(d.Reason)+"  "+oneLine(d.Detail)), o.Width)))
	}
	for _, r := range c.Report.Repaired {
		fmt.Fprintln(o, o.Style(term.Dim, o.Cut(strings.TrimSpace("repaired  "+short(r.Entry)+"  "+string(r.Kind)+"  "+oneLine(r.Detail)), o.Width)))
	}
	if b := c.Report.Budget; b != nil {
		fmt.Fprintln(o, o.Style(term.Dim, budgetLine(b)))
	}
	return nil
}

func budgetLine(b *modelcontext.Spending) string {
	line := fmt.Sprintf("budget    about %d of %d tokens, %d before: %s masked, %s left out",
		b.After, b.Budget, b.Before, plural(b.Masked, "result", "results"), plural(b.Turns, "turn", "turns"))
	if !b.Fits {
		line += "; what is left does not fit"
	}
	return line
}

func contextHeading(t *sessiontree.Tree, c *modelcontext.Context) string {
	parts := []string{
		string(t.Agent()) + " session " + term.Line(entries.ID(t.Header().ID).Short()),
		"context at " + short(c.Leaf),
		plural(len(c.Messages), "message", "messages"),
		fmt.Sprintf("about %d tokens", c.Tokens(nil).Tokens),
	}
	if c.Model.ID != "" {
		parts = append(parts, term.Line(c.Model.Provider+"/"+c.Model.ID))
	}
	if c.Thinking != "" {
		parts = append(parts, "thinking "+term.Line(c.Thinking))
	}
	return strings.Join(parts, "  ")
}

// contextMessage writes one message, as show does an entry.
func (p *printer) contextMessage(m modelcontext.Message) {
	body := entries.ParseMessage(json.RawMessage(m.Raw))
	kind := term.Line(m.Role)
	if body.CustomType != "" {
		kind += " " + term.Line(body.CustomType)
	}
	if body.ToolName != "" {
		kind += " " + term.Line(body.ToolName)
	}
	style := styleOf(entries.Entry{Type: entries.TypeMessage, Role: m.Role}, body.IsError)
	if p.flags.brief {
		text := strings.TrimSpace(short(m.Entry) + "  " + kind + "  " + oneLine(contextText(m, body)))
		fmt.Fprintln(p.o, p.o.Style(style, p.o.Cut(text, p.briefWidth())))
		return
	}
	if style == "" {
		style = term.Cyan
	}
	fmt.Fprintln(p.o, p.o.Style(style, kind+"  "+short(m.Entry)))
	if summary := m.Field("summary"); summary != nil {
		p.block("", contextText(m, body), 0)
	}
	p.body(body)
	fmt.Fprintln(p.o)
}

// contextText is a message in a few words.
func contextText(m modelcontext.Message, body entries.Message) string {
	var summary string
	if json.Unmarshal(m.Field("summary"), &summary) == nil && summary != "" {
		return summary
	}
	switch m.Role {
	case modelcontext.RoleAssistant:
		return assistantText(body)
	case modelcontext.RoleBashExecution:
		return "$ " + body.Command
	}
	return body.Text()
}
