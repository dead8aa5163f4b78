package checkpoint_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
)

// exact writes a folder down so that any difference shows: kinds, all bits of modes,
// bytes, targets and odd names.
func exact(t *testing.T, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		fmt.Fprintf(&list, "%q %v", rel, info.Mode())
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			fmt.Fprintf(&list, " -> %q %v", target, err)
		case d.Type().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&list, " %q", data)
		}
		list.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

func (b *bench) put(name string, data []byte, mode fs.FileMode) {
	b.Helper()
	b.must(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.must(os.WriteFile(b.path(name), data, 0o600))
	b.must(os.Chmod(b.path(name), mode))
}

func (b *bench) link(target, name string) {
	b.Helper()
	if err := os.Remove(b.path(name)); err != nil && !os.IsNotExist(err) {
		b.Fatal(err)
	}
	b.must(os.Symlink(target, b.path(name)))
}

func (b *bench) mkdir(name string, mode fs.FileMode) {
	b.Helper()
	b.must(os.MkdirAll(b.path(name), 0o755))
	b.must(os.Chmod(b.path(name), mode))
}

func (b *bench) rm(name string) { b.Helper(); b.must(os.RemoveAll(b.path(name))) }

func (b *bench) mv(from, to string) { b.Helper(); b.must(os.Rename(b.path(from), b.path(to))) }

// named does something as a tool that names the paths it touches.
func (b *bench) named(do func(), paths ...string) {
	b.Helper()
	b.must(b.f.BeforeEdit(b.Context(), "call", paths...))
	do()
	b.must(b.f.AfterEdit(b.Context(), "call", paths...))
}

// item gives a path of a plan, which has each path once.
func item(t *testing.T, p *checkpoint.Plan, name string) (found checkpoint.Item) {
	t.Helper()
	n := 0
	for _, it := range p.Items {
		if it.Path == name {
			found, n = it, n+1
		}
	}
	if n != 1 {
		t.Fatalf("%q is in the plan %d times: %+v", name, n, p.Items)
	}
	return found
}
