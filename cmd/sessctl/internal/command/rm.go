package command

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/sessctl/sessctl/checkpoint"
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
needs --yes. A session that is being written is left alone. Contents of files that it
refers to stay in the store; 'sessctl gc' removes those that nothing else uses.`,
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
	Path  string   `json:"path"`
	Trash string   `json:"trash"`
	Side  []string `json:"side"`
}

func (a *app) runRm(args []string, yes bool) error {
	list, err := a.toRemove(args)
	if err != nil {
		return err
	}
	if !yes {
		var all []string
		for _, r := range list {
			all = append(append(all, r.path), r.side()...)
		}
		if err := a.confirm("Move into the trash: "+strings.Join(all, ", ")+"?", "--yes"); err != nil {
			return err
		}
	}
	doc := jsonRm{Schema: "sessctl.rm/1", Files: []jsonRemoved{}}
	var failed error
	for _, r := range list {
		var done jsonRemoved
		if done, failed = r.remove(); failed != nil {
			break
		}
		doc.Files = append(doc.Files, done)
	}
	a.tellStores(doc.Files)
	err = a.write(false, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, doc, false)
		}
		for _, f := range doc.Files {
			fmt.Fprintf(o, "%s -> %s\n", term.Line(f.Path), term.Line(f.Trash))
			for _, side := range f.Side {
				fmt.Fprintf(o, "    with %s\n", term.Line(side))
			}
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// tellStores tells of the stores whose contents removed sessions may have used.
func (a *app) tellStores(removed []jsonRemoved) {
	var told []string
	for _, f := range removed {
		dir := filepath.Dir(f.Path)
		if _, err := os.Stat(checkpoint.StoreOf(f.Path)); err != nil || slices.Contains(told, dir) {
			continue
		}
		told = append(told, dir)
		fmt.Fprintf(a.stderr, "sessctl: contents of files stay in %s; 'sessctl gc %s' frees those that nothing uses any more\n",
			term.Line(checkpoint.StoreOf(f.Path)), shellWord(dir, runtime.GOOS))
	}
}

// A removal is a session that is about to go, with what belongs to it.
type removal struct {
	path string
	omp  bool
}

// toRemove finds the sessions that arguments name, each once. What is no session is
// not ours to remove.
func (a *app) toRemove(args []string) (list []removal, err error) {
	for _, name := range args {
		if name == "-" {
			return nil, usagef("standard input cannot be removed")
		}
		if sideOf(name, args) {
			continue // it goes with its session
		}
		path, err := a.path(name)
		if err != nil {
			return nil, err
		}
		// A link is not the session, and a pipe would be waited for.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is %w", path, store.ErrNotALog)
		}
		if err := refuseForeign(path); err != nil {
			return nil, err
		}
		info := sessiontree.Describe(path)
		if info.Err != nil {
			return nil, info.Err
		}
		if !slices.ContainsFunc(list, func(r removal) bool { return r.path == path }) {
			list = append(list, removal{path, info.Agent == sessiontree.AgentOmp})
		}
	}
	return list, nil
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

func (r removal) remove() (done jsonRemoved, err error) {
	unlock, err := sessiontree.LockLog(strings.TrimSuffix(r.path, store.ArchiveSuffix))
	if err != nil {
		return done, err
	}
	defer unlock()
	done.Path, done.Side = r.path, append([]string{}, r.side()...)
	done.Trash, err = store.Trash(r.path, done.Side)
	return done, err
}

// side lists what goes along: once the lock is taken, its file too.
func (r removal) side() []string { return store.SideFiles(r.path, r.omp) }

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
