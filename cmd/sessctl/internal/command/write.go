package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// checkoutFlags are the flags of checkout.
type checkoutFlags struct {
	restoreFlags
	summary, scope string
}

func (a *app) checkout() *cobra.Command {
	var f checkoutFlags
	cmd := &cobra.Command{
		Use:   "checkout S ENTRY",
		Short: "Move the leaf of a session to another entry",
		Long: `checkout moves the leaf: the next entry will be attached to ENTRY. It appends one
record, a leaf marker, or with --summary a branch summary, which the model sees.
Nothing is deleted; what was left stays a branch. "root" moves the leaf to before
the first entry.

The files stay what they are, and the log remembers that. With --scope both they
follow: what this branch did to them is taken back, and what the other one did is
done again. That shows a plan and asks; see 'sessctl files restore --help'. Where a
restore was cut short, that is finished first, and nothing else.`,
		Example: "  sessctl checkout latest @~2\n  sessctl checkout latest mended --scope both\n  sessctl checkout session.jsonl mended --summary 'strconv.Unquote does not fit'",
		Args:    needs(2, 2, "a session and an ENTRY"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.runCheckout(&f, args[0], args[1]) },
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.summary, "summary", "", "tell the model in `TEXT` what was left")
	fl.StringVar(&f.scope, "scope", "conversation", "`WHAT` goes there: conversation (the files stay) or both")
	f.register(fl)
	return cmd
}

func (a *app) runCheckout(f *checkoutFlags, name, entry string) error {
	scope, err := parseScope(f.scope)
	if err != nil {
		return err
	}
	switch scope {
	case checkpoint.Code:
		return usagef("checkout moves the leaf; 'sessctl files restore' brings the files alone to an entry")
	case checkpoint.Both:
		return a.runRestore(&f.restoreFlags, name, restoring{reason: string(sessiontree.ReasonRestore), entry: &entry, summary: f.summary, plan: func(v *fileView) (*checkpoint.Plan, error) {
			return v.planTo(entry, scope, f.only)
		}})
	}
	if err := f.noFiles(); err != nil {
		return err
	}
	if stop, err := a.finishFirst(name, &f.restoreFlags); stop || err != nil {
		return err
	}
	if f.dry {
		return a.showCheckout(name, entry)
	}
	return a.change(name, func(ctx context.Context, s *sessiontree.Session, t *sessiontree.Tree) (sessiontree.Appended, error) {
		to, err := entryOrRoot(t, entry)
		if err != nil {
			return sessiontree.Appended{}, err
		}
		if err := a.settle(s, f.root, false); err != nil {
			return sessiontree.Appended{}, err
		}
		along, err := carriedAlong(s, to)
		if err != nil {
			return sessiontree.Appended{}, err
		}
		return s.MoveLeafWithSummary(ctx, to, f.summary, along...)
	})
}

// showCheckout tells where the leaf would go.
func (a *app) showCheckout(name, entry string) error {
	path, err := a.writable(name)
	if err != nil {
		return err
	}
	t, err := a.whole(path)
	if err != nil {
		return err
	}
	defer t.Close()
	to, err := entryOrRoot(t, entry)
	if err != nil {
		return err
	}
	return a.write(false, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, jsonAppended{"sessctl.append/1", t.File(), nil, optionalID(t.Leaf())}, false)
		}
		_, err := fmt.Fprintf(o, "%s: the leaf would go to %s\n%s\n", term.Line(t.File()), placeName(t, to), nothingChanged)
		return err
	})
}

func (a *app) label() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "label S ENTRY [LABEL]",
		Short: "Name an entry",
		Long: `label names an entry, so that it can be named by that: sessctl show S LABEL. A
label that the entry had is replaced; --clear takes it away.`,
		Example: "  sessctl label latest @ before-refactoring\n  sessctl label latest before-refactoring --clear",
		Args:    needs(2, 3, "a session, an ENTRY and a LABEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			if remove != (len(args) == 2) {
				return usagef("give a LABEL, or --clear")
			}
			label := strings.TrimSpace(strings.Join(args[2:], " "))
			if !remove {
				if err := checkLabel(label); err != nil {
					return err
				}
			}
			return a.change(args[0], func(ctx context.Context, s *sessiontree.Session, t *sessiontree.Tree) (sessiontree.Appended, error) {
				e, err := locate.Entry(t, args[1])
				if err != nil {
					return sessiontree.Appended{}, err
				}
				return s.SetLabel(ctx, e.ID, label)
			})
		},
	}
	cmd.Flags().BoolVar(&remove, "clear", false, "take the label away")
	return cmd
}

