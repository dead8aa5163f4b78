package main

import (
	"os"
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/sessiontree"
)

// TestFilesGoBack: a rewind takes back what the model's tools did to files, what a command
// did is recorded, and a turn can be undone with its files.
func TestFilesGoBack(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "alpha")
	newFake(t,
		says(use("1", "checkpoint", "goal", "try")),
		says(use("2", "edit", "path", "a.txt", "old", "alpha", "new", "wrong"), use("3", "write", "path", "new/b.txt", "content", "b")),
		says(use("4", "rewind", "report", "it does not help", "files", "restore")),
		says(use("5", "edit", "path", "a.txt", "old", "alpha", "new", "right"), use("6", "bash", "command", "echo made > made.txt")),
		says(text("Done.")))
	d.must(d.first("change it"))
	d.holds("a.txt", "right")
	d.holds("made.txt", "made\n")
	d.holds("new/b.txt", "")

	s, err := sessiontree.Open(d.log(), nil)
	d.must(err)
	f, err := checkpoint.Follow(t.Context(), s, nil)
	d.must(err)
	plan, err := f.Undo(t.Context(), checkpoint.Both, nil)
	d.must(err)
	_, err = f.Commit(t.Context(), plan, nil)
	d.must(err)
	d.holds("a.txt", "alpha")
	d.holds("made.txt", "")
	d.must(f.Close())
	d.must(s.Close())
}

// holds checks a file of the workspace; "" is one that is not there.
func (d *desk) holds(name, want string) {
	d.t.Helper()
	data, err := os.ReadFile(name)
	if string(data) != want || (err == nil) != (want != "") {
		d.t.Errorf("%s holds %q (%v), want %q", name, data, err, want)
	}
}
