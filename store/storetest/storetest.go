// Package storetest shows that a store keeps the promises of package store: of
// [store.Log] above all, on which sessions rely that are written by several programs.
//
// Whoever makes a store runs it in a test of their own:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Store {
//			return mystore.Open(t.TempDir())
//		})
//	}
//
// and, as much of it is about concurrent callers, once with -race. The function is
// called once for each test and gives a store without logs; what has to be given back
// goes into t.Cleanup. Session names are letters, digits and hyphens.
//
// What it cannot show is durability: that takes a store's own crash tests. This
// module's are in sessiontree.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/store"
)

// Run runs all tests, each as a subtest on a store of its own.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(k *kit)
	}{
		{"Names", names}, {"List", list}, {"Bytes", identical}, {"Order", order}, {"Reads", reads},
		{"Conflicts", conflicts}, {"Retry", retry}, {"SecondHandle", secondHandle}, {"Race", race},
		{"ReadsWhileAppending", readsWhileAppending}, {"Cancelled", cancelled}, {"CancelledAnywhere", cancelledAnywhere},
		{"Sync", syncs}, {"Close", closes}, {"Reopen", reopen},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(&kit{T: t, store: open(t)}) })
	}
}

// RunShared runs, in addition to Run, what holds where writers of one log may know
// nothing of each other: that racing from handles of their own one wins, too. A
// directory of files does not promise that, which is why sessions in files are
// written under a lock.
func RunShared(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	t.Run("RaceOfHandles", func(t *testing.T) { raceOfHandles(&kit{T: t, store: open(t)}) })
}

// A kit is one test and its store.
type kit struct {
	*testing.T
	store store.Store
}

var ctx = context.Background()

const first = `{"type":"session"}` + "\n"

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// create makes a log, which is closed with the test.
func (k *kit) create(session string) store.Log {
	k.Helper()
	log, err := k.store.Create(ctx, session, []byte(first))
	k.must(err)
	k.Cleanup(func() { log.Close() })
	return log
}

// open opens a log, which is closed with the test.
func (k *kit) open(session string) store.Log {
	k.Helper()
	log, err := k.store.Open(ctx, session)
	k.must(err)
	k.Cleanup(func() { log.Close() })
	return log
}

func (k *kit) size(log store.Log) int64 {
	k.Helper()
	size, err := log.Size()
	k.must(err)
	return size
}

// content reads all of a log.
func (k *kit) content(log store.Source) []byte {
	k.Helper()
	size, err := log.Size()
	k.must(err)
	b := make([]byte, size)
	if n, err := log.ReadAt(b, 0); int64(n) != size || err != nil && err != io.EOF {
		k.Fatalf("read %d bytes of %d: %v", n, size, err)
	}
	return b
}

// holds checks what a log and another handle to it hold.
func (k *kit) holds(session string, log store.Log, want string) {
	k.Helper()
	for _, l := range []store.Log{log, k.open(session)} {
		if got := k.content(l); string(got) != want {
			k.Errorf("%s holds %.80q (%d bytes), want %.80q (%d bytes)", session, got, len(got), want, len(want))
		}
	}
}

// append appends where the log ends, and checks the new end.
func (k *kit) append(log store.Log, lines string) {
	k.Helper()
	after := k.size(log)
	end, err := log.Append(ctx, after, []byte(lines))
	k.must(err)
	if end != after+int64(len(lines)) || k.size(log) != end {
		k.Fatalf("appended %d bytes at %d: the end is %d, and the size %d", len(lines), after, end, k.size(log))
	}
}

// conflict checks that an append was refused, and that the error tells the log's end.
func (k *kit) conflict(what string, err error, end int64) {
	k.Helper()
	conflict, ok := errors.AsType[*store.ConflictError](err)
	if !ok || !errors.Is(err, store.ErrConflict) {
		k.Errorf("%s: got %v, want a ConflictError", what, err)
	} else if conflict.End != end {
		k.Errorf("%s: the error says that the log ends at %d, want %d", what, conflict.End, end)
	}
}

func names(k *kit) {
	if _, err := k.store.Open(ctx, "none"); !errors.Is(err, store.ErrNotFound) {
		k.Errorf("opening what is missing: got %v, want ErrNotFound", err)
	}
	log := k.create("one")
	if l, err := k.store.Create(ctx, "one", []byte("other\n")); !errors.Is(err, store.ErrExists) || l != nil {
		k.Errorf("making what exists: got %v, %v, want ErrExists", l, err)
	}
	k.create("two")
	k.append(log, "x\n")
	k.holds("one", log, first+"x\n")
	if got := string(k.content(k.open("two"))); got != first {
		k.Errorf("another log holds %q", got)
	}
}

