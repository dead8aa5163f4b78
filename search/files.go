package search

import (
	"context"
	"iter"
	"runtime"
	"slices"

	"github.com/sessctl/sessctl/internal/inorder"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// Options say how several sessions are searched. Nil stands for the zero value.
type Options struct {
	// Workers is how many goroutines search; 0 stands for one on each processor.
	Workers int
	// First ends the search of a session with its first hit.
	First bool
	// Match, where set, decides by a session's header whether it is searched.
	Match func(*sessiontree.Tree) bool
	// Read opens a session; nil stands for sessiontree.Read.
	Read func(path string, opt *sessiontree.ReadOptions) (*sessiontree.Tree, error)
	// Detect, where set, tells by the beginning of a file whether it is a transcript that only
	// Read knows, and of which agent; for any other it gives "". Where no line of a file may
	// match the file is not read, and this says whether it is a session at all.
	Detect func(store.Source) (sessiontree.Agent, error)
	// Done, where set, is called for each path when it was searched, by any goroutine.
	Done func(Searched)
}

// Searched tells of a path that was searched, whether it had hits or not.
type Searched struct {
	Path string
	// Wanted tells that it is a session which Match does not refuse, as far as that is known:
	// the header of a transcript that only Read knows is not looked for where no line may match.
	Wanted bool
	// Damage is what reading the session had to work around. Where no line may match it is what
	// the beginning and the end of the log show, and of a transcript that only Read knows
	// nothing.
	Damage []sessiontree.Damage
}

// A Session is what a Result tells of the session that it is from.
type Session struct {
	Path  string
	ID    string
	Agent sessiontree.Agent
	Cwd   string
	Name  string
}

// A Result is a hit in one of several sessions, or why one of them could not be
// searched; then of the session only the path is known. The session is closed: the
// hit's entry is an envelope, whose body cannot be read any more.
type Result struct {
	Session *Session // one for all hits of a session
	Hit     Hit
	Err     error
}

// Files searches the sessions at some paths and gives their hits in the order of the
// paths. One that cannot be read is a Result with its error, and the others follow.
// Where several files are of one session, by its agent and id, each entry is given once,
// of the first file that has it; with First each session is. Where ctx is done the rest is
// left out.
func Files(ctx context.Context, paths []string, p *Pattern, opt *Options) iter.Seq[Result] {
	f := &files{pattern: p}
	if opt != nil {
		f.opt = *opt
	}
	if f.opt.Workers <= 0 {
		f.opt.Workers = runtime.GOMAXPROCS(0)
	}
	if f.opt.Read == nil {
		f.opt.Read = sessiontree.Read
	}
	// What is left of the processors where there are few sessions decodes entries.
	f.inner = max(f.opt.Workers/max(len(paths), 1), 1)
	return once(inorder.Do(ctx, f.opt.Workers, slices.Values(paths), f.search), f.opt.First)
}

type files struct {
	pattern *Pattern
	opt     Options
	inner   int
}

func (f *files) search(ctx context.Context, path string, emit func(Result) bool) {
	done := Searched{Path: path}
	if err := f.session(ctx, &done, emit); err != nil && ctx.Err() == nil {
		emit(Result{Session: &Session{Path: path}, Err: err})
	}
	if f.opt.Done != nil {
		f.opt.Done(done)
	}
}

func (f *files) session(ctx context.Context, s *Searched, emit func(Result) bool) error {
	var spans []span
	if len(f.pattern.needles) > 0 {
		var err error
		if spans, err = f.candidates(ctx, s); err != nil || len(spans) == 0 {
			return err
		}
	}
	t, err := f.opt.Read(s.Path, &sessiontree.ReadOptions{Workers: f.inner})
	if err != nil {
		return err
	}
	defer t.Close()
	if !f.wanted(t) {
		return nil
	}
	if !ownBytes(t.Agent()) {
		spans = nil // its entries may stand elsewhere than in the file
	}
	err = f.hits(ctx, t, spans, emit)
	s.Wanted, s.Damage = true, t.Damage()
	return err
}

func (f *files) wanted(t *sessiontree.Tree) bool { return f.opt.Match == nil || f.opt.Match(t) }

func (f *files) hits(ctx context.Context, t *sessiontree.Tree, spans []span, emit func(Result) bool) error {
	var s *Session
	for hit, err := range f.pattern.tree(ctx, t, f.inner, spans) {
		if s == nil && err == nil {
			s, err = About(t)
		}
		if err != nil {
			return err
		}
		if !emit(Result{Session: s, Hit: hit}) || f.opt.First {
			return nil
		}
	}
	return nil
}

// About tells what a Result tells of its session.
func About(t *sessiontree.Tree) (*Session, error) {
	h := t.Header()
	name, err := t.Name()
	return &Session{Path: t.File(), ID: h.ID, Agent: t.Agent(), Cwd: h.Cwd, Name: name}, err
}

// candidates gives the lines of a file that a match may be on. Where there is none the file
// has to be a session all the same.
func (f *files) candidates(ctx context.Context, s *Searched) ([]span, error) {
	src, err := store.OpenFile(s.Path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	spans, err := f.pattern.candidates(ctx, src, blockSize)
	if err == nil && len(spans) == 0 {
		err = f.glance(src, s)
	}
	return spans, err
}

// glance tells what the ends of a file show of the session in it. They cost next to
// nothing, where reading the transcript of another agent would cost more than the search.
func (f *files) glance(src store.Source, s *Searched) error {
	if f.opt.Detect != nil {
		agent, err := f.opt.Detect(src)
		if s.Wanted = agent != ""; s.Wanted || err != nil {
			return err
		}
	}
	t, err := sessiontree.From(src, s.Path, nil)
	if err != nil {
		return err
	}
	if s.Wanted = f.wanted(t); s.Wanted {
		s.Damage = t.Damage()
	}
	return nil
}

// ownBytes tells whether the offsets of an agent's entries are those in its file.
func ownBytes(agent sessiontree.Agent) bool {
	return agent == sessiontree.AgentNative || agent == sessiontree.AgentPi || agent == sessiontree.AgentOmp
}
