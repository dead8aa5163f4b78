package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// showFlags are the flags of show.
type showFlags struct {
	branch, from, to  string
	around, last      int
	brief, full, raw  bool
	jsonl             bool
	roles, tools      []string
	errors, noThought bool
	follow            bool

	hidden int // records of the agent's own that were left out
}

func (a *app) show() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show S [ENTRY]",
		Short: "Show the conversation of a session, or one entry",
		Long: `show prints the active path from its root to the leaf as text: a line about each
entry, and its content indented below. Long results of tools are cut, and records that
Claude Code and Codex keep for themselves are left out; --full shows all. "not sent"
marks what the model does not see any more: a compaction replaced it, an edit took it
out, it is on another branch (show S ENTRY tells which). With ENTRY it prints that
entry alone, in full. -f follows sessions of sessctl, pi and oh-my-pi; a transcript of
Claude Code or Codex cannot be followed.`,
		Example: "  sessctl show latest -n 20\n  sessctl show latest --agent claude --errors\n  sessctl show session.jsonl --branch bf412c --brief\n  sessctl show session.jsonl :18 --raw\n  sessctl show latest --agent pi -f",
		Args:    needs(1, 2, aSession+"; and an ENTRY"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runShow(&f, args)
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.branch, "branch", "", "the path to the entry `TIP` instead of the active one")
	fl.StringVar(&f.from, "from", "", "start at `ENTRY` of the path")
	fl.StringVar(&f.to, "to", "", "end at `ENTRY` of the path")
	fl.IntVarP(&f.around, "context", "C", 0, "with ENTRY: the `N` entries before and after it that are shown of its path, too")
	fl.IntVarP(&f.last, "last", "n", 0, "only the last `N` entries")
	fl.BoolVar(&f.brief, "brief", false, "one line an entry")
	fl.BoolVar(&f.full, "full", false, "do not cut long results, and leave no records out")
	fl.BoolVar(&f.raw, "raw", false, "the records byte for byte, as they are in the log")
	fl.BoolVar(&f.jsonl, "jsonl", false, "a JSON object a line: the envelope, and the record as it is in the log")
	fl.StringSliceVar(&f.roles, "role", nil, "only messages of `ROLES` (user, assistant, toolResult, ...)")
	fl.StringSliceVar(&f.tools, "tool", nil, "only calls and results of the tools `NAMES`")
	fl.BoolVar(&f.errors, "errors", false, "only failed results and turns")
	fl.BoolVar(&f.noThought, "no-thinking", false, "leave out thinking")
	fl.BoolVarP(&f.follow, "follow", "f", false, "wait for more, and show it as it is written (not of Claude Code and Codex)")
	return cmd
}

func (f *showFlags) check(a *app, args []string) error {
	forms := 0
	for _, set := range []bool{a.flags.json, f.brief, f.raw, f.jsonl} {
		if set {
			forms++
		}
	}
	switch {
	case forms > 1:
		return usagef("--json, --jsonl, --raw and --brief exclude each other")
	case f.follow && (args[0] == "-" || a.flags.json || len(args) == 2):
		return usagef("--follow needs a file, shows a path, and does not go with --json (use --jsonl)")
	case f.around != 0 && len(args) < 2:
		return usagef("-C needs an ENTRY")
	case f.around < 0 || f.last < 0:
		return usagef("-C and -n take a number that is not negative")
	case len(args) == 2 && (f.from != "" || f.to != "" || f.branch != ""):
		return usagef("ENTRY does not go with --branch, --from or --to")
	}
	return nil
}

func (a *app) runShow(f *showFlags, args []string) error {
	if err := f.check(a, args); err != nil {
		return err
	}
	t, err := a.whole(args[0])
	if err != nil {
		return err
	}
	defer t.Close()
	picked, err := f.pick(a, t, args[1:])
	if err != nil {
		return err
	}
	view, err := f.sent(t)
	if err != nil {
		return err
	}
	var end sessiontree.Cursor
	if f.follow { // what cannot be followed is refused before anything is printed
		if end, err = t.Cursor(); err != nil {
			return err
		}
	}
	return a.write(!f.follow, func(o *term.Output) error {
		p := &printer{app: a, o: o, flags: f, alone: len(args) == 2 && f.around == 0, view: view}
		if a.flags.json {
			return p.document(t, picked)
		}
		for _, e := range picked {
			if err := p.print(e); err != nil {
				return err
			}
		}
		if f.follow {
			return p.follow(t, end)
		}
		f.tellHidden(a, t)
		return nil
	})
}

// tellHidden says that there is more on the path than what is shown.
func (f *showFlags) tellHidden(a *app, t *sessiontree.Tree) {
	name := foreignNames[t.Agent()]
	if f.hidden == 0 || name == "" || a.flags.quiet || len(f.roles)+len(f.tools) > 0 || f.errors || f.last > 0 {
		return
	}
	fmt.Fprintf(a.stderr, "sessctl: %s of %s's own not shown (--full shows them)\n", plural(f.hidden, "record", "records"), name)
}

