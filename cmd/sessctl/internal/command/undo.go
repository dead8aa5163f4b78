package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// returnFlags are the flags of undo and redo.
type returnFlags struct {
	to, scope string
	yes       bool
	dry       bool
}

func (a *app) undo() *cobra.Command {
	var f returnFlags
	cmd := &cobra.Command{
		Use:   "undo S",
		Short: "Take back the last turn of a session",
		Long: `undo moves the leaf to before the last prompt, or with --to to any entry of the
path; to a prompt means to before it. It shows first what leaves the conversation,
and asks. Nothing is deleted: what was taken back stays a branch, and redo brings
it back as long as nothing else was said. The prompt that was taken back is printed,
to be edited and sent again. Stop an agent that is running on the session first.`,
		Example: "  sessctl undo latest\n  sessctl undo session.jsonl --to @~6 --dry-run\n  sessctl undo session.jsonl --yes > prompt.txt",
		Args:    needs(1, 1, aSession),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runReturn(&f, args[0], func(t *sessiontree.Tree) (*sessiontree.Return, error) {
				if f.to == "" {
					return t.PlanUndo()
				}
				e, err := locate.Entry(t, f.to)
				if err != nil {
					return nil, err
				}
				return t.PlanUndoTo(e.ID)
			})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&f.to, "to", "", "go back to `ENTRY` of the path instead")
	f.register(cmd)
	return cmd
}

func (a *app) redo() *cobra.Command {
	var f returnFlags
	cmd := &cobra.Command{
		Use:   "redo S",
		Short: "Bring back what undo has taken back",
		Long: `redo moves the leaf to where it was before the last undo, as long as nothing was
said since. Several undos are brought back one by one.`,
		Example: "  sessctl redo latest",
		Args:    needs(1, 1, aSession),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runReturn(&f, args[0], (*sessiontree.Tree).PlanRedo)
		},
	}
	cmd.Flags().SortFlags = false
	f.register(cmd)
	return cmd
}

func (f *returnFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.scope, "scope", "conversation", "`WHAT` goes back: conversation (code and both need file states, which are not recorded yet)")
	fl.BoolVar(&f.yes, "yes", false, "do not ask")
	fl.BoolVar(&f.dry, "dry-run", false, "only show what would be done")
}

func (f *returnFlags) check() error {
	switch f.scope {
	case "conversation":
		return nil
	case "code", "both":
		return usagef("no file states are recorded yet, so --scope can only be conversation")
	}
	return usagef("--scope is conversation, code or both, not %q", f.scope)
}

type jsonReturn struct {
	Schema  string                 `json:"schema"`
	Path    string                 `json:"path"`
	Reason  sessiontree.MoveReason `json:"reason"`
	From    *entries.ID            `json:"from"`
	To      *entries.ID            `json:"to"`
	Leaf    *entries.ID            `json:"leaf"`
	Entries int                    `json:"entries"`
	Turns   int                    `json:"turns"`
	Prompt  *string                `json:"prompt"`
	Done    bool                   `json:"done"`
}

// runReturn plans, shows, asks and does. Looking at the plan takes no lock.
func (a *app) runReturn(f *returnFlags, name string, plan func(*sessiontree.Tree) (*sessiontree.Return, error)) error {
	if err := f.check(); err != nil {
		return err
	}
	if name == "-" {
		return usagef("standard input can only be read")
	}
	t, err := a.whole(name)
	if err != nil {
		return err
	}
	defer t.Close()
	r, err := plan(t)
	if err != nil {
		return err
	}
	prompt, err := promptOf(r)
	if err != nil {
		return err
	}
	fmt.Fprint(a.stderr, preview(t, r))
	leaf := t.Leaf()
	if !f.dry && r.Entries > 0 {
		if !f.yes {
			if err := a.confirm("Go there?", "--yes"); err != nil {
				return err
			}
		}
		if leaf, err = a.returnTo(t.File(), r); err != nil {
			return err
		}
	}
	return a.write(false, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, jsonReturn{
				"sessctl.return/1", t.File(), r.Reason, optionalID(r.From), optionalID(r.To), optionalID(leaf),
				r.Entries, r.Turns, optional(prompt), leaf != r.From,
			}, false)
		}
		if prompt != "" {
			_, err := fmt.Fprintln(o, term.Text(prompt))
			return err
		}
		return nil
	})
}

// promptOf is the text of the message that is taken back.
func promptOf(r *sessiontree.Return) (string, error) {
	if r.Prompt.ID == "" {
		return "", nil
	}
	m, err := r.Prompt.Message()
	return m.Text(), err
}

// preview tells what is going to leave, or to come back.
func preview(t *sessiontree.Tree, r *sessiontree.Return) string {
	if r.Entries == 0 {
		return "sessctl: the leaf is there already\n"
	}
	what := "leave the conversation"
	if r.Reason == sessiontree.ReasonRedo {
		what = "come back to the conversation"
	}
	text := fmt.Sprintf("sessctl: %s in %s %s; the leaf goes to %s\n", plural(r.Entries, "entry", "entries"),
		plural(r.Turns, "turn", "turns"), what, placeName(t, r.To))
	if r.Prompt.ID != "" {
		text += "sessctl: the prompt is given back: " + oneLine(summarize(r.Prompt).text) + "\n"
	}
	return text
}

// placeName names a place by what was said last there.
func placeName(t *sessiontree.Tree, id entries.ID) string {
	for e, err := range t.Ancestors(id) {
		if err != nil {
			break
		}
		if spoken(e.Type) {
			s := summarize(e)
			return short(e.ID) + " " + term.Line(s.kind) + "  " + term.Cut(oneLine(s.text), 60)
		}
	}
	return "before the first entry"
}

// returnTo moves the leaf, if the log is as it was when it was looked at.
func (a *app) returnTo(path string, r *sessiontree.Return) (leaf entries.ID, err error) {
	s, err := a.openToWrite(path)
	if err != nil {
		return "", err
	}
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
	}()
	done, err := s.Return(context.Background(), r)
	return done.Leaf, err
}
