package sessiontree

import (
	"cmp"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
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
}

// List goes over the sessions in directories and in the directories directly below
// them (pi and oh-my-pi keep one a project), newest conversation first. Files that
// end in .jsonl are taken for sessions; one that is none comes last, with its Err.
// A directory that is missing has none.
//
// Only the beginning and the end of a file are read. Files are opened in the order
// of their modification times, which no conversation in them is younger than, so
// that a Limit ends the work early.
func List(dirs []string, opt *ListOptions) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		l := &listing{yield: yield}
		if opt != nil {
			l.opt = *opt
		}
		for _, dir := range dirs {
			if err := l.collect(dir, true); err != nil {
				yield(Info{}, err)
				return
			}
		}
		l.run()
	}
}

type listing struct {
	opt   ListOptions
	yield func(Info, error) bool
	files []candidate
	ready []Info // opened, oldest first
	bad   []Info
	given int
	done  bool
}

type candidate struct {
	path string
	info fs.FileInfo
}

func (l *listing) collect(dir string, deeper bool) error {
	list, err := store.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range list {
		path := filepath.Join(dir, d.Name())
		switch {
		case d.IsDir() && deeper:
			// One that cannot be read must not hide the others.
			if err := l.collect(path, false); err != nil {
				l.bad = append(l.bad, Info{Path: path, Err: err})
			}
		case strings.HasSuffix(d.Name(), ".jsonl"):
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				l.files = append(l.files, candidate{path, info})
			}
		}
	}
	return nil
}

func (l *listing) run() {
	slices.SortFunc(l.files, func(a, b candidate) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), strings.Compare(a.path, b.path))
	})
	for _, c := range l.files {
		// Whatever is still to come was written before this file was.
		l.give(c.info.ModTime())
		if l.done {
			return
		}
		l.open(c)
	}
	l.give(time.Time{})
	for _, info := range l.bad {
		if l.done || !l.yield(info, nil) {
			return
		}
	}
}

func (l *listing) open(c candidate) {
	info := Describe(c.path)
	info.Size = c.info.Size()
	if info.Err != nil {
		l.bad = append(l.bad, info)
		return
	}
	if info.Modified.IsZero() {
		info.Modified = c.info.ModTime().UTC()
	}
	if l.opt.Match != nil && !l.opt.Match(&info) {
		return
	}
	at, _ := slices.BinarySearchFunc(l.ready, info, func(a, b Info) int {
		return cmp.Or(a.Modified.Compare(b.Modified), strings.Compare(b.ID, a.ID), strings.Compare(b.Path, a.Path))
	})
	l.ready = slices.Insert(l.ready, at, info)
}

// give yields what is not older than a time.
func (l *listing) give(than time.Time) {
	for len(l.ready) > 0 && !l.done {
		last := len(l.ready) - 1
		info := l.ready[last]
		if info.Modified.Before(than) {
			return
		}
		l.ready = l.ready[:last]
		if l.opt.Count {
			info.count()
		}
		l.given++
		l.done = !l.yield(info, nil) || l.given == l.opt.Limit
	}
}

// Describe reads the beginning and the end of one session.
func Describe(path string) Info {
	t, err := Read(path, nil)
	if err != nil {
		return Info{Path: path, Err: err}
	}
	defer t.Close()
	h := t.Header()
	info := Info{Path: path, ID: h.ID, Cwd: h.Cwd, Created: h.Time, Modified: h.Time, Size: t.size}
	err = errors.Join(info.readHead(t), info.readTail(t))
	if err != nil {
		return Info{Path: path, Err: err}
	}
	info.Agent = t.Agent()
	info.Damaged = slices.ContainsFunc(t.Damage(), func(d Damage) bool { return !d.Note })
	return info
}

const (
	headBytes = 256 << 10 // where the first prompt is looked for
	tailCount = 200       // entries among which the last message is looked for
)

// readHead looks for the first prompt and for an early name.
func (info *Info) readHead(t *Tree) error {
	if t.head.Title != nil {
		info.Name, info.NameKnown = t.head.Title.Title, true
	} else if t.head.Header.Title != "" {
		info.Name = t.head.Header.Title
	}
	n := newNames()
	for r, err := range jsonl.Range(t.src, t.head, 0, t.end.Limit) {
		if err != nil {
			return err
		}
		if r.Offset > headBytes {
			return nil
		}
		if !t.head.Entry(r) {
			continue
		}
		k := n.keep(r, r.ID)
		info.see(t.entry(&n, &k, ""))
	}
	info.NameKnown = true // all of it was read
	return nil
}

func (info *Info) see(e entries.Entry) {
	switch {
	case e.Type == entries.TypeMessage && e.Role == "user" && info.FirstPrompt == "":
		if m, err := e.Message(); err == nil {
			info.FirstPrompt = m.Text()
		}
	case e.Type == entries.TypeSessionInfo && !info.NameKnown:
		if name, err := e.Field("name"); err == nil {
			info.Name = trimName(name)
		}
	}
}

// readTail looks for the last message of a user or a model, and for a late name.
func (info *Info) readTail(t *Tree) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	named, dated := info.NameKnown, false
	for n := 0; n < tailCount && !(dated && named); n++ {
		r, err := t.tail.at(n)
		if r == nil || err != nil {
			return err
		}
		e := t.entry(&t.tail.names, &r.rec, "")
		if !dated && e.Type == entries.TypeMessage && (e.Role == "user" || e.Role == "assistant") && !e.Time.IsZero() {
			info.Modified, dated = e.Time, true
		}
		if !named && e.Type == entries.TypeSessionInfo {
			if name, err := e.Field("name"); err == nil {
				info.Name, info.NameKnown, named = trimName(name), true, true
			}
		}
		if dated && n >= 20 {
			return nil // a name this far up is left to Count
		}
	}
	return nil
}

// count adds what only the whole log shows.
func (info *Info) count() {
	t, err := Read(info.Path, nil)
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
	info.Damaged = slices.ContainsFunc(t.Damage(), func(d Damage) bool { return !d.Note })
}
