package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
)

// fixedFile is what turn 3 changes, and a person after it.
const fixedFile = "parser/split.go"

// byHand takes turn 3 back, with its files, after a person has edited one of them.
func (a *agent) byHand(ctx context.Context) error {
	a.say("By hand")
	a.say("  A person adds a line to " + fixedFile + ", and then wants turn 3 undone, with its files.")
	text, err := a.work.root.ReadFile(fixedFile)
	if err != nil {
		return err
	}
	if err := a.work.root.WriteFile(fixedFile, append(text, "\n// Split is tested in split_test.go.\n"...), 0o600); err != nil {
		return err
	}
	plan, err := a.files.Undo(ctx, checkpoint.Both, nil)
	if err != nil {
		return err
	}
	_, err = a.files.Commit(ctx, plan, nil)
	var conflict *checkpoint.ConflictError
	if !errors.As(err, &conflict) {
		return fmt.Errorf("an undo over a hand edit was not refused: %w", err)
	}
	for _, it := range conflict.Items {
		a.say(fmt.Sprintf("  undo: refused. %s: %s. Nothing was changed.", it.Path, it.Reason))
	}
	if _, err := a.files.Commit(ctx, plan, &checkpoint.CommitOptions{Overwrite: []string{fixedFile}}); err != nil {
		return err
	}
	a.say("  undo, with that file named: done. What was overwritten is kept.")
	redo, err := a.files.Redo(ctx, checkpoint.Both, nil)
	if err != nil {
		return err
	}
	if _, err := a.files.Commit(ctx, redo, nil); err != nil {
		return err
	}
	a.say("  redo: turn 3 is back, and the person's line with it.")
	return nil
}

// jump goes to the branch that the rewind has left, and back: files and conversation.
func (a *agent) jump(ctx context.Context, left entries.ID) error {
	a.say("Jump")
	back := a.s.Leaf()
	there, err := a.goTo(ctx, left)
	if err != nil {
		return err
	}
	a.say("  To the end of the exploration that was left, files and conversation: " + there + ".")
	here, err := a.goTo(ctx, back)
	if err != nil {
		return err
	}
	a.say("  And back: " + here + ".")
	return nil
}

// goTo goes to an entry of any branch, and tells what became of files.
func (a *agent) goTo(ctx context.Context, to entries.ID) (told string, err error) {
	plan, err := a.files.Plan(ctx, to, checkpoint.Both, nil)
	if err != nil {
		return "", err
	}
	done, err := a.files.Commit(ctx, plan, &checkpoint.CommitOptions{Force: true})
	if err != nil {
		return "", err
	}
	var list []string
	for _, f := range done.Files {
		if f.Result != checkpoint.There {
			list = append(list, f.Path+" "+string(f.Result))
		}
	}
	return strings.Join(list, ", "), nil
}
