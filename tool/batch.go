package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
)

// batch makes the records of a rewind, in their order: the summary that carries the
// report, the hidden report about what was left, what ran beside rewind, and the
// settings in force where the target has others.
func (t *Tools) batch(s State, d *detour, f files) []entries.Draft {
	at := t.now()
	details := map[string]any{"startedAt": d.checkpoint.StartedAt, "checkpoint": d.checkpoint.ID}
	if d.checkpoint.StartedAt == "" {
		details["startedAt"] = at
	}
	report := map[string]any{
		"report": s.Request.Report, "startedAt": details["startedAt"], "rewoundAt": at, "checkpoint": d.checkpoint.ID,
		"droppedEntries": len(d.left), "droppedTokens": d.tokens, "readFiles": list(d.uses.read), "modifiedFiles": list(f.left(d.uses.modified)), "restored": list(f.restored()),
	}
	content := encode(reportText(s, d, f))
	drafts := []entries.Draft{
		entries.BranchSummaryDraft(s.Leaf, s.Request.Report, encode(details)),
		entries.CustomMessageDraft(entries.CustomRewindReport, content, false, encode(report)),
	}
	return slices.Concat(drafts, d.kept, inForce(d.here, d.there, d.model))
}

func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// inForce gives the records that keep the prompt, the tools, the model and the thinking
// level of one place in force at another. copied is the model of an answer that was
// copied there, if any: to pi that is the one in force.
func inForce(here, there *modelcontext.Context, copied modelcontext.Model) (drafts []entries.Draft) {
	model := there.Model
	if copied != (modelcontext.Model{}) && here.Dialect == modelcontext.Pi {
		model = copied
	}
	if change := systemChange(there.System(), here.System()); !change.Empty() {
		drafts = append(drafts, entries.SystemMessage(change))
	}
	if here.Model != model && here.Model.ID != "" {
		drafts = append(drafts, modelChange(here))
	}
	if here.Thinking != there.Thinking {
		drafts = append(drafts, entries.ThinkingLevelDraft(here.Thinking))
	}
	return drafts
}

// modelChange is in the words of the log: oh-my-pi has its own.
func modelChange(c *modelcontext.Context) entries.Draft {
	if c.Dialect == modelcontext.Omp {
		return entries.Raw(encode(map[string]any{"type": entries.TypeModelChange, "model": c.Model.Provider + "/" + c.Model.ID}))
	}
	return entries.ModelChangeDraft(c.Model.Provider, c.Model.ID)
}

// reportText tells what the model cannot know any more. The report itself stands in the
// summary above it, once.
func reportText(s State, d *detour, f files) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The exploration since %s was left; its report stands above.", d.checkpoint.name())
	if s.Request.Checkpoint == "" {
		b.WriteString(" Its checkpoint was not in the log any more, so the whole conversation before it was left too.")
	}
	if len(d.uses.prompts) > 0 {
		b.WriteString("\n\nThe user wrote meanwhile:")
		for _, p := range d.uses.prompts {
			b.WriteString("\n<user-message>\n" + p + "\n</user-message>")
		}
	}
	said(&b, d.uses.said)
	lines(&b, "Files read, whose contents you do not have any more", d.uses.read)
	lines(&b, "Files taken back to what they were at the checkpoint", f.restored())
	lines(&b, "Files changed on disk, and left as they are now", f.left(d.uses.modified))
	if f.kept != "" {
		b.WriteString("\n\nThe files were to be taken back, and stay as they are: " + f.kept)
	}
	lines(&b, "Files that could not be taken back", f.failed())
	lines(&b, "Commands that the user ran meanwhile", d.uses.shell)
	lines(&b, "Commands that ran, whose effects stay", d.uses.commands)
	lines(&b, "Other tools that were called", d.uses.others)
	fmt.Fprintf(&b, "\n\n%d entries, about %d tokens, are out of your context. To explore something else, set a new checkpoint.", len(d.left), d.tokens)
	return b.String()
}

// name is how a report calls a checkpoint.
func (c Checkpoint) name() string {
	if c.ID == "" {
		return "the checkpoint"
	}
	name := "checkpoint " + string(c.ID)
	if c.Label != "" {
		name += " (" + c.Label + ")"
	}
	if goal := strings.TrimSpace(c.Goal); goal != "" {
		name += ", " + goal + ","
	}
	return name
}

// said repeats what the user was told already, or its size and its beginning: a model
// that does not know tells it again.
func said(b *strings.Builder, texts []string) {
	const most = 2000 // bytes in full
	if len(texts) == 0 {
		return
	}
	all := strings.Join(texts, "\n\n")
	if len(all) <= most {
		b.WriteString("\n\nYou told the user already:\n<told>\n" + all + "\n</told>")
		return
	}
	fmt.Fprintf(b, "\n\nYou told the user already (%d bytes, of which this is the beginning):\n<told>\n%s\n</told>", len(all), strings.ToValidUTF8(all[:most], ""))
}

// lines lists names, or the first of many.
func lines(b *strings.Builder, title string, names []string) {
	const most = 40
	if len(names) == 0 {
		return
	}
	b.WriteString("\n\n" + title + ":")
	for i, name := range names {
		if i == most {
			fmt.Fprintf(b, "\n- and %d more", len(names)-most)
			return
		}
		b.WriteString("\n- " + firstLine(name))
	}
}

// firstLine keeps a long command from filling the report.
func firstLine(s string) string {
	const most = 200
	line, rest, _ := strings.Cut(s, "\n")
	if len(line) > most {
		line, rest = strings.ToValidUTF8(line[:most], ""), "x"
	}
	if rest != "" {
		line += " …"
	}
	return line
}

// blocksOf is the content of a result that is a text.
func blocksOf(text string) []json.RawMessage { return []json.RawMessage{entries.TextBlock(text)} }
