package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

func (a *app) archive() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "archive S...",
		Short: "Compress sessions that are not written to any more",
		Long: `archive compresses sessions: of session.jsonl it makes session.jsonl.zst, reads that
back, compares it with the log byte for byte, and only then removes the log. sessctl
reads archives like logs, at any place without decompressing the rest; zstd -d
gives the log back, and so does unarchive. A session that is being written, or was
in the last two seconds, is left alone, and no file is overwritten.`,
		Example: "  sessctl archive 546VRAC\n  sessctl archive --keep old/*.jsonl",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runArchive(args, keep, store.ArchiveFile)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the log beside its archive")
	return cmd
}

func (a *app) unarchive() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "unarchive S...",
		Short: "Restore archived sessions, byte for byte",
		Long: `unarchive restores the log of an archive, checks it against the archive and its sums,
and only then removes the archive. Of a damaged archive no log is made. No file is
overwritten.`,
		Example: "  sessctl unarchive 546VRAC",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.runArchive(args, keep, store.UnarchiveFile)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the archive beside its log")
	return cmd
}

type jsonArchive struct {
	Schema string         `json:"schema"`
	Files  []jsonArchived `json:"files"`
}

type jsonArchived struct {
	Path         string `json:"path"`
	Archive      string `json:"archive"`
	Size         int64  `json:"size"`
	ArchivedSize int64  `json:"archivedSize"`
}

// A convert is store.ArchiveFile or store.UnarchiveFile.
type convert func(path string, opt *store.ArchiveFileOptions) (store.Archived, error)

// runArchive converts one session after the other. Where one fails, those before it
// are done, and are reported.
func (a *app) runArchive(args []string, keep bool, f convert) error {
	paths, err := a.sessionFiles(args)
	if err != nil {
		return err
	}
	doc := jsonArchive{Schema: "sessctl.archive/1", Files: []jsonArchived{}}
	var failed error
	for _, path := range paths {
		var done store.Archived
		if done, failed = f(path, &store.ArchiveFileOptions{Keep: keep, Lock: sessiontree.LockLog}); failed != nil {
			break
		}
		doc.Files = append(doc.Files, jsonArchived(done))
	}
	err = a.write(false, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, doc, false)
		}
		for _, file := range doc.Files {
			archivedText(o, file)
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// sessionFiles gives the files of sessions. What is no session is not ours to
// convert.
func (a *app) sessionFiles(args []string) ([]string, error) {
	var paths []string
	for _, name := range args {
		if name == "-" {
			return nil, usagef("standard input has no file")
		}
		path, err := a.path(name)
		if err != nil {
			return nil, err
		}
		if err := refuseForeign(path); err != nil {
			return nil, err
		}
		if info := sessiontree.Describe(path); info.Err != nil {
			return nil, info.Err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func archivedText(o *term.Output, f jsonArchived) {
	ratio := float64(f.Size) / float64(max(f.ArchivedSize, 1))
	fmt.Fprintf(o, "%s  %s, archived %s, %.1f times smaller\n", term.Line(f.Path), size(f.Size), size(f.ArchivedSize), ratio)
}
