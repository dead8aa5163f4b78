// Command agent is a small coding agent that keeps its conversation in a session log:
// what an author of a harness writes around this library, and no more. It talks to
// Anthropic's API, or to any endpoint that is compatible with it.
//
//	ANTHROPIC_API_KEY=… agent "find out why the tests fail"
//	agent -session FILE "now mend it"
//	agent -session FILE                 # goes on where a crash or an error stopped it
//
// It is a module of its own, outside go.work: in this folder "GOWORK=off go build -o
// agent ." makes it. It works in the current directory, and without a sandbox.
//
// This file has the loop. encode.go leads from the log to a request, store.go from an
// answer to the log, and tools.go has what the model can do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/sessctl/sessctl/checkpoint"
	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/tool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", printable(err.Error()))
		os.Exit(1)
	}
}

// An agent is one session with what is needed to go on with it. Nothing of the
// conversation is kept here: before each request it is read from the log, so that a new
// agent on the same log is in the same place.
type agent struct {
	session *sessiontree.Session
	control *tool.Tools         // checkpoint and rewind
	files   *os.Root            // the workspace
	tracked *checkpoint.Tracker // its files, which go back with the conversation; nil follows none
	client  anthropic.Client
	out     io.Writer

	model    string
	thinking bool
	rounds   int
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	home, _ := os.UserConfigDir() // without one, new sessions come below the current directory
	a, f := &agent{out: out}, flag.NewFlagSet("agent", flag.ExitOnError)
	path := f.String("session", "", "go on with the session in this `file`; without it a new one is made")
	dir := f.String("sessions", filepath.Join(home, "sessctl-agent"), "the `directory` of new sessions; they work in the current one")
	f.StringVar(&a.model, "model", string(anthropic.ModelClaudeSonnet5), "the model")
	f.BoolVar(&a.thinking, "thinking", false, "let the model think before it answers")
	f.IntVar(&a.rounds, "rounds", 100, "most requests for one prompt")
	if _ = f.Parse(args); *path == "" && f.NArg() == 0 { // Parse exits where they are wrong
		return errors.New("say what to do, or name a -session to go on with (-h tells more)")
	}
	if a.session, err = openSession(*path, *dir); err != nil {
		return err
	}
	defer a.session.Close()
	if a.files, err = os.OpenRoot(a.session.Header().Cwd); err != nil {
		return err
	}
	a.tracked, err = checkpoint.Follow(ctx, a.session, &checkpoint.TrackOptions{Scan: true})
	if err != nil && !errors.Is(err, checkpoint.ErrRoot) { // in a home directory no files are followed
		return err
	}
	defer a.tracked.Close()
	a.control = tool.New(a.session, &tool.Options{Files: a.tracked})
	a.client = anthropic.NewClient() // with the key and, where it is set, the address of the environment
	fmt.Fprintln(out, "session:", printable(a.session.Path()))
	return a.prompt(ctx, strings.Join(f.Args(), " "))
}

// prompt runs one turn: until the model has nothing left to do. Without a text it goes on
// with the last one.
func (a *agent) prompt(ctx context.Context, text string) error {
	// A crash may have come between the model's rewind and the end of that turn. It is
	// finished before anything else is appended: a new prompt would make it lapse.
	err := a.finish(a.control.Resume(ctx))
	if err == nil {
		err = errors.Join(a.introduce(ctx), a.tracked.TurnStart(ctx)) // what a person changed meanwhile
	}
	if err == nil && text != "" {
		err = a.append(ctx, entries.UserMessage(text))
	}
	for n, done := 0, false; err == nil && !done; n++ {
		if done, err = a.round(ctx); err == nil && !done && n+1 == a.rounds {
			err = fmt.Errorf("stopped after %d requests; run it again without a prompt to go on", a.rounds)
		}
	}
	return errors.Join(err, a.tracked.TurnEnd(context.WithoutCancel(ctx))) // what commands changed
}

// round sends one request and does what the answer asks for. The calls of an answer that
// was cut off are not run: their arguments may be cut off, too.
func (a *agent) round(ctx context.Context) (done bool, err error) {
	answer, err := a.ask(ctx)
	if err != nil {
		return false, err
	}
	for _, b := range answer.Content {
		switch {
		case b.Type == "text":
			fmt.Fprintln(a.out, printable(b.Text))
		case b.Type == "tool_use" && answer.StopReason == anthropic.StopReasonToolUse:
			if err := a.runCall(ctx, b.Name, b.ID, b.Input); err != nil {
				return false, err
			}
		}
	}
	switch stopReasons[answer.StopReason] {
	case "toolUse":
		// All calls have results: now, and only now, a rewind is applied.
		return false, a.finish(a.control.EndTurn(ctx))
	case "stop":
		return a.remind(ctx)
	}
	return false, fmt.Errorf("the model did not finish its answer: %s", answer.StopReason)
}

// finish tells the user of a rewind.
func (a *agent) finish(r *tool.Rewound, err error) error {
	if r != nil {
		fmt.Fprintf(a.out, "⟲ %d entries, about %d tokens, left the context; %d files went back\n", r.DroppedEntries, r.DroppedTokens, r.Files.Count(checkpoint.Restored))
	}
	return err
}

// remind asks a model that stops while a checkpoint is open, once, whether it forgot to
// rewind. The note goes into the log: so the next requests begin with the same bytes, for
// the provider's cache, and a rewind drops it with the rest.
func (a *agent) remind(ctx context.Context) (done bool, err error) {
	note, err := a.control.PendingReminder(ctx)
	if note == "" || err != nil {
		return true, err
	}
	return false, a.append(ctx, entries.CustomMessageDraft("checkpoint-reminder", fmt.Appendf(nil, "[%s]", entries.TextBlock(note)), false, nil))
}

// ask sends a request and appends what came of it: an answer, or that there was none.
func (a *agent) ask(ctx context.Context) (*anthropic.Message, error) {
	p, err := a.request()
	if err != nil {
		return nil, err
	}
	answer, err := a.client.Messages.New(ctx, p)
	// Where the user interrupted, that is still to be written.
	return answer, errors.Join(err, a.append(context.WithoutCancel(ctx), a.stored(ctx, answer, err)))
}

// request is what the model is sent next: the log as far as a model sees it (Build), made
// valid, whatever the log went through (Repair), without what another model signed
// (Apply), and in the API's words (encode).
func (a *agent) request() (p anthropic.MessageNewParams, err error) {
	c, err := a.context()
	if err != nil {
		return p, err
	}
	p = encode(c.Repair().Apply(modelcontext.Policy{For: modelcontext.Model{Provider: provider, ID: a.model}}))
	p.Model, p.MaxTokens = anthropic.Model(a.model), 16_000
	if a.thinking {
		p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{}
	}
	if n := len(p.Messages); n == 0 || p.Messages[n-1].Role != anthropic.MessageParamRoleUser {
		return p, errors.New("the model has answered already; give it a prompt")
	}
	return p, nil
}

// context is that of the leaf, where the next entry will be attached.
func (a *agent) context() (*modelcontext.Context, error) {
	tree, err := a.session.Tree()
	if err != nil {
		return nil, err
	}
	return modelcontext.Build(tree, tree.Leaf(), nil)
}
