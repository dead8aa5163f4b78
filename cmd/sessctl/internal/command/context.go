package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	model                string
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
--no-thinking, --model and --budget ask for less, and tell what that cost.`,
		Example: "  sessctl context latest\n  sessctl context session.jsonl --json | jq '.tokens, .report'\n  sessctl context latest --leaf @~4 --repair --rendered\n  sessctl context latest --mask-results 3 --budget 100000 --brief",
		Args:    needs(1, 1, aSession),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.masked = cmd.Flags().Changed("mask-results")
			for _, name := range []string{"leaf", "model", "blobs"} { // an unset variable of a script's
				if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
					return usagef("--%s is empty", name)
				}
			}
			if cmd.Flags().Changed("budget") && f.budget <= 0 {
				return usagef("--budget is a number of tokens above 0, not %d", f.budget)
			}
			return a.runContext(&f, args[0])
		},
	}
	f.register(cmd)
	return cmd
}

func (f *contextFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.leaf, "leaf", "", "the context at `ENTRY` instead of the leaf (root: before the first entry)")
	fl.StringVar(&f.dialect, "dialect", "", "select as `PROGRAM` does, pi or omp, whosever the session is")
	fl.BoolVar(&f.repair, "repair", false, "make it valid for providers, and tell what was changed")
	fl.BoolVar(&f.rendered, "rendered", false, "as the model reads it: only system, developer, user, assistant and toolResult messages")
	fl.IntVar(&f.mask, "mask-results", 0, "leave out tool results that are older than the last `N` turns")
	fl.BoolVar(&f.noImages, "no-images", false, "leave out images")
	fl.BoolVar(&f.noThought, "no-thinking", false, "leave out thinking")
	fl.StringVar(&f.model, "model", "", "for `PROVIDER/ID`: without what another model signed")
	fl.IntVar(&f.budget, "budget", 0, "leave out the oldest until it takes about `N` tokens")
	fl.BoolVar(&f.settings, "settings", false, "look for the thinking level in the whole log, however large it is")
	fl.StringVar(&f.blobs, "blobs", "", "the `DIR` where oh-my-pi keeps images (default: beside its sessions)")
	fl.BoolVar(&f.brief, "brief", false, "one line a message")
	fl.BoolVar(&f.full, "full", false, "do not cut long results")
}

func (a *app) runContext(f *contextFlags, name string) error {
	if err := f.check(a); err != nil {
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
	a.reportDamage(t.File(), t.Damage())
	if s := c.Report.Spending; s != nil && !s.Fits {
		a.strict = a.strict || a.flags.strict
	}
	return a.write(true, func(o *term.Output) error {
		if a.flags.json {
			return f.json(o, t, c)
		}
		return a.contextText(o, f, t, c)
	})
}

func (f *contextFlags) check(a *app) error {
	switch {
	case a.flags.json && f.brief:
		return usagef("--json and --brief exclude each other")
	case f.dialect != "" && f.dialect != string(modelcontext.Pi) && f.dialect != string(modelcontext.Omp):
		return usagef("--dialect is pi or omp, not %q", f.dialect)
	case f.mask < 0:
		return usagef("--mask-results is a number of turns, not %d", f.mask)
	case f.model != "" && (strings.Index(f.model, "/") < 1 || strings.HasSuffix(f.model, "/")):
		return usagef("--model is PROVIDER/ID, not %q", f.model)
	}
	return nil
}

func (f *contextFlags) build(t *sessiontree.Tree) (*modelcontext.Context, error) {
	leaf, err := f.at(t)
	if err != nil {
		return nil, err
	}
	opt := &modelcontext.Options{Dialect: modelcontext.Dialect(f.dialect), Blob: f.blob(t.File())}
	if f.settings {
		opt.Lookback = -1
	}
	c, err := modelcontext.Build(t, leaf, opt)
	if err != nil {
		return nil, err
	}
	if f.repair {
		c = c.Repair()
	}
	if p, asked := f.policy(); asked {
		c = c.Apply(p)
	}
	return c, nil
}

// at is where the context is asked for.
func (f *contextFlags) at(t *sessiontree.Tree) (entries.ID, error) {
	switch f.leaf {
	case "":
		return t.Leaf(), nil
	case "root":
		return "", nil
	}
	e, err := locate.Entry(t, f.leaf)
	return e.ID, err
}

// policy is what the flags ask to leave out; asked is false where that is nothing.
func (f *contextFlags) policy() (p modelcontext.Policy, asked bool) {
	p = modelcontext.Policy{
		MaskResults: f.masked, KeepTurns: f.mask, NoImages: f.noImages, NoThinking: f.noThought, Budget: f.budget,
	}
	p.For.Provider, p.For.ID, _ = strings.Cut(f.model, "/")
	return p, p.MaskResults || p.NoImages || p.NoThinking || p.Budget > 0 || f.model != ""
}

// blob reads from oh-my-pi's folder of blobs, which stands beside its sessions.
func (f *contextFlags) blob(session string) func(string) ([]byte, error) {
	dir := f.blobs
	if dir == "" {
		dir = blobsBeside(session)
	}
	return func(sum string) ([]byte, error) {
		if dir == "" {
			return nil, errors.New("no blobs folder stands beside the log's sessions; --blobs names another")
		}
		data, err := readBlob(filepath.Join(dir, sum))
		if path, ok := errors.AsType[*fs.PathError](err); ok { // the sum is told already
			err = fmt.Errorf("%w in %s", path.Err, dir)
		}
		return data, err
	}
}

// readBlob reads a regular file of a size that an image may have: a folder that somebody
// else has filled must not hang the command, or fill its memory.
func readBlob(path string) ([]byte, error) {
	const most = 64 << 20
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > most:
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are read", info.Size(), most)
	}
	return os.ReadFile(path)
}

// blobsBeside finds the folder blobs beside the folder sessions that a log is in,
// however deep; "" where there is none.
func blobsBeside(session string) string {
	at, err := filepath.Abs(session)
	if err != nil || session == "-" {
		return ""
	}
	for above := filepath.Dir(at); above != at; at, above = above, filepath.Dir(above) {
		dir := filepath.Join(above, "blobs")
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.Base(at) == "sessions" {
			return dir
		}
	}
	return ""
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
	Masked   *int  `json:"masked"`
	Turns    *int  `json:"turns"`
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
	if s := c.Report.Spending; s != nil {
		out.Before, out.Masked, out.Turns = &s.Before, &s.Masked, &s.Turns
		if s.Budget > 0 {
			out.Budget, out.Fits = &s.Budget, &s.Fits
		}
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
	list := f.messages(c)
	for _, line := range o.Wrap(f.heading(t, c, len(list)), o.Width) {
		fmt.Fprintln(o, o.Style(term.Bold, line))
	}
	fmt.Fprintln(o)
	p := &printer{app: a, o: o, flags: &showFlags{brief: f.brief, full: f.full}, view: viewOf(c)}
	for _, m := range list {
		p.contextMessage(m)
	}
	if f.brief && len(list) > 0 {
		fmt.Fprintln(o)
	}
	var lines []reportLine
	for _, d := range c.Report.Dropped {
		lines = append(lines, reportLine{"left out", string(d.Reason), d.Detail, []entries.ID{d.Entry}})
	}
	for _, r := range c.Report.Repaired {
		lines = append(lines, reportLine{"repaired", string(r.Kind), r.Detail, []entries.ID{r.Entry}})
	}
	if !f.full {
		lines = folded(lines)
	}
	for _, l := range lines {
		fmt.Fprintln(o, o.Style(term.Dim, o.Cut(l.String(), o.Width)))
	}
	if s := c.Report.Spending; s != nil {
		for _, line := range o.Wrap(spendingLine(s), o.Width) {
			fmt.Fprintln(o, o.Style(term.Dim, line))
		}
	}
	return nil
}

// A reportLine tells what became of an entry, or of several in a row.
type reportLine struct {
	verb, what, detail string
	entries            []entries.ID
}

func (l reportLine) String() string {
	who := short(l.entries[0])
	if n := len(l.entries); n > 1 {
		who = fmt.Sprintf("%s to %s, %s", who, short(l.entries[n-1]), plural(n, "entry", "entries"))
	}
	return strings.TrimSpace(l.verb + "  " + who + "  " + term.Line(l.what) + "  " + term.OneLine(l.detail))
}

// folded makes one line of many in a row that say the same: a policy may leave out
// hundreds.
func folded(lines []reportLine) (out []reportLine) {
	const few = 3
	for len(lines) > 0 {
		first, n := lines[0], 1
		for n < len(lines) && lines[n].verb == first.verb && lines[n].what == first.what && lines[n].detail == "" && first.detail == "" {
			n++
		}
		if n <= few {
			out = append(out, lines[:n]...)
		} else {
			all := first
			all.entries = nil
			for _, l := range lines[:n] {
				all.entries = append(all.entries, l.entries...)
			}
			all.entries = slices.Compact(all.entries)
			out = append(out, all)
		}
		lines = lines[n:]
	}
	return out
}

func spendingLine(s *modelcontext.Spending) string {
	line := fmt.Sprintf("spending  about %d tokens of %d", s.After, s.Before)
	if s.Budget > 0 {
		line += fmt.Sprintf(", budget %d", s.Budget)
	}
	line += fmt.Sprintf(": %s masked, %s left out", plural(s.Masked, "result", "results"), plural(s.Turns, "turn", "turns"))
	if !s.Fits {
		line += "; what is left does not fit"
	}
	return line
}

func (f *contextFlags) heading(t *sessiontree.Tree, c *modelcontext.Context, messages int) string {
	parts := []string{string(t.Agent()) + " session " + term.Line(entries.ID(t.Header().ID).Short())}
	if c.Leaf == "" {
		parts = append(parts, "context before the first entry")
	} else {
		parts = append(parts, "context at "+short(c.Leaf))
	}
	if f.dialect != "" {
		parts = append(parts, "as "+string(c.Dialect)+" selects")
	}
	parts = append(parts, plural(messages, "message", "messages"), fmt.Sprintf("about %d tokens", c.Tokens(nil).Tokens))
	if c.Model.ID != "" {
		parts = append(parts, term.Line(c.Model.Provider+"/"+c.Model.ID))
	}
	if c.Thinking != "" {
		parts = append(parts, "thinking "+term.Line(c.Thinking))
	}
	return strings.Join(parts, "  ")
}
