package sessiontree_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/sessiontree"
)

// A shelf is a directory of sessions.
type shelf struct {
	t   *testing.T
	dir string
}

func newShelf(t *testing.T) *shelf { return &shelf{t, t.TempDir()} }

// put writes a file below the shelf.
func (s *shelf) put(name string, log []byte) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, log, 0o600)); err != nil {
		s.t.Fatal(err)
	}
	return path
}

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// session makes a session whose one message was written so many minutes after noon.
func session(id string, minute int, rest ...string) []byte {
	at := noon.Add(time.Duration(minute) * time.Minute).Format(time.RFC3339)
	return lines(append([]string{
		fmt.Sprintf(`{"type":"session","version":3,"id":"%s","timestamp":"2026-01-05T09:00:00Z","cwd":"/code/%s"}`, id, id),
		fmt.Sprintf(`{"type":"message","id":"m","parentId":null,"timestamp":"%s","message":{"role":"user","content":"prompt of %s"}}`, at, id),
	}, rest...)...)
}

// touch sets a file's modification time to so many minutes after noon.
func (s *shelf) touch(path string, minute int) {
	s.t.Helper()
	if err := os.Chtimes(path, time.Time{}, noon.Add(time.Duration(minute)*time.Minute)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) list(opt *sessiontree.ListOptions, dirs ...string) (infos []sessiontree.Info) {
	s.t.Helper()
	if len(dirs) == 0 {
		dirs = []string{s.dir}
	}
	for info, err := range sessiontree.List(dirs, opt) {
		if err != nil {
			s.t.Fatal(err)
		}
		infos = append(infos, info)
	}
	return infos
}

// names sketches a list: ids, and the file names of what is no session.
func names(infos []sessiontree.Info) string {
	var list []string
	for _, i := range infos {
		switch {
		case i.Err != nil:
			list = append(list, "!"+filepath.Base(i.Path))
		case i.Damaged:
			list = append(list, i.ID+"?")
		default:
			list = append(list, i.ID)
		}
	}
	return strings.Join(list, " ")
}

// TestListOrder: by the last message, whatever the files' times; with a Limit too,
// as long as no file is older than what is in it.
func TestListOrder(t *testing.T) {
	s := newShelf(t)
	for _, x := range []struct {
		id            string
		minute, mtime int
	}{{"old", 1, 50}, {"b", 5, 60}, {"a", 5, 5}, {"c", 5, 5}, {"new", 9, 10}, {"mid", 7, 7}} {
		s.touch(s.put(x.id+".jsonl", session(x.id, x.minute)), x.mtime)
	}
	const order = "new mid a b c old"
	for limit := range 7 {
		want := order
		if limit > 0 {
			want = strings.Join(strings.Fields(order)[:limit], " ")
		}
		if got := names(s.list(&sessiontree.ListOptions{Limit: limit})); got != want {
			t.Errorf("limit %d: got %s, want %s", limit, got, want)
		}
	}
	s.touch(filepath.Join(s.dir, "new.jsonl"), -9999) // copied from a backup
	if got := names(s.list(nil)); got != order {
		t.Errorf("with an old file time: got %s, want %s", got, order)
	}
}

// TestListOddTimes: a session is listed whatever its times.
func TestListOddTimes(t *testing.T) {
	s := newShelf(t)
	for id, stamp := range map[string]string{"year0": "0000-01-01T00:00:00Z", "future": "9999-12-31T23:59:59Z", "none": "", "zone": "2026-01-05T20:00:00+09:00"} {
		log := bytes.ReplaceAll(session(id, 0), []byte("2026-01-05T12:00:00Z"), []byte(stamp))
		s.touch(s.put(id+".jsonl", log), 0)
	}
	s.put("created.jsonl", session("created", 0)[:100])
	for _, limit := range []int{0, 100} {
		got := names(s.list(&sessiontree.ListOptions{Limit: limit}))
		if want := "future zone none year0 !created.jsonl"; got != want {
			t.Errorf("limit %d: got %s, want %s", limit, got, want)
		}
	}
	s.put("header.jsonl", lines(`{"type":"session","version":3,"id":"header","timestamp":"2026-01-05T13:00:00Z","cwd":"/x"}`))
	if got := s.list(nil)[1]; got.ID != "header" || got.FirstPrompt != "" || !got.Modified.Equal(noon.Add(time.Hour)) {
		t.Errorf("a session without entries: got %+v, want it by its header's time", got)
	}
}

// TestListAhead: several workers change nothing but the time, and whoever has enough may
// leave at any moment; how far it is is told.
func TestListAhead(t *testing.T) {
	s := newShelf(t)
	for i := range 60 {
		id := fmt.Sprintf("s%02d", i)
		s.touch(s.put(id+".jsonl", session(id, (i*7)%60)), 70-i)
	}
	s.put("bad.jsonl", []byte("bad"))
	want := names(s.list(nil))
	for _, workers := range []int{1, 2, 9} {
		last, total := 0, 0
		opt := &sessiontree.ListOptions{Workers: workers, Progress: func(done, of int) { last, total = done, of }}
		if got := names(s.list(opt)); got != want || last != 61 || total != 61 {
			t.Errorf("%d workers: got %s after %d of %d files, want %s", workers, got, last, total, want)
		}
		n := 0
		for range sessiontree.List([]string{s.dir}, &sessiontree.ListOptions{Workers: workers, Limit: 20}) {
			if n++; n == 3 {
				break
			}
		}
	}
	opt := &sessiontree.ListOptions{Workers: 3, Describe: func(path string) sessiontree.Info {
		return sessiontree.Info{Path: path, ID: filepath.Base(path), Modified: noon}
	}}
	if got := s.list(opt); len(got) != 61 || got[0].ID != "bad.jsonl" {
		t.Errorf("got %v, want what the caller's function describes", got)
	}
}

// TestListSince: what is older is left out, and files that are older are not opened.
func TestListSince(t *testing.T) {
	s := newShelf(t)
	for i := range 20 {
		id := fmt.Sprintf("s%02d", i)
		s.touch(s.put(id+".jsonl", session(id, i)), i+2)
	}
	opened := 0
	opt := &sessiontree.ListOptions{Since: noon.Add(17 * time.Minute), Describe: func(path string) sessiontree.Info {
		opened++
		return sessiontree.Describe(path)
	}}
	if got := names(s.list(opt)); got != "s19 s18 s17" || opened != 5 {
		t.Errorf("got %s of %d opened files, want s19 s18 s17 of 5", got, opened)
	}
}

// TestListLimitBoundsTheWork: what is too old to be listed is not opened.
func TestListLimitBoundsTheWork(t *testing.T) {
	s := newShelf(t)
	for i := range 1000 {
		id := fmt.Sprintf("s%03d", i)
		s.touch(s.put(fmt.Sprintf("--p%d--/%s.jsonl", i%7, id), session(id, i)), i)
	}
	for _, c := range []struct{ limit, opened int }{{1, 2}, {10, 11}, {0, 1000}, {5000, 1000}} {
		opened := 0
		infos := s.list(&sessiontree.ListOptions{Limit: c.limit, Match: func(*sessiontree.Info) bool { opened++; return true }})
		if want := min(c.limit, 1000); c.limit > 0 && len(infos) != want || opened > c.opened || infos[0].ID != "s999" {
			t.Errorf("limit %d: got %d sessions from %s on, %d opened; want at most %d opened", c.limit, len(infos), infos[0].ID, opened, c.opened)
		}
	}
	// What Match refuses does not count, and what is no session is not seen before
	// its turn.
	s.touch(s.put("junk.jsonl", []byte("junk\n")), 998)
	s.touch(s.put("oldjunk.jsonl", []byte("junk\n")), -1)
	odd := func(i *sessiontree.Info) bool { return strings.HasSuffix(i.ID, "5") }
	if got := names(s.list(&sessiontree.ListOptions{Limit: 3, Match: odd})); got != "s995 s985 s975" {
		t.Errorf("got %s, want the last three that end in 5", got)
	}
}

// TestListWhatIsThere: which files are sessions.
func TestListWhatIsThere(t *testing.T) {
	s := newShelf(t)
	s.put("top.jsonl", session("top", 9))
	s.put("--p--/below.jsonl", session("below", 8))
	s.put("--p--/deeper/too.jsonl", session("too", 7))
	s.put("folder.jsonl/inside.jsonl", session("inside", 6))
	s.put("--p--/folder.jsonl/x.jsonl", session("x", 5))
	s.put("notes.txt", session("notes", 4))
	s.put("torn.jsonl", append(session("torn", 3), `{"type":"mess`...))
	s.put("lines.jsonl", bytes.Replace(session("lines", 2), []byte("\n"), []byte("\njunk\n"), 1))
	s.put("junk.jsonl", []byte("junk\n"))
	s.put("empty.jsonl", nil)
	s.put("claude.jsonl", []byte(`{"type":"user","uuid":"a","parentUuid":null}`+"\n"))
	for link, to := range map[string]string{"dangling.jsonl": "nowhere", "link.jsonl": "notes.txt", "round.jsonl": "round.jsonl"} {
		if err := os.Symlink(to, filepath.Join(s.dir, link)); err != nil {
			t.Logf("no links here: %v", err)
		}
	}
	mkfifo(t, filepath.Join(s.dir, "pipe.jsonl"))
	mkfifo(t, filepath.Join(s.dir, "--p--", "pipe.jsonl"))
	const want = "top below inside notes torn? lines? !claude.jsonl !empty.jsonl !junk.jsonl"
	for what, dirs := range map[string][]string{
		"once": {s.dir}, "and a missing one": {filepath.Join(s.dir, "none"), s.dir}, "twice": {s.dir, s.dir + "/"},
	} {
		infos := s.list(nil, dirs...)
		for _, i := range infos[6:] {
			i.Err = nil
			if i.ID != "" || i.Size != 0 && i.Path != filepath.Join(s.dir, "claude.jsonl") && filepath.Base(i.Path) != "junk.jsonl" {
				t.Errorf("%s: got %+v, want only a path, a size and an error", what, i)
			}
		}
		if got := sortedTail(names(infos), 6); got != want {
			t.Errorf("%s: got %s\nwant %s", what, got, want)
		}
	}
	// A project is there once where a directory and its parent are both asked for.
	if got := strings.Count(names(s.list(nil, s.dir, filepath.Join(s.dir, "--p--"))), "below"); got != 1 {
		t.Errorf("got it %d times, want once", got)
	}
}

// sortedTail sorts the words from n on: their files have nearly the same time.
func sortedTail(s string, n int) string {
	words := strings.Fields(s)
	slices.Sort(words[min(n, len(words)):])
	return strings.Join(words, " ")
}

// TestListUnreadableDirectory: one that was asked for is an error, which comes after
// the others' sessions.
func TestListUnreadableDirectory(t *testing.T) {
	s := newShelf(t)
	file := s.put("a.jsonl", session("a", 1))
	var got []string
	for info, err := range sessiontree.List([]string{file, s.dir}, nil) {
		got = append(got, info.ID)
		if (err != nil) != (info.ID == "") {
			t.Errorf("got %+v and %v", info, err)
		}
	}
	if strings.Join(got, ",") != "a," {
		t.Errorf("got %q, want the session and then the error", got)
	}
}

// TestListCollidingProjects: pi names /code/a-b and /code/a/b by one directory; the
// header says whose a session is.
func TestListCollidingProjects(t *testing.T) {
	s := newShelf(t)
	for i, cwd := range []string{"/code/a-b", "/code/a/b", "/code/项目甲", "/code/测试乙"} {
		id := fmt.Sprintf("s%d", i)
		s.put("--work-a-b--/"+id+".jsonl", bytes.Replace(session(id, i), []byte("/code/"+id), []byte(cwd), 1))
	}
	mine := func(i *sessiontree.Info) bool { return i.Cwd == "/code/a/b" }
	if got := names(s.list(&sessiontree.ListOptions{Limit: 1, Match: mine})); got != "s1" {
		t.Errorf("got %s, want s1", got)
	}
}

// TestListStops: the loop may be left anywhere.
func TestListStops(t *testing.T) {
	s := newShelf(t)
	for i := range 3 {
		s.put(fmt.Sprintf("s%d.jsonl", i), session(fmt.Sprintf("s%d", i), i))
		s.put(fmt.Sprintf("junk%d.jsonl", i), []byte("junk\n"))
	}
	for stop := 1; stop <= 6; stop++ {
		n := 0
		for range sessiontree.List([]string{s.dir, "/dev/null"}, nil) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("got %d, want %d", n, stop)
		}
	}
}

