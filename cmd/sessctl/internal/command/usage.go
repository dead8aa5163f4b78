package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearEnough is how many characters a wrong name may differ in from one that is
// suggested.
const nearEnough = 2

// knownCommand refuses what is no command, with what may have been meant.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown command %q%s", args[0], meant(cmd.SuggestionsFor(args[0])))
}

// meant asks whether one of some names was meant.
func meant(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// refuseUnknown makes the commands that cobra adds by itself, help and completion, refuse
// what they do not know; without it they print general help, as if all were well.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = usageArgs(knownTopic)
		case "completion":
			cmd.Args = usageArgs(knownCommand)
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() } // else cobra does not look at Args
			cmd.SuggestionsMinimumDistance = nearEnough
		}
	}
}

// knownTopic refuses help about what is no command.
func knownTopic(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil {
		return err
	}
	return knownCommand(found, rest)
}

// flagError says what is wrong with a flag as other errors of usage do: pflag tells it in
// the words of the packages that it uses.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		return usagef("%w%s", err, meant(nearFlags(cmd, unknown.GetSpecifiedName())))
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return wrongValue(wrong)
	}
	return usageError{err}
}

// nearFlags gives the flags of a command that are called much like name. Cobra knows what
// is near only among commands, so the flags stand as such.
func nearFlags(cmd *cobra.Command, name string) []string {
	flags := &cobra.Command{SuggestionsMinimumDistance: nearEnough}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: "--" + f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return flags.SuggestionsFor("--" + name)
}

func wrongValue(wrong *pflag.InvalidValueError) error {
	name, value := wrong.GetFlag().Name, wrong.GetValue()
	kind := wrong.GetFlag().Value.Type()
	switch {
	case errors.Is(wrong, strconv.ErrRange):
		return usagef("--%s: the number %s is too large", name, value)
	case kind == "int":
		return usagef("--%s takes a whole number, not %q", name, value)
	case kind == "bool":
		return usagef("--%s is true or false, not %q", name, value)
	}
	return usageError{wrong}
}
