package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
)

// A planning is what files plan is asked for.
type planning struct {
	root string
	only []string
	diff bool
}

func (a *app) filesPlan() *cobra.Command {
	var f planning
	cmd := &cobra.Command{
		Use:   "plan S ENTRY",
		Short: "Show what restoring the files of an entry would do",
		Long: `plan lists every file that would be restored, removed or left alone if the files
went to what they were at ENTRY, with what is in conflict (somebody's work would be
lost), what is not known, and calls whose effects no restore takes back. "root" is
before the first entry. Nothing is changed or locked. The last line names the plan:
'sessctl files restore --plan ID' does exactly that, or nothing.`,
		Example: "  sessctl files plan latest @~6\n  sessctl files plan latest before-refactoring --diff",
		Args:    needs(2, 2, "a session and an ENTRY"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.planFiles(&f, args[0], args[1]) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringArrayVar(&f.only, "only", nil, "only `PATH`, and what is below it (can be repeated)")
	cmd.Flags().StringVar(&f.root, "root", "", "the files are in `DIR` instead of the session's folder")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show what would change in files, as a unified diff")
	return cmd
}

func (a *app) planFiles(f *planning, name, entry string) error {
	v, err := a.viewFiles(name, f.root, true)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := a.reportFiles(v); err != nil {
		return err
	}
	p, err := v.planTo(entry, checkpoint.Code, f.only)
	if err != nil {
		return err
	}
	return a.write(true, func(o *term.Output) error {
		if a.flags.json {
			return v.planJSON(o, p, f.diff)
		}
		o.WriteString(v.planText(p, nil, 0))
		if f.diff {
			for _, it := range p.Items {
				if acts(it) {
					writePatch(o, v.patch(changeOf(it)))
				}
			}
		}
		_, err := fmt.Fprintf(o, "plan %s\n", p.ID)
		return err
	})
}

// planTo plans to go to an entry that a user names.
func (v *fileView) planTo(entry string, scope checkpoint.Scope, only []string) (*checkpoint.Plan, error) {
	to, err := entryOrRoot(v.t, entry)
	if err != nil {
		return nil, err
	}
	paths, err := v.inRoot(only)
	if err != nil {
		return nil, err
	}
	p, err := v.Plan(to, scope, &checkpoint.PlanOptions{Only: paths})
	if err != nil {
		return nil, err
	}
	return p, hasPaths(p, paths)
}

// hasPaths refuses names of files that a plan says nothing of: they may be misspelt.
func hasPaths(p *checkpoint.Plan, paths []string) error {
	for _, name := range paths {
		if !p.Has(name) {
			return usagef("the plan has no file %q, and none below it", name)
		}
	}
	return nil
}

// changeOf is what an item does to its file.
func changeOf(it checkpoint.Item) checkpoint.Change {
	return checkpoint.Change{Path: it.Path, Before: it.Disk, After: it.To, Source: it.Source}
}

// acts tells whether an item changes its file, or would if that was not in conflict.
func acts(it checkpoint.Item) bool {
	return it.Action == checkpoint.ActRestore || it.Action == checkpoint.ActRemove || it.Action == checkpoint.ActConflict || it.Action == actOverwrite
}

// mostEffects is how many effects, and how many paths that are not covered, are told of.
const mostEffects = 50

// actOverwrite is what a command does with a file in conflict where it was allowed to.
const actOverwrite checkpoint.Action = "overwrite"

// planItems gives the files of a plan, with what is overwritten as such. opt may be nil.
func planItems(p *checkpoint.Plan, opt *checkpoint.CommitOptions) []checkpoint.Item {
	stays := map[string]bool{}
	if refused, ok := errors.AsType[*checkpoint.ConflictError](p.Refused(opt)); ok {
		for _, it := range refused.Items {
			stays[it.Path] = true
		}
	}
	items := slices.Clone(p.Items)
	for i, it := range items {
		if it.Action == checkpoint.ActConflict && !stays[it.Path] {
			items[i].Action = actOverwrite
		}
	}
	return items
}

// actions are what a plan does with files, in the order in which it is told.
var actions = []checkpoint.Action{
	checkpoint.ActRestore, checkpoint.ActRemove, actOverwrite, checkpoint.ActSkip, checkpoint.ActUnknown, checkpoint.ActConflict,
}

// planText tells what a plan would do. With most, unless it is 0, only so many files are
// named of each action, and none that is so already. It is safe to print.
func (v *fileView) planText(p *checkpoint.Plan, opt *checkpoint.CommitOptions, most int) string {
	var b strings.Builder
	items := planItems(p, opt)
	if v.root != nil {
		fmt.Fprintf(&b, "folder    %s\n", term.Line(v.root.Name()))
	}
	for _, action := range actions {
		n := 0
		for _, it := range items {
			if it.Action != action || most > 0 && action == checkpoint.ActSkip && it.Disk.Same(it.To) {
				continue
			}
			if n++; most == 0 || n <= most {
				fmt.Fprintf(&b, "%-9s %s  %s\n", action, term.Line(it.Path), v.itemText(it))
			}
		}
		if most > 0 && n > most {
			fmt.Fprintf(&b, "%-9s %d more\n", action, n-most)
		}
	}
	v.writeAround(&b, p)
	b.WriteString(sumOfItems(items) + "\n")
	return b.String()
}

// writeAround tells what a plan does not reach. Effects that stay are of no interest where
// nothing goes.
func (v *fileView) writeAround(b *strings.Builder, p *checkpoint.Plan) {
	writeSome(b, len(p.NotCovered), func(i int) string {
		return fmt.Sprintf("not covered  %s  %s", term.Line(p.NotCovered[i].Path), term.Line(p.NotCovered[i].Reason))
	})
	if !idle(p) {
		writeSome(b, len(p.Effects), func(i int) string {
			e := p.Effects[i]
			return fmt.Sprintf("stays  %s  %s  %s", short(e.Entry), term.Line(e.Tool), around(e.Detail, e.Reach()))
		})
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(b, "warning  %s\n", term.Line(w))
	}
}

// around cuts a long text to the part that begins at a place, with some of what is before
// it. It is safe to print.
func around(text string, at int) string {
	const columns, before = 200, 60
	if at <= before || len(text) <= columns {
		return term.Cut(term.OneLine(text), columns)
	}
	return term.Cut("..."+term.OneLine(text[at-before:]), columns)
}

func writeSome(b *strings.Builder, n int, line func(i int) string) {
	for i := range min(n, mostEffects) {
		fmt.Fprintln(b, line(i))
	}
	if n > mostEffects {
		fmt.Fprintf(b, "... and %d more\n", n-mostEffects)
	}
}

// itemText tells what happens to a file, or why nothing does.
func (v *fileView) itemText(it checkpoint.Item) (text string) {
	switch it.Action {
	case checkpoint.ActRestore, checkpoint.ActRemove:
		text = v.whatChanged(changeOf(it))
	case checkpoint.ActConflict, actOverwrite:
		text = term.Line(it.Reason) + "; " + v.whatChanged(changeOf(it))
	default:
		text = term.Line(it.Reason)
	}
	switch {
	case it.Action == checkpoint.ActSkip:
	case it.Source == checkpoint.ByScan:
		text += "; no tool told of it"
	case it.Source == checkpoint.ByUser && it.Action != checkpoint.ActConflict && it.Action != actOverwrite:
		text += "; changed by hand"
	}
	return text
}

// sumOfItems counts what happens to files.
func sumOfItems(items []checkpoint.Item) string {
	n := map[checkpoint.Action]int{}
	for _, it := range items {
		n[it.Action]++
	}
	overwritten := ""
	if n[actOverwrite] > 0 {
		overwritten = fmt.Sprintf("%d to overwrite, ", n[actOverwrite])
	}
	return fmt.Sprintf("%d to restore, %d to remove, %s%d skipped, %d in conflict, %d unknown", n[checkpoint.ActRestore], n[checkpoint.ActRemove],
		overwritten, n[checkpoint.ActSkip], n[checkpoint.ActConflict], n[checkpoint.ActUnknown])
}

type jsonPlan struct {
	Schema     string                 `json:"schema"`
	Path       string                 `json:"path"`
	Plan       string                 `json:"plan"`
	Root       string                 `json:"root"`
	From       *entries.ID            `json:"from"`
	To         *entries.ID            `json:"to"`
	Files      []jsonPlanned          `json:"files"`
	NotCovered []checkpoint.Uncovered `json:"notCovered"`
	Effects    []checkpoint.Effect    `json:"effects"`
	Warnings   []string               `json:"warnings"`
	Cut        *jsonCut               `json:"cut"`
}

type jsonItem struct {
	Path    string            `json:"path"`
	Action  checkpoint.Action `json:"action"`
	Reason  *string           `json:"reason"`
	Source  *string           `json:"source"`
	Known   checkpoint.State  `json:"known"`
	Disk    checkpoint.State  `json:"disk"`
	To      checkpoint.State  `json:"to"`
	Added   *int              `json:"added"`
	Removed *int              `json:"removed"`
}

type jsonPlanned struct {
	jsonItem
	Diff *string `json:"diff"`
}

// itemJSON tells of an item; lines are counted only of what would change.
func (v *fileView) itemJSON(it checkpoint.Item) jsonItem {
	out := jsonItem{
		Path: it.Path, Action: it.Action, Reason: optional(it.Reason), Source: optional(string(it.Source)),
		Known: it.Known, Disk: it.Disk, To: it.To,
	}
	if acts(it) {
		out.Added, out.Removed = v.diffOf(changeOf(it)).counts()
	}
	return out
}

func (v *fileView) planJSON(o *term.Output, p *checkpoint.Plan, diff bool) error {
	doc := jsonPlan{
		Schema: "sessctl.filesPlan/1", Path: v.t.File(), Plan: p.ID, Root: v.root.Name(), From: optionalID(p.From), To: optionalID(p.To), Files: []jsonPlanned{},
		NotCovered: append([]checkpoint.Uncovered{}, p.NotCovered...), Effects: p.Effects, Warnings: append([]string{}, p.Warnings...),
	}
	for _, it := range p.Items {
		planned := jsonPlanned{jsonItem: v.itemJSON(it)}
		if diff && acts(it) {
			planned.Diff = optional(v.diffOf(changeOf(it)).text)
		}
		doc.Files = append(doc.Files, planned)
	}
	var err error
	if doc.Cut, err = v.cutJSON(); err != nil {
		return err
	}
	return writeJSON(o, doc, false)
}

// results counts what became of files: "2 restored, 1 kept".
func results(files []checkpoint.Outcome) string {
	var parts []string
	for _, r := range []checkpoint.Result{checkpoint.Restored, checkpoint.Removed, checkpoint.There, checkpoint.Kept, checkpoint.Conflict, checkpoint.Failed} {
		n := 0
		for _, f := range files {
			if f.Result == r {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, resultWords[r]))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no file had to change")
}

var resultWords = map[checkpoint.Result]string{
	checkpoint.Restored: "restored", checkpoint.Removed: "removed", checkpoint.There: "already so",
	checkpoint.Kept: "kept", checkpoint.Conflict: "left in conflict", checkpoint.Failed: "not possible",
}
