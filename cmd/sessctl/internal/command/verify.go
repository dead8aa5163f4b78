package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

func (a *app) verify() *cobra.Command {
	var salvage string
	cmd := &cobra.Command{
		Use:   "verify S...",
		Short: "Check sessions for damage; copy what is sound",
		Long: `verify reads every line of sessions and lists what is damaged, with line and byte
offset: lines that are torn, unreadable, missing or changed, entries without their
parent, calls without a result. Notes are oddities that cost nothing. With
--salvage it writes a sound copy to a new file; the session itself is never changed.
Exit code 3 says that something is damaged.`,
		Example: "  sessctl verify session.jsonl\n  sessctl verify broken.jsonl --salvage sound.jsonl",
		Args:    needs(1, -1, aSession),
		RunE: func(_ *cobra.Command, args []string) error {
			if salvage != "" && len(args) > 1 {
				return usagef("--salvage takes one session")
			}
			return a.runVerify(args, salvage)
		},
	}
	cmd.Flags().StringVar(&salvage, "salvage", "", "write a sound copy to the new file `OUT`")
	return cmd
}

type jsonVerify struct {
	Schema string        `json:"schema"`
	OK     bool          `json:"ok"`
	Files  []jsonVerdict `json:"files"`
}

type jsonVerdict struct {
	Path      string        `json:"path"`
	Entries   int           `json:"entries"`
	OK        bool          `json:"ok"`
	Damage    []jsonDamage  `json:"damage"`
	Checksums string        `json:"checksums"`
	Pairing   []jsonPairing `json:"pairing"`
	Error     *string       `json:"error"`
}

type jsonPairing struct {
	Kind       sessiontree.PairingKind `json:"kind"`
	Entry      string                  `json:"entry"`
	ToolCallID string                  `json:"toolCallId"`
	Line       int                     `json:"line"`
}

func (a *app) runVerify(args []string, salvage string) error {
	doc := jsonVerify{Schema: "sessctl.verify/1", OK: true, Files: []jsonVerdict{}}
	var failed error // of some files; the others are verified all the same
	for _, name := range args {
		v, err := a.verifyOne(name, salvage)
		if err != nil {
			failed = errors.Join(failed, err)
			doc.OK = false
			continue
		}
		doc.OK = doc.OK && v.OK
		doc.Files = append(doc.Files, v)
	}
	if len(doc.Files) == 0 {
		return failed
	}
	err := a.write(true, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, doc, false)
		}
		for _, v := range doc.Files {
			verdictText(o, v)
		}
		return nil
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if !doc.OK {
		return errProblems
	}
	return nil
}

// verifyOne checks one session. That a file is none, or cannot be read, is a
// finding; that there is no such file is an error.
func (a *app) verifyOne(name, salvage string) (v jsonVerdict, err error) {
	v = jsonVerdict{Path: name, Checksums: "none", Damage: []jsonDamage{}, Pairing: []jsonPairing{}}
	t, err := a.open(name, true)
	if (errors.Is(err, sessiontree.ErrNoSession) || errors.Is(err, store.ErrCorrupt)) && salvage == "" {
		v.Error = optional(err.Error())
		return v, nil
	}
	if err != nil {
		return v, err
	}
	defer t.Close()
	v.Path = t.File()
	report, err := t.Verify()
	if errors.Is(err, store.ErrCorrupt) && salvage == "" {
		v.Error = optional(err.Error())
		return v, nil
	}
	if err != nil {
		return v, err
	}
	v.Entries, v.OK, v.Checksums = report.Entries, report.OK, string(report.Checksums)
	v.Damage = damageJSON(report.Damage)
	for _, p := range report.Pairing {
		v.Pairing = append(v.Pairing, jsonPairing{p.Kind, string(p.Entry), p.ToolCallID, p.Line})
	}
	if salvage != "" {
		return v, a.salvage(t, salvage)
	}
	return v, nil
}

