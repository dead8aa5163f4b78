package checkpoint

import (
	"context"
	"os"

	"github.com/sessctl/sessctl/sessiontree"
)

// Follow is Track for the usual case: the workspace is the session's working directory, and
// the contents lie beside its log. Close gives both up.
func Follow(ctx context.Context, s *sessiontree.Session, opt *TrackOptions) (*Tracker, error) {
	root, err := os.OpenRoot(s.Header().Cwd)
	if err != nil {
		return nil, err
	}
	st, err := OpenStore(StoreOf(s.Path()))
	if err != nil {
		root.Close()
		return nil, err
	}
	t, err := Track(ctx, s, root, st, opt)
	if err != nil {
		root.Close()
		st.Close()
		return nil, err
	}
	t.owns = true
	return t, nil
}

// Root is the workspace.
func (t *Tracker) Root() *os.Root { return t.ws.root }

// Close gives up what Follow opened. It does nothing for a Tracker that Track made, or
// that is nil.
func (t *Tracker) Close() error {
	if t == nil || !t.owns {
		return nil
	}
	err := t.ws.root.Close()
	if e := t.st.Close(); err == nil {
		err = e
	}
	return err
}
