// Command gensession writes a generated session to a file or to stdout:
//
//	go run ./internal/gensession -size 200MB -format native -seed 1 -o FILE
//
// -tree and -chain write other shapes, of so many entries; see package sessgen.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/sessgen"
)

// errUsage is wrapped by what the caller got wrong: exit 2.
var errUsage = errors.New("usage")

type config struct {
	size         int64
	native       bool
	seed         uint64
	output       string
	noCompaction bool
	tree, chain  int
}

func main() {
	c, err := parse(os.Args[1:])
	if err == nil {
		err = run(c, os.Stdout, os.Stderr)
	}
	os.Exit(report(err))
}

func report(err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "gensession:", err)
		return 2
	}
	fmt.Fprintln(os.Stderr, "gensession:", err)
	return 1
}

func parse(args []string) (config, error) {
	var c config
	flags := flag.NewFlagSet("gensession", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	size := flags.String("size", "10MB", "size of the session: B, KB, MB or GB, powers of 1000")
	format := flags.String("format", "native", "native or pi")
	flags.Uint64Var(&c.seed, "seed", 1, "what decides everything")
	flags.StringVar(&c.output, "o", "", "file to write (default stdout)")
	flags.BoolVar(&c.noCompaction, "no-compaction", false, "write no compactions")
	flags.IntVar(&c.tree, "tree", 0, "write a random tree of so many small entries instead")
	flags.IntVar(&c.chain, "chain", 0, "write a chain of so many small entries instead")
	if err := flags.Parse(args); err != nil {
		return c, explain(flags, err)
	}
	return c, c.check(*size, *format, flags.NArg())
}

// explain prints the flags where help was asked for.
func explain(flags *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(os.Stdout)
		flags.Usage()
		return err
	}
	return fmt.Errorf("%w: %w", errUsage, err)
}

func (c *config) check(size, format string, rest int) error {
	var err error
	c.native = format == "native"
	switch c.size, err = parseSize(size); {
	case err != nil:
		return err
	case format != "native" && format != "pi":
		return fmt.Errorf("%w: -format is native or pi, not %q", errUsage, format)
	case c.tree < 0 || c.chain < 0 || c.tree > 0 && c.chain > 0:
		return fmt.Errorf("%w: -tree and -chain take a positive number, one of them", errUsage)
	case rest > 0:
		return fmt.Errorf("%w: there are no arguments beside the flags", errUsage)
	}
	return nil
}

var units = []struct {
	name  string
	bytes float64
}{{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

func parseSize(text string) (int64, error) {
	for _, unit := range units {
		digits, ok := strings.CutSuffix(strings.ToUpper(text), unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(n >= 0 && n*unit.bytes < 1<<53) {
			break
		}
		return int64(n * unit.bytes), nil
	}
	return 0, fmt.Errorf("%w: %q is not a size such as 200MB", errUsage, text)
}

// run writes the log; where it goes to a file, it says on notes what it holds.
func run(c config, stdout, notes io.Writer) error {
	if c.output == "" {
		_, err := generate(c, stdout)
		return err
	}
	file, err := os.Create(c.output)
	if err != nil {
		return err
	}
	note, err := generate(c, file)
	if err = errors.Join(err, file.Close()); err == nil {
		fmt.Fprint(notes, note)
	}
	return err
}

func generate(c config, w io.Writer) (string, error) {
	switch {
	case c.tree > 0:
		opt := &sessgen.TreeOptions{Native: c.native}
		_, err := w.Write(sessgen.Tree(rand.New(rand.NewPCG(c.seed, 0)), c.tree, opt))
		return "", err
	case c.chain > 0:
		return "", sessgen.Chain(w, c.chain, c.native)
	}
	opt := &sessgen.Options{Format: sessgen.Pi, Seed: c.seed, NoCompaction: c.noCompaction}
	if c.native {
		opt.Format = sessgen.Native
	}
	stats, err := sessgen.Write(w, c.size, opt)
	return fmt.Sprintf("%d entries, %d bytes, %d on the path, leaf %s, last compaction %s\n",
		stats.Entries, stats.Bytes, stats.Depth, stats.Leaf, stats.LastCompaction), err
}