func verdictText(o *term.Output, v jsonVerdict) {
	verdict := o.Style(term.Green, "ok")
	if !v.OK {
		verdict = o.Style(term.Red, "damaged")
	}
	path := term.Line(v.Path)
	if v.Error != nil {
		fmt.Fprintf(o, "%s  %s\n", verdict, term.Line(*v.Error))
		return
	}
	fmt.Fprintf(o, "%s  %s: %s, checksums %s\n", verdict, path, plural(v.Entries, "entry", "entries"), v.Checksums)
	if !v.OK {
		fmt.Fprintf(o, "    what is sound can be copied: sessctl verify %s --salvage OUT\n", path)
	}
	for _, d := range v.Damage {
		where := term.Line(*cmp.Or(d.File, &v.Path))
		fmt.Fprintf(o, "%s\n", o.Style(damageStyle(d), fmt.Sprintf("%s:%d: %s%s", where, d.Line, d.Kind, damageDetail(d))))
	}
	for _, p := range v.Pairing {
		if p.Kind != sessiontree.PairingOpenCall { // those are notes already
			fmt.Fprintf(o, "%s\n", o.Style(term.Dim, fmt.Sprintf("%s:%d: %s (note): call %s in entry %s", path, p.Line, p.Kind, term.Line(p.ToolCallID), term.Line(p.Entry))))
		}
	}
}

func damageStyle(d jsonDamage) term.Style {
	if d.Note {
		return term.Dim
	}
	return term.Red
}

func damageDetail(d jsonDamage) string {
	s := fmt.Sprintf(" at byte %d, %s", d.Offset, plural(int(d.Length), "byte", "bytes"))
	if d.Count > 1 {
		s = fmt.Sprintf(" on %d lines, the first at byte %d", d.Count, d.Offset)
	}
	if d.Note {
		s = " (note)" + s
	}
	if d.Detail == "" {
		d.Detail = explained(d.Kind)
	}
	if d.Detail != "" {
		s += ": " + term.Line(d.Detail)
	}
	return s
}

// explained says what a kind is that has nothing more to tell of a single case.
func explained(kind sessiontree.DamageKind) string {
	switch kind {
	case "nul":
		return "zero bytes, which a crash of the machine leaves; nothing can be read there"
	case "not-json":
		return "no JSON; what stood there is lost, as far as it was not written again"
	case "not-object":
		return "JSON, but no record"
	case "invalid-utf8":
		return "bytes that are no UTF-8; they are kept as they are"
	case "title-slot":
		return "oh-my-pi's line for the session's title"
	case "no-final-newline":
		return "the last line has no newline; it counts"
	case "crlf":
		return "lines that end as on Windows"
	case "blank-lines":
		return "lines with nothing on them"
	}
	return ""
}

// salvage writes the sound copy. It appears under its name when it is whole, and
// never in place of another file.
func (a *app) salvage(t *sessiontree.Tree, out string) (err error) {
	if strings.HasSuffix(out, store.ArchiveSuffix) {
		return usagef("the copy is a log, not an archive: give it a name that does not end in %s", store.ArchiveSuffix)
	}
	if _, err := os.Lstat(out); err == nil {
		return fmt.Errorf("%s exists; give --salvage the name of a new file", out)
	}
	f, err := os.CreateTemp(filepath.Dir(out), ".sessctl-salvage-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", out, err)
	}
	name := f.Name()
	a.temp.Store(&name)
	defer os.Remove(name)
	defer f.Close()
	s, err := sessiontree.Salvage(t, f)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("cannot write %s: %w", out, err)
	}
	// A link fails where the name is taken meanwhile; a rename would not.
	if err := os.Link(f.Name(), out); err != nil {
		return fmt.Errorf("cannot write %s: %w", out, err)
	}
	a.reportSalvage(s, out)
	return nil
}

func (a *app) reportSalvage(s sessiontree.Salvaged, out string) {
	if a.flags.quiet {
		return
	}
	fmt.Fprintf(a.stderr, "sessctl: %s written to %s\n", plural(s.Entries, "entry", "entries"), term.Line(out))
	if s.MadeHeader {
		fmt.Fprintln(a.stderr, "sessctl: the session had no header; the copy got a new one, with a new id")
	}
	if s.Marked {
		fmt.Fprintln(a.stderr, "sessctl: a leaf marker was added, which keeps the leaf where it is in the session")
	}
	if s.LeftOut > 0 {
		fmt.Fprintf(a.stderr, "sessctl: %s left out: a later entry has the same id\n", plural(s.LeftOut, "entry was", "entries were"))
	}
	for _, id := range s.Doubtful {
		fmt.Fprintf(a.stderr, "sessctl: entry %s is in the copy, but its sum was wrong: what it says may be, too\n", term.Line(string(id)))
	}
}