func list(k *kit) {
	sessions := func() (got []string) {
		for session, err := range k.store.List(ctx) {
			k.must(err)
			got = append(got, session)
		}
		slices.Sort(got)
		return got
	}
	if got := sessions(); len(got) != 0 {
		k.Errorf("a new store lists %q", got)
	}
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprintf("session-%02d", i))
		k.create(want[i])
	}
	if got := sessions(); !slices.Equal(got, want) {
		k.Errorf("got %q, want %q", got, want)
	}
	for range k.store.List(ctx) {
		break // nothing may be called after this
	}
}

func identical(k *kit) {
	log := k.create("s")
	want := first
	for _, lines := range []string{
		"\x00\x00\n", "\xff\xfe not UTF-8 \xc3\n", "\r\n\n \n", "\u2028 \U0001F600\n", "no JSON, and \\u0000\n",
		string(bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)),
		string(bytes.Repeat([]byte{0, 255, 13, 34}, 1<<18)) + "\n",
	} {
		k.append(log, lines)
		want += lines
		k.holds("s", log, want)
	}
}

func order(k *kit) {
	log := k.create("s")
	want := first
	for i := range 200 {
		lines := fmt.Sprintf("line %d\n", i)
		if i%7 == 0 {
			lines += fmt.Sprintf("and %d\n", i)
		}
		k.append(log, lines)
		want += lines
	}
	k.holds("s", log, want)
}

// reads checks ReadAt, as io.ReaderAt has it, at and around the end.
func reads(k *kit) {
	log := k.create("s")
	k.append(log, "0123456789\n")
	whole := first + "0123456789\n"
	end := int64(len(whole))
	for _, test := range []struct {
		at   int64
		size int
		err  error
	}{{0, 5, nil}, {end - 3, 3, nil}, {end - 3, 10, io.EOF}, {end, 1, io.EOF}, {end + 100, 1, io.EOF}} {
		p := make([]byte, test.size)
		n, err := log.ReadAt(p, test.at)
		want := whole[min(test.at, end):min(test.at+int64(test.size), end)]
		atEnd := err == io.EOF && n == test.size && test.at+int64(n) == end
		if string(p[:n]) != want || err != test.err && !atEnd {
			k.Errorf("%d bytes at %d: got %q, %v, want %q, %v", test.size, test.at, p[:n], err, want, test.err)
		}
	}
}

func conflicts(k *kit) {
	log := k.create("s")
	k.append(log, "one\n")
	k.append(log, "two\n")
	want := first + "one\ntwo\n"
	end := int64(len(want))
	for _, after := range []int64{0, int64(len(first)), end - 4, end - 1, end + 1, end + 1000, -1} {
		_, err := log.Append(ctx, after, []byte("three\n"))
		k.conflict(fmt.Sprintf("appending at %d, not %d", after, end), err, end)
	}
	k.holds("s", log, want)
	k.append(log, "three\n")
	k.holds("s", log, want+"three\n")
}

func retry(k *kit) {
	log := k.create("s")
	k.append(log, "one\n")
	k.append(log, "two\nthree\n")
	k.append(log, "four\n")
	want := first + "one\ntwo\nthree\nfour\n"
	for _, lines := range []string{"one\n", "two\nthree\n", "four\n"} {
		after := int64(bytes.Index([]byte(want), []byte(lines)))
		for _, l := range []store.Log{log, k.open("s")} {
			end, err := l.Append(ctx, after, []byte(lines))
			if err != nil || end != after+int64(len(lines)) {
				k.Errorf("%q again at %d: got %d, %v", lines, after, end, err)
			}
		}
	}
	_, err := log.Append(ctx, int64(len(first)), []byte("ONE\n"))
	k.conflict("other lines at the same place", err, int64(len(want)))
	_, err = log.Append(ctx, int64(len(want)-5), []byte("four\nfive\n"))
	k.conflict("lines of which some are there", err, int64(len(want)))
	k.holds("s", log, want)
}

func secondHandle(k *kit) {
	a := k.create("s")
	b := k.open("s")
	k.append(a, "one\n")
	if got := string(k.content(b)); got != first+"one\n" {
		k.Errorf("a second handle sees %q after an append was acknowledged", got)
	}
	// A writer with a stale end is refused, and goes on from what is there.
	_, err := b.Append(ctx, int64(len(first)), []byte("stale\n"))
	k.conflict("a stale writer", err, k.size(a))
	k.holds("s", a, first+"one\n")
	c := k.open("s")
	k.append(c, "two\n")
	k.holds("s", a, first+"one\ntwo\n")
}

func reopen(k *kit) {
	log := k.create("s")
	want := first
	for i := range 20 {
		lines := fmt.Sprintf("generation %d\n", i)
		k.append(log, lines)
		want += lines
		k.must(log.Sync(ctx))
		k.must(log.Close())
		log = k.open("s")
		if got := string(k.content(log)); got != want {
			k.Fatalf("generation %d: got %q, want %q", i, got, want)
		}
	}
}
