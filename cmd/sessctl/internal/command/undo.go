package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// returnFlags are the flags of undo and redo.
type returnFlags struct {
	restoreFlags
	to, scope string
}

func (a *app) undo() *cobra.Command {
	var f returnFlags
	cmd := &cobra.Command{
		Use:   "undo S",
		Short: "Take back the last turn of a session",
		Long: `undo moves the leaf to before the last prompt, or with --to to any entry of the
path; to a prompt means to before it, and "root" to before the first entry. It shows first what leaves the conversation,
and asks. Nothing is deleted: what was taken back stays a branch, and redo brings
it back as long as nothing else was said. The prompt that was taken back is printed,
to be edited and sent again; with --dry-run the plan is, instead. Stop an agent that is running on the session first.

The files stay, unless --scope is code (only they go back: the last turn or restore
that changed some) or both. A file in conflict, such as one that somebody edited
since, then stops all of it; see 'sessctl files restore --help'. --only PATH takes
only some files along; what undo took back of those counts as taken back.

Where a restore was cut short by a crash, that is finished first, if it is meant,
and nothing else: run the command again then.`,
		Example: "  sessctl undo latest\n  sessctl undo session.jsonl --to @~6 --dry-run\n  sessctl undo session.jsonl --scope both\n  sessctl undo session.jsonl --yes > prompt.txt",
		Args:    needs(1, 1, aSession),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runReturn(&f, args[0], returning{sessiontree.ReasonUndo, f.undoLeaf, f.undoFiles})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&f.to, "to", "", "go back to `ENTRY` of the path instead")
	f.register(cmd)
	return cmd
}

func (f *returnFlags) undoLeaf(t *sessiontree.Tree) (*sessiontree.Return, error) {
	if f.to == "" {
		return t.PlanUndo()
	}
	id, err := entryOrRoot(t, f.to)
	if err != nil {
		return nil, err
	}
	return t.PlanUndoTo(id)
}

func (f *returnFlags) undoFiles(v *fileView, scope checkpoint.Scope, opt *checkpoint.PlanOptions) (*checkpoint.Plan, error) {
	if f.to == "" {
		return v.Undo(scope, opt)
	}
	id, err := entryOrRoot(v.t, f.to)
	if err != nil {
		return nil, err
	}
	return v.UndoTo(id, scope, opt)
}

func (a *app) redo() *cobra.Command {
	var f returnFlags
	cmd := &cobra.Command{
		Use:   "redo S",
		Short: "Bring back what undo has taken back",
		Long: `redo moves the leaf to where it was before the last undo, as long as nothing was
said since. Several undos are brought back one by one. --scope code brings back the
files of the last undo of that scope, and --scope both the conversation with them.
Where a restore was cut short, that is finished first, and nothing else.`,
		Example: "  sessctl redo latest\n  sessctl redo latest --scope both",
		Args:    needs(1, 1, aSession),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runReturn(&f, args[0], returning{sessiontree.ReasonRedo, (*sessiontree.Tree).PlanRedo,
				func(v *fileView, scope checkpoint.Scope, opt *checkpoint.PlanOptions) (*checkpoint.Plan, error) {
					return v.Redo(scope, opt)
				}})
		},
	}
	cmd.Flags().SortFlags = false
	f.register(cmd)
	return cmd
}

func (f *returnFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.scope, "scope", "conversation", "`WHAT` goes: conversation (the files stay), code (the conversation stays) or both")
	f.restoreFlags.register(cmd.Flags())
}

// parseScope reads --scope.
func parseScope(text string) (checkpoint.Scope, error) {
	scope, err := checkpoint.ParseScope(text)
	if err != nil {
		return "", usagef("--scope: %w", err)
	}
	return scope, nil
}

// A returning is what undo or redo goes back or forward to: with the leaf alone, or with
// files.
type returning struct {
	reason sessiontree.MoveReason
	leaf   func(*sessiontree.Tree) (*sessiontree.Return, error)
	files  func(*fileView, checkpoint.Scope, *checkpoint.PlanOptions) (*checkpoint.Plan, error)
}

// jsonRestored is a file of a plan, and what became of it.
type jsonRestored struct {
	jsonItem
	Result *string `json:"result"`
}

// jsonReturn is what is printed by commands that go back or forward.
type jsonReturn struct {
	Schema  string           `json:"schema"`
	Path    string           `json:"path"`
	Reason  string           `json:"reason"`
	Scope   checkpoint.Scope `json:"scope"`
	Plan    *string          `json:"plan"`
	Root    *string          `json:"root"`
	Deed    *string          `json:"deed"`
	From    *entries.ID      `json:"from"`
	To      *entries.ID      `json:"to"`
	Leaf    *entries.ID      `json:"leaf"`
	Entries int              `json:"entries"`
	Turns   int              `json:"turns"`
	Prompt  *string          `json:"prompt"`
	Files   []jsonRestored   `json:"files"`
	Done    bool             `json:"done"`
}

