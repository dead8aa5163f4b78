package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/tool"
)

// definitions are this program's own tools.
var definitions = []tool.Definition{
	define("read", "Reads a text file.", "path"),
	define("write", "Writes a file, with the directories above it. What was there is replaced.", "path", "content"),
	define("edit", "Replaces a piece of a file. old has to stand in it exactly once.", "path", "old", "new"),
	define("bash", "Runs a command in the workspace, for two minutes at most, and gives its output.", "command"),
}

// arguments are those of all of them.
type arguments struct{ Path, Content, Old, New, Command string }

// define makes a tool whose arguments are strings.
func define(name, description string, args ...string) tool.Definition {
	properties := strings.Join(args, `":{"type":"string"},"`)
	return tool.Definition{Name: name, Description: description, InputSchema: fmt.Appendf(nil, `{"type":"object","properties":{"%s":{"type":"string"}},"required":["%s"]}`, properties, strings.Join(args, `","`))}
}

// runCall runs a tool and sees to it that the log has the result.
func (a *agent) runCall(ctx context.Context, name, callID string, input json.RawMessage) error {
	fmt.Fprintln(a.out, "→", printable(name), printable(string(input)))
	if name == tool.NameCheckpoint || name == tool.NameRewind {
		_, err := a.control.Call(ctx, name, callID, input) // appends its result itself
		return err
	}
	if name != "read" { // It may change something: say so, on disk, before it runs.
		if err := a.append(ctx, entries.ToolExecutionStart(callID, name)); err != nil {
			return err
		}
	}
	text, err := a.runTool(ctx, name, callID, input)
	if ctx.Err() != nil { // Without a result: the model will be told that it may have run.
		return ctx.Err()
	}
	if err != nil {
		text = strings.TrimSpace(text + "\n" + err.Error())
	}
	return a.append(ctx, entries.ToolResult(callID, name, []json.RawMessage{entries.TextBlock(shorten(cmp.Or(text, "(no output)")))}, err != nil, nil))
}

// runTool runs one of this program's tools. Files are opened through an os.Root, which
// stays in the workspace: no "..", no absolute path, no symlink that leads out.
func (a *agent) runTool(ctx context.Context, name, callID string, input json.RawMessage) (string, error) {
	var args arguments
	if err := json.Unmarshal(input, &args); err != nil {
		return "", fmt.Errorf("the arguments are wrong: %w", err)
	}
	switch name {
	case "read":
		data, err := a.files.ReadFile(args.Path)
		return string(data), err
	case "write", "edit":
		// What it is going to change is in the log, on disk, before it does.
		err := a.tracked.BeforeEdit(ctx, callID, args.Path)
		if err == nil {
			err = errors.Join(change(a.files, name, args), a.tracked.AfterEdit(context.WithoutCancel(ctx), callID, args.Path))
		}
		return "", err
	case "bash":
		return bash(ctx, a.files.Name(), args.Command)
	}
	return "", fmt.Errorf("there is no tool %q", name)
}

func change(files *os.Root, name string, args arguments) error {
	text := args.Content
	if name == "edit" {
		data, err := files.ReadFile(args.Path)
		if n := strings.Count(string(data), args.Old); err == nil && n != 1 {
			err = fmt.Errorf("old has to stand in %s exactly once; it stands there %d times", args.Path, n)
		}
		if err != nil {
			return err
		}
		text = strings.Replace(string(data), args.Old, args.New, 1)
	}
	return errors.Join(files.MkdirAll(filepath.Dir(args.Path), 0o755), files.WriteFile(args.Path, []byte(text), 0o644))
}

// bash runs a command. It starts in the workspace, and nothing keeps it there: where the
// work is not trusted, an agent needs a sandbox around it. It does not get the API's key.
func bash(ctx context.Context, dir, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", command)
	c.Dir = dir
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_") })
	c.WaitDelay = time.Second // for what the command leaves running
	output, err := c.CombinedOutput()
	return string(output), err
}

// shorten keeps one result from filling the context: the end says most.
func shorten(text string) string {
	if cut := len(text) - 50_000; cut > 0 {
		text = fmt.Sprintf("[%d bytes are left out here]\n%s", cut, text[cut:])
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

var unprintable = regexp.MustCompile(`[^\P{C}\n\t]`)

// printable keeps what a model says from steering the terminal.
func printable(s string) string {
	return unprintable.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "\uFFFD")
}
