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
	// Done, where set, is called when a session was searched, by any goroutine.
	Done func()
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
	if f.opt.Done != nil {
		defer f.opt.Done()
	}
	if err := f.session(ctx, path, emit); err != nil && ctx.Err() == nil {
		emit(Result{Session: &Session{Path: path}, Err: err})
	}
}

func (f *files) session(ctx context.Context, path string, emit func(Result) bool) error {
	var spans []span
	if len(f.pattern.needles) > 0 {
		var err error
		if spans, err = f.candidates(ctx, path); err != nil || len(spans) == 0 {
			return err
		}
	}
	t, err := f.opt.Read(path, &sessiontree.ReadOptions{Workers: f.inner})
	if err != nil {
		return err
	}
	defer t.Close()
	if f.opt.Match != nil && !f.opt.Match(t) {
		return nil
	}
	if !ownBytes(t.Agent()) {
		spans = nil // its entries may stand elsewhere than in the file
	}
	return f.hits(ctx, t, spans, emit)
}

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

func (f *files) candidates(ctx context.Context, path string) ([]span, error) {
	src, err := store.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return f.pattern.candidates(ctx, src, blockSize)
}

// ownBytes tells whether the offsets of an agent's entries are those in its file.
func ownBytes(agent sessiontree.Agent) bool {
	return agent == sessiontree.AgentNative || agent == sessiontree.AgentPi || agent == sessiontree.AgentOmp
}
