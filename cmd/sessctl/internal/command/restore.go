package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// restoreFlags say how files are restored, by whichever command.
type restoreFlags struct {
	yes, dry, force bool
	overwrite       []string
	root            string

	plan string   // of files restore
	only []string // likewise
}

func (f *restoreFlags) register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.yes, "yes", false, "do not ask")
	fl.BoolVar(&f.dry, "dry-run", false, "only show what would be done")
	fl.BoolVar(&f.force, "force", false, "overwrite files in conflict (undo brings back what they were)")
	fl.StringArrayVar(&f.overwrite, "overwrite", nil, "overwrite `PATH`, or what is below it, where it is in conflict (can be repeated)")
	fl.StringVar(&f.root, "root", "", "the files are in `DIR` instead of the session's folder")
}

// noFiles refuses flags that are about files, where these stay.
func (f *restoreFlags) noFiles() error {
	if f.force || len(f.overwrite) > 0 {
		return usagef("--force and --overwrite are about files; they need --scope code or both")
	}
	return nil
}

func (a *app) filesRestore() *cobra.Command {
	var f restoreFlags
	cmd := &cobra.Command{
		Use:   "restore S ENTRY",
		Short: "Bring files back to what they were at an entry",
		Long: `restore brings the files that the session tells of to what they were at ENTRY, on
whatever branch that is; the conversation stays where it is. "root" is before the
first entry. It shows the plan first, and asks. A file in conflict stops all of it:
--overwrite PATH or --force allows to overwrite it. What is overwritten is kept, and
'sessctl undo S --scope code' brings it back. With --plan ID exactly the plan is done
that 'sessctl files plan' has shown, or nothing.`,
		Example: "  sessctl files restore latest @~6\n  sessctl files restore latest before-refactoring --only src --yes",
		Args:    needs(2, 2, "a session and an ENTRY"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runRestore(&f, args[0], restoring{reason: string(sessiontree.ReasonRestore), entry: &args[1], show: true, plan: func(v *fileView) (*checkpoint.Plan, error) {
				return v.planTo(args[1], checkpoint.Code, f.only)
			}})
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.plan, "plan", "", "do the plan `ID`, and no other")
	fl.StringArrayVar(&f.only, "only", nil, "only `PATH`, and what is below it (can be repeated)")
	f.register(fl)
	return cmd
}

// A restoring is what a command restores.
type restoring struct {
	reason  string  // undo, redo or restore
	summary string  // in the place of the marker that moves the leaf
	entry   *string // its name, "" where none is
	show    bool    // what became of each file goes to stdout
	plan    func(*fileView) (*checkpoint.Plan, error)
}

// mostPreviewed is how many files of each action are named before a command asks.
const mostPreviewed = 30

// runRestore plans, shows, asks and does. What was cut short before is finished first.
func (a *app) runRestore(f *restoreFlags, name string, r restoring) error {
	v, err := a.settledView(name, f, r.entry)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := a.reportFiles(v); err != nil {
		return err
	}
	p, err := r.plan(v)
	if err != nil {
		return err
	}
	opt, err := f.options(v, p)
	if err != nil {
		return err
	}
	ret, prompt, err := a.showPlan(v, p)
	if err != nil {
		return err
	}
	if f.plan != "" && f.plan != p.ID {
		return fmt.Errorf("%w: it was %s, and is %s now, as shown here", checkpoint.ErrStale, f.plan, p.ID)
	}
	refused := p.Refused(opt)
	if refused != nil && !f.dry {
		fmt.Fprintln(a.stderr, "sessctl: --overwrite PATH or --force overwrites what is in conflict; it is kept, and undo brings it back")
		return refused
	}
	a.strict = a.strict || a.flags.strict && p.Count(checkpoint.ActUnknown) > 0
	doc := v.restoreJSON(r, p, ret, prompt)
	if !f.dry && !p.Nothing() {
		if err := a.doRestore(f, v, p, opt, r, &doc); err != nil {
			return err
		}
	}
	return a.write(false, func(o *term.Output) error { return a.writeRestore(o, r, doc) })
}

// options say which conflicts are overwritten.
func (f *restoreFlags) options(v *fileView, p *checkpoint.Plan) (*checkpoint.CommitOptions, error) {
	paths, err := v.inRoot(f.overwrite)
	if err == nil {
		err = hasPaths(p, paths)
	}
	return &checkpoint.CommitOptions{Force: f.force, Overwrite: paths}, err
}

// showPlan tells on stderr what is going to happen, to the conversation and to files.
func (a *app) showPlan(v *fileView, p *checkpoint.Plan) (ret sessiontree.Return, prompt string, err error) {
	switch {
	case p.Return == nil:
		fmt.Fprintln(a.stderr, "sessctl: the conversation stays")
	case p.Return.Reason == sessiontree.ReasonRestore || p.Return.Entries == 0 && p.Return.From != p.Return.To:
		ret = *p.Return
		fmt.Fprintf(a.stderr, "sessctl: the leaf goes to %s\n", placeName(v.t, ret.To))
	default:
		ret = *p.Return
		if prompt, err = promptOf(&ret); err != nil {
			return ret, "", err
		}
		fmt.Fprint(a.stderr, preview(v.t, &ret))
	}
	fmt.Fprintf(a.stderr, "%splan %s\n", v.planText(p, mostPreviewed), p.ID)
	return ret, prompt, nil
}

// doRestore asks, and does what was shown, or nothing.
func (a *app) doRestore(f *restoreFlags, v *fileView, p *checkpoint.Plan, opt *checkpoint.CommitOptions, r restoring, doc *jsonReturn) error {
	if !f.yes {
		if err := a.confirm("Do this?", "--yes"); err != nil {
			return err
		}
	}
	if r.summary != "" {
		opt.Batch = func(done *checkpoint.Done) []entries.Draft {
			left := p.From
			if done.Begin != "" {
				left = done.Begin
			}
			return []entries.Draft{entries.BranchSummaryDraft(left, r.summary, nil)}
		}
	}
	var done *checkpoint.Done
	err := a.writing(v.t.File(), func(s *sessiontree.Session) error {
		return a.track(s, f.root, func(ctx context.Context, tr *checkpoint.Tracker) (err error) {
			done, err = tr.Commit(ctx, p, opt)
			return err
		})
	})
	if stale, ok := errors.AsType[*checkpoint.StaleError](err); ok {
		fmt.Fprintf(a.stderr, "%splan %s\n", v.planText(stale.Fresh, mostPreviewed), stale.Fresh.ID)
	}
	if err != nil {
		return err
	}
	doc.Done, doc.Leaf = true, optionalID(done.Leaf)
	doc.took(done)
	if !r.show && len(done.Files) > 0 {
		fmt.Fprintf(a.stderr, "sessctl: files: %s\n", results(done.Files))
	}
	return nil
}

// restoreJSON is what a command says that has restored nothing yet.
func (v *fileView) restoreJSON(r restoring, p *checkpoint.Plan, ret sessiontree.Return, prompt string) jsonReturn {
	doc := jsonReturn{
		Schema: "sessctl.return/1", Path: v.t.File(), Reason: r.reason, Scope: p.Scope, Plan: optional(p.ID), From: optionalID(p.From), To: optionalID(p.To),
		Leaf: optionalID(p.From), Entries: ret.Entries, Turns: ret.Turns, Prompt: optional(prompt), Files: []jsonRestored{},
	}
	for _, it := range p.Items {
		doc.Files = append(doc.Files, jsonRestored{jsonItem: v.itemJSON(it)})
	}
	return doc
}

// took adds what became of each file.
func (d *jsonReturn) took(done *checkpoint.Done) {
	results := map[string]checkpoint.Outcome{}
	for _, o := range done.Files {
		results[o.Path] = o
	}
	for i, f := range d.Files {
		if o, ok := results[f.Path]; ok {
			d.Files[i].Result = optional(string(o.Result))
			d.Files[i].Reason = optional(o.Reason)
		}
	}
}

func (a *app) writeRestore(o *term.Output, r restoring, doc jsonReturn) error {
	if a.flags.json {
		return writeJSON(o, doc, false)
	}
	if doc.Prompt != nil {
		fmt.Fprintln(o, term.Text(*doc.Prompt))
	}
	if !r.show {
		return nil
	}
	for _, f := range doc.Files {
		if f.Result != nil {
			fmt.Fprintln(o, *f.Result+"  "+term.Line(f.Path))
		}
	}
	if !doc.Done {
		fmt.Fprintln(o, "nothing was changed")
	}
	return nil
}
