package sessiontree

import (
	"bytes"
	"context"
	"fmt"
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

// Cursor is the place where the tree ends: Follow goes on from there.
func (t *Tree) Cursor() (Cursor, error) {
	sum, err := lineSum(t.src, t.end.Limit)
	return Cursor{t.end.Limit, sum}, err
}

// lineSum is the CRC-32C of the line that ends at offset.
func lineSum(src store.Source, offset int64) (uint32, error) {
	const step = 64 << 10
	var line []byte
	for start := offset; start > 0; {
		n := min(step, start)
		part := make([]byte, n, int(n)+len(line))
		if got, err := src.ReadAt(part, start-n); int64(got) < n {
			return 0, err
		}
		start -= n
		line = append(part, line...)
		if i := bytes.LastIndexByte(line[:max(len(line)-1, 0)], '\n'); i >= 0 {
			line = line[i+1:]
			break
		}
	}
	return entries.Checksum(bytes.TrimSuffix(line, []byte("\n"))), nil
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
// lasts. It ends with ErrConflict where the file was cut or replaced.
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
	src, err := store.OpenFile(path)
	if err != nil {
		return nil, err
	}
	f := &follower{at: at, names: newNames()}
	if opt != nil {
		f.opt = *opt
	}
	if f.opt.Poll == 0 {
		f.opt.Poll = 200 * time.Millisecond
	}
	f.tree = &Tree{path: path, src: src}
	if file, ok := src.(interface{ Stat() (os.FileInfo, error) }); ok {
		f.info, err = file.Stat()
	}
	if err == nil {
		err = f.prove()
	}
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// prove checks that the cursor fits the log.
func (f *follower) prove() error {
	size, err := f.tree.src.Size()
	if err != nil {
		return err
	}
	if f.at.Offset > size {
		return fmt.Errorf("%w: it has %d bytes, not the %d that were read", ErrConflict, size, f.at.Offset)
	}
	sum, err := lineSum(f.tree.src, f.at.Offset)
	if err != nil {
		return err
	}
	if sum != f.at.Sum && f.at.Offset > 0 {
		return fmt.Errorf("%w: the line before byte %d is another", ErrConflict, f.at.Offset)
	}
	return nil
}

func (f *follower) run(ctx context.Context, yield func(entries.Entry, error) bool) error {
	tick := time.NewTicker(f.opt.Poll)
	defer tick.Stop()
	for {
		more, err := f.readNew(yield)
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
func (f *follower) readNew(yield func(entries.Entry, error) bool) (more bool, err error) {
	size, err := f.size()
	if err != nil || size == f.tree.size && f.tree.head != nil {
		return true, err
	}
	if f.tree.head == nil || !f.tree.head.Found {
		if f.tree.head, err = jsonl.ReadHead(f.tree.src, size); err != nil {
			return true, err
		}
	}
	f.tree.size = size
	f.batch = f.batch[:0]
	for r, err := range jsonl.Range(f.tree.src, f.tree.head, f.at.Offset, size) {
		if err != nil {
			return true, err
		}
		if !f.take(r, yield) {
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
	if size < f.tree.size {
		return 0, fmt.Errorf("%w: it was cut from %d bytes to %d", ErrConflict, f.tree.size, size)
	}
	if now, err := os.Stat(f.tree.path); f.info != nil && err == nil && !os.SameFile(now, f.info) {
		return 0, fmt.Errorf("%w: another file has its place", ErrConflict)
	}
	return size, nil
}

// take holds an entry back while its batch is open, and gives what is whole.
func (f *follower) take(r *jsonl.Record, yield func(entries.Entry, error) bool) bool {
	after := Cursor{r.LineEnd(), r.LineSum()}
	if !f.tree.head.Entry(r) {
		if len(f.batch) == 0 {
			*f.at = after
		}
		return true
	}
	f.batch = append(f.batch, held{f.entry(r), after})
	if f.tree.head.Native && r.More && r.State != jsonl.NoSum {
		return true
	}
	for _, h := range f.batch {
		*f.at = h.after
		if !yield(h.entry, nil) {
			return false
		}
	}
	f.batch = f.batch[:0]
	return true
}

func (f *follower) entry(r *jsonl.Record) entries.Entry {
	id, parent := r.ID, entries.ID(r.Parent)
	if f.tree.head.V1 {
		id, parent = v1ID(r.Offset), f.last
	}
	k := f.names.keep(r, id)
	k.line = 0 // lines are not counted from the beginning
	e := f.tree.entry(&f.names, &k, parent)
	f.names.bytes = f.names.bytes[:0]
	f.last = e.ID
	return e
}