// pick finds the entries to be shown.
func (f *showFlags) pick(a *app, t *sessiontree.Tree, entry []string) ([]entries.Entry, error) {
	if len(entry) == 1 {
		return f.pickOne(a, t, entry[0])
	}
	tip, err := f.tip(t)
	if err != nil {
		return nil, err
	}
	path, err := gather(t.Path(tip))
	if err != nil {
		return nil, err
	}
	if path, err = f.cut(t, path); err != nil {
		return nil, err
	}
	all := len(path)
	if f.readable(a) {
		path = slices.DeleteFunc(path, internal)
		f.hidden = all - len(path)
	}
	path = slices.DeleteFunc(path, func(e entries.Entry) bool { return !f.wants(e) })
	if f.last > 0 && len(path) > f.last {
		path = path[len(path)-f.last:]
	}
	return path, nil
}

// readable tells whether the conversation is to be read, and not the log.
func (f *showFlags) readable(a *app) bool { return !f.full && !f.raw && !f.jsonl && !a.flags.json }

// tip is where the path that is shown ends.
func (f *showFlags) tip(t *sessiontree.Tree) (entries.ID, error) {
	if f.branch == "" {
		return t.Leaf(), nil
	}
	e, err := locate.Entry(t, f.branch)
	return e.ID, err
}

func gather(seq iter.Seq2[entries.Entry, error]) (list []entries.Entry, err error) {
	for e, err := range seq {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// pickOne finds one entry, and with -C what is shown around it: on the active path
// where that has it, else on the way to the tip below it.
func (f *showFlags) pickOne(a *app, t *sessiontree.Tree, name string) ([]entries.Entry, error) {
	e, err := locate.Entry(t, name)
	if err != nil || f.around == 0 {
		return []entries.Entry{e}, err
	}
	path, err := gather(t.Path(e.ID))
	if err != nil {
		return nil, err
	}
	above := path[:len(path)-1]
	below, err := f.below(t, e.ID)
	if err != nil {
		return nil, err
	}
	if f.readable(a) {
		above, below = slices.DeleteFunc(above, internal), slices.DeleteFunc(below, internal)
	}
	around := append(above[max(len(above)-f.around, 0):], e)
	return append(around, below[:min(f.around, len(below))]...), nil
}

// below gives what follows an entry on its path, down to the tip.
func (f *showFlags) below(t *sessiontree.Tree, id entries.ID) (list []entries.Entry, err error) {
	active, err := gather(t.Path(t.Leaf()))
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(active, func(e entries.Entry) bool { return e.ID == id }); i >= 0 {
		return active[i+1:], nil
	}
	for {
		kids, err := t.Children(id)
		if err != nil || len(kids) == 0 {
			return list, err
		}
		id = kids[len(kids)-1]
		e, err := t.Entry(id)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
}

// cut applies --from and --to.
func (f *showFlags) cut(t *sessiontree.Tree, path []entries.Entry) ([]entries.Entry, error) {
	from, to := 0, len(path)
	for _, bound := range []struct {
		name string
		set  func(i int)
	}{{f.from, func(i int) { from = i }}, {f.to, func(i int) { to = i + 1 }}} {
		if bound.name == "" {
			continue
		}
		e, err := locate.Entry(t, bound.name)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(path, func(p entries.Entry) bool { return p.ID == e.ID })
		if i < 0 {
			return nil, fmt.Errorf("entry %q is not on the path that is shown: %w; give its branch with --branch", bound.name, sessiontree.ErrNotFound)
		}
		bound.set(i)
	}
	if from >= to {
		return nil, nil
	}
	return path[from:to], nil
}

// wants applies the filters.
func (f *showFlags) wants(e entries.Entry) bool {
	if len(f.roles) == 0 && len(f.tools) == 0 && !f.errors {
		return true
	}
	if e.Type != entries.TypeMessage || len(f.roles) > 0 && !slices.Contains(f.roles, e.Role) {
		return false
	}
	if len(f.tools) == 0 && !f.errors {
		return true
	}
	m, err := e.Message()
	if err != nil {
		return f.errors
	}
	return (!f.errors || m.Failed()) && (len(f.tools) == 0 || usesTool(m, f.tools))
}

func usesTool(m entries.Message, names []string) bool {
	if m.Role == "toolResult" {
		return slices.Contains(names, m.ToolName)
	}
	return slices.ContainsFunc(m.Calls(), func(b entries.Block) bool { return slices.Contains(names, b.Name) })
}

// follow shows what is written behind a place from now on.
func (p *printer) follow(t *sessiontree.Tree, at sessiontree.Cursor) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := p.o.Flush(); err != nil {
		return err
	}
	leaf := t.Leaf()
	for e, err := range sessiontree.Follow(ctx, t.File(), &at, nil) {
		if err != nil {
			return err
		}
		if e.Parent != leaf && !p.flags.raw && !p.flags.jsonl {
			fmt.Fprintf(p.o, "%s\n\n", p.o.Style(term.Yellow, "-- goes on from "+short(e.Parent)+" --"))
		}
		leaf = e.ID
		if p.view != nil {
			p.view.sent[e.ID] = true // what comes in is the newest
		}
		if p.flags.wants(e) {
			if err := p.print(e); err != nil {
				return err
			}
		}
		if err := p.o.Flush(); err != nil {
			return err
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return nil
}

// lines splits text that may end in newlines.
func lines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
