//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/sessiontree"
)

// exact looks at the workspace, whatever may be read.
func (b *bench) exact() string {
	b.Helper()
	defer b.asRoot()()
	return exact(b.T, b.dir)
}

// goes does a plan of everything that there is, which leads from one state to another.
func (b *bench) goes(plan func(context.Context, checkpoint.Scope, *checkpoint.PlanOptions) (*checkpoint.Plan, error), to, from string) {
	b.Helper()
	p, err := plan(b.Context(), checkpoint.Code, nil)
	if to == from && errors.Is(err, sessiontree.ErrNothingToUndo) {
		return
	}
	b.must(err)
	for _, it := range p.Items {
		if it.Action == checkpoint.ActConflict || it.Action == checkpoint.ActUnknown {
			b.Errorf("%q is %s: %s", it.Path, it.Action, it.Reason)
		}
	}
	b.commit(p, nil)
	if got := b.exact(); got != to {
		b.Fatalf("the workspace is\n%s\nwant\n%s\nthe plan was %+v", got, to, p.Items)
	}
}

// A user is whom a test runs as: root may do everything, so that what others may not has
// to be tried as somebody else.
type user struct {
	name string
	id   int
}

const nobody = 65534

func users() []user {
	if os.Getuid() != 0 {
		return []user{{"user", os.Getuid()}}
	}
	return []user{{"root", 0}, {"user", nobody}}
}

// ordinary is a user who may not do everything.
func ordinary() user { list := users(); return list[len(list)-1] }

// become lets the rest of a test run as a user.
func (u user) become(b *bench) {
	b.Helper()
	if os.Geteuid() == u.id {
		return
	}
	for _, dir := range []string{b.dir, b.home} {
		b.must(filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			if err == nil {
				err = os.Lchown(name, u.id, u.id)
			}
			return err
		}))
		b.must(os.Chmod(filepath.Dir(dir), 0o711)) // it is this test's, too
	}
	b.must(syscall.Setegid(u.id))
	b.must(syscall.Seteuid(u.id))
	b.Cleanup(func() { b.asRoot() })
}

// asRoot makes the process what it was when it began; what it returns takes that back.
func (b *bench) asRoot() (back func()) {
	b.Helper()
	user, group := os.Geteuid(), os.Getegid()
	b.must(errors.Join(syscall.Seteuid(os.Getuid()), syscall.Setegid(os.Getgid())))
	return func() { b.must(errors.Join(syscall.Setegid(group), syscall.Seteuid(user))) }
}

// readable lets a folder be removed at the end of a test.
func (b *bench) readable(t *testing.T) {
	t.Cleanup(func() {
		filepath.WalkDir(b.dir, func(name string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				os.Chmod(name, 0o755)
			}
			return nil
		})
	})
}
