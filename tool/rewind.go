package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
)

// longestReport is how long a report may be, in UTF-16 units: oh-my-pi cuts longer
// strings when it writes a log.
const longestReport = 500_000

// rewind takes a report. It changes nothing but the log's last line: EndTurn applies it.
func (t *Tools) rewind(s State, args json.RawMessage) (Result, error) {
	var a struct{ Report, Checkpoint, Files string }
	if wrong := decode(args, &a); wrong != "" {
		return refuse("%s", wrong), nil
	}
	report := strings.TrimSpace(a.Report)
	target, refused := s.target(a.Checkpoint)
	switch {
	case s.Phase == Pending:
		return refuse("A rewind is pending already; it is applied at the end of this turn."), nil
	case refused != "":
		return refuse("%s", refused), nil
	case report == "":
		return refuse("Report cannot be empty."), nil
	case len(utf16.Encode([]rune(report))) > longestReport:
		return refuse("The report is longer than %d characters; shorten it.", longestReport), nil
	case a.Files != "" && a.Files != FilesKeep && a.Files != FilesRestore:
		return refuse("files is %q or %q, not %q.", FilesKeep, FilesRestore, a.Files), nil
	case a.Files == FilesRestore && t.opt.Files == nil:
		return refuse("No file states are recorded in this session, so files cannot be restored. Call rewind again with files %q: they stay as they are.", FilesKeep), nil
	}
	if refused, err := t.worth(s, target, report); refused != "" || err != nil {
		return refuse("%s", refused), err
	}
	details := map[string]any{"report": report, "rewound": true, "checkpoint": target.ID, "startedAt": target.StartedAt, "files": cmp.Or(a.Files, FilesKeep)}
	return Result{Text: "Rewind requested. The report is captured; it takes the place of the exploration at the end of this turn.", Details: encode(details)}, nil
}

// target finds the checkpoint that a rewind names, by id, by label, or by the end of
// its id; "" stands for the innermost. refused says why there is none.
func (s State) target(name string) (c Checkpoint, refused string) {
	if name == "" {
		if c, ok := s.Innermost(); ok {
			return c, ""
		}
		if s.Phase == Closed {
			return c, "The checkpoint was rewound already: go on from its report. To explore again, call checkpoint first."
		}
		return c, "No active checkpoint. Create a checkpoint before calling rewind."
	}
	for _, c := range s.Open {
		if string(c.ID) == name || c.Label == name || len(name) >= 8 && strings.HasSuffix(string(c.ID), name) {
			return c, ""
		}
	}
	if s.Last != nil && string(s.Last.Checkpoint) == name {
		return c, "That checkpoint was rewound already: go on from its report. To explore again, call checkpoint first."
	}
	return c, fmt.Sprintf("There is no open checkpoint %q.%s", name, s.openList())
}

// openList names the checkpoints that a model could have meant.
func (s State) openList() string {
	var names []string
	for _, c := range s.Open {
		name := string(c.ID)
		if c.Label != "" {
			name += " (" + c.Label + ")"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return " None is open; create one before calling rewind."
	}
	return " Open: " + strings.Join(names, ", ") + "."
}

// worth refuses a rewind that drops too little, or whose result would not fit.
func (t *Tools) worth(s State, c Checkpoint, report string) (refused string, err error) {
	if t.opt.MinSpanTokens == 0 && t.opt.Window == 0 {
		return "", nil
	}
	here, err := t.tokensAt(s.Leaf)
	if err != nil {
		return "", err
	}
	there, err := t.tokensAt(c.ID)
	if err != nil {
		return "", err
	}
	there += t.opt.Estimator(modelcontext.Message{Raw: encode(map[string]string{"content": report})})
	switch {
	case t.opt.MinSpanTokens > 0 && here-there < t.opt.MinSpanTokens:
		return fmt.Sprintf("There is nothing worth dropping: the exploration takes about %d tokens. Go on; the checkpoint stays open.", max(here-there, 0)), nil
	case t.opt.Window > 0 && there > t.opt.Window:
		return fmt.Sprintf("Going back there would bring back about %d tokens, more than the %d that fit: a compaction has replaced them since. Go on without a rewind.", there, t.opt.Window), nil
	}
	return "", nil
}

func (t *Tools) tokensAt(leaf entries.ID) (int, error) {
	tree, err := t.s.Tree()
	if err != nil {
		return 0, err
	}
	c, err := modelcontext.Build(tree, leaf, nil)
	if err != nil {
		return 0, err
	}
	return c.Tokens(t.opt.Estimator).Tokens, nil
}
