package command

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/demo"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Play a scripted agent that rewinds and is killed, and show its session",
		Long: `demo plays an agent in a new folder: it works on a small parser, sets a checkpoint,
explores with much output, and rewinds with a report. Its process is killed before
that turn ends; another one opens the session, resumes, and goes on. Files go along:
the rewind takes back what the exploration did to them; an undo over a person's edit
is refused as a conflict, then done for that file by name, and brought back; and a
jump goes to the branch that was left and back, conversation and files. The model's
answers and the test runs are scripted; the calls of the library, the files, the log
and the crash are real. No network and no configuration are needed.

Then it shows the tree and the branches, and commands to try. DIR has to be new or
empty; by default it is a new temporary folder. It is kept. Beside it only a note of
the last turn is written, to sessctl/turns of the user's cache, as of each session
with files. The last line is the path of the session.`,
		Example: "  sessctl demo\n  sessctl demo ./demo --json",
		Args:    needs(0, 1, "at most a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := context.Background()
			if dir := a.getenv(demo.AgentFolder); dir != "" {
				return demo.Agent(ctx, dir, a.stdin, a.stdout)
			}
			dir, err := demo.Folder(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return a.write(false, func(o *term.Output) error { return a.playDemo(ctx, o, dir) })
		},
	}
}

// playDemo plays the demo in a folder, and shows what it left.
func (a *app) playDemo(ctx context.Context, o *term.Output, dir string) error {
	say := func(line string) { storyLine(o, line) }
	if a.flags.json {
		say = func(string) {}
	} else {
		fmt.Fprintf(o, "A scripted agent works in %s.\n", term.Line(dir))
	}
	played, err := demo.Play(ctx, dir, say)
	if err != nil {
		return fmt.Errorf("%w (what there is of the demo is in %s)", err, dir)
	}
	t, err := a.whole(played.Path)
	if err != nil {
		return err
	}
	defer t.Close()
	list, err := t.Branches()
	if err != nil {
		return err
	}
	if a.flags.json {
		return writeJSON(o, demoJSON(played, list), false)
	}
	return a.demoText(o, played, t, list)
}

// storyLine writes a line of the story at once: a heading, or, indented, what belongs
// to it.
func storyLine(o *term.Output, line string) {
	const widest = 100
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	columns := widest
	if o.Width > 0 {
		columns = min(o.Width, widest)
	}
	if indent == "" {
		fmt.Fprintf(o, "\n%s\n", o.Style(term.Bold, term.Line(text)))
	} else {
		for i, part := range o.Wrap(term.Line(text), max(columns-len(indent)-2, 20)) {
			if i > 0 {
				part = "  " + part
			}
			fmt.Fprintf(o, "%s%s\n", indent, part)
		}
	}
	o.Flush() // an error stays, and is told when the output is closed
}

// demoText shows the session as tree and branches do, and ends in its path.
func (a *app) demoText(o *term.Output, played *demo.Played, t *sessiontree.Tree, list []sessiontree.Branch) error {
	path := shellWord(played.Path, runtime.GOOS)
	fmt.Fprintf(o, "\n%s\n", o.Style(term.Bold, "$ sessctl tree "+path))
	d := &drawing{t: t}
	if err := d.prepare(); err != nil {
		return err
	}
	if err := a.heading(o, t); err != nil {
		return err
	}
	if err := d.draw(o); err != nil {
		return err
	}
	fmt.Fprintf(o, "\n%s\n", o.Style(term.Bold, "$ sessctl branches "+path))
	if err := a.branchesText(o, t, list); err != nil {
		return err
	}
	fmt.Fprintf(o, "\nThe context: about %d tokens when rewind was called, about %d after it.\n", played.Before, played.After)
	fmt.Fprintf(o, "\n%s (go run ./cmd/sessctl stands for sessctl where that is not installed)\n", o.Style(term.Bold, "To try"))
	for _, try := range demoCommands(path, played, list) {
		fmt.Fprintf(o, "  # %s\n  sessctl %s\n", try.what, try.command)
	}
	_, err := fmt.Fprintf(o, "\nThe session:\n%s\n", term.Line(played.Path))
	return err
}

type demoCommand struct{ what, command string }

// demoCommands are commands to try on a demo's session, which is named by path.
func demoCommands(path string, played *demo.Played, list []sessiontree.Branch) []demoCommand {
	commands := []demoCommand{{"the conversation as it goes on", "show " + path + " --brief"}}
	for _, b := range list {
		if b.Report != "" {
			commands = append(commands,
				demoCommand{"the exploration, which nothing was lost of", "show " + path + " --branch " + short(b.Tip)},
				demoCommand{"what going there would do, with its files", "checkout " + path + " " + short(b.Tip) + " --scope both --dry-run"})
		}
	}
	return append(commands,
		demoCommand{"what the model is sent, with the report in the exploration's place", "context " + path},
		demoCommand{"what happened to files, turn by turn", "files " + path},
		demoCommand{"what changed since the checkpoint", "files diff " + path + " " + played.Label},
		demoCommand{"sums, damage, calls without results", "verify " + path},
		demoCommand{"a new session that starts at the checkpoint", "fork " + path + " " + played.Label + " --into " + shellWord(filepath.Dir(played.Path), runtime.GOOS)},
	)
}

// plain is a word that no shell changes, but for backslashes.
var plain = regexp.MustCompile(`^[\w@%+=:,./\\-]+$`)

// shellWord quotes a path where the shell of a system needs that.
func shellWord(path, system string) string {
	windows := system == "windows"
	switch {
	case plain.MatchString(path) && (windows || !strings.Contains(path, `\`)):
		return path
	case windows:
		return `"` + term.Line(path) + `"`
	}
	return "'" + strings.ReplaceAll(term.Line(path), "'", `'\''`) + "'"
}

type jsonDemo struct {
	Schema         string       `json:"schema"`
	Path           string       `json:"path"`
	Workspace      string       `json:"workspace"`
	Killed         bool         `json:"killed"`
	Checkpoint     entries.ID   `json:"checkpoint"`
	DroppedEntries int          `json:"droppedEntries"`
	Restored       []string     `json:"restored"`
	TokensBefore   int          `json:"tokensBefore"`
	TokensAfter    int          `json:"tokensAfter"`
	Branches       []jsonBranch `json:"branches"`
}

func demoJSON(played *demo.Played, list []sessiontree.Branch) jsonDemo {
	return jsonDemo{
		Schema: "sessctl.demo/1", Path: played.Path, Workspace: played.Workspace, Killed: played.Killed, Checkpoint: played.Checkpoint,
		DroppedEntries: played.Dropped, Restored: played.Restored, TokensBefore: played.Before, TokensAfter: played.After, Branches: branchesOf(list),
	}
}
