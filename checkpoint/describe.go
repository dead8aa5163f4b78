package checkpoint

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/entries"
)

// Describe says in a few words what a file record tells; ok is false for any other entry.
// Paths in it are as they were recorded, and untrusted.
func Describe(e entries.Entry) (text string, ok bool) {
	r, ok, err := readRecord(e, nil)
	if !ok && err == nil {
		return "", false
	}
	if err != nil && r.List == "" {
		return "a file record that cannot be read", true
	}
	return r.title() + r.names(), true
}

func (r record) title() string {
	switch {
	case r.Phase == phaseBegin:
		return "restore begins"
	case r.Phase == phaseEnd && r.Outcome == outcomeAborted:
		return "restore given up"
	case r.Phase == phaseEnd && r.Undoes != "":
		return "restore done, an undo"
	case r.Phase == phaseEnd && r.Redoes != "":
		return "restore done, a redo"
	case r.Phase == phaseEnd:
		return "restore done"
	case r.Phase == phaseCarried:
		return "carried along"
	case r.Source == ByUser:
		return "changed by hand"
	case r.Phase == phaseBefore && len(r.Files) == 0 && r.List == "":
		return "left out"
	case r.Source == ByScan:
		return "changed by no tool"
	case r.Phase == phaseBefore:
		return "before an edit"
	}
	return "after an edit"
}

// names lists the first paths.
func (r record) names() string {
	const most = 4
	var names []string
	for _, f := range r.Files {
		names = append(names, f.Path)
	}
	for _, u := range r.NotCovered {
		if len(r.Files) == 0 {
			names = append(names, u.Path)
		}
	}
	more := max(r.Of, len(names)) - min(len(names), most)
	text := strings.Join(names[:min(len(names), most)], ", ")
	switch {
	case more > 0 && text == "":
		text = fmt.Sprintf("%d files", more)
	case more > 0:
		text += fmt.Sprintf(" and %d more", more)
	}
	if text != "" {
		text = ": " + text
	}
	return text
}
