package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/formats/internal/transcript/transcripttest"
)

const (
	second = "01a22c42-9884-7103-92db-0f9008708fbf"
	third  = "01a22c43-9884-7103-92db-0f9008708fc0"
	forked = "01a22c44-e1d3-7e31-8b55-0f1bdebd3f11"
)

// A store of segments, as Codex keeps them.
type segments struct{ root string }

func (s segments) path(day, id string) string {
	return filepath.Join(s.root, "sessions", "2026", "01", day, "rollout-2026-01-"+day+"T00-00-00-"+id+".jsonl")
}

// meta is the first line of a segment that goes on from another one.
func (m *maker) segment(id, base, text string, at string) string {
	if base != "" {
		base = fmt.Sprintf(`,"history_base":{"thread_id":"%s","end_ordinal_exclusive":0,"end_byte_offset":%d}`, base, strings.Index(text, at))
	}
	return m.meta(id, `"history_mode":"paginated"`+base)
}

func lines(list ...[]string) (all []string) {
	for _, l := range list {
		all = append(all, l...)
	}
	return all
}

// TestSegments: a thread of three files, of which two go on from the first, and a fork of
// it: each file gives the thread as it is now, and what was cut off is a branch.
func TestSegments(t *testing.T) {
	s := segments{t.TempDir()}
	m := &maker{}
	one := lines([]string{m.segment(thread, "", "", "")}, m.turn(1), m.turn(2), m.turn(3))
	text := strings.Join(one, "\n") + "\n"
	two := lines([]string{m.segment(thread, thread, text, one[11])}, m.turn(4))
	three := lines([]string{m.segment(thread, thread, text, one[6])}, m.turn(5))
	fork := lines([]string{m.segment(forked, second, strings.Join(two, "\n")+"\n\x00", "\x00")}, m.turn(6))
	paths := map[string]string{
		"one": s.path("01", thread), "two": s.path("02", thread+"_"+second), "three": s.path("03", thread+"_"+third), "fork": s.path("09", forked),
	}
	write(t, paths["one"], one...)
	write(t, paths["two"], two...)
	write(t, paths["three"], three...)
	write(t, paths["fork"], fork...)
	const whole = "user: q1, assistant: a1, user: q2, assistant: a2, user: q3, assistant: a3\n"
	const now = whole + "user: q1, assistant: a1, user: q2, assistant: a2, user: q4, assistant: a4\n* user: q1, assistant: a1, user: q5, assistant: a5"
	for name, want := range map[string]string{
		"one": now, "two": now, "three": now,
		"fork": whole + "* user: q1, assistant: a1, user: q2, assistant: a2, user: q4, assistant: a4, user: q6, assistant: a6",
	} {
		tree := read(t, paths[name])
		transcripttest.Expect(t, name, branches(t, tree), want)
		transcripttest.Expect(t, name+": damage", damage(t, tree), "")
	}
	// Ids are the same whichever file is read.
	a, b := read(t, paths["one"]), read(t, paths["fork"])
	var copied int
	for e, err := range b.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if formats.Copied(e) == "" {
			continue
		}
		if f, err := a.Entry(e.ID); err != nil || f.Line != e.Line || f.Type != e.Type {
			t.Errorf("entry %s of the fork is %+v in the thread (%v), want the same", e.ID, f, err)
		}
		copied++
	}
	if copied < 8 {
		t.Errorf("%d entries are marked as copied, want those of both segments", copied)
	}
	// An archived thread is found as well.
	if err := os.Rename(filepath.Join(s.root, "sessions"), filepath.Join(s.root, "archived_sessions")); err != nil {
		t.Fatal(err)
	}
	write(t, paths["fork"], fork...)
	transcripttest.Expect(t, "archived", branches(t, read(t, paths["fork"])), whole+"* user: q1, assistant: a1, user: q2, assistant: a2, user: q4, assistant: a4, user: q6, assistant: a6")
}

// TestMissingSegment: what is there is read, and the file that is not is named; a segment
// that goes on from itself, or two from each other, are no end of the reader.
func TestMissingSegment(t *testing.T) {
	s := segments{t.TempDir()}
	m := &maker{}
	write(t, s.path("02", thread+"_"+second), lines([]string{m.segment(thread, third, "x", "x")}, m.turn(4))...)
	tree := read(t, s.path("02", thread+"_"+second))
	transcripttest.Expect(t, "missing", branches(t, tree), "* user: q4, assistant: a4")
	transcripttest.Expect(t, "its damage", damage(t, tree), "missing-parent:1")
	write(t, s.path("03", thread+"_"+third), lines([]string{m.segment(thread, second, "x", "x")}, m.turn(5))...)
	if _, err := read(t, s.path("02", thread+"_"+second)).Branches(); err != nil {
		t.Error(err)
	}
	write(t, s.path("03", thread+"_"+third), lines([]string{m.segment(thread, third, "x", "x")}, m.turn(5))...)
	if _, err := read(t, s.path("03", thread+"_"+third)).Branches(); err != nil {
		t.Error(err)
	}
}