// runReturn plans, shows, asks and does. Looking at the plan takes no lock.
func (a *app) runReturn(f *returnFlags, name string, what returning) error {
	scope, err := parseScope(f.scope)
	if err != nil {
		return err
	}
	if scope == checkpoint.Conversation {
		return a.returnLeaf(f, name, what)
	}
	return a.runRestore(&f.restoreFlags, name, restoring{reason: string(what.reason), entry: &f.to, plan: func(v *fileView) (*checkpoint.Plan, error) {
		return f.planReturn(v, scope, what)
	}})
}

// planReturn plans to go back or forward with files.
func (f *returnFlags) planReturn(v *fileView, scope checkpoint.Scope, what returning) (*checkpoint.Plan, error) {
	paths, err := v.inRoot(f.only)
	if err != nil {
		return nil, err
	}
	p, err := what.files(v, scope, &checkpoint.PlanOptions{Only: paths})
	if err != nil {
		return nil, v.nothingMore(err, what.reason, scope)
	}
	return p, hasPaths(p, paths)
}

// returnLeaf moves the leaf alone.
func (a *app) returnLeaf(f *returnFlags, name string, what returning) error {
	if err := f.noFiles(); err != nil {
		return err
	}
	v, err := a.settledLeaf(name, &f.restoreFlags, &f.to)
	if v == nil || err != nil {
		return err
	}
	defer v.Close()
	r, err := what.leaf(v.t)
	if err != nil {
		return v.nothingMore(err, what.reason, checkpoint.Conversation)
	}
	prompt, err := promptOf(r)
	if err != nil {
		return err
	}
	text := a.preview(v, &checkpoint.Plan{Return: r})
	doc := jsonReturn{
		Schema: "sessctl.return/1", Path: v.t.File(), Reason: string(r.Reason), Scope: checkpoint.Conversation, Deed: optional(a.deed(v, &checkpoint.Plan{Return: r})),
		From: optionalID(r.From), To: optionalID(r.To), Leaf: optionalID(r.From), Entries: r.Entries, Turns: r.Turns, Prompt: optional(prompt), Files: []jsonRestored{},
	}
	if f.dry {
		return a.writePlanned(text, doc)
	}
	if err := free(v.t.File()); err != nil && r.Entries > 0 {
		return a.refuse(doc, err)
	}
	fmt.Fprint(a.stderr, text)
	if err := a.moveLeaf(f, v.t.File(), r, &doc); err != nil {
		return a.refuse(doc, err)
	}
	return a.writeReturn(doc)
}

// moveLeaf asks, and moves the leaf.
func (a *app) moveLeaf(f *returnFlags, path string, r *sessiontree.Return, doc *jsonReturn) error {
	if r.Entries == 0 {
		return nil
	}
	if !f.yes {
		if err := a.confirm("Go there?", "--yes"); err != nil {
			return err
		}
	}
	leaf, err := a.returnTo(path, r)
	doc.Leaf, doc.Done = optionalID(leaf), leaf != r.From
	return err
}

// promptOf is the text of the message that is taken back.
func promptOf(r *sessiontree.Return) (string, error) {
	if r.Prompt.ID == "" {
		return "", nil
	}
	m, err := r.Prompt.Message()
	return m.Text(), err
}

// preview tells what becomes of the conversation, and what that takes back or brings back.
// It is safe to print.
func (a *app) preview(v *fileView, p *checkpoint.Plan) (text string) {
	if deed := a.deed(v, p); deed != "" {
		text = deed + "\n"
	}
	r := p.Return
	switch {
	case r == nil:
		return text + "the conversation stays\n"
	case r.From == r.To:
		return text + "the leaf is there already\n"
	case r.Entries == 0:
		return text + fmt.Sprintf("the leaf goes to %s\n", placeName(v.t, r.To))
	}
	what := "leave the conversation"
	if r.Reason == sessiontree.ReasonRedo {
		what = "come back to the conversation"
	}
	return text + fmt.Sprintf("%s in %s %s; the leaf goes to %s\n", plural(r.Entries, "entry", "entries"),
		plural(r.Turns, "turn", "turns"), what, placeName(v.t, r.To))
}

// placeName names a place by what was said last there.
func placeName(t *sessiontree.Tree, id entries.ID) string {
	for e, err := range t.Ancestors(id) {
		if err != nil {
			break
		}
		if spoken(e.Type) {
			s := summarize(e)
			return strings.TrimSpace(short(e.ID) + " " + term.Line(s.kind) + "  " + term.Cut(term.OneLine(s.text), 60))
		}
	}
	return "before the first entry"
}

// returnTo moves the leaf, if the log is as it was when it was looked at.
func (a *app) returnTo(path string, r *sessiontree.Return) (leaf entries.ID, err error) {
	err = a.writing(path, func(s *sessiontree.Session) error {
		along, err := carriedAlong(s, r.To)
		if err != nil {
			return err
		}
		done, err := s.Return(context.Background(), r, along...)
		leaf = done.Leaf
		return err
	})
	return leaf, err
}
