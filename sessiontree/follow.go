package sessiontree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/store"
)

// A Cursor is a place in a log that can be come back to. It proves itself: where
// the log was cut or replaced, it does not fit any more. The zero Cursor is the
// beginning.
type Cursor struct {
	Offset int64  // behind the last line that was read
	Sum    uint32 // CRC-32C of that line, or of its part before Offset
}

// Cursor is the place where the tree ends: Follow goes on from there. The transcript of
// another program has no such place: its translation may change as it grows.
func (t *Tree) Cursor() (Cursor, error) {
	if t.from != nil {
		return Cursor{}, fmt.Errorf("%s: %w: a session of %s cannot be followed; read it again", t.path, ErrReadOnly, t.from.Agent)
	}
	return cursorAt(t.src, t.end.Limit)
}

// cursorAt is the place at an offset.
func cursorAt(src store.Source, offset int64) (Cursor, error) {
	line, err := lineBefore(src, offset)
	return Cursor{offset, entries.Checksum(bytes.TrimSuffix(line, []byte("\n")))}, err
}

// lineBefore reads the line that ends at offset, with its newline, or what stands
// before offset of the line that it is in.
func lineBefore(src store.Source, offset int64) ([]byte, error) {
	if offset == 0 {
		return nil, nil
	}
	start, err := lineStart(src, offset-1)
	if err != nil {
		return nil, err
	}
	line := make([]byte, offset-start)
	return line, readFull(src, line, start)
}

// lineStart finds where the line begins that the byte at offset is on.
func lineStart(src store.Source, offset int64) (int64, error) {
	var part [64 << 10]byte
	for offset > 0 {
		n := min(int64(len(part)), offset)
		if err := readFull(src, part[:n], offset-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part[:n], '\n'); i >= 0 {
			return offset - n + int64(i) + 1, nil
		}
		offset -= n
	}
	return 0, nil
}

func readFull(src store.Source, p []byte, offset int64) error {
	n, err := src.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == nil || err == io.EOF:
		return ErrChanged
	}
	return err
}

// FollowOptions say how a log is followed. Nil stands for the zero value.
type FollowOptions struct {
	// Poll is how often the file's size is looked at; 0 stands for 200 ms.
	Poll time.Duration
	// Stop ends the iteration at the log's end, instead of waiting for more.
	Stop bool
}

// Follow gives the entries behind a place of a growing log as they are written,
// until ctx is done, which is no error. A native batch comes when it is whole, a
// line when its newline is there. at is moved along: in the loop's body it stands
// behind the entry that was given, so that a program can go on from there later.
//
// An entry's parent is as the entry says. Bodies can be read while the iteration
// lasts. It ends with ErrConflict where what was read is not there any more: the
// file was cut, rewritten or replaced. A writer that cuts off a torn end, which was
// not given, disturbs nothing.
func Follow(ctx context.Context, path string, at *Cursor, opt *FollowOptions) iter.Seq2[entries.Entry, error] {
	return func(yield func(entries.Entry, error) bool) {
		f, err := newFollower(path, at, opt)
		if err != nil {
			yield(entries.Entry{}, err)
			return
		}
		defer f.tree.src.Close()
		if err := f.run(ctx, yield); err != nil {
			yield(entries.Entry{}, fmt.Errorf("%s: %w", path, err))
		}
	}
}

type follower struct {
	tree *Tree // its source and its head; its end moves
	info os.FileInfo
	at   *Cursor
	opt  FollowOptions

	again bool // the log changed while it was read
	names names
	batch []held // entries of a batch whose end has not come yet
	last  entries.ID
}

// A held entry waits with the place behind it.
type held struct {
	entry entries.Entry
	after Cursor
}

func newFollower(path string, at *Cursor, opt *FollowOptions) (*follower, error) {
	// A pipe would be read to its end, and its other end waited for.
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s is no regular file and cannot be followed", store.ErrNotALog, path)
	}
	if err != nil {
		return nil, err
	}
	src, err := store.OpenFile(path)
	if err != nil {
		return nil, err
	}
	f := &follower{at: at, names: newNames(), tree: &Tree{path: path, src: src}}
	if opt != nil {
		f.opt = *opt
	}
	if f.opt.Poll <= 0 {
		f.opt.Poll = 200 * time.Millisecond
	}
	if file, ok := src.(interface{ Stat() (os.FileInfo, error) }); ok {
		if f.info, err = file.Stat(); err != nil {
			src.Close()
			return nil, err
		}
	}
	return f, nil
}

