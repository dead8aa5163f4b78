package command

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

func (a *app) rm() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm S...",
		Short: "Move sessions into the trash",
		Long: `rm moves sessions with all that belongs to them (lock, saved damage, artifacts) into
the trash, from where they can be put back. It asks on a terminal; elsewhere it
needs --yes. A session that is being written is left alone.`,
		Example: "  sessctl rm 546VRAC",
		Args:    needs(1, -1, aSession),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runRm(args, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

type jsonRm struct {
	Schema string        `json:"schema"`
	Files  []jsonRemoved `json:"files"`
}

type jsonRemoved struct {
	Path  string `json:"path"`
	Trash string `json:"trash"`
}

func (a *app) runRm(args []string, yes bool) error {
	var paths []string
	for _, name := range args {
		if name == "-" {
			return usagef("standard input cannot be removed")
		}
		if sideOf(name, args) {
			continue // it goes with its session
		}
		path, err := a.path(name)
		if err != nil {
			return err
		}
		if info := sessiontree.Describe(path); info.Err != nil {
			return info.Err // what is no session is not ours to remove
		}
		paths = append(paths, path)
	}
	if !yes {
		if err := a.confirm("Move into the trash: "+strings.Join(paths, ", ")+"?", "--yes"); err != nil {
			return err
		}
	}
	doc := jsonRm{Schema: "sessctl.rm/1", Files: []jsonRemoved{}}
	var failed error
	for _, path := range paths {
		var to string
		if to, failed = remove(path); failed != nil {
			break
		}
		doc.Files = append(doc.Files, jsonRemoved{path, to})
	}
	err := a.write(false, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, doc, false)
		}
		for _, f := range doc.Files {
			fmt.Fprintf(o, "%s -> %s\n", term.Line(f.Path), term.Line(f.Trash))
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// sideOf tells whether a file belongs to a session that is removed too, as in
// rm DIR/*.
func sideOf(name string, args []string) bool {
	for _, suffix := range []string{".lock", ".damaged"} {
		if log, ok := strings.CutSuffix(name, suffix); ok && (slices.Contains(args, log) || slices.Contains(args, log+store.ArchiveSuffix)) {
			return true
		}
	}
	return false
}

func remove(path string) (string, error) {
	unlock, err := sessiontree.LockLog(strings.TrimSuffix(path, store.ArchiveSuffix))
	if err != nil {
		return "", err
	}
	defer unlock()
	return store.Trash(path)
}

// confirm asks on a terminal; elsewhere the flag has to have said it.
func (a *app) confirm(question, flag string) error {
	in, ok := a.stdin.(*os.File)
	if !ok || !xterm.IsTerminal(int(in.Fd())) {
		return usagef("not on a terminal: give %s to say that you mean it", flag)
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", term.Line(question))
	answer, _ := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return fmt.Errorf("not done")
}
