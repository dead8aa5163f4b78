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
into the own directory, or into that of --into.`,
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
	defer s.Close()
	if err := a.forkFiles(t, at, s); err != nil {
		return fmt.Errorf("%s was made, and what it says of files is not complete: %w", s.Path(), err)
	}
	copied, err := s.Tree()
	if err != nil {
		return err
	}
	n, err := copied.Len()
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
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

// forkFiles lets a fork go on with the files of its source: it gets their contents, and a
// record of what they are now, where the copied path says otherwise.
func (a *app) forkFiles(t *sessiontree.Tree, at entries.ID, s *sessiontree.Session) error {
	from, err := lookStore(t.File())
	if err != nil || from == nil {
		return err
	}
	defer from.Close()
	ctx := context.Background()
	if at == "" {
		at = t.Leaf()
	}
	d, ok, err := checkpoint.Carried(t, t.Leaf(), at, from)
	if err != nil {
		return err
	}
	if ok {
		if _, err := s.Append(ctx, d); err != nil {
			return err
		}
	}
	to, err := checkpoint.OpenStore(checkpoint.StoreOf(s.Path()))
	if err != nil {
		return err
	}
	defer to.Close()
	_, missing, err := checkpoint.CopyContents(ctx, s.Path(), from, to)
	if missing > 0 {
		fmt.Fprintf(a.stderr, "sessctl: %s of files are not in %s any more; the fork does not have them either\n", plural(missing, "content", "contents"), from.Dir())
	}
	return err
}
