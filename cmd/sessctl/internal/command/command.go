// Package command is the sessctl command: its subcommands, flags and exit codes.
// [Main] runs it. A subcommand reads what it is asked for through the library,
// writes data to stdout and everything else to stderr; docs/cli.md is its contract.
package command

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/sessiontree"
)

// An app is one run of the command.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	flags  flags
	strict bool // damage was found and --strict asks for exit code 3
	paged  atomic.Bool
	temp   atomic.Pointer[string] // a file to remove where the command is interrupted
}

// flags are those that mean the same in every subcommand.
type flags struct {
	color   string
	noPager bool
	out     string
	quiet   bool
	json    bool
	strict  bool
	utc     bool
	dirs    []string
	cwd     string
	agent   string
}

// Main runs sessctl with arguments and gives its exit code.
func Main(args []string) int {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	a.exitOnInterrupt()
	return a.run(args)
}

// exitOnInterrupt ends the command at once: reading leaves nothing to clean up but,
// of a copy that is being made, a temporary file. While a pager has the terminal the interrupt is for it, and leaving would let it and the
// shell both read the keyboard.
func (a *app) exitOnInterrupt() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	go func() {
		for range c {
			if !a.paged.Load() {
				if temp := a.temp.Load(); temp != nil {
					os.Remove(*temp)
				}
				os.Exit(exitInterrupted)
			}
		}
	}()
}

func (a *app) run(args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	refuseUnknown(root)
	return a.exit(root.ExecuteC())
}

const long = `sessctl shows the conversation logs of AI agents as the trees that they are:
branches, entries, what was left behind by a rewind, and what is damaged.

A session S is a path, - (standard input), the beginning or end of a session id
(at least 4 characters), or "latest". An entry is named by the beginning or end of
its id, by a label, as @ (the leaf), @~3 (three above it) or :18 (what stands on
line 18). Sessions of sessctl, pi, oh-my-pi, Claude Code and Codex are read. Nothing
that reads changes a file.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "sessctl",
		Short:         "Show the conversation logs of AI agents as trees",
		Long:          long,
		Args:          usageArgs(knownCommand),
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&a.flags.json, "json", false, "one JSON document (docs/cli.md lists its fields)")
	f.StringVarP(&a.flags.out, "output", "o", "", "write to a new `FILE` instead of stdout")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "do not report damage on stderr")
	f.BoolVar(&a.flags.strict, "strict", false, "exit with 3 where damage had to be worked around")
	f.StringVar(&a.flags.color, "color", "auto", "`WHEN` to colour: auto, always or never")
	f.BoolVar(&a.flags.noPager, "no-pager", false, "do not page long output on a terminal")
	f.BoolVar(&a.flags.utc, "utc", false, "show times in UTC instead of local time")
	f.StringArrayVar(&a.flags.dirs, "dir", nil, "look for sessions in `DIR`, which has to be there, too (can be repeated)")
	f.StringVar(&a.flags.cwd, "cwd", "", "only sessions of the working directory `DIR`")
	f.StringVar(&a.flags.agent, "agent", "", "only sessions of `NAME`: sessctl, pi, omp, claude or codex")
	root.AddCommand(a.ls(), a.branches(), a.tree(), a.show(), a.context(), a.search(), a.stats(), a.verify())
	root.AddCommand(a.checkout(), a.undo(), a.redo(), a.label(), a.name(), a.fork(), a.rm())
	root.AddCommand(a.files())
	root.AddCommand(a.archive(), a.unarchive(), a.gc(), a.du())
	root.AddCommand(a.demo(), a.version(), exitCodes())
	root.SuggestionsMinimumDistance = nearEnough
	a.complete(root)
	return root
}

// output opens the place where the command's data goes.
func (a *app) output(page bool) (*term.Output, error) {
	switch a.flags.color {
	case "auto", "always", "never":
	default:
		return nil, usagef("--color is auto, always or never, not %q", a.flags.color)
	}
	return term.Open(term.Options{
		Stdout: a.stdout, File: a.flags.out, Color: a.flags.color,
		Pager: page && !a.flags.noPager, Getenv: a.getenv,
	})
}

// write opens the output, lets f write to it, and closes it.
func (a *app) write(page bool, f func(o *term.Output) error) error {
	o, err := a.output(page)
	if err != nil {
		return err
	}
	a.paged.Store(o.Paged)
	defer a.paged.Store(false)
	err = f(o)
	if e := o.Close(); err == nil {
		err = e
	}
	return err
}

// agents are what --agent takes.
var agents = []string{
	string(sessiontree.AgentNative), string(sessiontree.AgentPi), string(sessiontree.AgentOmp), string(sessiontree.AgentClaude), string(sessiontree.AgentCodex),
}

func (a *app) places() (*locate.Places, error) {
	p := &locate.Places{Getenv: a.getenv, Agent: sessiontree.Agent(a.flags.agent), Describe: formats.Describe, Read: formats.Read}
	if p.Agent != "" && !slices.Contains(agents, a.flags.agent) {
		return nil, usagef("--agent is sessctl, pi, omp, claude or codex, not %q", a.flags.agent)
	}
	for _, dir := range a.flags.dirs {
		abs, err := filepath.Abs(dir)
		if err == nil {
			err = folder(abs)
		}
		if err != nil {
			return nil, fmt.Errorf("--dir: %w", err)
		}
		p.Dirs = append(p.Dirs, abs)
	}
	if a.flags.cwd != "" {
		abs, err := filepath.Abs(a.flags.cwd)
		if err != nil {
			return nil, err
		}
		p.Cwd = abs
	}
	return p, nil
}
