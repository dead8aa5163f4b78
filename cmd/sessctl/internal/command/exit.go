package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// The exit codes, which scripts rely on.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitProblems    = 3
	exitNotFound    = 10
	exitConflict    = 11
	exitDamaged     = 12
	exitInterrupted = 130
)

const exitHelp = `   0  done
   1  failure; of search: nothing was found
   2  usage: unknown command or flag, missing argument
   3  done, and problems were found (verify; other commands with --strict)
  10  no such session or entry, or the name fits several
  11  locked, changed by somebody else meanwhile, files in conflict, a restore that was cut short, or of a format that is only read
  12  damaged beyond use: neither a header nor an entry can be read, or a part of an archive that is needed cannot
 130  interrupted
`

// exitCodes is a help topic.
func exitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean (help topic)",
		Long:  "The exit codes of sessctl:\n\n" + exitHelp,
	}
}

// errProblems ends a command that did its work and found problems.
var errProblems = errors.New("problems were found")

// A usageError is a wrong call of the command.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// needs checks how many arguments there are, and says what is missing.
func needs(least, most int, what string) cobra.PositionalArgs {
	return usageArgs(func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s", cmd.Name(), what)
		case most >= 0 && len(args) > most:
			return fmt.Errorf("%s takes %s, and %q is one argument too many", cmd.Name(), what, args[most])
		}
		return nil
	})
}

// aSession is what most commands need.
const aSession = "a session: a path, -, the beginning or end of an id, or latest"

// usageArgs makes the errors of an argument check usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// exit reports an error and maps it to the exit code; the only place that does.
func (a *app) exit(cmd *cobra.Command, err error) int {
	switch {
	case a.strict && (err == nil || err == errNoHit):
		return exitProblems // it may be damage that hid the hit
	case err == nil:
		return exitOK
	case errors.Is(err, errProblems):
		return exitProblems
	case err == errNoHit:
		return exitFailure
	case errors.Is(err, syscall.EPIPE):
		return exitOK // whoever read the output has had enough
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	fmt.Fprintf(a.stderr, "sessctl: %s\n", strings.ReplaceAll(term.Text(plainly(err)), "\n", "\n  "))
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(a.stderr, "Try '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	}
	return codeOf(err)
}

// plainly is the text of an error without the name of the package that it comes from, which
// says nothing to a user.
func plainly(err error) string {
	text := err.Error()
	for _, kind := range []error{
		checkpoint.ErrConflict, checkpoint.ErrStale, checkpoint.ErrAborted, checkpoint.ErrRoot, checkpoint.ErrNoBlob, checkpoint.ErrMissingLog,
	} {
		if said := kind.Error(); errors.Is(err, kind) {
			text = strings.ReplaceAll(text, said, strings.TrimPrefix(said, "checkpoint: "))
		}
	}
	return text
}

func codeOf(err error) int {
	switch {
	case errors.Is(err, checkpoint.ErrConflict), errors.Is(err, checkpoint.ErrStale):
		return exitConflict
	case errors.Is(err, checkpoint.ErrRoot), errors.Is(err, checkpoint.ErrNoBlob), errors.Is(err, checkpoint.ErrAborted), errors.Is(err, checkpoint.ErrMissingLog):
		return exitFailure // whatever is below them
	case errors.Is(err, sessiontree.ErrNotFound), errors.Is(err, locate.ErrAmbiguous), errors.Is(err, fs.ErrNotExist):
		return exitNotFound
	case errors.Is(err, sessiontree.ErrConflict), errors.Is(err, sessiontree.ErrChanged),
		errors.Is(err, sessiontree.ErrLocked), errors.Is(err, sessiontree.ErrReadOnly):
		return exitConflict
	case errors.Is(err, sessiontree.ErrNoSession), errors.Is(err, store.ErrNotALog), errors.Is(err, store.ErrCorrupt):
		return exitDamaged
	}
	return exitFailure
}
