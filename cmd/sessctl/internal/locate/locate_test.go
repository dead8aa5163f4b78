package locate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/sessiontree"
)

// environment is a getenv that knows these variables.
func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestKnown(t *testing.T) {
	for what, c := range map[string]struct {
		env  map[string]string
		dirs []string
		want string
	}{
		"a home": {map[string]string{"HOME": "/h"}, nil,
			"/h/.local/share/sessctl/sessions /h/.pi/agent/sessions /h/.omp/agent/sessions /h/.local/share/omp/sessions"},
		"XDG": {map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d"}, nil,
			"/d/sessctl/sessions /h/.pi/agent/sessions /h/.omp/agent/sessions /d/omp/sessions"},
		"own":                {map[string]string{"HOME": "/h", "SESSCTL_DIR": "/own"}, nil, "/own /h/.pi/agent/sessions /h/.omp/agent/sessions /h/.local/share/omp/sessions"},
		"pi's":               {map[string]string{"HOME": "/h", "SESSCTL_DIR": "/own", "PI_CODING_AGENT_DIR": "/a"}, nil, "/own /a/sessions /h/.local/share/omp/sessions"},
		"pi's sessions":      {map[string]string{"SESSCTL_DIR": "/own", "PI_CODING_AGENT_SESSION_DIR": "/s"}, nil, "/own /s"},
		"more":               {map[string]string{"SESSCTL_DIR": "/own"}, []string{"/x", "/own", "/x"}, "/own /x"},
		"no home, no places": {nil, nil, ""},
	} {
		p := &locate.Places{Getenv: environment(c.env), Dirs: c.dirs}
		if got := strings.Join(p.Known(), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", what, got, c.want)
		}
		if own, _, _ := strings.Cut(c.want, " "); p.Own() != own {
			t.Errorf("%s: sessctl's own is %s, want %s", what, p.Own(), own)
		}
	}
}