func (f *follower) run(ctx context.Context, yield func(entries.Entry, error) bool) error {
	tick := time.NewTicker(f.opt.Poll)
	defer tick.Stop()
	for {
		more, err := f.readNew(ctx, yield)
		f.again = errors.Is(err, ErrChanged) && !f.opt.Stop
		if f.again {
			err = nil // a writer cut off a torn end just now, or the next look tells
		}
		if !more || err != nil || f.opt.Stop {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// readNew gives what was appended since; more is false where the caller broke off.
func (f *follower) readNew(ctx context.Context, yield func(entries.Entry, error) bool) (more bool, err error) {
	size, err := f.size()
	if err != nil || size == f.tree.size && f.tree.head != nil && !f.again {
		return true, err
	}
	from, err := f.prove()
	if err != nil {
		return true, err
	}
	// The head of a log that has not one whole line yet is a guess.
	if f.tree.head == nil || !f.tree.head.Found || f.at.Offset == 0 {
		if f.tree.head, err = jsonl.ReadHead(f.tree.src, size); err != nil {
			return true, err
		}
	}
	f.tree.size = size
	f.batch = f.batch[:0]
	for r, err := range jsonl.Range(f.tree.src, f.tree.head, from, size) {
		if err != nil {
			return true, err
		}
		if r.Offset < f.at.Offset {
			continue // given already, at the beginning of its line
		}
		more, err := f.take(r, yield)
		if !more || err != nil {
			return err != nil, err
		}
		if ctx.Err() != nil {
			return false, nil
		}
	}
	return true, nil
}

// size looks at the log, and at whether its path still leads to it.
func (f *follower) size() (int64, error) {
	size, err := f.tree.src.Size()
	if err != nil {
		return 0, err
	}
	if size < f.at.Offset || f.at.Offset < 0 {
		return 0, fmt.Errorf("%w: it was cut from %d bytes to %d", ErrConflict, max(f.tree.size, f.at.Offset), size)
	}
	now, err := os.Stat(f.tree.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("%w: it was removed", ErrConflict)
	case f.info != nil && err == nil && !os.SameFile(now, f.info):
		return 0, fmt.Errorf("%w: another file has its place", ErrConflict)
	}
	return size, nil
}

// prove checks that the cursor fits the log, and gives the start of the line that
// it is in.
func (f *follower) prove() (from int64, err error) {
	line, err := lineBefore(f.tree.src, f.at.Offset)
	if err != nil || len(line) == 0 {
		return 0, err
	}
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	if entries.Checksum(text) != f.at.Sum {
		return 0, fmt.Errorf("%w: the line before byte %d is another", ErrConflict, f.at.Offset)
	}
	if ended {
		return f.at.Offset, nil
	}
	return f.at.Offset - int64(len(line)), nil
}

// take holds an entry back while its batch is open, and gives what is whole; more
// is false where the caller broke off.
func (f *follower) take(r *jsonl.Record, yield func(entries.Entry, error) bool) (more bool, err error) {
	if !f.tree.head.Entry(r) {
		if len(f.batch) == 0 && !goesOn(r) {
			*f.at = Cursor{r.LineEnd(), r.LineSum()}
		}
		return true, nil
	}
	after := Cursor{r.LineEnd(), r.LineSum()}
	if goesOn(r) {
		if after, err = cursorAt(f.tree.src, r.Offset+r.Size); err != nil {
			return false, err
		}
	}
	e, err := f.entry(r)
	if err != nil {
		return false, err
	}
	f.batch = append(f.batch, held{e, after})
	if f.open(r) {
		return true, nil
	}
	for _, h := range f.batch {
		*f.at = h.after
		if !yield(h.entry, nil) {
			return false, nil
		}
	}
	f.batch = f.batch[:0]
	return true, nil
}

// open tells whether a record counts only when others follow: inside of a batch,
// and with a wrong sum, which at the end of a log is a torn tail.
func (f *follower) open(r *jsonl.Record) bool {
	head := f.tree.head
	return head.Native && (r.More && r.State != jsonl.NoSum || r.State == jsonl.BadSum && !head.Rewritten())
}

// goesOn tells whether something else stands on a record's line behind it.
func goesOn(r *jsonl.Record) bool {
	return r.LineEnd()-(r.Offset+r.Size) > int64(len("\r\n"))
}

func (f *follower) entry(r *jsonl.Record) (entries.Entry, error) {
	id, parent := r.ID, entries.ID(r.Parent)
	if f.tree.head.V1 {
		id = v1ID(r.Offset)
		if err := f.findLast(); err != nil {
			return entries.Entry{}, err
		}
		parent = f.last
	}
	k := f.names.keep(r, id)
	k.line = 0 // lines are not counted from the beginning
	e := f.tree.entry(&f.names, &k, parent)
	f.names.text.Reset()
	f.last = e.ID
	return e, nil
}

// findLast looks for the entry before the cursor, which in a version-1 log is the
// parent of the first one behind it.
func (f *follower) findLast() error {
	if f.last != "" || f.at.Offset == 0 {
		return nil
	}
	for r, err := range jsonl.Range(f.tree.src, f.tree.head, 0, f.tree.size) {
		if err != nil {
			return err
		}
		if r.Offset >= f.at.Offset {
			return nil
		}
		if f.tree.head.Entry(r) {
			f.last = entries.ID(v1ID(r.Offset))
		}
	}
	return nil
}
