package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/cmd/sessctl/internal/term"
)

func (a *app) gc() *cobra.Command {
	var yes, dry bool
	cmd := &cobra.Command{
		Use:   "gc [DIR]",
		Short: "Remove contents of files that no session refers to",
		Long: `gc lists the contents in the store of a folder of sessions, DIR/blobs, that are not
in use any more, and removes them with --yes; on a terminal it asks. DIR is sessctl's
own folder by default. In use is what a log refers to (all count that lie in DIR or
in a folder in it, archives too, and those elsewhere that have registered with the
store), and what the last look at a workspace found, for a month. What is younger
than a day stays. Nothing is removed while a registered log is missing.`,
		Example: "  sessctl gc\n  sessctl gc ./sessions --yes",
		Args:    needs(0, 1, "at most a folder"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.runGC(strings.Join(args, ""), yes, dry) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "remove without asking")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list")
	return cmd
}

type jsonGC struct {
	Schema       string     `json:"schema"`
	Store        string     `json:"store"`
	Blobs        []jsonBlob `json:"blobs"`
	Bytes        int64      `json:"bytes"`
	Young        int        `json:"young"`
	Kept         int        `json:"kept"`
	KeptBytes    int64      `json:"keptBytes"`
	Missing      []string   `json:"missing"`
	Removed      int        `json:"removed"`
	RemovedBytes int64      `json:"removedBytes"`
	Done         bool       `json:"done"`
}

type jsonBlob struct {
	SHA256 string  `json:"sha256"`
	Size   int64   `json:"size"`
	Time   *string `json:"time"`
}

// folder gives the folder of sessions that an argument names, or sessctl's own.
func (a *app) folder(name string) (string, error) {
	if name == "" {
		places, err := a.places()
		if err != nil {
			return "", err
		}
		if name = places.Own(); name == "" {
			return "", usagef("name a folder of sessions: $SESSCTL_DIR, $XDG_DATA_HOME and $HOME are not set")
		}
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", fmt.Errorf("there is no folder of sessions here; name one as DIR: %w", err)
	case !info.IsDir():
		return "", usagef("%s is no folder; name one that has sessions", name)
	}
	return name, nil
}

func (a *app) runGC(name string, yes, dry bool) error {
	dir, err := a.folder(name)
	if err != nil {
		return err
	}
	log := filepath.Join(dir, "log.jsonl")
	st, err := lookStore(log)
	if err != nil {
		return err
	}
	doc := garbageJSON(checkpoint.StoreOf(log), &checkpoint.Garbage{})
	if st == nil {
		fmt.Fprintf(a.stderr, "sessctl: there is no %s: no session in this folder has recorded contents of files\n", term.Line(doc.Store))
	} else {
		defer st.Close()
		if err := a.collect(st, &doc, yes, dry); err != nil {
			return err
		}
	}
	return a.write(false, func(o *term.Output) error {
		switch {
		case a.flags.json:
			return writeJSON(o, doc, false)
		case doc.Done:
			fmt.Fprintf(o, "removed %s, %s\n", plural(doc.Removed, "content", "contents"), size(doc.RemovedBytes))
		default:
			fmt.Fprintf(o, "%s not in use, %s; nothing was removed\n", plural(len(doc.Blobs), "content", "contents"), size(doc.Bytes))
		}
		return nil
	})
}

// collect finds garbage, tells of it, and removes it where that is meant.
func (a *app) collect(st *checkpoint.Store, doc *jsonGC, yes, dry bool) error {
	ctx := context.Background()
	g, err := st.Garbage(ctx)
	if err != nil {
		return err
	}
	*doc = garbageJSON(st.Dir(), g)
	a.listGarbage(*doc)
	if doc.Done, err = a.collects(g, yes, dry); err != nil || !doc.Done {
		return err
	}
	doc.Removed, doc.RemovedBytes, err = st.Collect(ctx, g)
	return err
}

func garbageJSON(where string, g *checkpoint.Garbage) jsonGC {
	doc := jsonGC{
		Schema: "sessctl.gc/1", Store: where, Blobs: []jsonBlob{}, Bytes: g.Bytes, Young: g.Young,
		Kept: g.Kept, KeptBytes: g.Size, Missing: append([]string{}, g.Missing...),
	}
	for _, b := range g.Blobs {
		doc.Blobs = append(doc.Blobs, jsonBlob{b.Sum, b.Size, optionalTime(b.Time)})
	}
	return doc
}

// listGarbage tells on stderr what was found.
func (a *app) listGarbage(doc jsonGC) {
	for _, log := range doc.Missing {
		fmt.Fprintf(a.stderr, "sessctl: missing: %s; it refers to the store, and nothing is removed without it\n", term.Line(log))
	}
	if doc.Young > 0 {
		fmt.Fprintf(a.stderr, "sessctl: %s younger than a day or of a turn that runs, which a log may still come to refer to\n", plural(doc.Young, "content is", "contents are"))
	}
	fmt.Fprintf(a.stderr, "sessctl: %s in use, by logs or by the last look at a workspace, %s\n", plural(doc.Kept, "content", "contents"), size(doc.KeptBytes))
}

// collects tells whether garbage is to be removed, and asks on a terminal.
func (a *app) collects(g *checkpoint.Garbage, yes, dry bool) (bool, error) {
	if dry || yes {
		return yes && !dry, nil
	}
	in, ok := a.stdin.(*os.File)
	if len(g.Blobs) == 0 || len(g.Missing) > 0 || !ok || !xterm.IsTerminal(int(in.Fd())) {
		return false, nil // a list is what was asked for
	}
	err := a.confirm(fmt.Sprintf("Remove %s, %s?", plural(len(g.Blobs), "content", "contents"), size(g.Bytes)), "--yes")
	return err == nil, err
}

func (a *app) du() *cobra.Command {
	return &cobra.Command{
		Use:   "du [DIR]",
		Short: "Show what takes the space of a folder of sessions",
		Long: `du lists the logs of a folder of sessions, what takes most space first: the size of
the log, the contents of files that it refers to, and those that only it refers to,
which would go with it. Below them stands what the last looks at workspaces keep in
the store: what a scan has seen, and no log refers to yet. DIR is sessctl's own folder
by default. Nothing is changed.`,
		Example: "  sessctl du\n  sessctl du ./sessions --json",
		Args:    needs(0, 1, "at most a folder"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.runDU(strings.Join(args, "")) },
	}
}

type jsonDU struct {
	Schema       string    `json:"schema"`
	Dir          string    `json:"dir"`
	Logs         []jsonUse `json:"logs"`
	Size         int64     `json:"size"`
	Blobs        int       `json:"blobs"`
	BlobBytes    int64     `json:"blobBytes"`
	Garbage      int       `json:"garbage"`
	GarbageBytes int64     `json:"garbageBytes"`
	Looks        int       `json:"looks"`
	LooksBytes   int64     `json:"looksBytes"`
	Young        int       `json:"young"`
	YoungBytes   int64     `json:"youngBytes"`
}

type jsonUse struct {
	Path      string `json:"path"`
	Missing   bool   `json:"missing"`
	Size      int64  `json:"size"`
	Blobs     int    `json:"blobs"`
	BlobBytes int64  `json:"blobBytes"`
	Own       int    `json:"own"`
	OwnBytes  int64  `json:"ownBytes"`
}

func (a *app) runDU(name string) error {
	dir, err := a.folder(name)
	if err != nil {
		return err
	}
	u, err := checkpoint.UsageOf(context.Background(), dir)
	if err != nil {
		return err
	}
	return a.write(true, func(o *term.Output) error {
		if a.flags.json {
			return writeJSON(o, usageJSON(dir, u), false)
		}
		return writeUsage(o, u)
	})
}

func usageJSON(dir string, u *checkpoint.Usage) jsonDU {
	doc := jsonDU{
		"sessctl.du/1", dir, []jsonUse{}, u.Size, u.Blobs, u.BlobBytes,
		len(u.Garbage.Blobs), u.Garbage.Bytes, u.Looks, u.LooksBytes, u.Garbage.Young, youngBytes(u),
	}
	for _, l := range u.Logs {
		doc.Logs = append(doc.Logs, jsonUse(l))
	}
	return doc
}

func writeUsage(o *term.Output, u *checkpoint.Usage) error {
	t := newTable(o, "<SESSION", ">LOG", ">FILES", "ONLY ITS OWN")
	for _, l := range u.Logs {
		own := ""
		if l.Blobs > 0 {
			own = size(l.OwnBytes)
		}
		t.add("", term.Line(l.Path), size(l.Size), sizeOf(l.Blobs, l.BlobBytes), own)
		if l.Missing {
			t.note("missing: it is registered with the store, and not there")
		}
	}
	if u.Looks > 0 {
		t.add("", "(the last looks at workspaces)", "", size(u.LooksBytes), size(u.LooksBytes))
	}
	t.write()
	_, err := fmt.Fprintf(o, "%s of logs, %s in %s of files: %s in use, %s in %s not in use, %s in %d younger than a day\n",
		size(u.Size), size(u.BlobBytes), plural(u.Blobs, "content", "contents"), size(u.Garbage.Size),
		size(u.Garbage.Bytes), plural(len(u.Garbage.Blobs), "content", "contents"), size(youngBytes(u)), u.Garbage.Young)
	return err
}

// youngBytes is the size of what is neither in use nor old enough to go: the rest.
func youngBytes(u *checkpoint.Usage) int64 { return u.BlobBytes - u.Garbage.Size - u.Garbage.Bytes }

// sizeOf is a size, and nothing where there is nothing.
func sizeOf(n int, bytes int64) string {
	if n == 0 {
		return ""
	}
	return size(bytes)
}
