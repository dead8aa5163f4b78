package sessiontree

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/store"
)

// An Info describes a session as its beginning and its end show it.
type Info struct {
	Path  string
	ID    string
	Agent Agent
	Cwd   string
	// Name is the session's name where its beginning or end shows it; with Count
	// wherever it stands. NameKnown tells an unnamed session from one whose name
	// may stand elsewhere.
	Name        string
	NameKnown   bool
	FirstPrompt string    // text of the first user message, where it is near the beginning
	Created     time.Time // by the header
	Modified    time.Time // of the last message of a user or a model; else Created, else the file's
	Size        int64
	Counted     bool // Turns and Branches were counted
	Turns       int  // of the active branch
	Branches    int
	Damaged     bool  // something was lost, as far as was looked
	Err         error // why the file cannot be read as a session; then only Path and Size are set
}

// ListOptions say which sessions are listed. Nil stands for the zero value.
type ListOptions struct {
	// Limit bounds the sessions that are listed, and with them the files that are
	// opened; 0 lists all.
	Limit int
	// Count reads every listed session as a whole.
	Count bool
	// Match, where set, decides what is listed; what it refuses does not count
	// for Limit. It sees an Info before Count has added to it.
	Match func(*Info) bool
	// Since, where set, leaves out what is older. Files that were not written since are not
	// opened.
	Since time.Time
	// Workers is how many goroutines open files; 0 and 1 stand for one.
	Workers int
	// Progress, where set, is called with how many files were opened of those found.
	Progress func(done, total int)
	// Describe, where set, stands for the function of that name: it may know more
	// formats. Workers call it at the same time.
	Describe func(path string) Info
	// Read, where set, opens what Count reads: it may know more formats.
	Read func(path string, opt *ReadOptions) (*Tree, error)
}

// List goes over the sessions in directories and in the directories directly below
// them (pi and oh-my-pi keep one a project), newest conversation first. Files that
// end in .jsonl, and archives of such, are taken for sessions; one that is none comes
// last, with its Err. An archive whose log stands beside it is left out.
// A directory that is missing has none; one of dirs that cannot be read is an error,
// which comes after everything else.
//
// Only the beginning and the end of a file are read. With a Limit, or with Since, files are opened
// in the order of their modification times, and no more of them than it takes (and a few
// that Workers have begun), since no conversation is younger than its file; but for one
// that was copied with an older time, which then may stand too low or be left out.
func List(dirs []string, opt *ListOptions) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		l := &listing{yield: yield, seen: map[string]bool{}}
		if opt != nil {
			l.opt = *opt
		}
		if l.opt.Read == nil {
			l.opt.Read = Read
		}
		var unread error
		for _, dir := range dirs {
			unread = errors.Join(unread, l.collect(dir))
		}
		l.run()
		if unread != nil && !l.done {
			yield(Info{}, unread)
		}
	}
}

type listing struct {
	opt   ListOptions
	yield func(Info, error) bool
	files []store.LogFile
	seen  map[string]bool // paths in files: directories may overlap
	ready youngest        // opened, and not given yet
	bad   []Info
	given int
	done  bool
}

// collect finds the files of a directory; one below it that cannot be read must not
// hide the others.
func (l *listing) collect(dir string) (unread error) {
	for f, err := range store.LogFiles(dir) {
		switch {
		case err != nil && f.Path == dir:
			return err
		case err != nil:
			l.bad = append(l.bad, Info{Path: f.Path, Err: err})
		case !l.seen[f.Path] && !l.tooOld(f.Info.ModTime()):
			l.seen[f.Path] = true
			l.files = append(l.files, f)
		}
	}
	return nil
}

func (l *listing) run() {
	slices.SortFunc(l.files, func(a, b store.LogFile) int {
		return cmp.Or(b.Info.ModTime().Compare(a.Info.ModTime()), strings.Compare(a.Path, b.Path))
	})
	for n, info := range l.described() {
		l.add(l.files[n], info)
		if l.opt.Progress != nil {
			l.opt.Progress(n+1, len(l.files))
		}
		if l.opt.Limit > 0 && n+1 < len(l.files) {
			// Whatever is still to come was written before the next file was.
			mtime := l.files[n+1].Info.ModTime()
			l.give(func(i *Info) bool { return i.Modified.After(mtime) })
		}
		if l.done {
			return
		}
	}
	l.give(func(*Info) bool { return true })
	for _, info := range l.bad {
		if l.done = l.done || !l.yield(info, nil); l.done {
			return
		}
	}
}

