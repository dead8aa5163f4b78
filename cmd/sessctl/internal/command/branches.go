package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

func (a *app) branches() *cobra.Command {
	return &cobra.Command{
		Use:   "branches S",
		Short: "List the branches of a session",
		Long: `branches lists the branches of a session, one row each: its tip (* marks the
active one, whose tip is the leaf), where it forked off and how it came about
(branch, summary, rewind, undo, or root), turns, messages, the context's tokens as
the last answer counted them (sessctl context estimates what came since), last
activity, label and last prompt. Below a branch that a model rewound stands its
report.`,
		Example: "  sessctl branches latest\n  sessctl branches session.jsonl --json",
		Args:    needs(1, 1, aSession),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := a.whole(args[0])
			if err != nil {
				return err
			}
			defer t.Close()
			list, err := t.Branches()
			if err != nil {
				return err
			}
			return a.write(true, func(o *term.Output) error {
				if a.flags.json {
					return branchesJSON(o, t, list)
				}
				return a.branchesText(o, t, list)
			})
		},
	}
}

type jsonBranches struct {
	Schema   string       `json:"schema"`
	Session  jsonSession  `json:"session"`
	Leaf     *entries.ID  `json:"leaf"`
	Entries  int          `json:"entries"`
	Scanned  string       `json:"scanned"`
	Branches []jsonBranch `json:"branches"`
	Damage   []jsonDamage `json:"damage"`
}

type jsonBranch struct {
	Tip          entries.ID         `json:"tip"`
	Active       bool               `json:"active"`
	ForkPoint    *entries.ID        `json:"forkPoint"`
	Origin       sessiontree.Origin `json:"origin"`
	Entries      int                `json:"entries"`
	Turns        int                `json:"turns"`
	Messages     int                `json:"messages"`
	Tokens       int                `json:"tokens"`
	LastPrompt   *string            `json:"lastPrompt"`
	LastActivity *string            `json:"lastActivity"`
	Report       *string            `json:"report"`
	Summary      *string            `json:"summary"`
	Label        *string            `json:"label"`
}

func branchesJSON(o *term.Output, t *sessiontree.Tree, list []sessiontree.Branch) error {
	session, err := sessionJSON(t)
	if err != nil {
		return err
	}
	n, err := t.Len()
	if err != nil {
		return err
	}
	return writeJSON(o, jsonBranches{
		Schema: "sessctl.branches/1", Session: session, Leaf: optionalID(t.Leaf()), Entries: n,
		Scanned: scanned(t), Branches: branchesOf(list), Damage: damageJSON(t.Damage()),
	}, false)
}

func branchesOf(list []sessiontree.Branch) []jsonBranch {
	out := make([]jsonBranch, len(list))
	for i, b := range list {
		out[i] = jsonBranch{
			Tip: b.Tip, Active: b.Active, ForkPoint: optionalID(b.ForkPoint), Origin: b.Origin,
			Entries: b.Entries, Turns: b.Turns, Messages: b.Messages, Tokens: b.Tokens,
			LastPrompt: optional(b.LastPrompt), LastActivity: optionalTime(b.LastActivity),
			Report: optional(b.Report), Summary: optional(b.Summary), Label: optional(b.Label),
		}
	}
	return out
}

func (a *app) branchesText(o *term.Output, t *sessiontree.Tree, list []sessiontree.Branch) error {
	if err := a.heading(o, t); err != nil {
		return err
	}
	table := newTable(o, "", "TIP", "ORIGIN", "FORK", ">TURNS", ">MSGS", ">TOKENS", "LAST ACTIVITY", "LABEL", "LAST PROMPT")
	for _, b := range list {
		mark := ""
		if b.Active {
			mark = "*"
		}
		table.add(rowStyle(b.Active), mark, short(b.Tip), string(b.Origin), short(b.ForkPoint),
			fmt.Sprint(b.Turns), fmt.Sprint(b.Messages), tokens(b.Tokens), a.clock(b.LastActivity), term.OneLine(b.Label), term.OneLine(b.LastPrompt))
		if b.Report != "" {
			table.note("rewound: " + term.OneLine(b.Report))
		}
		if b.Summary != "" {
			table.note("left: " + term.OneLine(b.Summary))
		}
	}
	table.write()
	return nil
}

func rowStyle(active bool) term.Style {
	if active {
		return term.Green
	}
	return ""
}

// heading is the line about the session above its branches and its tree.
func (a *app) heading(o *term.Output, t *sessiontree.Tree) error {
	s, err := sessionJSON(t)
	if err != nil {
		return err
	}
	n, err := t.Len()
	if err != nil {
		return err
	}
	parts := []string{string(s.Agent) + " session " + tail(s.ID)}
	if s.Name != nil {
		parts = append(parts, term.OneLine(*s.Name))
	}
	parts = append(parts, term.Line(s.Cwd), plural(n, "entry", "entries"))
	var shown []string
	for _, p := range parts {
		if p != "" {
			shown = append(shown, p)
		}
	}
	fmt.Fprintf(o, "%s\n\n", o.Style(term.Bold, o.Cut(strings.Join(shown, "  "), o.Width)))
	return nil
}

func short(id entries.ID) string {
	if id == "" {
		return "-"
	}
	return term.Line(id.Short())
}

// tokens shortens a count: 167k.
func tokens(n int) string {
	switch {
	case n == 0:
		return "-"
	case n < 10_000:
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
