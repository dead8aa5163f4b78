package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/search"
	"github.com/sessctl/sessctl/sessiontree"
)

// searchFlags are the flags of search.
type searchFlags struct {
	query        search.Query
	exitCode     int
	since, until string
	limit        int
	names, count bool
	jsonl        bool
}

func (a *app) search() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search PATTERN [S...]",
		Short: "Find text in sessions, on every branch",
		Long: `search looks for text in what a person would read of a session: what was said and
thought, what tools were called with and what they gave, summaries, names and labels;
never in ids, keys or images. S is a session or a directory of sessions; without it
all known sessions are searched, the one that was written last first; a subagent's
transcript only where it or its folder is named. A hit is an entry: its lines that
match are shown, and the branch that it is on. Without a hit the exit code is 1; with
-q nothing is printed at all.`,
		Example: "  sessctl search 'deadlock'\n  sessctl search -i -w todo latest --role user\n  sessctl search -E 'FAIL: Test\\w+' --tool bash --since 1w\n  sessctl search 'permission denied' --exit-code 1 --json",
		Args:    needs(1, -1, "a PATTERN, and sessions or directories"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("exit-code") {
				f.query.ExitCode = &f.exitCode
			}
			return a.runSearch(&f, args)
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.BoolVarP(&f.query.Regexp, "regexp", "E", false, "PATTERN is a regular expression (RE2); ^ and $ match at lines")
	fl.BoolVarP(&f.query.IgnoreCase, "ignore-case", "i", false, "in any case")
	fl.BoolVarP(&f.query.Words, "word", "w", false, "only whole words")
	fl.BoolVarP(&f.names, "files-with-matches", "l", false, "print only the paths of sessions with a hit")
	fl.BoolVarP(&f.count, "count", "c", false, "print only how many hits each session has, and its path")
	fl.IntVarP(&f.query.Around, "context", "C", 0, "show `N` lines of the entry before and after a match, too")
	fl.BoolVar(&f.query.Active, "active", false, "only on the active branch")
	fl.StringSliceVar(&f.query.Roles, "role", nil, "only messages of `ROLES` (user, assistant, toolResult, ...), or entries of these types")
	fl.StringSliceVar(&f.query.Tools, "tool", nil, "only in calls and results of the tools `NAMES`")
	fl.IntVar(&f.exitCode, "exit-code", 0, "only results of commands that ended with `N`")
	fl.StringVar(&f.since, "since", "", "only entries since `TIME` (2d, 3h, 2026-11-30, RFC 3339)")
	fl.StringVar(&f.until, "until", "", "only entries before `TIME`")
	fl.IntVar(&f.limit, "limit", 0, "end after `N` hits (0: all)")
	fl.BoolVar(&f.jsonl, "jsonl", false, "a JSON object a line")
	return cmd
}

func (f *searchFlags) check(a *app) (err error) {
	forms := 0
	for _, set := range []bool{a.flags.json, f.jsonl, f.names, f.count} {
		if set {
			forms++
		}
	}
	switch {
	case forms > 1:
		return usagef("--json, --jsonl, -l and -c exclude each other")
	case f.query.Around < 0 || f.limit < 0:
		return usagef("-C and --limit take a number that is not negative")
	}
	f.query.Since, f.query.Until, err = period(f.since, f.until)
	return err
}

// errNoHit ends a search that found nothing.
var errNoHit = errors.New("nothing was found")

func (a *app) runSearch(f *searchFlags, args []string) error {
	if err := f.check(a); err != nil {
		return err
	}
	f.query.Text = args[0]
	pattern, err := search.Compile(f.query)
	if err != nil {
		return usageError{err}
	}
	s := &searching{app: a, flags: f, pattern: pattern, shown: &progress{app: a, doing: "searching"}}
	if s.places, err = a.places(); err != nil {
		return err
	}
	if err := s.find(args[1:]); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s.ctx = ctx
	if err := a.write(!f.jsonl, s.run); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Canceled
	}
	s.report()
	if s.unread == nil && s.hits == 0 {
		return errNoHit
	}
	return s.unread
}