func (l *listing) add(c store.LogFile, info Info) {
	info.Size = c.Info.Size()
	if info.Err != nil {
		l.bad = append(l.bad, info)
		return
	}
	if info.Modified.IsZero() {
		info.Modified = c.Info.ModTime().UTC()
	}
	if !l.tooOld(info.Modified) && (l.opt.Match == nil || l.opt.Match(&info)) {
		heap.Push(&l.ready, &info)
	}
}

func (l *listing) tooOld(t time.Time) bool { return !l.opt.Since.IsZero() && t.Before(l.opt.Since) }

// give yields the youngest sessions, as long as they are settled.
func (l *listing) give(settled func(*Info) bool) {
	for len(l.ready) > 0 && !l.done && settled(l.ready[0]) {
		info := heap.Pop(&l.ready).(*Info)
		if l.opt.Count {
			info.count(l.opt.Read)
		}
		l.given++
		l.done = !l.yield(*info, nil) || l.given == l.opt.Limit
	}
}

// Describe reads the beginning and the end of one session.
func Describe(path string) Info {
	src, err := store.OpenFile(path)
	if err != nil {
		return Info{Path: path, Err: err}
	}
	ends, err := ReadEnds(src)
	if err != nil {
		return Info{Path: path, Err: fmt.Errorf("%s: %w", path, err)}
	}
	defer ends.Close()
	return DescribeEnds(ends, path)
}

// DescribeEnds is Describe for a session whose ends were read; path stands for where it is.
func DescribeEnds(ends *Ends, path string) Info {
	t, err := From(ends, path, nil)
	if err != nil {
		return Info{Path: path, Err: err}
	}
	defer t.tail.back.Release()
	h := t.Header()
	info := Info{Path: path, ID: h.ID, Cwd: h.Cwd, Created: h.Time, Modified: h.Time, Size: t.size}
	look := &look{t: t, info: &info}
	if err := errors.Join(look.head(), look.tail()); err != nil {
		return Info{Path: path, Err: err}
	}
	look.name()
	info.Agent = t.Agent()
	info.Damaged = info.Damaged || loses(t.Damage())
	return info
}

// loses tells whether there is damage that is more than a note.
func loses(list []Damage) bool {
	return slices.ContainsFunc(list, func(d Damage) bool { return !d.Note })
}

// lossy tells whether a record shows by itself that something was lost.
func lossy(head *jsonl.Head, r *jsonl.Record) bool {
	return r.Fault != "" && r.Fault != jsonl.BlankLines || r.State == jsonl.BadSum && !head.Rewritten()
}

// A look at the beginning and the end of a session.
type look struct {
	t     *Tree
	info  *Info
	seen  int64 // where the last record stands that was seen of the beginning
	next  int64 // ... and the line behind it
	whole bool  // everything was seen
	late  bool  // the last title_change was seen

	prompted bool      // a first prompt was found
	last     time.Time // of the last message of a user or a model that was seen
	dated    bool      // ... which is the last one in the log

	said, given     string // by the last session_info and title_change that were seen
	isSaid, isGiven bool
}

const (
	headBytes = 256 << 10 // where the first prompt is looked for
	nameBytes = 64 << 10  // ... and an early name, where that is found
	tailCount = 200       // entries among which the last message is looked for
	nameCount = 20        // ... and the name, where the last message is found; further up it is left to Count
)

// head looks for the first prompt and for an early name.
func (l *look) head() error {
	n, limit := newNames(), l.t.end.Limit
	all, err := l.records(&n, min(nameBytes, limit))
	if all = all && limit <= nameBytes; err == nil && !all && !l.prompted {
		all, err = l.records(&n, limit)
	}
	if err != nil || !all {
		return err
	}
	l.whole = true
	l.dated = !l.last.IsZero()
	return l.unended(l.seen)
}

// records looks at those of the lines from next on and before to, but at none behind
// headBytes, and tells whether it came to the end.
func (l *look) records(n *names, to int64) (all bool, err error) {
	for r, err := range jsonl.Range(l.t.src, l.t.head, l.next, to) {
		if err != nil || r.Offset > headBytes {
			return false, err
		}
		l.seen, l.next = r.Offset, r.LineEnd()
		l.info.Damaged = l.info.Damaged || lossy(l.t.head, r)
		if l.t.head.Entry(r) {
			l.seeRecord(n, r)
		}
	}
	return true, nil
}

