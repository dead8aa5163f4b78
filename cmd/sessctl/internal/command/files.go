package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

func (a *app) files() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "files S",
		Short: "Show what a session did to files, compare and restore them",
		Long: `files lists what became of files on the active path, turn by turn: who changed them
(a tool of the session; scan: something during the turn that no tool told of, such as
a shell command; user: a person, or what is taken for one), and what was restored.
Only sessions whose harness records file states have any. Nothing is changed.`,
		Example: "  sessctl files latest\n  sessctl files diff latest @~4\n  sessctl files plan latest before-refactoring\n  sessctl files restore latest before-refactoring",
		Args:    filesArgs,
		RunE:    func(_ *cobra.Command, args []string) error { return a.listFiles(args[0]) },
	}
	cmd.AddCommand(a.filesDiff(), a.filesPlan(), a.filesRestore())
	cmd.SuggestionsMinimumDistance = 2
	return cmd
}

// filesArgs takes a session, and knows what a word before it may have meant.
func filesArgs(cmd *cobra.Command, args []string) error {
	err := needs(1, 1, aSession)(cmd, args)
	if len(args) < 2 {
		return err
	}
	if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		return usagef("unknown command %q for files; did you mean %s?", args[0], strings.Join(s, " or "))
	}
	return err
}

type jsonFiles struct {
	Schema  string      `json:"schema"`
	Session jsonSession `json:"session"`
	Leaf    *entries.ID `json:"leaf"`
	Turns   []jsonTurn  `json:"turns"`
	Cut     *jsonCut    `json:"cut"`
}

type jsonTurn struct {
	Prompt *entries.ID `json:"prompt"`
	Text   *string     `json:"text"`
	Time   *string     `json:"timestamp"`
	Steps  []jsonStep  `json:"steps"`
}

type jsonStep struct {
	Entry   entries.ID          `json:"entry"`
	Kind    checkpoint.StepKind `json:"kind"`
	Source  *string             `json:"source"`
	CallID  *string             `json:"toolCallId"`
	Tool    *string             `json:"tool"`
	Reason  *string             `json:"reason"`
	To      *entries.ID         `json:"to"`
	Undoes  *entries.ID         `json:"undoes"`
	Redoes  *entries.ID         `json:"redoes"`
	Move    *string             `json:"move"`
	Aborted bool                `json:"aborted"`
	Files   []jsonStepFile      `json:"files"`
}

type jsonFileChange struct {
	Path    string                `json:"path"`
	Change  checkpoint.ChangeKind `json:"change"`
	Before  checkpoint.State      `json:"before"`
	After   checkpoint.State      `json:"after"`
	Added   *int                  `json:"added"`
	Removed *int                  `json:"removed"`
}

// jsonStepFile is a change, and who made it.
type jsonStepFile struct {
	jsonFileChange
	Source *string `json:"source"`
	Result *string `json:"result"`
}

// jsonCut is a restore that was cut short.
type jsonCut struct {
	Begin entries.ID       `json:"begin"`
	To    *entries.ID      `json:"to"`
	Scope checkpoint.Scope `json:"scope"`
	Files int              `json:"files"`
	Late  bool             `json:"late"`
}

func (v *fileView) cutJSON() (*jsonCut, error) {
	u, err := v.Unsettled()
	if err != nil || u.Cut == nil {
		return nil, err
	}
	c := u.Cut
	return &jsonCut{c.Begin, optionalID(c.To), c.Scope, c.Files, c.Late}, nil
}

func (v *fileView) changeJSON(c checkpoint.Change) jsonFileChange {
	added, removed := v.diffOf(c).counts()
	return jsonFileChange{c.Path, c.Kind(), c.Before, c.After, added, removed}
}

// counts gives lines that came and went, null where there are none to count.
func (d fileDiff) counts() (added, removed *int) {
	if d.binary || d.unread != nil {
		return nil, nil
	}
	return &d.added, &d.removed
}

func (a *app) listFiles(name string) error {
	v, err := a.viewFiles(name, "", false)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := a.reportFiles(v); err != nil && !errors.Is(err, errNoStates) {
		return err
	}
	return a.write(true, func(o *term.Output) error {
		if a.flags.json {
			return a.filesJSON(o, v)
		}
		if err := a.heading(o, v.t); err != nil {
			return err
		}
		return a.filesText(o, v)
	})
}

func (a *app) filesText(o *term.Output, v *fileView) error {
	n := 0
	for turn, err := range checkpoint.Turns(v.t, v.t.Leaf(), v.st) {
		if err != nil {
			return err
		}
		n++
		a.turnOfFiles(o, v, turn)
	}
	if n > 0 {
		return nil
	}
	text := "On the active path nothing is recorded of files."
	if ok, err := v.Recorded(); err != nil || !ok {
		text = "No file states are recorded in this session: its program keeps none, or has changed no file yet."
	}
	_, err := fmt.Fprintln(o, text)
	return err
}

