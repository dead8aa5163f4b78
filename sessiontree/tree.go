package sessiontree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/store"
)

// ReadOptions say how a log is read. Nil stands for the zero value.
type ReadOptions struct {
	// Verify looks inside every line of a whole scan, also where a right sum
	// vouches for it, and at its encoding.
	Verify bool
	// Workers is how many processors a whole scan uses; 0 and 1 stand for one.
	Workers int
	// Progress, where set, is called during a whole scan, and while the transcript of another
	// program is read, with bytes.
	Progress func(done, total int64)
}

// A Tree is a session as it was at one moment. See the package documentation for
// what is read when.
type Tree struct {
	path string
	src  store.Source
	size int64
	head *jsonl.Head
	end  *jsonl.End
	opt  ReadOptions
	from *Translation // nil where the log is a file's as it stands there

	mu    sync.Mutex
	tail  *tail
	index *index // nil before the whole scan
	memo  memo
}

// A memo holds what is computed from the index when it is first asked for.
type memo struct {
	kids   *children
	labels map[entries.ID]string
}

// Read reads the session log in the file at path, of any known format version. It
// takes no lock and changes nothing. A file that cannot be a session at all is
// ErrNoSession.
func Read(path string, opt *ReadOptions) (*Tree, error) {
	src, err := store.OpenFile(path)
	if err != nil {
		return nil, err
	}
	t, err := From(src, path, opt)
	if err != nil {
		src.Close()
	}
	return t, err
}

// From reads the session log in src; name stands for its path in errors. Closing
// the tree closes src.
func From(src store.Source, name string, opt *ReadOptions) (*Tree, error) {
	return fromSource(&Tree{path: name, src: src}, opt)
}

func fromSource(t *Tree, opt *ReadOptions) (*Tree, error) {
	if opt != nil {
		t.opt = *opt
	}
	if err := t.open(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	return t, nil
}

func (t *Tree) open() (err error) {
	if t.size, err = t.src.Size(); err != nil {
		return err
	}
	if t.head, err = jsonl.ReadHead(t.src, t.size); err != nil {
		return err
	}
	if t.end, err = jsonl.ReadEnd(t.src, t.size, t.head); err != nil {
		return err
	}
	t.tail = newTail(t)
	leaf, err := t.tail.at(0)
	if err != nil {
		return err
	}
	if (leaf == nil || t.head.Other) && !t.head.Found {
		return fmt.Errorf("%w: it has no session header, and its first record is of no type that pi, oh-my-pi or sessctl writes (package formats reads the transcripts of other agents)", ErrNoSession)
	}
	return nil
}

// Close closes the log. A tree that is forgotten without it is closed by the
// garbage collector.
func (t *Tree) Close() error { return t.src.Close() }

// Path of the log's file, as it was given to Read.
func (t *Tree) File() string { return t.path }

// Size of the log in bytes, as it was when the tree was read.
func (t *Tree) Size() int64 { return t.size }

// Header gives the log's header, the zero Header where it has none.
func (t *Tree) Header() entries.Header { return t.head.Header }

// Native tells whether the log has sums and batches.
func (t *Tree) Native() bool { return t.head.Native }

// Scan reads the whole log, unless that was done already.
func (t *Tree) Scan() error { return t.ScanRecords(nil) }

// A Visit is shown the record of an entry, in the order of the log: where it stands there,
// a message's role, and the record itself. The bytes are valid until it returns. Of another
// program's transcript, null may stand for what is long: for a block of a message's content,
// a text in one, the arguments of a call or one of them, or what is in an entry that is no message.
type Visit func(offset int64, role, record []byte)

// ScanRecords is Scan, and shows what is read to visit: who looks at most of the records
// need not read them again. Where the whole log was read before, nothing is shown. Visit
// must not use the tree.
func (t *Tree) ScanRecords(visit Visit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.scanned(visit)
	return err
}

// Scanned tells whether the whole log was read, so that Damage is complete and
// entries know their lines.
func (t *Tree) Scanned() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.index != nil
}

// whole gives the index of all entries.
func (t *Tree) whole() (*index, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scanned(nil)
}

func (t *Tree) scanned(visit Visit) (*index, error) {
	if t.index != nil {
		return t.index, nil
	}
	opt := jsonl.Options{Workers: t.opt.Workers, Deep: t.opt.Verify}
	if t.opt.Progress != nil {
		opt.Progress = func(done int64) { t.opt.Progress(done, t.size) }
	}
	x, err := scan(t, opt, visit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	x.noteLeafMoved(t)
	t.index = x
	return x, nil
}

// Leaf is the id of the last whole record: where the next entry is attached, and
// the end of the active branch. A log without entries has none: "".
func (t *Tree) Leaf() entries.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.tail.at(0)
	if r == nil || err != nil { // the first one was read by open
		return ""
	}
	return t.tail.id(&r.rec)
}

// Damage lists what had to be worked around so far, in the order of the file; all
// of it once Scanned.
func (t *Tree) Damage() []Damage {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Damage
	if t.index != nil {
		list = slices.Clone(t.index.report.List())
	} else {
		list = append(slices.Clone(t.tail.report.List()), t.end.Damage...)
		for i := range list {
			list[i].Line = 0
		}
	}
	if t.from != nil {
		list = append(list, t.from.Damage...)
	}
	slices.SortStableFunc(list, byOffset)
	return list
}

func byOffset(a, b Damage) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
}

// ReadRecord implements entries.Body.
func (t *Tree) ReadRecord(offset, size int64) ([]byte, error) {
	return t.AppendRecord(make([]byte, 0, max(min(size, t.size), 0)), offset, size)
}

// AppendRecord is ReadRecord into a buffer that was read before; see entries.Entry.AppendRaw.
func (t *Tree) AppendRecord(buf []byte, offset, size int64) ([]byte, error) {
	if offset < 0 || size < 0 || offset > t.size || size > t.size-offset {
		return nil, fmt.Errorf("%w: no record of %d bytes at %d", ErrNotFound, size, offset)
	}
	buf = slices.Grow(buf, int(size))[:len(buf)+int(size)]
	raw := buf[len(buf)-int(size):]
	err := readFull(t.src, raw, offset)
	if err == nil && size >= 2 && (raw[0] != '{' || raw[size-1] != '}') {
		err = ErrChanged
	}
	if errors.Is(err, ErrChanged) {
		err = fmt.Errorf("%s: %w", t.path, err)
	}
	if err != nil {
		return nil, err
	}
	return buf, nil
}

// entry makes the public form of a rec.
func (t *Tree) entry(n *names, r *rec, parent entries.ID) entries.Entry {
	e := entries.Entry{
		ID: n.id(r), Parent: parent, Type: entries.Type(n.words[r.kind]), Role: t.role(n.words[r.role]),
		Time: timeOf(r.millis), Line: int(r.line), Offset: r.offset, Size: r.size, More: r.flags&more != 0,
	}
	if t.from != nil {
		e.Line, _ = t.from.Place(r.offset)
	}
	return e.WithBody(t)
}

// role migrates version 2, where custom messages had another name.
func (t *Tree) role(role string) string {
	if t.head.V2 && role == "hookMessage" {
		return "custom"
	}
	return role
}

// at gives the entry at an index of the whole log.
func (t *Tree) at(x *index, i int32) entries.Entry {
	r := &x.recs[i]
	var parent entries.ID
	if r.parent >= 0 {
		parent = x.id(&x.recs[r.parent])
	}
	return t.entry(&x.names, r, parent)
}
