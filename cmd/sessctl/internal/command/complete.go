package command

import (
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/sessiontree"
)

// A completer offers what may stand in some place of the command line.
type completer = cobra.CompletionFunc

// complete makes the arguments and flags of all commands below cmd completable, by the
// words that their usage has for them: S, ENTRY, DIR and so on.
func (a *app) complete(cmd *cobra.Command) {
	words := strings.Fields(cmd.Use)[1:]
	if len(words) > 0 && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = a.completeArgs(words)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		word, _ := pflag.UnquoteUsage(f)
		if c := a.completeFlag(f.Name, word); c != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, c) // fails only where it has one
		}
	})
	for _, sub := range cmd.Commands() {
		a.complete(sub)
	}
}

// completeArgs completes the argument that is next by its word; the last word may stand
// for many.
func (a *app) completeArgs(words []string) completer {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at := len(args)
		if last := len(words) - 1; at > last && strings.Contains(words[last], "...") {
			at = last
		}
		if at >= len(words) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if c := a.completeWord(strings.Trim(words[at], "[].")); c != nil {
			return c(cmd, args, begun)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeWord gives the completer of a word; nil where nothing can be offered.
func (a *app) completeWord(word string) completer {
	switch word {
	case "S":
		return a.completeSession
	case "ENTRY":
		return a.completeEntry
	case "TIP":
		return a.completeTip
	case "DIR":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case "FILE", "OUT":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	}
	return nil
}

func (a *app) completeFlag(name, word string) completer {
	fixed := map[string][]string{
		"color": {"auto", "always", "never"}, "by": groupings, "dialect": {"pi", "omp"},
		"agent": agents,
		"role":  {"user", "assistant", "toolResult", "bashExecution", "system", "custom"},
		"since": {"1h", "1d", "1w"}, "until": {"1h", "1d", "1w"},
	}
	if list := fixed[name]; list != nil {
		return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
	if c := a.completeWord(word); c != nil || word == "" {
		return c
	}
	return cobra.NoFileCompletions
}

// completable tells what may be put into a command line as it is. A log's labels and ids
// are its writer's, and a shell would do what $(...) in one says.
func completable(s string) bool {
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-@:", r)
	})
}

// completeSession offers the ids of known sessions, the newest ones, beside the paths
// that the shell offers where none fits.
func (a *app) completeSession(_ *cobra.Command, args []string, begun string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	const most, width = 50, 60
	places, err := a.places()
	if err != nil || strings.ContainsAny(begun, "./~") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if strings.HasPrefix("latest", begun) {
		list = append(list, cobra.CompletionWithDesc("latest", "the session with the newest message"))
	}
	opt := &sessiontree.ListOptions{Limit: most, Workers: runtime.GOMAXPROCS(0), Describe: places.Describe, Match: func(i *sessiontree.Info) bool {
		return places.Match(i) && (strings.HasPrefix(i.ID, begun) || strings.HasPrefix(tail(i.ID), begun)) && completable(i.ID)
	}}
	for info, err := range sessiontree.List(places.Known(), opt) {
		if err != nil || info.Err != nil {
			break // those that are no sessions come last
		}
		name := info.Name
		if name == "" {
			name = info.FirstPrompt
		}
		id := info.ID
		if !strings.HasPrefix(id, begun) {
			id = tail(id) // as ls shows it
		}
		list = append(list, cobra.CompletionWithDesc(id, term.Cut(string(info.Agent)+" "+term.OneLine(name), width)))
	}
	return list, cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveKeepOrder
}

// completeEntry offers the labels of the session that was named, and the ends of the ids
// of entries: without a beginning those of the conversation that come last on the active
// path.
func (a *app) completeEntry(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeInside(args, func(t *sessiontree.Tree) []cobra.Completion {
		return append(labelCompletions(t, begun), entryCompletions(t, begun)...)
	})
}

// completeTip offers the tips of branches, and where something is typed that begins
// other entries, those behind them.
func (a *app) completeTip(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeInside(args, func(t *sessiontree.Tree) []cobra.Completion {
		tips, offered := tipCompletions(t, begun)
		if begun == "" {
			return tips
		}
		others := append(labelCompletions(t, begun), entryCompletions(t, begun)...)
		return append(tips, slices.DeleteFunc(others, func(c cobra.Completion) bool {
			name, _, _ := strings.Cut(c, "\t")
			return offered[name]
		})...)
	})
}

// completeInside offers what stands in the session that was named.
func (a *app) completeInside(args []string, offer func(t *sessiontree.Tree) []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	const done = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(args) == 0 || args[0] == "-" {
		return nil, done
	}
	path, err := a.path(args[0])
	if err != nil {
		return nil, done
	}
	t, err := formats.Read(path, nil)
	if err != nil {
		return nil, done
	}
	defer t.Close()
	return offer(t), done
}

// tipCompletions offers the tips of branches by their last prompts, the one that stands
// last in the log first.
func tipCompletions(t *sessiontree.Tree, begun string) (list []cobra.Completion, offered map[string]bool) {
	const width = 60
	branches, err := t.Branches()
	if err != nil {
		return nil, nil
	}
	offered = map[string]bool{}
	for _, b := range slices.Backward(branches) {
		id, ok := idBegun(b.Tip, begun)
		if !ok {
			continue
		}
		what := string(b.Origin)
		if b.Active {
			what = "active"
		}
		list = append(list, cobra.CompletionWithDesc(id, term.Cut(what+"  "+term.OneLine(b.LastPrompt), width)))
		offered[id] = true
	}
	return list, offered
}

// idBegun gives an id as it can be put into a command line, if something typed begins
// it: its end, as output shows it, or all of it.
func idBegun(id entries.ID, begun string) (string, bool) {
	for _, form := range []string{id.Short(), string(id)} {
		if len(begun) < len(form) && strings.HasPrefix(form, begun) && completable(form) {
			return form, true
		}
	}
	return "", false
}

func labelCompletions(t *sessiontree.Tree, begun string) (list []cobra.Completion) {
	labels, err := t.Labels()
	if err != nil {
		return nil
	}
	for e, err := range t.Entries() {
		if err != nil {
			break
		}
		if label := labels[e.ID]; strings.HasPrefix(label, begun) && completable(label) {
			list = append(list, entryCompletion(label, e))
		}
	}
	return list
}

func entryCompletions(t *sessiontree.Tree, begun string) (list []cobra.Completion) {
	const most = 30
	if begun == "" {
		for e, err := range t.Ancestors(t.Leaf()) {
			if err != nil || len(list) == most {
				break
			}
			if spoken(e.Type) && completable(e.ID.Short()) {
				list = append(list, entryCompletion(e.ID.Short(), e))
			}
		}
		return list
	}
	for e, err := range t.Entries() {
		if err != nil || len(list) == most {
			break
		}
		if id, ok := idBegun(e.ID, begun); ok {
			list = append(list, entryCompletion(id, e))
		}
	}
	return list
}

func entryCompletion(name string, e entries.Entry) cobra.Completion {
	const width = 60
	s := summarize(e)
	return cobra.CompletionWithDesc(name, term.Cut(term.Line(s.kind)+"  "+term.OneLine(s.text), width))
}