func (a *app) filesJSON(o *term.Output, v *fileView) error {
	session, err := sessionJSON(v.t)
	if err != nil {
		return err
	}
	doc := jsonFiles{Schema: "sessctl.files/1", Session: session, Leaf: optionalID(v.t.Leaf()), Turns: []jsonTurn{}}
	if doc.Cut, err = v.cutJSON(); err != nil {
		return err
	}
	for turn, err := range checkpoint.Turns(v.t, v.t.Leaf(), v.st) {
		if err != nil {
			return err
		}
		doc.Turns = append(doc.Turns, v.turnJSON(turn))
	}
	return writeJSON(o, doc, false)
}

func (v *fileView) turnJSON(turn checkpoint.Turn) jsonTurn {
	out := jsonTurn{Prompt: optionalID(turn.Prompt), Steps: []jsonStep{}}
	if e, err := v.t.Entry(turn.Prompt); err == nil {
		out.Text, out.Time = optional(summarize(e).text), optionalTime(e.Time)
	}
	for _, s := range turn.Steps {
		step := jsonStep{
			s.Entry, s.Kind, optional(string(s.Source)), optional(s.CallID), optional(s.Tool), optional(s.Reason),
			s.To, optionalID(s.Undoes), optionalID(s.Redoes), optional(string(v.moveOf(s))), s.Aborted, []jsonStepFile{},
		}
		for _, c := range s.Files {
			step.Files = append(step.Files, jsonStepFile{v.changeJSON(c), optional(string(c.Source)), optional(string(c.Result))})
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// turnOfFiles writes a turn: its prompt, and below it what became of which file.
func (a *app) turnOfFiles(o *term.Output, v *fileView, turn checkpoint.Turn) {
	head := "before the first prompt"
	if e, err := v.t.Entry(turn.Prompt); err == nil {
		head = fmt.Sprintf("%s  %s  %s", short(e.ID), a.clock(e.Time), term.OneLine(summarize(e).text))
	}
	fmt.Fprintln(o, o.Style(term.Bold, o.Cut(head, o.Width)))
	for _, s := range turn.Steps {
		switch s.Kind {
		case checkpoint.StepUnread:
			fmt.Fprintln(o, o.Style(term.Red, "  "+short(s.Entry)+" cannot be read: "+term.Line(s.Reason)))
			continue
		case checkpoint.StepRestore, checkpoint.StepCarried:
			fmt.Fprintln(o, o.Style(term.Dim, "  "+short(s.Entry)+" "+v.stepText(s)))
		}
		for _, c := range s.Files {
			if c.Result == checkpoint.There || c.Result == checkpoint.Kept && c.Kind() == checkpoint.NoDiff {
				continue // the restore did nothing to it
			}
			line := fmt.Sprintf("  %-12s %s  %s", who(s, c), term.Line(c.Path), v.whatChanged(c))
			fmt.Fprintln(o, o.Style(styleOfResult(c.Result), o.Cut(line, o.Width)))
		}
	}
}

// who tells who changed a file, or in a restore what became of it.
func who(s checkpoint.Step, c checkpoint.Change) string {
	switch {
	case s.Kind == checkpoint.StepRestore:
		return term.Line(string(c.Result))
	case c.Source == checkpoint.ByTool && s.Tool != "":
		return "tool " + term.Cut(term.Line(s.Tool), 40)
	}
	return term.Line(string(c.Source))
}

func styleOfResult(r checkpoint.Result) term.Style {
	if r == checkpoint.Conflict || r == checkpoint.Failed {
		return term.Yellow
	}
	return ""
}

// stepText tells of a restore, or of a move of the leaf that left the files alone.
func (v *fileView) stepText(s checkpoint.Step) string {
	move := v.moveOf(s)
	switch {
	case s.Kind == checkpoint.StepCarried && returns(move):
		return string(move) + " of the conversation alone; the files stayed, and differ from what this path says:"
	case s.Kind == checkpoint.StepCarried:
		return "the leaf came here and the files stayed, and differ from what this path says:"
	case s.Aborted:
		return "a restore that was not done, or taken back"
	case s.Undoes != "":
		return "undo of " + short(s.Undoes)
	case s.Redoes != "":
		return "redo of " + short(s.Redoes)
	case returns(move):
		return string(move) + ", conversation and files"
	case s.To == nil:
		return "restore"
	case *s.To == "":
		return "restore to before the first entry"
	}
	return "restore to " + short(*s.To)
}

func returns(r sessiontree.MoveReason) bool {
	return r == sessiontree.ReasonUndo || r == sessiontree.ReasonRedo
}

// moveOf gives why the leaf moved to where a record stands, "" where it did not.
func (v *fileView) moveOf(s checkpoint.Step) sessiontree.MoveReason {
	if s.Kind != checkpoint.StepRestore && s.Kind != checkpoint.StepCarried {
		return ""
	}
	e, err := v.t.Entry(s.Entry)
	if err != nil || e.Parent == "" {
		return ""
	}
	above, err := v.t.Entry(e.Parent)
	if err != nil {
		return ""
	}
	return reasonOf(above)
}

// A diffing is what files diff is asked for.
type diffing struct {
	root string
	only []string
}

type jsonFilesDiff struct {
	Schema string      `json:"schema"`
	Path   string      `json:"path"`
	From   *entries.ID `json:"from"`
	To     *entries.ID `json:"to"`
	Disk   bool        `json:"disk"`
	Files  []jsonPatch `json:"files"`
}

type jsonPatch struct {
	jsonFileChange
	Diff *string `json:"diff"`
}

func (a *app) filesDiff() *cobra.Command {
	var f diffing
	cmd := &cobra.Command{
		Use:   "diff S [FROM [TO]]",
		Short: "Compare files at two entries, or at an entry and on disk",
		Long: `diff writes what is not alike as a unified diff: at the entries FROM and TO, or at
FROM (by default the leaf) and on disk now. Of files on disk only those are compared
that the session tells of. "root" is before the first entry. Nothing is changed.`,
		Example: "  sessctl files diff latest\n  sessctl files diff latest @~6 @ --only src",
		Args:    needs(1, 3, "a session, and one or two entries"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.diffFiles(&f, args) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringArrayVar(&f.only, "only", nil, "only `PATH`, and what is below it (can be repeated)")
	cmd.Flags().StringVar(&f.root, "root", "", "the files are in `DIR` instead of the session's folder")
	return cmd
}

func (a *app) diffFiles(f *diffing, args []string) error {
	disk := len(args) < 3
	v, err := a.viewFiles(args[0], f.root, disk)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := a.reportFiles(v); err != nil {
		return err
	}
	from, to, list, err := v.differences(args[1:])
	if err == nil {
		list, err = v.limit(list, f.only)
	}
	if err != nil {
		return err
	}
	return a.write(true, func(o *term.Output) error {
		if a.flags.json {
			doc := jsonFilesDiff{"sessctl.filesDiff/1", v.t.File(), optionalID(from), optionalID(to), disk, []jsonPatch{}}
			for _, c := range list {
				doc.Files = append(doc.Files, jsonPatch{v.changeJSON(c), optional(v.diffOf(c).text)})
			}
			return writeJSON(o, doc, false)
		}
		for _, c := range list {
			writePatch(o, v.patch(c))
		}
		return nil
	})
}

// differences compares as the arguments of files diff ask for.
func (v *fileView) differences(args []string) (from, to entries.ID, list []checkpoint.Change, err error) {
	from = v.t.Leaf()
	if len(args) > 0 {
		if from, err = entryOrRoot(v.t, args[0]); err != nil {
			return "", "", nil, err
		}
	}
	if len(args) < 2 {
		list, err = v.Drift(from)
		return from, "", list, err
	}
	if to, err = entryOrRoot(v.t, args[1]); err == nil {
		list, err = v.Compare(from, to)
	}
	return from, to, list, err
}

// limit keeps the changes of paths that were asked for.
func (v *fileView) limit(list []checkpoint.Change, only []string) (kept []checkpoint.Change, err error) {
	if len(only) == 0 {
		return list, nil
	}
	paths, err := v.inRoot(only)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.In(paths) {
			kept = append(kept, c)
		}
	}
	return kept, v.areRecorded(paths)
}

// areRecorded refuses names of files that no record of the session tells of: they may be
// misspelt.
func (v *fileView) areRecorded(paths []string) error {
	seen := map[string]bool{}
	for e, err := range v.t.Entries() {
		if err != nil {
			return err
		}
		_, recorded, _ := checkpoint.Recorded(e, v.st)
		for _, name := range recorded {
			for _, path := range paths {
				seen[path] = seen[path] || checkpoint.Change{Path: name}.In([]string{path})
			}
		}
	}
	for _, path := range paths {
		if !seen[path] {
			return usagef("no state of a file %q is recorded, nor of one below it; 'sessctl files' lists those that are", path)
		}
	}
	return nil
}

// writePatch writes a unified diff, in colour where the output has some.
func writePatch(o *term.Output, patch string) {
	for line := range strings.Lines(patch) {
		text := strings.TrimSuffix(line, "\n")
		fmt.Fprintln(o, o.Style(styleOfLine(text), text))
	}
}

func styleOfLine(line string) term.Style {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return term.Bold
	case strings.HasPrefix(line, "@@"):
		return term.Cyan
	case strings.HasPrefix(line, "+"):
		return term.Green
	case strings.HasPrefix(line, "-"):
		return term.Red
	}
	return ""
}

// inRoot gives paths relative to the workspace, as records have them.
func (v *fileView) inRoot(paths []string) (list []string, err error) {
	for _, p := range paths {
		rel, ok := v.Relative(p)
		if !ok {
			return nil, usagef("%q is not below the folder of the session; name a path as 'sessctl files' lists it", p)
		}
		list = append(list, rel)
	}
	return list, nil
}
