package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

func (a *app) checkout() *cobra.Command {
	var summary string
	cmd := &cobra.Command{
		Use:   "checkout S ENTRY",
		Short: "Move the leaf of a session to another entry",
		Long: `checkout moves the leaf: the next entry will be attached to ENTRY. It appends one
record, a leaf marker, or with --summary a branch summary, which the model sees.
Nothing is deleted; what was left stays a branch. "root" moves the leaf to before
the first entry.`,
		Example: "  sessctl checkout latest @~2\n  sessctl checkout session.jsonl mended --summary 'strconv.Unquote does not fit'",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.change(args[0], func(ctx context.Context, s *sessiontree.Session, t *sessiontree.Tree) (sessiontree.Appended, error) {
				if args[1] == "root" {
					return s.MoveLeafWithSummary(ctx, "", summary)
				}
				e, err := locate.Entry(t, args[1])
				if err != nil {
					return sessiontree.Appended{}, err
				}
				return s.MoveLeafWithSummary(ctx, e.ID, summary)
			})
		},
	}
	cmd.Flags().StringVar(&summary, "summary", "", "tell the model in `TEXT` what was left")
	return cmd
}

func (a *app) label() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "label S ENTRY [LABEL]",
		Short: "Name an entry",
		Long: `label names an entry, so that it can be named by that: sessctl show S LABEL. A
label that the entry had is replaced; --clear takes it away.`,
		Example: "  sessctl label latest @ before-refactoring\n  sessctl label latest before-refactoring --clear",
		Args:    usageArgs(cobra.RangeArgs(2, 3)),
		RunE: func(_ *cobra.Command, args []string) error {
			if remove != (len(args) == 2) {
				return usagef("give a LABEL, or --clear")
			}
			label := strings.TrimSpace(strings.Join(args[2:], " "))
			if !remove && label == "" {
				return usagef("a label is not empty; --clear takes one away")
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

func (a *app) name() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:     "name S [NAME]",
		Short:   "Name a session",
		Long:    "name gives a session a name; --clear takes it away.",
		Example: "  sessctl name latest 'quotes in the parser'",
		Args:    usageArgs(cobra.RangeArgs(1, 2)),
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
	if name == "-" {
		return nil, usagef("standard input can only be read")
	}
	path, err := a.path(name)
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
	Entry  entries.ID  `json:"entry"`
	Leaf   *entries.ID `json:"leaf"`
}

// change appends something to a session and says what the leaf is now.
func (a *app) change(name string, do func(context.Context, *sessiontree.Session, *sessiontree.Tree) (sessiontree.Appended, error)) (err error) {
	s, err := a.openToWrite(name)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
	}()
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
			return writeJSON(o, jsonAppended{"sessctl.append/1", s.Path(), done.IDs[0], optionalID(done.Leaf)}, false)
		}
		_, err := fmt.Fprintf(o, "%s: leaf %s\n", term.Line(s.Path()), short(done.Leaf))
		return err
	})
}
