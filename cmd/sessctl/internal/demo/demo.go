// Package demo plays a scripted agent through the library: turns, a checkpoint, an
// exploration, a rewind, a crash, and what comes after it. The model's answers and the
// test runs are scripted; the calls of the library, the files, the log and the crash
// are real.
//
// [Folder] makes a place for it, [Play] plays it. The first part runs in a process of
// its own, which Play starts, and kills between the call of rewind and the end of the
// turn: that process is this program again, with [AgentFolder] in its environment, and
// has to call [Agent].
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sessctl/sessctl/checkpoint"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Played is what a demo left, and what its rewind did.
type Played struct {
	Path      string // of the log
	Workspace string
	Killed    bool // the first process did not end by itself

	Checkpoint    entries.ID
	Label         string     // of the checkpoint
	Dropped       int        // entries that the rewind took out of the context
	Restored      []string   // files that the rewind took back
	Left          entries.ID // the leaf that the rewind left
	Before, After int        // tokens of the context, about: when rewind was called, and when it was applied
}

// Folder gives the folder of a demo: dir, which is made where it is missing and has to
// be empty, or a new temporary one for "".
func Folder(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "sessctl-demo-")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(list) > 0 {
		return "", fmt.Errorf("%s is not empty; name a folder that is new or empty, or none for a temporary one", dir)
	}
	return filepath.Abs(dir)
}

// Play plays the demo in an empty folder. say gets the story in lines: a heading, or
// something below it, which is indented.
func Play(ctx context.Context, dir string, say func(line string)) (*Played, error) {
	p := &Played{Workspace: workspaceOf(dir)}
	if err := writeWorkspace(p.Workspace); err != nil {
		return nil, err
	}
	err := p.crash(ctx, dir, say)
	if err != nil {
		return nil, err
	}
	s, err := reopen(p.Path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	a, err := newAgent(ctx, s, p.Workspace, say)
	if err != nil {
		return nil, err
	}
	defer a.work.close()
	if err := p.resume(ctx, a); err != nil {
		return nil, err
	}
	if err := a.turn(ctx, "Turn 3", afterCrash); err != nil {
		return nil, err
	}
	if err := a.byHand(ctx); err != nil {
		return nil, err
	}
	if err := a.jump(ctx, p.Left); err != nil {
		return nil, err
	}
	return p, s.Close()
}

// crash runs the first part in a process of its own, and kills that.
func (p *Played) crash(ctx context.Context, dir string, say func(string)) (err error) {
	c, err := start(ctx, dir)
	if err != nil {
		return err
	}
	if p.Path, err = c.story(say); err != nil {
		return err
	}
	say("Crash")
	say("  The report is on disk; at the end of the turn it would take the place of the exploration.")
	say(fmt.Sprintf("  Before that, the agent's process (%d) is killed.", c.cmd.Process.Pid))
	p.Killed, err = c.kill()
	return err
}

// reopen opens a session whose writer was killed. Its lock went with it; Windows may
// take a moment for that.
func reopen(path string) (*sessiontree.Session, error) {
	const patience, pace = 5 * time.Second, 20 * time.Millisecond
	for start := time.Now(); ; time.Sleep(pace) {
		s, err := sessiontree.Open(path, nil)
		if !errors.Is(err, sessiontree.ErrLocked) || time.Since(start) > patience {
			return s, err
		}
	}
}

// resume goes on from the log alone.
func (p *Played) resume(ctx context.Context, a *agent) error {
	state, err := a.tools.State()
	if err != nil {
		return err
	}
	a.say("Resume")
	a.say(fmt.Sprintf("  Another process opens the session. The log says where it stood: a rewind is %s.", state.Phase))
	rewound, err := a.tools.Resume(ctx)
	if err != nil {
		return err
	}
	if rewound == nil {
		return fmt.Errorf("%s: no rewind was pending after the crash", p.Path)
	}
	p.Checkpoint, p.Label, p.Dropped = rewound.Checkpoint.ID, rewound.Checkpoint.Label, rewound.DroppedEntries
	if p.Before, err = tokensAt(a.s, rewound.From); err != nil {
		return err
	}
	if p.After, err = tokensAt(a.s, rewound.Leaf); err != nil {
		return err
	}
	a.say(fmt.Sprintf("  It is applied: the report takes the place of %d entries, which stay in the log as a branch.", p.Dropped))
	p.Left = rewound.From
	for _, f := range rewound.Files.Files {
		if f.Result == checkpoint.Restored {
			p.Restored = append(p.Restored, f.Path)
		}
	}
	a.say(fmt.Sprintf("  It takes back what the exploration did to files: %s is what it was at the checkpoint.", strings.Join(p.Restored, ", ")))
	return nil
}

// tokensAt is the size of the context at an entry.
func tokensAt(s *sessiontree.Session, leaf entries.ID) (int, error) {
	t, err := s.Tree()
	if err != nil {
		return 0, err
	}
	c, err := modelcontext.Build(t, leaf, nil)
	if err != nil {
		return 0, err
	}
	return c.Tokens(nil).Tokens, nil
}

// workspaceOf is where the agent works.
func workspaceOf(dir string) string { return filepath.Join(dir, "workspace") }
