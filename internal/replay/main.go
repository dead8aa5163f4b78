package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// A config says what is replayed.
type config struct {
	seed  uint64
	calls []int
	costs prices
	terms terms
	// laters are how many calls follow the explorations of that search.
	laters []int
	// explored bounds the exploration that the search for the break-even tries, in calls.
	explored int
}

// terms are the sizes that the ways go by, in tokens where nothing else is said.
type terms struct {
	head    int     // of the prompt and the tools, without checkpoint and rewind
	report  int     // of what the model writes when it rewinds
	summary int     // of a compaction
	window  int     // of the model
	full    float64 // the share of the window from which on the context is compacted
	recent  int     // messages that a compaction keeps
	keep    int     // results that masking keeps
	step    int     // results that masking in steps masks at once
}

func main() {
	c, err := parse(os.Args[1:])
	if err == nil {
		err = c.run(os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*config, error) {
	c := &config{calls: []int{50, 150, 500}, laters: []int{3, 10, 30, 100}, explored: 64}
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.Uint64Var(&c.seed, "seed", 1, "of the traces")
	flags.Float64Var(&c.costs.read, "read", 0.1, "price of an input token that is read from the cache")
	flags.Float64Var(&c.costs.write, "write", 1.25, "price of another input token, written to the cache")
	flags.Float64Var(&c.costs.output, "output", 5, "price of an output token")
	flags.IntVar(&c.terms.head, "head", 6000, "tokens of the prompt and the other tools")
	flags.IntVar(&c.terms.report, "report", 800, "tokens of a report")
	flags.IntVar(&c.terms.summary, "summary", 2000, "tokens of a compaction's summary")
	flags.IntVar(&c.terms.window, "window", 200_000, "tokens that the model takes")
	flags.Float64Var(&c.terms.full, "full", 0.7, "share of the window from which on a context is compacted")
	flags.IntVar(&c.terms.recent, "recent", 20, "messages that a compaction keeps")
	flags.IntVar(&c.terms.keep, "keep", 10, "results that masking keeps")
	flags.IntVar(&c.terms.step, "step", 20, "results that masking in steps masks at once")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return c, c.check(flags.NArg())
}

func (c *config) check(args int) error {
	t := c.terms
	switch {
	case args != 0:
		return fmt.Errorf("%d arguments beside the flags, want none", args)
	case min(t.head, t.report, t.summary, t.window, t.recent, t.keep, t.step) < 1:
		return errors.New("sizes are positive")
	case t.full <= 0 || t.full > 1:
		return errors.New("-full is above 0 and at most 1")
	case min(c.costs.read, c.costs.write, c.costs.output) < 0:
		return errors.New("prices are not negative")
	}
	return nil
}

// staying is the size of an exploration, in calls, of which is told what stays of it.
const staying = 20

func (c *config) run(out io.Writer) error {
	dir, err := os.MkdirTemp("", "sessctl-replay-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{config: c, dir: dir}
	var rows []row
	var points []point
	var stays string
	err = together(2, func(i int) (err error) {
		if i == 0 {
			rows, err = b.rows()
			return err
		}
		d := newDetours(b)
		points, stays = d.breakEvens(), d.stays(staying)
		return d.err
	})
	if err != nil {
		return err
	}
	b.print(out, rows, points, append([]string{stays}, b.findings(rows)...))
	return nil
}
