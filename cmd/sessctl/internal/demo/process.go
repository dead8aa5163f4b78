package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// AgentFolder is the environment variable that tells this program to be the agent that
// is killed, in the folder that it names.
const AgentFolder = "SESSCTL_DEMO_AGENT"

// A note is what the agent's process tells the one that started it, as a line of JSON.
type note struct {
	Say string `json:"say,omitempty"`
	// Ready is the path of the log, where the result of rewind is on disk.
	Ready string `json:"ready,omitempty"`
}

// Agent is the process that is killed: it plays until rewind was called, says so on
// stdout, and waits for its end. It ends by itself where whoever started it does, which
// closes stdin.
func Agent(ctx context.Context, dir string, stdin io.Reader, stdout io.Writer) error {
	work := workspaceOf(dir)
	s, err := sessiontree.Create(dir, entries.Header{Cwd: work, Generator: "sessctl demo"}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	notes := json.NewEncoder(stdout)
	a, err := newAgent(ctx, s, work, func(line string) { _ = notes.Encode(note{Say: line}) })
	if err != nil {
		return err
	}
	defer a.work.close()
	a.beforeRewind = func() error {
		if err := notes.Encode(note{Ready: s.Path()}); err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, stdin)
		return errors.New("the agent was to be killed, and was not")
	}
	if _, err := s.SetName(ctx, "doubled quotes in the CSV parser"); err != nil {
		return err
	}
	if err := a.turn(ctx, "Turn 1", overview); err != nil {
		return err
	}
	return a.turn(ctx, "Turn 2", hunt)
}

// A child is the agent's process, as seen by the one that started it.
type child struct {
	cmd    *exec.Cmd
	stdout io.Reader
	stderr bytes.Buffer
}

// start runs this program again, as the agent. Its name stays what it is, since a test
// binary goes by it.
func start(ctx context.Context, dir string) (*child, error) {
	if os.Getenv(AgentFolder) != "" { // a program that does not call Agent would start itself for ever
		return nil, fmt.Errorf("%s is set; unset it", AgentFolder)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, exe, "demo")}
	c.cmd.Args[0] = os.Args[0]
	c.cmd.Env = append(os.Environ(), AgentFolder+"="+dir)
	c.cmd.Stderr = &c.stderr
	if _, err := c.cmd.StdinPipe(); err != nil { // it is open as long as this process lives
		return nil, err
	}
	if c.stdout, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return c, c.cmd.Start()
}

// story passes on what the agent says, until rewind was called, and gives the path of
// the log.
func (c *child) story(say func(string)) (path string, err error) {
	for notes := json.NewDecoder(c.stdout); ; {
		var n note
		if err := notes.Decode(&n); err != nil {
			_, _ = c.kill()
			return "", fmt.Errorf("the agent's process ended too early: %w: %s", err, bytes.TrimSpace(c.stderr.Bytes()))
		}
		if n.Ready != "" {
			return n.Ready, nil
		}
		say(n.Say)
	}
}

// kill ends the process at once, with nothing that it could do about it. killed tells
// that it had not ended by itself.
func (c *child) kill() (killed bool, err error) {
	kill := c.cmd.Process.Kill()
	err = c.cmd.Wait()
	if errors.As(err, new(*exec.ExitError)) {
		err = nil // that is what a killed process ends in
	}
	if kill != nil {
		return false, kill
	}
	return !c.cmd.ProcessState.Success(), err
}
