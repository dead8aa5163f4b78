package command

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
)

// mostDiffed is the largest content of which lines are compared, in bytes.
const mostDiffed = 4 << 20

// A fileDiff is what a change did to lines.
type fileDiff struct {
	text           string // unified; "" where nothing differs in lines
	added, removed int
	binary         bool
	unread         error // a content is not there
}

// diffOf compares both sides of a change line by line, where both are text.
func (v *fileView) diffOf(c checkpoint.Change) (d fileDiff) {
	if c.Before.SHA256 == c.After.SHA256 {
		return d
	}
	before, err := v.lines(c.Path, c.Before)
	if err != nil {
		d.unread = err
		return d
	}
	after, err := v.lines(c.Path, c.After)
	if err != nil {
		d.unread = err
		return d
	}
	if d.binary = isBinary(before) || isBinary(after); d.binary {
		return d
	}
	// Names and lines are anybody's: a line break in a name must not make a line.
	text := diff.Diff("a", before, "b", after)
	_, hunks, _ := bytes.Cut(text, []byte("\n+++ b\n"))
	d.text = string(hunks)
	d.added, d.removed = countLines(d.text)
	return d
}

// lines is the content of a state, "" of what is no file. What is too large is taken for
// binary.
func (v *fileView) lines(path string, s checkpoint.State) ([]byte, error) {
	switch {
	case s.Kind != checkpoint.File:
		return nil, nil
	case s.Size > mostDiffed:
		return []byte{0}, nil
	}
	return v.Content(path, s)
}

// isBinary tells it as git does: text has no NUL near its beginning.
func isBinary(data []byte) bool {
	return len(data) > mostDiffed || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
}

func countLines(hunks string) (added, removed int) {
	for line := range strings.SplitSeq(hunks, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// count writes how many lines came and went: " +3 -1".
func (d fileDiff) count() (text string) {
	if d.added > 0 {
		text += fmt.Sprintf(" +%d", d.added)
	}
	if d.removed > 0 {
		text += fmt.Sprintf(" -%d", d.removed)
	}
	return text
}

// whatChanged tells of a change in a few words, safe to print.
func (v *fileView) whatChanged(c checkpoint.Change) string {
	switch kind := c.Kind(); kind {
	case checkpoint.Unclear:
		return "unknown: " + term.Line(whyUnclear(c))
	case checkpoint.Became:
		return "became " + thing(c.After)
	case checkpoint.Mode:
		return fmt.Sprintf("mode %s to %s", checkpoint.FormatMode(c.Before.Mode), checkpoint.FormatMode(c.After.Mode))
	case checkpoint.Changed:
		return string(kind) + v.howMuch(c)
	case checkpoint.Created:
		if c.After.Kind != checkpoint.File {
			return "created " + thing(c.After)
		}
		return string(kind) + v.howMuch(c)
	case checkpoint.Gone:
		if c.Before.Kind != checkpoint.File {
			return "removed " + thing(c.Before)
		}
		return string(kind) + v.howMuch(c)
	default:
		return string(kind)
	}
}

// howMuch tells how much changed: lines, or of a binary file bytes.
func (v *fileView) howMuch(c checkpoint.Change) (text string) {
	d := v.diffOf(c)
	switch {
	case c.After.Kind == checkpoint.Symlink:
		return " link, " + term.Line(c.Before.Target) + " to " + term.Line(c.After.Target)
	case d.binary && c.Kind() == checkpoint.Changed:
		text = fmt.Sprintf(", %s to %s", size(c.Before.Size), size(c.After.Size))
	case d.binary || d.unread != nil:
		text = ", " + size(max(c.Before.Size, c.After.Size))
	default:
		text = d.count()
	}
	if c.Kind() == checkpoint.Changed && c.Before.Mode != c.After.Mode {
		text += fmt.Sprintf(", mode %s to %s", checkpoint.FormatMode(c.Before.Mode), checkpoint.FormatMode(c.After.Mode))
	}
	return text
}

// thing names what a state is, where that is no file of bytes.
func thing(s checkpoint.State) string {
	switch s.Kind {
	case checkpoint.Symlink:
		return "link to " + term.Line(s.Target)
	case checkpoint.Dir:
		return "directory"
	}
	return term.Line(string(s.Kind))
}

func whyUnclear(c checkpoint.Change) string {
	for _, s := range []checkpoint.State{c.After, c.Before} {
		if s.Reason != "" {
			return s.Reason
		}
	}
	return "nothing says what it was"
}

// patch writes a change as a unified diff, safe to print.
func (v *fileView) patch(c checkpoint.Change) string {
	var b strings.Builder
	name := term.Line(c.Path)
	fmt.Fprintf(&b, "diff a/%s b/%s\n", name, name)
	switch kind := c.Kind(); {
	case kind == checkpoint.Unclear:
		fmt.Fprintf(&b, "unknown: %s\n", term.Line(whyUnclear(c)))
		return b.String()
	case kind == checkpoint.Became:
		fmt.Fprintf(&b, "became %s\n", thing(c.After))
	}
	b.WriteString(modes(c))
	v.content(&b, c)
	return b.String()
}

// modes tells of what a diff of lines does not show.
func modes(c checkpoint.Change) (text string) {
	hasMode := func(s checkpoint.State) bool { return s.Kind == checkpoint.File || s.Kind == checkpoint.Dir }
	switch {
	case hasMode(c.Before) && hasMode(c.After):
		if c.Before.Mode != c.After.Mode {
			text = fmt.Sprintf("old mode %s\nnew mode %s\n", checkpoint.FormatMode(c.Before.Mode), checkpoint.FormatMode(c.After.Mode))
		}
	case hasMode(c.After):
		text = fmt.Sprintf("new %s, mode %s\n", thing(c.After), checkpoint.FormatMode(c.After.Mode))
	case hasMode(c.Before):
		text = fmt.Sprintf("removed %s, mode %s\n", thing(c.Before), checkpoint.FormatMode(c.Before.Mode))
	}
	if c.Before.Kind == checkpoint.Symlink {
		text += "old link to " + term.Line(c.Before.Target) + "\n"
	}
	if c.After.Kind == checkpoint.Symlink {
		text += "new link to " + term.Line(c.After.Target) + "\n"
	}
	return text
}

func (v *fileView) content(b *strings.Builder, c checkpoint.Change) {
	d := v.diffOf(c)
	switch {
	case d.unread != nil:
		fmt.Fprintf(b, "its content cannot be shown: %s\n", term.Line(d.unread.Error()))
	case d.binary:
		b.WriteString("Binary files differ\n")
	case d.text != "":
		fmt.Fprintf(b, "--- %s\n+++ %s\n%s", sideName("a/", c.Path, c.Before), sideName("b/", c.Path, c.After), term.Text(d.text))
	}
}

func sideName(prefix, path string, s checkpoint.State) string {
	if s.Kind != checkpoint.File {
		return "/dev/null"
	}
	return prefix + term.Line(path)
}
