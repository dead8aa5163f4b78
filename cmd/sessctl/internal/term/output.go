package term

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// Options say where output goes and how it looks.
type Options struct {
	Stdout io.Writer
	File   string // -o; "" is Stdout
	Color  string // auto, always, never
	Pager  bool   // page long output on a terminal
	Getenv func(string) string
}

// An Output is where a command's data goes.
type Output struct {
	*bufio.Writer
	Color    bool
	Unicode  bool // more than ASCII can be shown
	Terminal bool
	Paged    bool // a pager shows it: it reads the keyboard, and an interrupt is for it
	Width    int  // columns; 0 where lines need not be cut

	close func() error
}

// Open opens the output. Close it; only then is everything written.
func Open(opt Options) (*Output, error) {
	if opt.File != "" {
		return openFile(opt)
	}
	o := &Output{Writer: bufio.NewWriter(opt.Stdout), Unicode: true, close: func() error { return nil }}
	f, ok := opt.Stdout.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) {
		o.terminal(f, opt)
	}
	o.Color = o.wantsColor(opt)
	return o, nil
}

func (o *Output) terminal(f *os.File, opt Options) {
	o.Terminal = true
	o.Unicode = utf8Locale(opt.Getenv)
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		o.Width = width
	}
	if opt.Pager {
		o.page(f, opt)
	}
}

// openFile writes to a new file; one that exists is not overwritten.
func openFile(opt Options) (*Output, error) {
	f, err := os.OpenFile(opt.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write the output: %w", err)
	}
	return &Output{Writer: bufio.NewWriter(f), Unicode: true, Color: opt.Color == "always", close: f.Close}, nil
}

func (o *Output) wantsColor(opt Options) bool {
	switch opt.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return o.Terminal && opt.Getenv("NO_COLOR") == "" && opt.Getenv("TERM") != "dumb"
}

func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// page sends the output through the user's pager; one that cannot be started is
// done without.
func (o *Output) page(f *os.File, opt Options) {
	name := opt.Getenv("PAGER")
	if name == "" {
		name = "less"
	}
	args := strings.Fields(name)
	if len(args) == 0 || args[0] == "cat" {
		return
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	cmd.Env = os.Environ()
	if opt.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // no pager for a screenful, colours, no clearing
	}
	pipe, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	o.Writer, o.Paged = bufio.NewWriter(pipe), true
	o.close = func() error {
		pipe.Close()
		if err := cmd.Wait(); !errors.As(err, new(*exec.ExitError)) {
			return err
		}
		return nil // how the user left the pager says nothing about the output
	}
}

// Close writes what is left and waits for the pager.
func (o *Output) Close() error {
	err := o.Flush()
	if e := o.close(); err == nil {
		err = e
	}
	return err
}

// A Style is how a part of the output looks in colour.
type Style string

// The styles of the command's output.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"
	Cyan   Style = "36"
)

// Style gives s in a style, where the output has colour. s must be safe already.
func (o *Output) Style(style Style, s string) string {
	if !o.Color || style == "" || s == "" {
		return s
	}
	return "\x1b[" + string(style) + "m" + s + "\x1b[0m"
}

// Wrap breaks a safe line into lines of at most some columns, between words where
// that is possible; 0 leaves it whole. A tab takes as much room as it may.
func (o *Output) Wrap(s string, columns int) []string {
	if columns <= 0 || runewidth.StringWidth(strings.ReplaceAll(s, "\t", "        ")) <= columns {
		return []string{s}
	}
	var parts []string
	s = strings.ReplaceAll(s, "\t", "        ")
	for runewidth.StringWidth(s) > columns {
		head := runewidth.Truncate(s, columns, "")
		if head == "" { // a rune wider than the room
			break
		}
		if at := strings.LastIndexByte(head, ' '); at > len(head)/2 {
			head = head[:at+1]
		}
		parts = append(parts, strings.TrimRight(head, " "))
		s = s[len(head):]
	}
	return append(parts, s)
}

// Cut shortens a safe line to a number of columns.
func Cut(s string, columns int) string { return runewidth.Truncate(s, columns, "...") }

// Cut shortens a safe line to a number of columns; 0 leaves it.
func (o *Output) Cut(s string, columns int) string {
	if columns <= 0 || len(s) <= columns { // no byte takes more than a column
		return s
	}
	return runewidth.Truncate(s, columns, o.ellipsis())
}

// CutLeft is Cut for what is told by its end, such as a path.
func (o *Output) CutLeft(s string, columns int) string {
	width := runewidth.StringWidth(s)
	if columns <= 0 || width <= columns {
		return s
	}
	return runewidth.TruncateLeft(s, width-columns+len([]rune(o.ellipsis())), o.ellipsis())
}

func (o *Output) ellipsis() string {
	if o.Unicode {
		return "…"
	}
	return "..."
}