// TestListTouchesNothing: no time of a file or a directory changes.
func TestListTouchesNothing(t *testing.T) {
	s := newShelf(t)
	paths := []string{s.dir, filepath.Join(s.dir, "--p--"), s.put("--p--/a.jsonl", session("a", 1)), s.put("b.jsonl", randomLog(31)), s.put("junk.jsonl", []byte("junk"))}
	var before []string
	for _, p := range paths {
		age(t, p)
		before = append(before, status(t, p))
	}
	s.list(&sessiontree.ListOptions{Count: true})
	for i, p := range paths {
		if after := status(t, p); after != before[i] {
			t.Errorf("%s: got %s, want %s", p, after, before[i])
		}
	}
}

func TestListCounts(t *testing.T) {
	s := newShelf(t)
	s.put("a.jsonl", session("a", 1, note("n", "m", "2"), note("o", "m", "3"), note("p", "o", "4")))
	s.put("b.jsonl", session("b", 0))
	for _, count := range []bool{false, true} {
		a := s.list(&sessiontree.ListOptions{Count: count})[1] // its last messages are of the morning
		if got := fmt.Sprint(a.Counted, a.Turns, a.Branches); count && got != "true 3 2" || !count && got != "false 0 0" {
			t.Errorf("count %v: got %s", count, got)
		}
	}
}
