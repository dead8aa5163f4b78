package sessiontree

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/store"
)

// Fork makes a new native session in dir that starts as a copy of the path to an
// entry ("" copies the path to the leaf). Its header names the log and the entry
// that it comes from; cwd and records are the source's unless h sets them. Of the
// copied entries the sums are renewed and nothing else; those of a version-1 log,
// which have no ids, get one and a parent. Labels in force on copied entries come
// along. The source is not changed, and the new session's file is there as a whole
// or not at all.
func Fork(ctx context.Context, t *Tree, leaf entries.ID, dir string, h entries.Header, opt *Options) (*Session, error) {
	if leaf == "" {
		leaf = t.Leaf()
	}
	f := &forking{t: t, s: newSession("", opt)}
	if err := f.header(h, leaf); err != nil {
		return nil, err
	}
	if err := f.copyPath(leaf); err != nil {
		return nil, err
	}
	if err := f.copyLabels(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.s.create(dir, f.name, f.lines)
}

// A forking is the log of a fork on its way.
type forking struct {
	t      *Tree
	s      *Session
	name   string
	lines  []byte
	prev   uint32
	last   entries.ID
	copied map[entries.ID]entries.ID // ids in the source, and here
	labels map[entries.ID]string     // that the copied label entries give
}

func (f *forking) header(h entries.Header, leaf entries.ID) error {
	source := f.t.Header()
	if h.Cwd == "" {
		h.Cwd = source.Cwd
	}
	if h.Records == nil {
		h.Records = source.Records
	}
	path, err := filepath.Abs(f.t.File())
	if err != nil {
		return err
	}
	h.ParentSession, h.ParentEntry = path, leaf
	if err := f.s.fillHeader(&h); err != nil {
		return err
	}
	f.name = fileName(h)
	f.put(h.Append(nil))
	return nil
}

// put takes a line without its closing brace.
func (f *forking) put(body []byte) {
	start := len(f.lines)
	f.lines = append(f.lines, body...)
	f.lines, f.prev = seal(f.lines, start, false, f.prev)
}

// copyPath copies the entries of the path. Batch marks go: a path may have only a
// part of a batch.
func (f *forking) copyPath(leaf entries.ID) error {
	f.copied, f.labels = map[entries.ID]entries.ID{}, map[entries.ID]string{}
	for e, err := range f.t.Path(leaf) {
		if err != nil {
			return err
		}
		raw, err := e.Raw()
		if err != nil {
			return err
		}
		id := e.ID
		if f.t.head.V1 {
			if raw, id, err = f.adopt(raw); err != nil {
				return fmt.Errorf("entry %s: %w", e.ID, err)
			}
		}
		if l, err := e.Label(); err == nil && e.Type == entries.TypeLabel {
			f.labels[l.Target] = l.Label
		}
		body := bytes.TrimSuffix(raw, []byte("}"))
		if f.t.head.Native {
			body, _ = entries.Unsummed(raw)
		}
		f.put(entries.Unmarked(body))
		f.copied[e.ID], f.last = id, id
	}
	return nil
}

// adopt gives an entry of version 1 an id and a parent.
func (f *forking) adopt(raw []byte) ([]byte, entries.ID, error) {
	d := entries.Migrated(raw, f.firstKept)
	id, err := f.s.ids.New()
	if err != nil {
		return nil, "", err
	}
	if d.Err() != nil {
		return nil, "", d.Err()
	}
	return append(d.Append(nil, id, f.last, f.s.now()), '}'), id, nil
}

// firstKept translates what a version-1 compaction names by its position: the
// record counts from the header, and has to be on the path.
func (f *forking) firstKept(index int) entries.ID {
	id, err := f.t.RecordAt(index)
	if err != nil {
		return ""
	}
	return f.copied[id]
}

// copyLabels appends the labels that are in force on copied entries and that no
// copied label entry gave. Where one gives a label that was taken away or replaced
// on another branch, that is done here too.
func (f *forking) copyLabels() error {
	labels, err := f.t.Labels()
	if err != nil {
		return err
	}
	for _, target := range slices.Sorted(maps.Keys(f.copied)) {
		if f.labels[target] == labels[target] {
			continue
		}
		id, err := f.s.ids.New()
		if err != nil {
			return err
		}
		f.put(entries.LabelDraft(f.copied[target], labels[target]).Append(nil, id, f.last, f.s.now()))
		f.last = id
	}
	return nil
}

// create makes the session's file with its first lines, and opens it.
func (s *Session) create(dir, name string, lines []byte) (*Session, error) {
	if err := s.makeDir(dir); err != nil {
		return nil, err
	}
	s.path = filepath.Join(dir, name)
	if err := s.acquire(); err != nil {
		return nil, err
	}
	log, err := store.CreateFileLogIn(s.fsys(), s.path, lines)
	if err != nil {
		s.release(false)
		return nil, err
	}
	s.log = log
	return s.start()
}