// seeRecord looks at an entry near the beginning. Most say nothing of what is looked for.
func (l *look) seeRecord(n *names, r *jsonl.Record) {
	if isSpeech(entries.Type(r.Type), string(r.Role)) {
		if millis := n.hour.millis(r.Time); millis != noTime {
			l.last = timeOf(millis)
		}
	}
	switch entries.Type(r.Type) {
	case entries.TypeMessage:
		if l.prompted || string(r.Role) != "user" {
			return
		}
	case entries.TypeSessionInfo, entries.TypeTitleChange:
	default:
		return
	}
	k := n.keep(r, r.ID)
	l.see(l.t.entry(n, &k, ""))
}

// isSpeech tells the messages that make a conversation young.
func isSpeech(kind entries.Type, role string) bool {
	return kind == entries.TypeMessage && (role == "user" || role == "assistant")
}

// unended looks at the last entry where its line has no newline.
func (l *look) unended(seen int64) error {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	r, err := l.t.tail.at(0)
	if r != nil && r.rec.offset > seen {
		e := l.t.entry(&l.t.tail.names, &r.rec, "")
		if isSpeech(e.Type, e.Role) && !e.Time.IsZero() {
			l.last, l.dated = e.Time, true
		}
		l.see(e)
	}
	return err
}

func (l *look) see(e entries.Entry) {
	switch e.Type {
	case entries.TypeMessage:
		if e.Role == "user" && !l.prompted {
			m, _ := e.Message() // one that cannot be read says nothing
			l.info.FirstPrompt = m.Text()
			l.prompted = l.info.FirstPrompt != ""
		}
	case entries.TypeSessionInfo:
		l.said, l.isSaid = nameIn(e, "name")
	case entries.TypeTitleChange:
		l.given, l.isGiven = nameIn(e, "title")
	}
}

func nameIn(e entries.Entry, field string) (string, bool) {
	name, err := e.Field(field)
	return name, err == nil
}

// tail looks for the last message of a user or a model, and for a late name.
func (l *look) tail() error {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	named, dated := l.whole || l.t.head.Title != nil, l.dated
	if dated {
		l.info.Modified = l.last
	}
	for n := 0; n < tailCount && !(dated && named); n++ {
		r, err := l.t.tail.at(n)
		if r == nil || err != nil {
			return err
		}
		e := l.t.entry(&l.t.tail.names, &r.rec, "")
		switch {
		case isSpeech(e.Type, e.Role):
			if !dated && !e.Time.IsZero() {
				l.info.Modified, dated = e.Time, true
			}
		case e.Type == entries.TypeSessionInfo && !named:
			l.said, l.isSaid = nameIn(e, "name")
			l.info.NameKnown, named = l.isSaid, true
		case e.Type == entries.TypeTitleChange && !named && !l.late:
			l.given, l.isGiven = nameIn(e, "title")
			l.late = true
		}
		if dated && n >= nameCount {
			return nil
		}
	}
	return nil
}

// name decides as Tree.Name does.
func (l *look) name() {
	l.info.NameKnown = l.info.NameKnown || l.whole
	switch head := l.t.head; {
	case head.Title != nil:
		l.info.Name, l.info.NameKnown = head.Title.Title, true
	case l.isSaid:
		l.info.Name = trimName(l.said)
	case l.isGiven:
		l.info.Name = trimName(l.given)
	default:
		l.info.Name = trimName(head.Header.Title)
	}
}

// count adds what only the whole log shows.
func (info *Info) count(read func(path string, opt *ReadOptions) (*Tree, error)) {
	t, err := read(info.Path, nil)
	if err != nil {
		info.Damaged = true
		return
	}
	defer t.Close()
	branches, err := t.Branches()
	if err != nil {
		info.Damaged = true
		return
	}
	info.Counted, info.Branches = true, len(branches)
	for _, b := range branches {
		if b.Active {
			info.Turns = b.Turns
		}
	}
	if name, err := t.Name(); err == nil {
		info.Name, info.NameKnown = name, true
	}
	info.Damaged = loses(t.Damage())
}
