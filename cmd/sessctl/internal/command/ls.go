package command

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/sessiontree"
)

type lsFlags struct {
	since, until string
	grep         string
	limit        int
	count, jsonl bool
}

func (a *app) ls() *cobra.Command {
	var f lsFlags
	cmd := &cobra.Command{
		Use:   "ls [DIR...]",
		Short: "List sessions, newest conversation first",
		Long: `ls lists the sessions in the known directories of sessctl, pi, oh-my-pi, Claude
Code and Codex, and in those given with --dir; with DIR only in those. Only the
beginning and the end of each file are read: --count reads them whole, for turns and
branches, and for names that stand elsewhere.`,
		Example: "  sessctl ls --limit 20\n  sessctl ls --cwd . --since 2d\n  sessctl ls --agent claude --count\n  sessctl ls --grep parser --json",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runLs(&f, args)
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.since, "since", "", "only sessions active since `TIME` (2d, 3h, 2026-11-30, RFC 3339)")
	fl.StringVar(&f.until, "until", "", "only sessions last active before `TIME`")
	fl.StringVar(&f.grep, "grep", "", "only sessions whose name, first prompt or directory has `TEXT`, in any case")
	fl.IntVar(&f.limit, "limit", 0, "at most `N` sessions (0: all)")
	fl.BoolVar(&f.count, "count", false, "count turns and branches: reads every session as a whole")
	fl.BoolVar(&f.jsonl, "jsonl", false, "a JSON object a line")
	return cmd
}

type jsonInfo struct {
	ID          string            `json:"id"`
	Path        string            `json:"path"`
	Agent       sessiontree.Agent `json:"agent"`
	Cwd         string            `json:"cwd"`
	Name        *string           `json:"name"`
	FirstPrompt *string           `json:"firstPrompt"`
	Created     *string           `json:"created"`
	Modified    *string           `json:"modified"`
	Turns       *int              `json:"turns"`
	Branches    *int              `json:"branches"`
	Size        int64             `json:"size"`
	Damaged     bool              `json:"damaged"`
}

func infoJSON(i sessiontree.Info) jsonInfo {
	j := jsonInfo{
		ID: i.ID, Path: i.Path, Agent: i.Agent, Cwd: i.Cwd, Name: optional(i.Name), FirstPrompt: optional(i.FirstPrompt),
		Created: optionalTime(i.Created), Modified: optionalTime(i.Modified), Size: i.Size, Damaged: i.Damaged,
	}
	if i.Counted {
		j.Turns, j.Branches = &i.Turns, &i.Branches
	}
	return j
}

func (a *app) runLs(f *lsFlags, args []string) error {
	if a.flags.json && f.jsonl {
		return usagef("--json and --jsonl exclude each other")
	}
	if f.limit < 0 {
		return usagef("--limit takes a number that is not negative")
	}
	places, err := a.places()
	if err != nil {
		return err
	}
	since, until, err := period(f.since, f.until)
	if err != nil {
		return err
	}
	dirs := args
	if len(dirs) == 0 {
		dirs = places.Known()
	}
	for _, dir := range args { // a known directory may be missing, one that is named may not
		if err := folder(dir); err != nil {
			return err
		}
	}
	opt := &sessiontree.ListOptions{
		Limit: f.limit, Count: f.count, Match: f.match(places, until), Since: since, Workers: runtime.GOMAXPROCS(0), Describe: places.Describe, Read: places.Read,
	}
	return a.write(true, func(o *term.Output) error { return a.list(o, f, dirs, opt) })
}

// list writes the sessions, and on stderr how many files are none.
func (a *app) list(o *term.Output, f *lsFlags, dirs []string, opt *sessiontree.ListOptions) error {
	l := &lister{app: a, o: o, flags: f}
	if l.brief = !a.flags.json && !f.jsonl && f.grep == ""; l.brief {
		opt.Describe = briefly(opt.Describe)
	}
	shown := &progress{app: a, doing: "looking"}
	if !f.jsonl || !o.Terminal { // which are written at once
		opt.Progress = func(done, total int) { shown.show(int64(done), int64(total)) }
	}
	var bad []error
	var unread error // comes last
	for info, err := range sessiontree.List(dirs, opt) {
		if err != nil {
			unread = err
			continue
		}
		if info.Err != nil {
			bad = append(bad, info.Err)
			continue
		}
		if err := l.add(info); err != nil {
			return err
		}
	}
	shown.clear()
	a.reportUnreadable("shown", bad)
	if l.n == 0 && !a.flags.quiet {
		fmt.Fprintf(a.stderr, "sessctl: no session fits; looked in %s; %s\n", term.Line(strings.Join(dirs, ", ")), term.Line(a.elsewhere(dirs)))
	}
	return errors.Join(l.finish(), unread)
}

// briefly keeps of a name and a first prompt what a row shows, on the processor that
// describes the session: prompts may be long, and sessions many.
func briefly(describe func(path string) sessiontree.Info) func(path string) sessiontree.Info {
	return func(path string) sessiontree.Info {
		info := describe(path)
		info.Name, info.FirstPrompt = term.OneLine(info.Name), term.OneLine(info.FirstPrompt)
		return info
	}
}

// elsewhere says where to look for sessions: in a known folder below one that was looked
// in, such as projects of ~/.claude.
func (a *app) elsewhere(dirs []string) string {
	if places, err := a.places(); err == nil {
		for _, known := range places.Known() {
			isAbove := func(dir string) bool { return above(dir, known) }
			if !slices.Contains(dirs, known) && slices.ContainsFunc(dirs, isAbove) && folder(known) == nil {
				return "'sessctl ls " + known + "' looks further down"
			}
		}
	}
	return "name a folder to look elsewhere"
}

