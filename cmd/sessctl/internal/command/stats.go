package command

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/stats"
)

type statsFlags struct {
	by           string
	branch       string
	since, until string
}

// groupings are what --by takes.
var groupings = []string{string(stats.ByDay), string(stats.ByModel), string(stats.ByAgent), string(stats.ByCwd)}

func (a *app) stats() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats [S...]",
		Short: "Count prompts, tokens, cost, tools, files and time",
		Long: `stats counts what sessions have: prompts, messages, tokens and cost by model and
branch, calls of tools and their failures, the time that models and tools took, files
that were read and changed, and what rewinds took out of the context. S is a session or
a directory of sessions; without it all known sessions are counted, a subagent's
transcript only where it or its folder is named. All branches count, unless --branch
asks for one; what a fork copied from another session counts once.`,
		Example: "  sessctl stats latest\n  sessctl stats --by day --since 1w\n  sessctl stats --by model --cwd . --json",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runStats(&f, args)
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.by, "by", "", "one row for each `GROUP`: day, model, agent or cwd")
	fl.StringVar(&f.branch, "branch", "", "of one session only the path to the entry `TIP`")
	fl.StringVar(&f.since, "since", "", "only what happened since `TIME` (2d, 3h, 2026-11-30, RFC 3339)")
	fl.StringVar(&f.until, "until", "", "only what happened before `TIME`")
	return cmd
}

func (a *app) runStats(f *statsFlags, args []string) error {
	opt, err := f.options(a, args)
	if err != nil {
		return err
	}
	c := &counting{app: a, flags: f, counter: stats.NewCounter(opt), shown: &progress{app: a, doing: "counting"}}
	if c.places, err = a.places(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if f.branch != "" || slices.Equal(args, []string{"-"}) {
		err = c.one(args[0])
	} else {
		err = c.many(ctx, args)
	}
	if err != nil {
		return err
	}
	return a.write(true, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, c.document(), false)
		}
		return c.text(o)
	})
}

func (f *statsFlags) options(a *app, args []string) (opt *stats.CounterOptions, err error) {
	if f.by != "" && !slices.Contains(groupings, f.by) {
		return nil, usagef("--by is day, model, agent or cwd, not %q", f.by)
	}
	if f.branch != "" && len(args) != 1 {
		return nil, usagef("--branch needs one session")
	}
	opt = &stats.CounterOptions{By: stats.By(f.by), Location: time.Local}
	if a.flags.utc {
		opt.Location = time.UTC
	}
	opt.Since, opt.Until, err = period(f.since, f.until)
	return opt, err
}

// A counting is one run of stats.
type counting struct {
	app     *app
	flags   *statsFlags
	places  *locate.Places
	counter *stats.Counter
	bad     []error // of what is no session
	damaged []*stats.Session

	mu    sync.Mutex // guards what sessions that are done touch
	shown *progress
	done  int64
}

// one counts a session that has to be open: for a branch of it, or from standard input.
func (c *counting) one(name string) error {
	t, err := c.app.whole(name)
	if err != nil {
		return err
	}
	defer t.Close()
	opt := &stats.Options{Prompt: formats.Prompt}
	if c.flags.branch != "" {
		tip, err := locate.Entry(t, c.flags.branch)
		if err != nil {
			return err
		}
		opt.Tip = tip.ID
	}
	s, err := stats.Read(t, opt)
	if err != nil {
		return err
	}
	c.counter.Add(s)
	return nil
}

func (c *counting) many(ctx context.Context, names []string) error {
	paths, err := c.places.Sessions(names)
	if err != nil {
		return err
	}
	c.sessions(ctx, paths)
	c.shown.clear()
	if ctx.Err() != nil {
		return context.Canceled
	}
	if len(names) == 1 && len(c.bad) > 0 && len(c.bad) == len(paths) {
		return c.bad[0]
	}
	c.app.reportUnreadable("shown", c.bad)
	for _, s := range c.damaged {
		c.app.reportDamage(s.Path, s.Damage)
	}
	if c.counter.Total().Sessions == 0 {
		c.app.reportNoSession()
	}
	return nil
}

// sessions counts those at some paths.
func (c *counting) sessions(ctx context.Context, paths []string) {
	opt := &stats.FilesOptions{Prompt: formats.Prompt, Match: c.places.Suits, Read: c.places.Read, Done: func() { c.oneDone(int64(len(paths))) }}
	for s, err := range stats.Files(ctx, paths, opt) {
		if err != nil {
			c.bad = append(c.bad, err)
			continue
		}
		c.counter.Add(s)
		if s.Damage = withoutNotes(s.Damage); len(s.Damage) > 0 {
			c.damaged = append(c.damaged, s)
		}
	}
}

// reportNoSession tells that none of the sessions that were looked for is there.
func (a *app) reportNoSession() {
	if !a.flags.quiet {
		fmt.Fprintln(a.stderr, "sessctl: no session fits; 'sessctl ls' lists those that are known")
	}
}

func (c *counting) oneDone(total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.shown.show(c.done, total)
}
