package command

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	safe "github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// open reads the session that an argument names.
func (a *app) open(name string, verify bool) (*sessiontree.Tree, error) {
	progress := &progress{app: a}
	opt := &sessiontree.ReadOptions{Verify: verify, Workers: runtime.GOMAXPROCS(0), Progress: progress.show}
	if name == "-" {
		src, err := store.Spool(a.stdin)
		if err != nil {
			return nil, err
		}
		return formats.From(src, "-", opt)
	}
	path, err := a.path(name)
	if err != nil {
		return nil, err
	}
	return formats.Read(path, opt)
}

func (a *app) path(name string) (string, error) {
	places, err := a.places()
	if err != nil {
		return "", err
	}
	return places.Session(name)
}

// whole opens a session, reads all of it, and reports its damage.
func (a *app) whole(name string) (*sessiontree.Tree, error) {
	t, err := a.open(name, false)
	if err != nil {
		return nil, err
	}
	if err := t.Scan(); err != nil {
		t.Close()
		return nil, err
	}
	a.reportDamage(t.File(), t.Damage())
	return t, nil
}

// withoutNotes leaves out what cost nothing: of many sessions most have some.
func withoutNotes(damage []sessiontree.Damage) []sessiontree.Damage {
	return slices.DeleteFunc(damage, func(d sessiontree.Damage) bool { return d.Note })
}

// reportDamage tells on stderr, in one line, what had to be worked around.
func (a *app) reportDamage(path string, damage []sessiontree.Damage) {
	// Every log of oh-my-pi has a title line, and every transcript of other agents has
	// records that are no entries; nobody has to be told each time.
	damage = slices.DeleteFunc(damage, func(d sessiontree.Damage) bool { return d.Kind == "title-slot" || d.Kind == "left-out" })
	for _, d := range damage {
		a.strict = a.strict || a.flags.strict && !d.Note
	}
	if len(damage) == 0 || a.flags.quiet {
		return
	}
	where, more := safe.Line(path), "'sessctl verify "+safe.Line(path)+"' tells more"
	if path == "-" { // which has been read, and is gone
		where, more = "standard input", "the same input to 'sessctl verify -' tells more"
	}
	fmt.Fprintf(a.stderr, "sessctl: %s: %s; %s\n", where, strings.Join(kinds(damage), ", "), more)
	for _, d := range damage {
		if d.Kind == "leaf-moved" {
			fmt.Fprintf(a.stderr, "sessctl: %s\n", safe.Line(d.Detail))
		}
	}
}

// kinds sums up damage: every kind once, with its first line and its count.
func kinds(damage []sessiontree.Damage) []string {
	count := map[sessiontree.DamageKind]int{}
	var order []sessiontree.Damage
	for _, d := range damage {
		if count[d.Kind] == 0 {
			order = append(order, d)
		}
		count[d.Kind] += d.Count
	}
	list := make([]string, len(order))
	for i, d := range order {
		where := fmt.Sprintf("line %d", d.Line)
		if d.Line == 0 { // only the end of the log was read
			where = fmt.Sprintf("byte %d", d.Offset)
		}
		list[i] = fmt.Sprintf("%s (%s)", d.Kind, where)
		if n := count[d.Kind]; n > 1 {
			list[i] = fmt.Sprintf("%s (%d from %s)", d.Kind, n, where)
		}
	}
	return list
}

// A progress shows on a terminal how far a long read has come.
type progress struct {
	app   *app
	doing string // "reading" where it is not set
	start time.Time
	shown time.Time // the line was written last; zero where there is none
	dumb  bool      // nobody would see it
}

// show is called with bytes read, or things done; it says nothing in the first half
// second.
func (p *progress) show(done, total int64) {
	const patience, pace = 500 * time.Millisecond, 200 * time.Millisecond
	now := time.Now()
	if p.start.IsZero() {
		p.start = now
	}
	f, ok := p.app.stderr.(*os.File)
	if !ok || p.dumb || p.app.flags.quiet || now.Sub(p.start) < patience {
		return
	}
	if done >= total {
		p.clear()
	} else if now.Sub(p.shown) >= pace {
		if p.dumb = !term.IsTerminal(int(f.Fd())); p.dumb {
			return
		}
		p.shown = now
		fmt.Fprintf(f, "\r%s: %d %%", cmp.Or(p.doing, "reading"), done*100/max(total, 1))
	}
}

// clear takes the line away, so that others can be written.
func (p *progress) clear() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.app.stderr, "\r\x1b[K")
		p.shown = time.Time{}
	}
}

// clock formats a time for people: in local time, with its offset.
func (a *app) clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if a.flags.utc {
		return t.UTC().Format("2006-01-02 15:04Z07:00")
	}
	return t.Local().Format("2006-01-02 15:04Z07:00")
}
