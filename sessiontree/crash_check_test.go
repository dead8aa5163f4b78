package sessiontree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
)

// A script is what is known of one log: what its writers believe to have written.
type script struct {
	path    string
	text    []byte  // what was acknowledged, or found by Open
	ends    []int64 // of its batches; the first is the header's, of a fork all that it starts with
	durable int64   // so much of it was acknowledged as durable
	written int64   // so much of it survives a death
	tried   []byte  // the last write behind it, of unknown outcome
}

// acknowledge takes up what was tried.
func (l *script) acknowledge() {
	if len(l.tried) > 0 {
		l.text = append(l.text, l.tried...)
		l.ends = append(l.ends, int64(len(l.text)))
		l.tried = nil
	}
	l.written = int64(len(l.text))
}

func (l *script) acknowledgeDurable() { l.durable = int64(len(l.text)) }

// found takes up what Open found, which is allowed.
func (l *script) found(text []byte) {
	l.acknowledge()
	l.text = slices.Clip(l.text[:len(text)])
	n, _ := slices.BinarySearch(l.ends, int64(len(text)))
	l.ends, l.written = l.ends[:n+1], int64(len(text))
}

// allows tells why a log must not be this after a crash or a death: it has to be
// what was written, byte for byte, up to the end of some batch, and no shorter than
// what was promised.
func (l *script) allows(text []byte, least int64) error {
	whole := append(slices.Clip(l.text), l.tried...)
	switch n := int64(len(text)); {
	case n < least:
		return fmt.Errorf("%d bytes are lost of %d that were promised", least-n, least)
	case !bytes.HasPrefix(whole, text):
		return fmt.Errorf("byte %d is not what was written there", common(whole, text))
	case n != int64(len(whole)) && !slices.Contains(l.ends, n):
		return fmt.Errorf("it ends at byte %d, inside a batch", n)
	}
	return nil
}

func common(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// recovered opens a log on a computer that just came up, and tells what is wrong.
// Some times it also looks at what follows from the rest.
func (p *protocol) recovered(c computer, l *script, least int64, r *rand.Rand) error {
	before := content(c.disk, l.path)
	if before == nil {
		if len(l.text) > 0 {
			return errors.New("the log is gone")
		}
		return nil
	}
	s, err := p.open(l.path, c.options(p.wrapped(c.disk), SyncAlways))
	if err != nil {
		return fmt.Errorf("it cannot be opened: %w", err)
	}
	after := content(c.disk, l.path)
	err = errors.Join(l.allows(after, least), repaired(c.disk.Crash(r), s, before, after))
	if err == nil && r.IntN(6) == 0 {
		err = errors.Join(p.usable(c, s), p.settled(c, s.Path()))
	}
	return errors.Join(err, s.Close())
}

// repaired checks that what Open cut, and nothing else, stands in the damaged file,
// also after the next crash.
func repaired(d *durable.Disk, s *Session, before, after []byte) error {
	saved := content(d, s.Path()+".damaged")
	end := int64(len(before))
	for _, r := range s.Repairs() {
		if r.Length == 0 {
			before = append(slices.Clip(before[:end]), '\n')
			end++
			continue
		}
		if r.Offset+r.Length != end {
			return fmt.Errorf("%+v does not end at byte %d", r, end)
		}
		if !bytes.Contains(saved, before[r.Offset:end]) {
			return fmt.Errorf("%d bytes were cut and not saved", r.Length)
		}
		end = r.Offset
	}
	if !bytes.Equal(before[:end], after) {
		return fmt.Errorf("the repairs %+v do not explain the log", s.Repairs())
	}
	return nil
}

// usable appends to a session that was opened after a crash, and verifies its log.
func (p *protocol) usable(c computer, s *Session) error {
	leaf := s.Leaf()
	if _, err := s.AppendIf(context.Background(), leaf, filler(100), filler(900)); err != nil {
		return fmt.Errorf("the next append: %w", err)
	}
	tail, err := readOn(c, s.Path())
	if err != nil {
		return err
	}
	tailLeaf, err := tail.Entry(tail.Leaf())
	if err != nil {
		return err
	}
	whole, err := readOn(c, s.Path())
	if err != nil {
		return err
	}
	v, err := whole.Verify()
	if err != nil || !v.OK || v.Checksums != ChecksumsOK {
		return fmt.Errorf("it does not verify: %+v, %w", v, err)
	}
	wholeLeaf, err := whole.Entry(whole.Leaf())
	if err != nil || wholeLeaf.ID != tailLeaf.ID || tailLeaf.ID != s.Leaf() || tailLeaf.Parent != wholeLeaf.Parent {
		return fmt.Errorf("the readers disagree: %s and %s, and the session has %s", wholeLeaf.ID, tailLeaf.ID, s.Leaf())
	}
	return nil
}

func readOn(c computer, path string) (*Tree, error) {
	return From(bytesSource{bytes.NewReader(content(c.disk, path))}, path, &ReadOptions{Verify: true})
}

type bytesSource struct{ *bytes.Reader }

func (b bytesSource) Size() (int64, error) { return b.Reader.Size(), nil }
func (bytesSource) Close() error           { return nil }

// settled checks that a log which was repaired needs no second repair.
func (p *protocol) settled(c computer, path string) error {
	k := c.killed()
	before := content(k.disk, path)
	s, err := p.open(path, k.options(p.wrapped(k.disk), SyncAlways))
	if err != nil {
		return fmt.Errorf("opening it again: %w", err)
	}
	if len(s.Repairs()) > 0 || !bytes.Equal(before, content(k.disk, path)) {
		return fmt.Errorf("it was repaired again: %+v", s.Repairs())
	}
	return s.Close()
}

// filler is an entry with so many bytes of text.
func filler(n int) entries.Draft {
	return entries.CustomDraft("filler", fmt.Appendf(nil, `"%s"`, bytes.Repeat([]byte("x"), n)))
}
