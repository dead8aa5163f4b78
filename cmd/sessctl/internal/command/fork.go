package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

func (a *app) fork() *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "fork S [ENTRY]",
		Short: "Make a new session from a path",
		Long: `fork copies the path to ENTRY, or to the leaf, into a new native session, and prints
its path. The source may be of any agent and is not changed. The new session goes
into the own directory, or into that of --into. What file states refer to is copied
too; the files stay what they are, and the new session knows that.`,
		Example: "  sessctl fork latest\n  sessctl fork old-pi-session.jsonl --into .",
		Args:    needs(1, 2, aSession+"; and an ENTRY"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runFork(args, into)
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "the `DIR` of the new session")
	return cmd
}

type jsonFork struct {
	Schema  string     `json:"schema"`
	Path    string     `json:"path"`
	ID      string     `json:"id"`
	Entries int        `json:"entries"`
	Leaf    entries.ID `json:"leaf"`
}

func (a *app) runFork(args []string, into string) error {
	t, err := a.whole(args[0])
	if err != nil {
		return err
	}
	defer t.Close()
	var at entries.ID
	if len(args) == 2 {
		e, err := locate.Entry(t, args[1])
		if err != nil {
			return err
		}
		at = e.ID
	}
	if into == "" {
		places, err := a.places()
		if err != nil {
			return err
		}
		into = places.Known()[0]
	}
	s, err := sessiontree.Fork(context.Background(), t, at, into, entries.Header{}, nil)
	if err != nil {
		return err
	}
	copied, err := s.Tree()
	if err != nil {
		return err
	}
	n, err := copied.Len()
	if err == nil {
		err = a.forkFiles(t, at, s)
	}
	if e := s.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return a.write(false, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, jsonFork{"sessctl.fork/1", s.Path(), s.Header().ID, n, s.Leaf()}, false)
		}
		_, err := fmt.Fprintln(o, term.Line(s.Path()))
		return err
	})
}

// forkFiles brings along what the file states of a fork refer to, and records what the
// files are, where the place that was forked from says otherwise.
func (a *app) forkFiles(t *sessiontree.Tree, at entries.ID, s *sessiontree.Session) error {
	st, err := lookStore(t.File())
	if st == nil {
		return err
	}
	defer st.Close()
	if at == "" {
		at = t.Leaf()
	}
	ctx := context.Background()
	d, ok, err := checkpoint.Carried(t, t.Leaf(), at, st)
	if err == nil && ok {
		_, err = s.Append(ctx, d)
	}
	if err != nil {
		return err
	}
	copied, err := s.Tree()
	if err != nil {
		return err
	}
	v, err := checkpoint.Look(copied, nil, st)
	if err != nil {
		return err
	}
	if recorded, err := v.Recorded(); err != nil || !recorded {
		return err
	}
	to, err := checkpoint.OpenStore(checkpoint.StoreOf(s.Path()))
	if err != nil {
		return err
	}
	defer to.Close()
	missing, err := checkpoint.CopyContents(ctx, copied, st, to)
	if missing > 0 {
		fmt.Fprintf(a.stderr, "sessctl: %s of files that the session refers to cannot be restored: not in %s any more\n", plural(missing, "content", "contents"), term.Line(st.Dir()))
	}
	return err
}
