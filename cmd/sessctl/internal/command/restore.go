package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	only            []string

	plan string // of files restore
}

func (f *restoreFlags) register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.yes, "yes", false, "do not ask")
	fl.BoolVar(&f.dry, "dry-run", false, "only show what would be done")
	fl.BoolVar(&f.force, "force", false, "overwrite files in conflict (undo brings back what they were)")
	fl.StringArrayVar(&f.overwrite, "overwrite", nil, "overwrite `PATH`, or what is below it, where it is in conflict (can be repeated)")
	fl.StringArrayVar(&f.only, "only", nil, "only `PATH`, and what is below it (can be repeated)")
	fl.StringVar(&f.root, "root", "", "the files are in `DIR` instead of the session's folder")
}

// noFiles refuses flags that are about files, where these stay.
func (f *restoreFlags) noFiles() error {
	if f.force || len(f.overwrite)+len(f.only) > 0 {
		return usagef("--force, --overwrite and --only are about files; they need --scope code or both")
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
that 'sessctl files plan' has shown, or nothing. Where a restore was cut short by a
crash, that is finished first, if it is meant, and nothing else.`,
		Example: "  sessctl files restore latest @~6\n  sessctl files restore latest before-refactoring --only src --yes",
		Args:    needs(2, 2, "a session and an ENTRY"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runRestore(&f, args[0], restoring{reason: string(sessiontree.ReasonRestore), entry: &args[1], plan: func(v *fileView) (*checkpoint.Plan, error) {
				return v.planTo(args[1], checkpoint.Code, f.only)
			}})
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.plan, "plan", "", "do the plan `ID`, and no other")
	f.register(fl)
	return cmd
}

// A restoring is what a command restores.
type restoring struct {
	reason  string  // undo, redo or restore
	summary string  // in the place of the marker that moves the leaf
	entry   *string // its name, "" where none is
	plan    func(*fileView) (*checkpoint.Plan, error)
}

// mostPreviewed is how many files of each action are named before a command asks.
const mostPreviewed = 30

// runRestore plans, shows, asks and does.
func (a *app) runRestore(f *restoreFlags, name string, r restoring) error {
	v, err := a.settledView(name, f, r.entry)
	if v == nil || err != nil {
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
	doc, err := a.restoreJSON(v, r, p, opt)
	if err != nil {
		return err
	}
	text := a.planned(v, p, opt)
	a.strict = a.strict || a.flags.strict && p.Count(checkpoint.ActUnknown) > 0
	if f.dry && f.asked(p) == nil {
		return a.writePlanned(text, doc)
	}
	if !idle(p) { // what is in conflict now may not be when another writer is done
		if err := free(v.t.File()); err != nil {
			return a.refuse(doc, err)
		}
	}
	fmt.Fprint(a.stderr, text)
	if err = f.allowed(p, opt); err == nil && !idle(p) {
		err = a.doRestore(f, v, p, opt, r, &doc)
	}
	if err != nil {
		return a.refuse(doc, err)
	}
	return a.writeReturn(doc)
}

// idle tells that there is nothing to do. To take back what left no trace on disk is
// something: the next undo goes on from there.
func idle(p *checkpoint.Plan) bool { return p.Nothing() && p.Undoes == "" && p.Redoes == "" }

// asked tells whether a plan is the one that was asked for.
func (f *restoreFlags) asked(p *checkpoint.Plan) error {
	if f.plan == "" || f.plan == p.ID {
		return nil
	}
	return fmt.Errorf("%w: it was %s, and is %s now, as shown here", checkpoint.ErrStale, f.plan, p.ID)
}

// allowed tells whether a plan can be done, as it was asked for.
func (f *restoreFlags) allowed(p *checkpoint.Plan, opt *checkpoint.CommitOptions) error {
	if err := f.asked(p); err != nil {
		return err
	}
	refused, ok := errors.AsType[*checkpoint.ConflictError](p.Refused(opt))
	if !ok {
		return nil
	}
	return &toldError{plural(len(refused.Items), "file is", "files are") + " in conflict, as shown above; nothing was changed. " +
		"--overwrite PATH or --force overwrites what is in conflict; it is kept, and undo brings it back", checkpoint.ErrConflict}
}

// free tells whether nobody else is writing to a log. Where no writer has left a lock there
// is none, and none is made; what else may be wrong is told when the log is opened.
func free(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if _, err := os.Stat(sessiontree.LockPath(path)); err != nil {
		return nil
	}
	unlock, err := sessiontree.LockLog(path)
	switch {
	case errors.Is(err, sessiontree.ErrLocked):
		return err
	case err != nil:
		return nil
	}
	return unlock()
}

// refuse prints what was planned as JSON, where that is asked for and something stopped it.
func (a *app) refuse(doc jsonReturn, err error) error {
	if !a.flags.json || codeOf(err) != exitConflict {
		return err
	}
	if e := a.writeReturn(doc); e != nil {
		return e
	}
	return err
}

// options say which conflicts are overwritten.
func (f *restoreFlags) options(v *fileView, p *checkpoint.Plan) (*checkpoint.CommitOptions, error) {
	paths, err := v.inRoot(f.overwrite)
	if err == nil {
		err = hasPaths(p, paths)
	}
	return &checkpoint.CommitOptions{Force: f.force, Overwrite: paths}, err
}

// planned tells what is going to happen, to the conversation and to files. It is safe to
// print.
func (a *app) planned(v *fileView, p *checkpoint.Plan, opt *checkpoint.CommitOptions) string {
	return fmt.Sprintf("%s%splan %s\n", a.preview(v, p), v.planText(p, opt, mostPreviewed), p.ID)
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
		fmt.Fprint(a.stderr, a.planned(v, stale.Fresh, opt))
		if fresh, err := a.restoreJSON(v, r, stale.Fresh, opt); err == nil {
			*doc = fresh
		}
	}
	if err != nil {
		return err
	}
	doc.Done, doc.Leaf = true, optionalID(done.Leaf)
	doc.took(done)
	a.tellDone(done.Files)
	if len(done.Files) > 0 {
		fmt.Fprintf(a.stderr, "sessctl: files: %s\n", results(done.Files))
	}
	return nil
}

// restoreJSON is what a command says that has restored nothing yet.
func (a *app) restoreJSON(v *fileView, r restoring, p *checkpoint.Plan, opt *checkpoint.CommitOptions) (jsonReturn, error) {
	doc := jsonReturn{
		Schema: "sessctl.return/1", Path: v.t.File(), Reason: r.reason, Scope: p.Scope, Plan: optional(p.ID), Root: optional(v.root.Name()), Deed: optional(a.deed(v, p)),
		From: optionalID(p.From), To: optionalID(p.To), Leaf: optionalID(p.From), Files: []jsonRestored{},
	}
	for _, it := range planItems(p, opt) {
		doc.Files = append(doc.Files, jsonRestored{jsonItem: v.itemJSON(it)})
	}
	if p.Return == nil {
		return doc, nil
	}
	doc.Entries, doc.Turns = p.Return.Entries, p.Return.Turns
	prompt, err := promptOf(p.Return)
	doc.Prompt = optional(prompt)
	return doc, err
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

// writePlanned writes what a dry run has found.
func (a *app) writePlanned(text string, doc jsonReturn) error {
	if a.flags.json {
		fmt.Fprint(a.stderr, text)
		return a.writeReturn(doc)
	}
	return a.write(false, func(o *term.Output) error {
		_, err := fmt.Fprintf(o, "%s%s\n", text, nothingChanged)
		return err
	})
}

// writeReturn writes the data of what was done: a prompt that was taken back.
func (a *app) writeReturn(doc jsonReturn) error {
	return a.write(false, func(o *term.Output) error {
		switch {
		case a.flags.json:
			return writeJSON(o, doc, false)
		case !doc.Done:
			fmt.Fprintln(o, nothingChanged)
		case doc.Prompt != nil:
			fmt.Fprintln(o, term.Text(*doc.Prompt))
		}
		return nil
	})
}
