package sessiontree_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// children are what this test binary does as another process: it is run again with
// the name and the arguments in childEnv. A child talks to its parent in lines.
var children = map[string]func(c *child) error{
	"write":  childWrites,
	"hold":   childHolds,
	"stale":  childIsStale,
	"create": childCreates,
	"fork":   childForks,
	"umask":  childHasAUmask,
	"flock":  childLocksForOmp,
	"turns":  childTakesTurns,
}

const childEnv = "SESSCTL_TEST_CHILD"

// TestChildProcess is no test: other tests run it as another process.
func TestChildProcess(t *testing.T) {
	args := strings.Fields(os.Getenv(childEnv))
	if len(args) == 0 {
		return
	}
	c := &child{args: args[1:], in: bufio.NewScanner(os.Stdin)}
	if err := children[args[0]](c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // before the framework prints anything
}

// A child is the view that it has of its parent.
type child struct {
	args []string
	in   *bufio.Scanner
}

// say writes a line in one write, so that it is there or not.
func (c *child) say(words ...any) { os.Stdout.WriteString(fmt.Sprintln(words...)) }

// wait returns when the parent says something, or is gone.
func (c *child) wait() { c.in.Scan() }

// A process is the view that the parent has of a child.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs this test binary as another process. It does not outlive the test.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], "-test.run=^TestChildProcess$")}
	p.cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(args, " "))
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		var out io.ReadCloser
		out, err = p.cmd.StdoutPipe()
		p.out = bufio.NewReader(out)
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// hears gives the next line that the child says, "" where it is gone.
func (p *process) hears() string {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return "" // a line without an end was not said
	}
	return strings.TrimSpace(line)
}

// last gives the last line that the child said before it went.
func (p *process) last() (last string) {
	for line := p.hears(); line != ""; line = p.hears() {
		last = line
	}
	return last
}

// expect demands the next line.
func (p *process) expect(want string) {
	p.t.Helper()
	if got := p.hears(); got != want {
		p.t.Fatalf("the child says %q, want %q", got, want)
	}
}

// tell lets a child that waits go on.
func (p *process) tell() { _, _ = io.WriteString(p.in, "go on\n") }

// finish waits for the child's end.
func (p *process) finish() {
	p.t.Helper()
	p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the child failed: %v", err)
	}
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// childHolds opens a session, and holds it until it is told.
func childHolds(c *child) error {
	s, err := sessiontree.Open(c.args[0], nil)
	if err != nil {
		return err
	}
	c.say("held")
	c.wait()
	return s.Close()
}

func newSession(t *testing.T, opt *sessiontree.Options) *sessiontree.Session {
	t.Helper()
	s, err := sessiontree.Create(t.TempDir(), entries.Header{Cwd: "/home/u/proj"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func appendTo(t *testing.T, s *sessiontree.Session, d ...entries.Draft) sessiontree.Appended {
	t.Helper()
	done, err := s.Append(context.Background(), d...)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// sound demands that nothing but notes is to be said of a log, and gives the ids of
// its entries.
func sound(t *testing.T, path string) []string {
	t.Helper()
	x, err := sessiontree.Read(path, &sessiontree.ReadOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if v, err := x.Verify(); err != nil || !v.OK {
		t.Fatalf("%s is not sound: %+v (%v)", path, v, err)
	}
	return walked(t, x.Entries())
}

func TestSecondWriterIsToldWhoHasTheSession(t *testing.T) {
	s := newSession(t, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p := start(t, "hold", s.Path())
	p.expect("held")
	_, err := sessiontree.Open(s.Path(), nil)
	held, ok := errors.AsType[*sessiontree.LockedError](err)
	if !ok || !errors.Is(err, sessiontree.ErrLocked) {
		t.Fatalf("got %v, want ErrLocked", err)
	}
	host, _ := os.Hostname()
	if held.PID != p.cmd.Process.Pid || held.Host != host || held.Since.IsZero() || held.Path != s.Path() {
		t.Errorf("got %+v, want process %d on %s", held, p.cmd.Process.Pid, host)
	}
	if _, err := sessiontree.LockLog(s.Path()); !errors.Is(err, sessiontree.ErrLocked) {
		t.Errorf("LockLog: got %v, want ErrLocked", err)
	}
	p.kill() // the lock goes with its holder, whatever the file says
	again, err := sessiontree.Open(s.Path(), nil)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, again, entries.UserMessage("mine"))
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOneProcessIsTwoWriters: the lock also keeps two sessions of one process apart.
func TestOneProcessIsTwoWriters(t *testing.T) {
	s := newSession(t, nil)
	_, err := sessiontree.Open(s.Path(), nil)
	if held, ok := errors.AsType[*sessiontree.LockedError](err); !ok || held.PID != os.Getpid() {
		t.Errorf("got %v, want this process named", err)
	}
}

// TestLockFilesThatAreLeftOver: a lock file that merely exists means nothing.
func TestLockFilesThatAreLeftOver(t *testing.T) {
	dead := start(t, "hold", "nowhere")
	dead.kill()
	for what, content := range map[string]string{
		"empty": "", "garbage": "\x00\xff no JSON {", "an array": "[1]", "long": strings.Repeat("x", 1<<16),
		"a dead process":      fmt.Sprintf(`{"pid":%d,"host":"h","boot":"b","since":"2026-01-01T00:00:00Z"}`, dead.cmd.Process.Pid),
		"a live process":      fmt.Sprintf(`{"pid":%d,"host":"h","boot":"b"}`, os.Getpid()),
		"more than was known": `{"pid":1,"synced":99999999,"clean":true}`,
	} {
		s := newSession(t, nil)
		first := appendTo(t, s, entries.UserMessage("one"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(sessiontree.LockPath(s.Path()), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := sessiontree.Open(s.Path(), nil)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if again.Leaf() != first.Leaf || again.Repairs() != nil {
			t.Errorf("%s: got leaf %s, repairs %v", what, again.Leaf(), again.Repairs())
		}
		again.Close()
	}
}