// checkLabel refuses labels that could not be used: they mean something else where
// an entry is named.
func checkLabel(label string) error {
	switch {
	case label == "":
		return usagef("a label is not empty; --clear takes one away")
	case strings.HasPrefix(label, "@"), strings.HasPrefix(label, ":"), strings.HasPrefix(label, "-"), label == "root":
		return usagef("%q cannot be a label: it means something else where an entry is named", label)
	}
	return nil
}

func (a *app) name() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:     "name S [NAME]",
		Short:   "Name a session",
		Long:    "name gives a session a name; --clear takes it away.",
		Example: "  sessctl name latest 'quotes in the parser'",
		Args:    needs(1, 2, "a session and a NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := strings.TrimSpace(strings.Join(args[1:], " "))
			if remove != (len(args) == 1) || !remove && name == "" {
				return usagef("give a NAME, or --clear")
			}
			return a.change(args[0], func(ctx context.Context, s *sessiontree.Session, _ *sessiontree.Tree) (sessiontree.Appended, error) {
				return s.SetName(ctx, name)
			})
		},
	}
	cmd.Flags().BoolVar(&remove, "clear", false, "take the name away")
	return cmd
}

// openToWrite opens a session that an argument names, and tells what was repaired.
func (a *app) openToWrite(name string) (*sessiontree.Session, error) {
	path, err := a.writable(name)
	if err != nil {
		return nil, err
	}
	s, err := sessiontree.Open(path, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range s.Repairs() {
		if r.Saved == "" {
			fmt.Fprintf(a.stderr, "sessctl: %s: added the last newline\n", term.Line(path))
		} else {
			fmt.Fprintf(a.stderr, "sessctl: %s: cut %s at byte %d (%s); the bytes are in %s\n",
				term.Line(path), r.Kind, r.Offset, plural(int(r.Length), "byte", "bytes"), term.Line(r.Saved))
		}
	}
	return s, nil
}

type jsonAppended struct {
	Schema string      `json:"schema"`
	Path   string      `json:"path"`
	Entry  *entries.ID `json:"entry"`
	Leaf   *entries.ID `json:"leaf"`
}

// change appends something to a session and says what the leaf is now.
func (a *app) change(name string, do func(context.Context, *sessiontree.Session, *sessiontree.Tree) (sessiontree.Appended, error)) error {
	return a.writing(name, func(s *sessiontree.Session) error {
		t, err := s.Tree()
		if err != nil {
			return err
		}
		done, err := do(context.Background(), s, t)
		if err != nil {
			return err
		}
		return a.write(false, func(o *term.Output) error {
			if a.flags.json {
				return writeJSON(o, jsonAppended{"sessctl.append/1", s.Path(), optionalID(firstID(done)), optionalID(done.Leaf)}, false)
			}
			_, err := fmt.Fprintf(o, "%s: %s\n", term.Line(s.Path()), a.told(s, done))
			return err
		})
	})
}

func firstID(done sessiontree.Appended) entries.ID {
	if len(done.IDs) == 0 {
		return ""
	}
	return done.IDs[0]
}

// told says what the leaf is now, and what it hangs below.
func (a *app) told(s *sessiontree.Session, done sessiontree.Appended) string {
	if done.Repeated {
		return "leaf " + short(done.Leaf) + ", as before"
	}
	text := "leaf " + short(done.Leaf)
	t, err := s.Tree()
	if err != nil {
		return text
	}
	leaf, err := t.Entry(done.Leaf)
	if err != nil {
		return text
	}
	text += " " + term.Line(summarize(leaf).kind)
	if leaf.Parent == "" {
		return text + ", before the first entry"
	}
	below, err := t.Entry(leaf.Parent)
	if err != nil {
		return text
	}
	sum := summarize(below)
	return fmt.Sprintf("%s, below %s %s  %s", text, short(below.ID), term.Line(sum.kind), term.Cut(term.OneLine(sum.text), 60))
}
