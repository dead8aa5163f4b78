package stats

import (
	"context"
	"iter"
	"runtime"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/inorder"
	"github.com/sessctl/sessctl/sessiontree"
)

// FilesOptions say how several sessions are read. Nil stands for the zero value.
type FilesOptions struct {
	// Workers is how many goroutines read; 0 stands for one on each processor.
	Workers int
	// Match, where set, decides by a session's header whether it is counted.
	Match func(*sessiontree.Tree) bool
	// Read opens a session; nil stands for sessiontree.Read.
	Read func(path string, opt *sessiontree.ReadOptions) (*sessiontree.Tree, error)
	// Prompt is as in Options.
	Prompt func(entries.Entry) bool
	// Done, where set, is called when a session was read, by any goroutine.
	Done func()

	each int // goroutines that read one session, where there are fewer sessions than workers
}

// Files reads the sessions at some paths, in their order. One that cannot be read comes
// with its error, and the others follow. Where ctx is done the rest is left out.
func Files(ctx context.Context, paths []string, opt *FilesOptions) iter.Seq2[*Session, error] {
	var o FilesOptions
	if opt != nil {
		o = *opt
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Read == nil {
		o.Read = sessiontree.Read
	}
	o.each = max(1, o.Workers/max(1, len(paths)))
	return func(yield func(*Session, error) bool) {
		for r := range inorder.Do(ctx, o.Workers, slices.Values(paths), o.read) {
			if !yield(r.session, r.err) {
				return
			}
		}
	}
}

type result struct {
	session *Session
	err     error
}

func (o *FilesOptions) read(_ context.Context, path string, emit func(result) bool) {
	if o.Done != nil {
		defer o.Done()
	}
	t, err := o.Read(path, &sessiontree.ReadOptions{Workers: o.each})
	if err != nil {
		emit(result{err: err})
		return
	}
	defer t.Close()
	if o.Match != nil && !o.Match(t) {
		return
	}
	s, err := Read(t, &Options{Prompt: o.Prompt})
	emit(result{s, err})
}