// put writes a session with an id, whose message is of a minute.
func put(t *testing.T, path, id string, minute int) string {
	t.Helper()
	log := fmt.Sprintf(`{"type":"session","version":3,"id":"%s","timestamp":"2026-01-05T09:00:00Z","cwd":"/code/%s"}
{"type":"message","id":"m","parentId":null,"timestamp":"2026-01-05T12:%02d:00Z","message":{"role":"user","content":"hello"}}
`, id, id, minute)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(log), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSession(t *testing.T) {
	dir, other := filepath.Join(t.TempDir(), "a[b]*?"), t.TempDir() // names that mean something in a pattern
	first := put(t, filepath.Join(dir, "2026-01-05_01AAAA1111ABCD.jsonl"), "01AAAA1111ABCD", 1)
	second := put(t, filepath.Join(dir, "--p--", "2026-01-05_01AAAA2222ABCD.jsonl"), "01AAAA2222ABCD", 3)
	third := put(t, filepath.Join(other, "renamed.jsonl"), "01BBBB3333EFGH", 2)
	pipe(t, filepath.Join(other, "pipe.jsonl"))
	if err := errors.Join(os.Mkdir(filepath.Join(other, "folder.jsonl"), 0o700), os.Symlink("nowhere", filepath.Join(other, "dangling.jsonl"))); err != nil {
		t.Fatal(err)
	}
	places := &locate.Places{Getenv: environment(map[string]string{"SESSCTL_DIR": dir}), Dirs: []string{other, filepath.Join(dir, "--p--")}}
	for name, want := range map[string]string{
		"01AAAA1111ABCD": first, "01AAAA1": first, "1111ABCD": first, "01AAAA2": second, "2222ABCD": second,
		"01BBBB": third, "EFGH": third, // by their content
		first: first, other: other, "latest": second,
	} {
		if got, err := places.Session(name); got != want || err != nil {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]error{
		"ABCD": locate.ErrAmbiguous, "01AAAA": locate.ErrAmbiguous, "01B": sessiontree.ErrNotFound, "": sessiontree.ErrNotFound,
		"CCCC": sessiontree.ErrNotFound, "AAAA1111": sessiontree.ErrNotFound, "nowhere.jsonl": fs.ErrNotExist, "./nowhere": fs.ErrNotExist, "2026-01-05": sessiontree.ErrNotFound,
	} {
		got, err := places.Session(name)
		if !errors.Is(err, want) {
			t.Errorf("%q: got %q (%v), want %v", name, got, err, want)
		}
	}
	_, err := places.Session("ABCD")
	list := strings.Split(err.Error(), "\n  ")[1:]
	slices.Sort(list)
	if want := []string{"01AAAA1111ABCD  pi  hello  /code/01AAAA1111ABCD", "01AAAA2222ABCD  pi  hello  /code/01AAAA2222ABCD"}; !slices.Equal(list, want) {
		t.Errorf("got %q, want both candidates, each once and with what tells them apart: %q", list, want)
	}
	_, err = places.Session("01B")
	if want := `session "01B" is too short: give at least 4 characters of its id`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// TestThreadsOfCodex: the segments of a thread are one session, and a beginning that fits
// several threads does not find the one that has a segment with that beginning.
func TestThreadsOfCodex(t *testing.T) {
	const one, two, segment, later = "01a22c41-f7f1-7dd1-82ff-0f25ec23c480", "01a22c42-3574-7be3-a8f1-3043a34a103d",
		"01a22c42-9884-7103-92db-0f9008708fbf", "01a22c43-0000-7103-92db-0f9008708fbf"
	dir, copies := t.TempDir(), t.TempDir()
	file := func(dir, time, thread, segment string) string {
		return put(t, filepath.Join(dir, "rollout-2026-11-30T11-"+time+"-"+thread+segment+".jsonl"), thread, 1)
	}
	first := file(dir, "40-50", one, "")
	file(dir, "41-06", two, "")
	file(dir, "41-31", two, "_"+segment)
	last := file(dir, "42-00", two, "_"+later)
	places := &locate.Places{Getenv: environment(nil), Dirs: []string{dir}}
	for name, want := range map[string]string{
		"01a22c41": first, "ec23c480": first, one: first, "01a22c42-3": last, "a34a103d": last, two: last, "01a22c43": last, later: last,
	} {
		if got, err := places.Session(name); got != want || err != nil {
			t.Errorf("%s: got %s (%v), want %s", name, got, err, want)
		}
	}
	_, err := places.Session("01a22")
	if !errors.Is(err, locate.ErrAmbiguous) || strings.Count(err.Error(), "\n") != 2 || !strings.Contains(err.Error(), two+"  pi  hello") || strings.Contains(err.Error(), dir) {
		t.Errorf("got %v, want both threads by their ids", err)
	}
	again := file(copies, "42-00", two, "_"+later)
	places.Dirs = append(places.Dirs, copies)
	_, err = places.Session("01a22c42-3")
	if !errors.Is(err, locate.ErrAmbiguous) || !strings.Contains(err.Error(), last) || !strings.Contains(err.Error(), again) {
		t.Errorf("got %v, want the paths of both copies, which nothing else tells apart", err)
	}
}

func TestLatest(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "old.jsonl"), "01OLD", 1)
	newest := put(t, filepath.Join(dir, "new.jsonl"), "01NEW", 2)
	for _, c := range []struct {
		cwd, want string
		agent     sessiontree.Agent
	}{{"", newest, ""}, {"/code/01OLD", filepath.Join(dir, "old.jsonl"), ""}, {"/work", "", ""}, {"", newest, "pi"}, {"", "", "omp"}, {"/code/01OLD", "", "sessctl"}} {
		p := &locate.Places{Getenv: environment(nil), Dirs: []string{dir}, Cwd: c.cwd, Agent: c.agent}
		got, err := p.Session("latest")
		if got != c.want || (c.want == "") != errors.Is(err, sessiontree.ErrNotFound) {
			t.Errorf("%+v: got %s (%v)", c, got, err)
		}
	}
}

func TestManyCandidatesAreNotAllListed(t *testing.T) {
	dir := t.TempDir()
	for i := range 15 {
		put(t, filepath.Join(dir, fmt.Sprintf("x_%02dSAME.jsonl", i)), fmt.Sprintf("%02dSAME", i), 1)
	}
	p := &locate.Places{Getenv: environment(nil), Dirs: []string{dir}}
	_, err := p.Session("SAME")
	if !errors.Is(err, locate.ErrAmbiguous) || strings.Count(err.Error(), "\n") != 11 || !strings.HasSuffix(err.Error(), "and 5 more") {
		t.Errorf("got %v, want ten of them and how many more", err)
	}
}

// TestForeignPlaces: the places of other agents' formats are known where somebody can
// describe them.
func TestForeignPlaces(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".claude/projects/-p", ".codex/sessions/2025/12/31", ".codex/sessions/2026/01/02", ".codex/sessions/2026/11/30", ".codex/sessions/notes"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := &locate.Places{Getenv: environment(map[string]string{"HOME": home})}
	own := p.Known()
	p.Describe = func(path string) sessiontree.Info { return sessiontree.Info{Path: path, ID: "foreign-id"} }

	var got []string
	for _, dir := range p.Known()[len(own):] {
		rel, err := filepath.Rel(home, dir)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if want := ".claude/projects .codex/sessions/2026/11 .codex/sessions/2026/01 .codex/sessions/2025/12 .codex/archived_sessions"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	path := filepath.Join(home, ".codex/sessions/2026/11/30/rollout.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"latest", "foreign-id"} {
		if found, err := p.Session(name); err != nil || found != path {
			t.Errorf("%s: got %q (%v), want %q", name, found, err, path)
		}
	}
	p.Getenv = environment(map[string]string{"CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d"})
	if got := strings.Join(p.Known(), " "); got != filepath.FromSlash("/d/projects /c/archived_sessions") {
		t.Errorf("got %s", got)
	}
}
