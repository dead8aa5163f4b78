package command

import (
	"context"
	"fmt"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A toldError says what follows from what was told already, and is of the kind of another
// error.
type toldError struct {
	text string
	kind error
}

func (e *toldError) Error() string { return e.text }
func (e *toldError) Unwrap() error { return e.kind }

// errFinished: what the command was asked for was meant for the session as it was before.
var errFinished = &toldError{"finished; run the command again to go on", sessiontree.ErrConflict}

// jsonFinish is what is printed where a restore that was cut short is finished, or would be.
type jsonFinish struct {
	Schema string           `json:"schema"`
	Path   string           `json:"path"`
	Begin  entries.ID       `json:"begin"`
	To     *entries.ID      `json:"to"`
	Scope  checkpoint.Scope `json:"scope"`
	From   *entries.ID      `json:"from"`
	Leaf   *entries.ID      `json:"leaf"`
	Files  []jsonFinished   `json:"files"`
	Done   bool             `json:"done"`
}

type jsonFinished struct {
	Path   string  `json:"path"`
	Result *string `json:"result"`
	Reason *string `json:"reason"`
}

// finishFirst is finishCut for a command that has not looked at the session yet.
func (a *app) finishFirst(name string, f *restoreFlags) (stop bool, err error) {
	if name == "-" {
		return false, nil // which nobody writes to
	}
	v, err := a.viewFiles(name, f.root, false)
	if err != nil {
		return false, err
	}
	defer v.Close()
	return a.finishCut(v, f)
}

// finishCut asks whether a restore that was cut short is to be finished, and does that
// alone: an undo that is repeated after a crash must not take back two turns, and @ is
// another entry once the leaf has moved. stop tells that there was one.
func (a *app) finishCut(v *fileView, f *restoreFlags) (stop bool, err error) {
	u, err := v.Unsettled()
	switch {
	case err != nil, u.Cut == nil, u.Cut.Late:
		return false, err
	case u.Cut.Rewind != "":
		return true, errRewindCut
	}
	c := u.Cut
	text := fmt.Sprintf("a restore of %s to %s was cut short", plural(c.Files, "file", "files"), placeName(v.t, c.To))
	fmt.Fprintf(a.stderr, "sessctl: %s: %s (%s)\n", term.Line(v.t.File()), text, short(c.Begin))
	doc := v.finishJSON(c)
	if f.dry {
		return true, a.writeFinish(doc)
	}
	if err := free(v.t.File()); err != nil {
		return true, err
	}
	if !f.yes {
		if err := a.confirm(text+"; finish it?", "--yes"); err != nil {
			return true, err
		}
	}
	if err := a.finish(v, f.root, &doc); err != nil {
		return true, err
	}
	if a.flags.json {
		if err := a.writeFinish(doc); err != nil {
			return true, err
		}
	}
	return true, errFinished
}

// finish finishes a restore; track tells what became of its files.
func (a *app) finish(v *fileView, root string, doc *jsonFinish) error {
	return a.writing(v.t.File(), func(s *sessiontree.Session) error {
		return a.track(s, root, func(_ context.Context, tr *checkpoint.Tracker) error {
			done := tr.Finished()
			if done == nil {
				return fmt.Errorf("%w: somebody else has finished the restore", sessiontree.ErrChanged)
			}
			doc.took(done)
			return a.tellLeaf(s, doc.Begin)
		})
	})
}

// tellLeaf tells where the leaf is after a restore was finished.
func (a *app) tellLeaf(s *sessiontree.Session, begin entries.ID) error {
	t, err := s.Tree()
	if err != nil {
		return err
	}
	stays := false
	for e, err := range t.Ancestors(t.Leaf()) {
		if err != nil {
			return err
		}
		stays = stays || e.ID == begin
	}
	if stays {
		fmt.Fprintln(a.stderr, "sessctl: the conversation stays")
	} else {
		fmt.Fprintf(a.stderr, "sessctl: the leaf moved to %s\n", placeName(t, t.Leaf()))
	}
	return nil
}

// finishJSON is what is said of a restore that is not finished yet.
func (v *fileView) finishJSON(c *checkpoint.Cut) jsonFinish {
	doc := jsonFinish{
		Schema: "sessctl.finish/1", Path: v.t.File(), Begin: c.Begin, To: optionalID(c.To), Scope: c.Scope,
		From: optionalID(v.t.Leaf()), Leaf: optionalID(v.t.Leaf()), Files: []jsonFinished{},
	}
	e, err := v.t.Entry(c.Begin)
	if err != nil {
		return doc
	}
	_, paths, _ := checkpoint.Recorded(e, v.st)
	for _, path := range paths {
		doc.Files = append(doc.Files, jsonFinished{Path: path})
	}
	return doc
}

// took adds what became of the files.
func (d *jsonFinish) took(done *checkpoint.Done) {
	d.Done, d.Leaf, d.Files = true, optionalID(done.Leaf), []jsonFinished{}
	for _, o := range done.Files {
		d.Files = append(d.Files, jsonFinished{o.Path, optional(string(o.Result)), optional(o.Reason)})
	}
}

// writeFinish writes what would be finished, or as JSON what was.
func (a *app) writeFinish(doc jsonFinish) error {
	return a.write(false, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, doc, false)
		}
		for _, f := range doc.Files {
			fmt.Fprintf(o, "would finish  %s\n", term.Line(f.Path))
		}
		if doc.Scope != checkpoint.Code {
			fmt.Fprintln(o, "the leaf would move")
		}
		_, err := fmt.Fprintln(o, nothingChanged)
		return err
	})
}

const nothingChanged = "nothing was changed"

// tellDone tells on stderr what became of each file, with the reason where it was left as
// it is: of all that failed or is in conflict, and of so many of each other result.
func (a *app) tellDone(files []checkpoint.Outcome) {
	told := map[checkpoint.Result]int{}
	for _, o := range files {
		bad := o.Result == checkpoint.Conflict || o.Result == checkpoint.Failed
		if told[o.Result]++; o.Result == checkpoint.There || !bad && told[o.Result] > mostPreviewed {
			continue
		}
		line := fmt.Sprintf("%-9s %s", o.Result, term.Line(o.Path))
		if o.Reason != "" {
			line += "  " + term.Line(o.Reason)
		}
		fmt.Fprintln(a.stderr, line)
	}
	for _, r := range []checkpoint.Result{checkpoint.Restored, checkpoint.Removed, checkpoint.Kept} {
		if told[r] > mostPreviewed {
			fmt.Fprintf(a.stderr, "%-9s %d more\n", r, told[r]-mostPreviewed)
		}
	}
}