// A searching is one run of search.
type searching struct {
	app     *app
	flags   *searchFlags
	pattern *search.Pattern
	places  *locate.Places
	ctx     context.Context
	names   []string // what the user named; none: all that is known
	paths   []string
	stream  *sessiontree.Tree // what can be read only once: "-" or a named pipe
	unread  error             // of directories

	out *hitPrinter
	bad []error // why a path could not be searched

	mu      sync.Mutex // guards what sessions that are done touch
	shown   *progress
	done    int
	wanted  int               // sessions that the filters let pass
	damaged []search.Searched // those with damage
	hits    int
}

// find looks up what is to be searched.
func (s *searching) find(names []string) (err error) {
	if len(names) == 1 && isStream(names[0]) {
		s.stream, err = s.app.open(names[0], false)
		return err
	}
	s.names = names
	s.paths, err = s.places.Sessions(names)
	if len(names) == 0 { // a known directory that cannot be read hides no other
		s.unread, err = err, nil
	}
	return err
}

// isStream tells whether what a user names can be read only once. Files are read twice, for
// the lines that may match and then as sessions.
func isStream(name string) bool {
	info, err := os.Stat(name)
	return name == "-" || err == nil && info.Mode()&os.ModeNamedPipe != 0
}

func (s *searching) run(o *term.Output) error {
	s.out = &hitPrinter{app: s.app, o: o, flags: s.flags, count: -1}
	var err error
	if s.stream != nil {
		defer s.stream.Close()
		err = s.runTree(s.stream)
	} else {
		s.out.describe = s.places.Describe
		err = s.runFiles()
	}
	if err != nil {
		return err
	}
	return s.out.end(s.done - len(s.bad))
}

// runTree searches standard input, or a named pipe.
func (s *searching) runTree(t *sessiontree.Tree) error {
	about, err := search.About(t)
	if err != nil {
		return err
	}
	defer func() { s.oneDone(search.Searched{Path: t.File(), Wanted: true, Damage: t.Damage()}) }()
	for hit, err := range s.pattern.Tree(s.ctx, t, runtime.GOMAXPROCS(0)) {
		if err != nil || s.add(about, hit) {
			return err
		}
		if s.out.err != nil {
			return s.out.err
		}
	}
	return nil
}

func (s *searching) runFiles() error {
	defer s.clear()
	opt := &search.Options{First: s.flags.names, Match: s.places.Suits, Read: s.places.Read, Detect: formats.Detect, Done: s.oneDone}
	for r := range search.Files(s.ctx, s.paths, s.pattern, opt) {
		if r.Err != nil {
			s.bad = append(s.bad, r.Err)
		} else if s.add(r.Session, r.Hit) || s.out.err != nil {
			break
		}
	}
	if s.out.err == nil && len(s.names) == 1 && len(s.bad) > 0 && len(s.bad) == len(s.paths) {
		return s.bad[0]
	}
	return s.out.err
}

// oneDone counts a session, and tells how far the search has come; but not between hits
// on the same screen.
func (s *searching) oneDone(one search.Searched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	if one.Wanted {
		s.wanted++
	}
	one.Damage = withoutNotes(one.Damage)
	if len(one.Damage) > 0 {
		s.damaged = append(s.damaged, one)
	}
	if s.hits == 0 || !s.out.o.Terminal {
		s.shown.show(int64(s.done), int64(len(s.paths)))
	}
}

func (s *searching) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown.clear()
}

// add takes a hit, and tells whether that is enough.
func (s *searching) add(about *search.Session, hit search.Hit) (enough bool) {
	s.mu.Lock()
	s.hits++
	s.shown.clear()
	s.mu.Unlock()
	if s.app.flags.quiet {
		return true
	}
	s.out.add(about, hit)
	return s.hits == s.flags.limit
}

// report tells on stderr what could not be searched, and what was damaged. It does so at the
// end, in the order of the paths, whichever of them was done first.
func (s *searching) report() {
	s.app.reportUnreadable("searched", s.bad)
	place := map[string]int{}
	for i, path := range s.paths {
		place[path] = i
	}
	slices.SortFunc(s.damaged, func(a, b search.Searched) int { return place[a.Path] - place[b.Path] })
	for _, d := range s.damaged {
		s.app.reportDamage(d.Path, d.Damage)
	}
	if s.wanted == 0 {
		s.app.reportNoSession()
	}
}
