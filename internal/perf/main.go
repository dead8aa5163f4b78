package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

type config struct {
	dir        string
	peers      string
	rounds     int
	wait       time.Duration
	big, small int64  // sizes of the sessions, in MB
	chain      int    // entries of the longest chain
	files      int    // files of the largest folder
	farm       int    // sessions that are listed
	foreign    int64  // size of the transcript of Claude Code, in MB
	which      string // rows

	child   string // run this case on the file, and nothing else
	profile string // profile this case
	format  string // ... on a session of this format
	file    string
}

func main() {
	c, err := parse(os.Args[1:])
	if err == nil {
		err = c.run(os.Stdout, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*config, error) {
	c := &config{}
	flags := flag.NewFlagSet("perf", flag.ContinueOnError)
	flags.StringVar(&c.dir, "dir", cacheDir(), "folder that keeps the sessions and folders, 6 GB")
	flags.StringVar(&c.peers, "peers", os.Getenv("SESSCTL_PEERS"), "folder with pi/node_modules; pi is not run without it")
	flags.IntVar(&c.rounds, "n", 7, "rounds")
	flags.DurationVar(&c.wait, "wait", 5*time.Second, "how long to wait, before each case, for other programs to be quiet")
	flags.Int64Var(&c.big, "big", 1000, "size of the large sessions in MB")
	flags.Int64Var(&c.small, "small", 200, "size of the sessions that pi reads, in MB")
	flags.IntVar(&c.chain, "chain", 1_000_000, "entries of the longest chain")
	flags.IntVar(&c.files, "files", 100_000, "files of the largest folder, and entries of the log of edits")
	flags.IntVar(&c.farm, "farm", 10_000, "sessions that are listed")
	flags.Int64Var(&c.foreign, "foreign", 100, "size of the transcript of Claude Code in MB")
	flags.StringVar(&c.which, "rows", "all", "logs, files, foreign (a transcript of another agent) or all: which rows")
	flags.StringVar(&c.profile, "profile", "", "write a CPU profile of this `case` to the file named last")
	flags.StringVar(&c.format, "format", "native", "native or pi: the large session is profiled; flat or chain: the one without compactions, the longest chain; folder or edited: of file states; claude: the transcript")
	flags.StringVar(&c.child, "case", "", "for perf itself: measure this case on the file named last")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	c.file = flags.Arg(0)
	return c, c.check(flags.NArg())
}

func (c *config) check(args int) error {
	want := 0
	if c.profile != "" || c.child != "" {
		want = 1
	}
	switch {
	case args != want:
		return fmt.Errorf("%d arguments beside the flags, want %d", args, want)
	case c.rounds < 1 || c.big < 1 || c.small < 1:
		return errors.New("-n, -big and -small are positive")
	case c.farm < 1 || c.foreign < 1:
		return errors.New("-farm and -foreign are positive")
	case c.chain < 100:
		return errors.New("-chain is at least 100: the shortest chain has a hundredth of it")
	case c.files < 500:
		return errors.New("-files is at least 500: a folder has directories of a hundred")
	case !slices.Contains([]string{"logs", "files", "foreign", "all"}, c.which):
		return errors.New("-rows is logs, files, foreign or all")
	case !slices.Contains([]string{"native", "pi", "flat", "chain", "folder", "edited", "claude"}, c.format):
		return errors.New("-format is native, pi, flat, chain, folder, edited or claude")
	}
	return nil
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "sessctl-perf")
}

func (c *config) run(out, notes io.Writer) error {
	switch {
	case c.child != "":
		return reportCase(c.child, c.file, out)
	case c.profile != "":
		return c.writeProfile()
	}
	b := &bench{config: c, best: map[job]sample{}, rows: plan(c)}
	if err := b.prepare(notes); err != nil {
		return err
	}
	if err := b.measure(notes); err != nil {
		return err
	}
	b.print(out)
	return nil
}
