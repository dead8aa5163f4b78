package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A fileView is a session whose file states are looked at.
type fileView struct {
	*checkpoint.View
	t    *sessiontree.Tree
	root *os.Root          // nil where the workspace is not asked for
	st   *checkpoint.Store // nil where there is none
}

func (v *fileView) Close() {
	if v.root != nil {
		v.root.Close()
	}
	if v.st != nil {
		v.st.Close()
	}
	v.t.Close()
}

// viewFiles opens a session and its store, and where it is asked for the workspace.
func (a *app) viewFiles(name, root string, workspace bool) (*fileView, error) {
	t, err := a.whole(name)
	if err != nil {
		return nil, err
	}
	v := &fileView{t: t}
	if err := v.open(root, workspace); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

func (v *fileView) open(root string, workspace bool) (err error) {
	if v.st, err = lookStore(v.t.File()); err != nil {
		return err
	}
	if v.View, err = checkpoint.Look(v.t, nil, v.st); err != nil || !workspace {
		return err
	}
	if err := v.recorded(); err != nil {
		return err // whatever the folder is
	}
	if v.root, err = openWorkspace(v.t.Header().Cwd, root); err != nil {
		return err
	}
	v.View, err = checkpoint.Look(v.t, v.root, v.st)
	return err
}

// openWorkspace opens the folder that a session worked in, or the one that stands for it.
func openWorkspace(cwd, root string) (*os.Root, error) {
	dir := root
	if dir == "" {
		dir = cwd
	}
	if dir == "" {
		return nil, fmt.Errorf("%w: the session does not say in which folder it worked; name it with --root DIR", checkpoint.ErrRoot)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: the folder that the session worked in cannot be opened: %v; if it is elsewhere now, name it with --root DIR", checkpoint.ErrRoot, err)
	}
	if err := checkpoint.CheckRoot(r); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// lookStore opens the store of a log to read it; nil where there is none.
func lookStore(log string) (*checkpoint.Store, error) {
	if log == "-" {
		return nil, nil
	}
	st, err := checkpoint.LookStore(checkpoint.StoreOf(log))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return st, err
}

// entryOrRoot finds the entry that a user names; "" is before the first one.
func entryOrRoot(t *sessiontree.Tree, name string) (entries.ID, error) {
	if name == "root" {
		return "", nil
	}
	e, err := locate.Entry(t, name)
	return e.ID, err
}

// errNoStates: the harness of the session keeps none, or did not yet.
var errNoStates = errors.New("no file states are recorded in this session")

// reportFiles tells on stderr of a restore that was cut short. A session without file
// states is errNoStates.
func (a *app) reportFiles(v *fileView) error {
	if err := v.recorded(); err != nil {
		return err
	}
	u, err := v.Unsettled()
	if err == nil && u.Cut != nil {
		a.reportCut(v.t, u.Cut)
	}
	return err
}

func (v *fileView) recorded() error {
	ok, err := v.Recorded()
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", v.t.File(), errNoStates)
	}
	return err
}

func (a *app) reportCut(t *sessiontree.Tree, c *checkpoint.Cut) {
	fmt.Fprintf(a.stderr, "sessctl: %s: %s\n", term.Line(t.File()), cutText(t, c))
}

// cutText tells of a restore that a crash has cut short, and what finishes it.
func cutText(t *sessiontree.Tree, c *checkpoint.Cut) string {
	text := fmt.Sprintf("a restore of %s was cut short (%s)", plural(c.Files, "file", "files"), short(c.Begin))
	to := "root"
	if c.To != "" {
		to = short(c.To)
	}
	switch {
	case c.Late:
		return text + ", and the conversation went on; it is not finished any more, and the next command that writes files records what they are"
	case c.Rewind != "":
		return text + "; it is a rewind's: resume the session with its agent, which finishes it"
	}
	return text + fmt.Sprintf("; 'sessctl files restore %s %s' asks whether to finish it", term.Line(t.File()), to)
}

// errRewindCut: only the agent can go on.
var errRewindCut = fmt.Errorf("%w: the restore of a rewind was cut short; resume the session with its agent, which finishes it", sessiontree.ErrConflict)

// settle closes a restore that was cut short and is not finished any more, and with moves
// records what a program that knows nothing of file states has moved the leaf away from.
func (a *app) settle(s *sessiontree.Session, root string, moves bool) error {
	t, err := s.Tree()
	if err != nil {
		return err
	}
	st, err := lookStore(s.Path())
	if err != nil {
		return err
	}
	if st != nil {
		defer st.Close()
	}
	v, err := checkpoint.Look(t, nil, st)
	if err != nil {
		return err
	}
	u, err := v.Unsettled()
	switch {
	case err != nil:
		return err
	case u.Cut == nil && !(moves && u.Carried):
		return nil
	case u.Cut != nil && !u.Cut.Late:
		return fmt.Errorf("%w: a restore was cut short meanwhile", sessiontree.ErrChanged)
	}
	return a.track(s, root, func(context.Context, *checkpoint.Tracker) error { return nil })
}

// track follows the files of a session, which finishes what was cut short, and does
// something.
func (a *app) track(s *sessiontree.Session, root string, do func(context.Context, *checkpoint.Tracker) error) error {
	r, err := openWorkspace(s.Header().Cwd, root)
	if err != nil {
		return err
	}
	defer r.Close()
	st, err := checkpoint.OpenStore(checkpoint.StoreOf(s.Path()))
	if err != nil {
		return err
	}
	defer st.Close()
	ctx := context.Background()
	tr, err := checkpoint.Track(ctx, s, r, st, nil)
	if err != nil {
		return err
	}
	if done := tr.Finished(); done != nil {
		fmt.Fprintf(a.stderr, "sessctl: a restore that was cut short has ended: %s\n", results(done.Files))
		a.tellDone(done.Files)
	}
	return do(ctx, tr)
}

// settledView looks at the files of a session before something is done with them; nil
// where a restore was cut short, and the command ends with that. What else is not in order
// is brought so first, unless nothing is to be written; an entry that is named by its
// distance from the leaf stays the one that it was before.
func (a *app) settledView(name string, f *restoreFlags, entry *string) (*fileView, error) {
	return a.settled(name, f, entry, true)
}

// settledLeaf is settledView for a move of the leaf alone, which needs no workspace.
func (a *app) settledLeaf(name string, f *restoreFlags, entry *string) (*fileView, error) {
	return a.settled(name, f, entry, false)
}

func (a *app) settled(name string, f *restoreFlags, entry *string, workspace bool) (*fileView, error) {
	path, err := a.writable(name)
	if err != nil {
		return nil, err
	}
	v, err := a.viewFiles(path, f.root, workspace)
	if err != nil {
		return nil, err
	}
	stop, err := a.finishCut(v, f)
	var u checkpoint.Unsettled
	if err == nil && !stop {
		u, err = v.Unsettled()
	}
	switch {
	case err != nil, stop:
		v.Close()
		return nil, err
	case f.dry, u.Cut == nil && !(workspace && u.Carried):
		return v, nil
	}
	return a.settleAnew(v, f.root, workspace, entry)
}

// settleAnew brings a session in order, and looks at it anew.
func (a *app) settleAnew(v *fileView, root string, workspace bool, entry *string) (*fileView, error) {
	path := v.t.File()
	err := pin(v.t, entry)
	v.Close()
	if err != nil {
		return nil, err
	}
	err = a.writing(path, func(s *sessiontree.Session) error { return a.settle(s, root, workspace) })
	if err != nil {
		return nil, err
	}
	return a.viewFiles(path, root, workspace)
}

// pin puts the id of an entry in the place of its name.
func pin(t *sessiontree.Tree, name *string) error {
	if *name == "" || *name == "root" {
		return nil
	}
	e, err := locate.Entry(t, *name)
	*name = string(e.ID)
	return err
}

// writing opens a session, lets do write to it, and closes it.
func (a *app) writing(path string, do func(*sessiontree.Session) error) (err error) {
	s, err := a.openToWrite(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
	}()
	return do(s)
}

// carriedAlong makes the record of the files that stay what they are when the leaf moves.
func carriedAlong(s *sessiontree.Session, to entries.ID) (drafts []entries.Draft, err error) {
	t, err := s.Tree()
	if err != nil {
		return nil, err
	}
	st, err := lookStore(s.Path())
	if err != nil {
		return nil, err
	}
	if st != nil { // a long list of files is stored
		st.Close()
		if st, err = checkpoint.OpenStore(st.Dir()); err != nil {
			return nil, err
		}
		defer st.Close()
	}
	d, ok, err := checkpoint.Carried(t, t.Leaf(), to, st)
	if ok {
		drafts = append(drafts, d)
	}
	return drafts, err
}