// above tells whether a folder is on the way to a path that is absolute.
func above(dir, path string) bool {
	abs, err := filepath.Abs(dir)
	return err == nil && strings.HasPrefix(path, abs+string(filepath.Separator))
}

// folder refuses what is no folder: it holds no sessions.
func folder(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is a file, and sessions are looked for in folders; if it is one, 'sessctl tree %s' shows it", name, name)
	}
	return err
}

// reportUnreadable tells which files are no sessions, or cannot be read, and so were not
// shown, or whatever else was asked for.
func (a *app) reportUnreadable(done string, bad []error) {
	const most = 3
	if a.flags.quiet {
		return
	}
	for i, err := range bad {
		if i == most {
			fmt.Fprintf(a.stderr, "sessctl: %s not %s\n", plural(len(bad)-most, "more file that is no session", "more files that are no sessions"), done)
			return
		}
		fmt.Fprintf(a.stderr, "sessctl: not %s: %s\n", done, term.Line(err.Error()))
	}
}

// A lister writes sessions in one of the three forms of ls.
type lister struct {
	app   *app
	o     *term.Output
	flags *lsFlags
	table *table
	infos []jsonInfo
	n     int
	brief bool // names are as a row shows them
}

func (l *lister) add(info sessiontree.Info) error {
	l.n++
	l.app.strict = l.app.strict || l.app.flags.strict && info.Damaged
	switch {
	case l.flags.jsonl:
		return writeJSON(l.o, infoJSON(info), true)
	case l.app.flags.json:
		l.infos = append(l.infos, infoJSON(info))
	default:
		l.row(info)
	}
	return nil
}

func (l *lister) row(info sessiontree.Info) {
	if l.table == nil {
		titles := []string{"ID", "AGENT", "LAST ACTIVITY", ">SIZE", "<DIRECTORY", "NAME OR FIRST PROMPT"}
		if l.flags.count {
			titles = append(titles[:4:4], append([]string{">TURNS", ">BRANCHES"}, titles[4:]...)...)
		}
		l.table = newTable(l.o, titles...)
	}
	name := cmp.Or(info.Name, info.FirstPrompt)
	if !l.brief || l.flags.count { // which may have found another name
		name = term.OneLine(name)
	}
	if info.Damaged {
		name = "(damaged) " + name
	}
	cells := []string{tail(info.ID), string(info.Agent), l.app.clock(info.Modified), size(info.Size), term.Line(info.Cwd), name}
	if l.flags.count {
		cells = append(cells[:4:4], append([]string{fmt.Sprint(info.Turns), fmt.Sprint(info.Branches)}, cells[4:]...)...)
	}
	l.table.add("", cells...)
}

func tail(id string) string {
	const n = 8
	if len(id) > n {
		id = strings.ToValidUTF8(id[len(id)-n:], "")
	}
	return term.Line(id)
}

func (l *lister) finish() error {
	switch {
	case l.flags.jsonl:
	case l.app.flags.json:
		if l.infos == nil {
			l.infos = []jsonInfo{}
		}
		return writeJSON(l.o, struct {
			Schema   string     `json:"schema"`
			Sessions []jsonInfo `json:"sessions"`
		}{"sessctl.ls/1", l.infos}, false)
	case l.table != nil:
		l.table.write()
	}
	return nil
}

// size shortens a number of bytes: 2.4 MB.
func size(n int64) string {
	const step, rounded = 1000, 999.95
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	v, units := float64(n), []string{"kB", "MB", "GB", "TB"}
	for i, unit := range units {
		if v /= step; v < rounded || i == len(units)-1 {
			return fmt.Sprintf("%.1f %s", v, unit)
		}
	}
	return ""
}

// match joins the filters into one.
func (f *lsFlags) match(places *locate.Places, until time.Time) func(*sessiontree.Info) bool {
	grep := strings.ToLower(f.grep)
	return func(i *sessiontree.Info) bool {
		if !places.Match(i) || !until.IsZero() && !i.Modified.Before(until) {
			return false
		}
		return grep == "" || strings.Contains(strings.ToLower(i.Name+"\n"+i.FirstPrompt+"\n"+i.Cwd), grep)
	}
}

// period reads --since and --until. One that ends before it begins would give nothing,
// without a word.
func period(since, until string) (from, to time.Time, err error) {
	now := time.Now()
	if from, err = parseTime(since, now); err != nil {
		return from, to, err
	}
	if to, err = parseTime(until, now); err != nil {
		return from, to, err
	}
	if since != "" && until != "" && !from.Before(to) {
		err = usagef("--since %s is not before --until %s: there is no time between them", since, until)
	}
	return from, to, err
}

// parseTime reads a moment: a duration back from now (90m, 3h, 2d, 1w), a day, or a
// time.
func parseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := parseAge(s); err == nil {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("%q is no time: give 90m, 3h, 2d, 1w, 2026-11-30 or 2026-11-30T15:04:05Z", s)
}

func parseAge(s string) (time.Duration, error) {
	days := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if unit, ok := days[s[len(s)-1]]; ok {
		n, err := strconv.ParseFloat(s[:len(s)-1], 64)
		if err != nil || !(n >= 0 && n < math.MaxInt64/float64(unit)) {
			return 0, errors.New("not a number of days")
		}
		return time.Duration(n * float64(unit)), nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = errors.New("negative")
	}
	return d, err
}
