package sessiontree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/sessctl/sessctl/entries"
)

func (l *life) reopen() {
	l.must(l.s.Close())
	l.open(l.s.Path())
	if l.s.Repairs() != nil {
		l.t.Fatalf("%s: a log that was closed needed %+v", l.what, l.s.Repairs())
	}
}

// die is what the process's death does to a session: the lock goes, and nothing is
// written down.
func (l *life) die() {
	l.must(l.s.log.Close())
	l.must(l.s.lock.Release())
}

func (l *life) crash() {
	l.die()
	l.open(l.s.Path())
}

// torn dies inside the last append: its end is missing.
func (l *life) torn() {
	size := l.size()
	if l.from == 0 || l.from == size {
		return
	}
	cut := l.from + l.r.Int64N(size-l.from)
	l.die()
	log, err := os.ReadFile(l.s.Path())
	l.must(err)
	l.must(os.WriteFile(l.s.Path(), log[:cut], 0o600))
	l.w.cut(l.entries + l.survivors(log[l.from:], int(cut-l.from)))
	l.from, l.drafts = 0, nil
	l.open(l.s.Path())
}

// survivors counts the entries of a batch of which n bytes are left. A line counts
// whose newline alone is missing. In a native log the batch is whole or void.
func (l *life) survivors(batch []byte, n int) (count int) {
	lines := bytes.SplitAfter(bytes.TrimSuffix(batch, []byte("\n")), []byte("\n"))
	end := 0
	for _, line := range lines {
		if end += len(line); n >= end-bytes.Count(line, []byte("\n")) {
			count++
		}
	}
	if l.kind == "native" && count < len(lines) {
		return 0
	}
	return count
}

// foreign: a program that knows nothing of locks appends lines as pi does, while
// the session is open. The session notices with its next append.
func (l *life) foreign() {
	lines := l.foreignLines()
	l.write(lines)
	l.notice()
}

func (l *life) foreignLines() (lines []byte) {
	for range 1 + l.r.IntN(3) {
		parent := l.w.leaf
		if l.r.IntN(3) == 0 {
			parent = l.any()
		}
		e := twinEntry{id: entries.ID(fmt.Sprintf("%08x", l.r.Uint32())), parent: parent, kind: "message"}
		rest := `"message":{"role":"user","content":"hello"}`
		if target := l.any(); target != "" && l.r.IntN(3) == 0 {
			e.kind, e.target, e.text = "label", target, "theirs"
			rest = fmt.Sprintf(`"targetId":"%s","label":"theirs"`, target)
		}
		up := `"` + string(parent) + `"`
		if parent == "" {
			up = "null"
		}
		lines = fmt.Appendf(lines, `{"type":"%s","id":"%s","parentId":%s,"timestamp":"2026-01-05T09:00:00.000Z",%s}`+"\n", e.kind, e.id, up, rest)
		l.w.put(e)
	}
	return lines
}

// foreignTorn: such a program dies in the middle of its last line.
func (l *life) foreignTorn() {
	before := len(l.w.list)
	lines := l.foreignLines()
	whole := bytes.LastIndexByte(lines[:len(lines)-1], '\n') + 1
	cut := whole + 1 + l.r.IntN(len(lines)-whole-2)
	l.write(lines[:cut])
	l.w.cut(before + bytes.Count(lines, []byte("\n")) - 1)
	l.notice()
	repairs := l.s.Repairs()
	if last := repairs[len(repairs)-1]; last.Kind != "torn-tail" || last.Length != int64(cut-whole) {
		l.t.Fatalf("%s: got repairs %+v, want a torn tail of %d bytes", l.what, repairs, cut-whole)
	}
}

func (l *life) write(raw []byte) {
	f, err := os.OpenFile(l.s.Path(), os.O_WRONLY|os.O_APPEND, 0)
	l.must(err)
	_, err = f.Write(raw)
	l.must(errors.Join(err, f.Close()))
	l.from, l.drafts = 0, nil
}

// notice appends, which is a conflict that changes nothing, and reloads.
func (l *life) notice() {
	before := l.size()
	_, err := l.s.Append(context.Background(), entries.UserMessage("too late"))
	if !errors.Is(err, ErrConflict) || l.size() != before {
		l.t.Fatalf("%s: got %v and %d bytes more, want ErrConflict and nothing written", l.what, err, l.size()-before)
	}
	l.must(l.s.Reload())
}

// fork makes a session of a path, compares it with its own twin, and now and then
// goes on in it.
func (l *life) fork() {
	tree, err := l.s.Tree()
	l.must(err)
	at := l.any()
	if at == "" {
		return
	}
	s, err := Fork(context.Background(), tree, at, quickDir(l.t), entries.Header{}, lifeOptions)
	l.must(err)
	old := *l
	l.s, l.w, l.kind = s, l.forked(s, at), "native"
	l.check()
	if l.r.IntN(2) == 0 {
		l.must(old.s.Close())
		l.from, l.drafts = 0, nil
		return
	}
	l.must(s.Close())
	l.s, l.w, l.kind = old.s, old.w, old.kind
}

// forked is the twin of a fork: the path, then labels that leave the copied entries
// with the labels that they had.
func (l *life) forked(s *Session, at entries.ID) *twin {
	want := l.w.fork(at)
	log, err := os.ReadFile(s.Path())
	l.must(err)
	got := readTwin(log)
	n := len(want.list)
	if len(got.list) < n || !slices.Equal(got.list[:n], want.list) {
		l.t.Fatalf("%s: got %v, want the path %v", l.what, got.list, want.list)
	}
	for _, e := range got.list[n:] {
		if e.kind != "label" {
			l.t.Fatalf("%s: a fork appended %+v", l.what, e)
		}
	}
	labels := l.w.labels()
	maps.DeleteFunc(labels, func(id entries.ID, _ string) bool { return !slices.Contains(want.ids(), id) })
	mine := got.labels()
	// A label of the path may name an entry that was not copied; it stays.
	maps.DeleteFunc(mine, func(id entries.ID, _ string) bool { return !slices.Contains(want.ids(), id) })
	if !maps.Equal(mine, labels) {
		l.t.Fatalf("%s: got labels %v, want %v", l.what, mine, labels)
	}
	return got
}
