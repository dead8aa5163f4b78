package sessiontree

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
)

// TestClockStepsBack: ids increase whatever the clock does, also over a reopening,
// and times are those of the clock.
func TestClockStepsBack(t *testing.T) {
	clock := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	opt := &Options{now: func() time.Time { return clock }}
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/p"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var ids []entries.ID
	for _, step := range []time.Duration{0, -time.Hour, -24 * 365 * time.Hour, time.Minute, 0} {
		clock = clock.Add(step)
		done := mustAppend(t, s, entries.UserMessage("one"), entries.UserMessage("two"))
		ids = append(ids, done.IDs...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(s.Path(), opt); err != nil {
			t.Fatal(err)
		}
		e, err := s.before.Entry(done.Leaf)
		if err != nil || !e.Time.Equal(clock) {
			t.Errorf("got time %v (%v), want %v", e.Time, err, clock)
		}
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != 10 {
		t.Errorf("got ids %v, want them to increase", ids)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if v := verifySound(t, s.Path()); v.Entries != 10 {
		t.Errorf("got %d entries, want 10", v.Entries)
	}
}

// TestReservedIDs: ids are unique, and of each goroutine's the later is greater.
func TestReservedIDs(t *testing.T) {
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lists := make([][]entries.ID, 8)
	var group sync.WaitGroup
	for i := range lists {
		group.Go(func() {
			for range 10000 / len(lists) {
				id, err := s.NewID()
				if err != nil {
					t.Error(err)
				}
				lists[i] = append(lists[i], id)
			}
		})
	}
	group.Wait()
	for i, list := range lists {
		if !slices.IsSorted(list) {
			t.Errorf("the ids of goroutine %d do not increase", i)
		}
	}
	all := slices.Concat(lists...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 10000 {
		t.Errorf("got %d ids, want 10000", n)
	}
}

// TestManyAppendAtOnce: each append is there, whole, and the log is one chain.
func TestManyAppendAtOnce(t *testing.T) {
	const goroutines, each = 64, 10
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	done := make([][]Appended, goroutines)
	var group sync.WaitGroup
	for i := range goroutines {
		group.Go(func() {
			for range each {
				a, err := s.Append(context.Background(), entries.UserMessage("one"), entries.UserMessage(strings.Repeat("two", i)))
				if err != nil || !a.Durable {
					t.Errorf("got %+v, %v", a, err)
				}
				done[i] = append(done[i], a)
			}
		})
	}
	group.Wait()
	x, err := s.Tree()
	if err != nil {
		t.Fatal(err)
	}
	place := map[entries.ID]int{}
	for e, err := range x.Path(s.Leaf()) {
		if err != nil {
			t.Fatal(err)
		}
		place[e.ID] = len(place) + 1
	}
	if len(place) != 2*goroutines*each {
		t.Errorf("got a path of %d entries, want %d", len(place), 2*goroutines*each)
	}
	for _, list := range done {
		before := 0
		for _, a := range list {
			first, second := place[a.IDs[0]], place[a.IDs[1]]
			if second != first+1 || first <= before || a.Leaf != a.IDs[1] {
				t.Errorf("%v stand at %d and %d, want one below the other, behind %d", a.IDs, first, second, before)
			}
			before = second
		}
	}
	verifySound(t, s.Path())
}

// reserved makes drafts with ids.
func reserved(t *testing.T, s *Session, texts ...string) (drafts []entries.Draft) {
	t.Helper()
	for _, text := range texts {
		id, err := s.NewID()
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, entries.UserMessage(text).WithID(id))
	}
	return drafts
}

// TestRetries: what has ids is appended once, whenever it is tried again.
func TestRetries(t *testing.T) {
	ctx := context.Background()
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := s.Path()
	drafts := reserved(t, s, "one", "two")
	first := mustAppend(t, s, drafts...)
	again := func(when string) {
		t.Helper()
		leaf := s.Leaf()
		a, err := s.Append(ctx, drafts...)
		if err != nil || !a.Repeated || !a.Durable || !slices.Equal(a.IDs, first.IDs) || a.Leaf != leaf {
			t.Errorf("%s: got %+v, %v, want a repetition", when, a, err)
		}
		// The expected leaf was that of the first try: a retry is none of its business.
		if a, err := s.AppendIf(ctx, "", drafts...); err != nil || !a.Repeated {
			t.Errorf("%s: AppendIf: got %+v, %v, want a repetition", when, a, err)
		}
		if a, err := s.AppendTo(ctx, "", drafts...); err != nil || !a.Repeated {
			t.Errorf("%s: AppendTo: got %+v, %v, want a repetition", when, a, err)
		}
	}
	again("at once")
	mustAppend(t, s, entries.UserMessage("three"))
	again("behind another append")
	writeRaw(t, path, foreignLine+"\n")
	if _, err := s.Append(ctx, entries.UserMessage("four")); !errors.Is(err, ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	again("after a conflict")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	again("after opening anew")
	if v := verifySound(t, path); v.Entries != 4 {
		t.Errorf("got %d entries, want 4", v.Entries)
	}
}

// TestAppendsThatAreRefused change nothing.
func TestAppendsThatAreRefused(t *testing.T) {
	ctx := context.Background()
	s, err := Create(t.TempDir(), entries.Header{Cwd: "/p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	drafts := reserved(t, s, "one", "two")
	mustAppend(t, s, drafts[0])
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	same := entries.UserMessage("x").WithID("same")
	leaf, end := s.Leaf(), s.end
	for what, try := range map[string]struct {
		do   func() (Appended, error)
		want error
	}{
		"nothing":             {func() (Appended, error) { return s.Append(ctx) }, entries.ErrDraft},
		"a wrong draft":       {func() (Appended, error) { return s.Append(ctx, drafts[1], entries.Raw([]byte("[]"))) }, entries.ErrDraft},
		"one id twice":        {func() (Appended, error) { return s.Append(ctx, same, same) }, entries.ErrDraft},
		"half a repetition":   {func() (Appended, error) { return s.Append(ctx, drafts...) }, ErrConflict},
		"another leaf":        {func() (Appended, error) { return s.AppendIf(ctx, "", drafts[1]) }, ErrConflict},
		"below nothing":       {func() (Appended, error) { return s.AppendTo(ctx, "nothing", drafts[1]) }, ErrNotFound},
		"below what is to be": {func() (Appended, error) { return s.AppendTo(ctx, drafts[1].ID(), drafts[1]) }, ErrNotFound},
		"move to nothing":     {func() (Appended, error) { return s.MoveLeaf(ctx, "nothing", ReasonUndo) }, ErrNotFound},
		"label of nothing":    {func() (Appended, error) { return s.SetLabel(ctx, "nothing", "l") }, ErrNotFound},
		"too late":            {func() (Appended, error) { return s.Append(canceled, drafts[1]) }, context.Canceled},
	} {
		if _, err := try.do(); !errors.Is(err, try.want) {
			t.Errorf("%s: got %v, want %v", what, err, try.want)
		}
		if s.Leaf() != leaf || s.end != end {
			t.Fatalf("%s: leaf or log moved", what)
		}
	}
	mustAppend(t, s, drafts[1])
	verifySound(t, s.Path())
}
