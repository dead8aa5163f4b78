package sessiontree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// A growing log is a file that a test writes to, with a cursor that follows it.
type growing struct {
	t    *testing.T
	path string
	at   sessiontree.Cursor
}

func grow(t *testing.T, log []byte) *growing {
	t.Helper()
	g := &growing{t: t, path: filepath.Join(t.TempDir(), "log.jsonl")}
	g.write(log)
	return g
}

func (g *growing) write(more []byte) {
	g.t.Helper()
	f := must(g.t, of(os.OpenFile(g.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)))
	defer f.Close()
	must(g.t, of(f.Write(more)))
}

// next gives what is new, at most so many entries, and leaves the loop there; 0 is
// all.
func (g *growing) next(most int) (list []string, err error) {
	g.t.Helper()
	for e, err := range sessiontree.Follow(g.t.Context(), g.path, &g.at, &sessiontree.FollowOptions{Stop: true}) {
		if err != nil {
			return list, err
		}
		list = append(list, shown(g.t, e))
		if len(list) == most {
			break
		}
	}
	return list, nil
}

// ids gives the ids of what is new, as words.
func (g *growing) ids() string {
	g.t.Helper()
	var ids []string
	for _, e := range must(g.t, of(g.next(0))) {
		id, _, _ := strings.Cut(e, " ")
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// batch makes native lines that are one batch but for their header.
func batch(header string, records ...string) [][]byte {
	list := append([]string{header}, records...)
	for i := 1; i < len(records); i++ {
		list[i] = strings.TrimSuffix(list[i], "}") + `,"more":true}`
	}
	var out [][]byte
	for _, l := range sealed(list...) {
		out = append(out, []byte(l+"\n"))
	}
	return out
}

const nativeHead = `{"type":"session","version":3,"id":"n","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x","format":"sessiontree/1","records":[]}`

// TestFollowSteps writes a log piece by piece and looks after each what is given.
func TestFollowSteps(t *testing.T) {
	type step struct{ write, want string }
	b := batch(nativeHead, note("a", "", "1"), note("b", "a", "2"), note("c", "b", "3"))
	native := func(i int) string { return string(b[i]) }
	a := note("a", "", "1") + "\n"
	for name, steps := range map[string][]step{
		"whole lines":     {{piHeader + "\n", ""}, {a, "a"}, {"", ""}, {note("b", "a", "2") + "\n" + note("c", "b", "3") + "\n", "b c"}},
		"a partial line":  {{piHeader + "\n" + a[:20], ""}, {a[20 : len(a)-1], ""}, {"\n", "a"}},
		"an empty file":   {{"", ""}, {piHeader[:10], ""}, {piHeader[10:] + "\n" + a, "a"}},
		"CRLF":            {{piHeader + "\r\n" + strings.Replace(a, "\n", "\r", 1), ""}, {"\n", "a"}, {note("b", "a", "2") + "\r\n", "b"}},
		"blank lines":     {{piHeader + "\n\n\n" + a + "\n\n", "a"}, {"\n\r\n \n" + note("b", "a", "2") + "\n", "b"}},
		"junk":            {{piHeader + "\nhello\n" + a + "\x00\x00\n[1]\n", "a"}, {`{"type":"x"}` + "\n" + note("b", "a", "2") + "\n", "b"}},
		"version 1":       {{`{"type":"session","id":"s"}` + "\n" + `{"type":"message","message":{"role":"user"}}` + "\n", "v1-28"}, {`{"type":"message","message":{"role":"user"}}` + "\n", "v1-73"}},
		"no header":       {{a, "a"}, {note("b", "a", "2") + "\n", "b"}},
		"a late header":   {{a, "a"}, {piHeader + "\n" + note("b", "a", "2") + "\n", "b"}},
		"glued records":   {{piHeader + "\n" + strings.TrimSpace(a) + note("b", "a", "2"), ""}, {"\n", "a b"}},
		"a native batch":  {{native(0) + native(1), ""}, {native(2) + native(3)[:30], ""}, {native(3)[30:], "a b c"}},
		"pi below it":     {{native(0) + native(1) + native(2), ""}, {note("p", "b", "pi") + "\n", "a b p"}},
		"junk in a batch": {{native(0) + native(1) + "junk\n", ""}, {native(2), ""}, {native(3), "a b c"}},
		"header and batch on a line": {
			{strings.TrimSpace(native(0)) + native(1), ""}, {native(2) + native(3), "a b c"}},
		"a wrong sum at the end": {
			{native(0) + strings.Replace(native(3), "3", "4", 1), ""}, {note("p", "", "pi") + "\n", "c p"}},
	} {
		g := grow(t, nil)
		for i, s := range steps {
			g.write([]byte(s.write))
			if got := g.ids(); got != s.want {
				t.Errorf("%s, step %d: got %q, want %q", name, i+1, got, s.want)
			}
		}
	}
}

// TestFollowInPieces: whatever the pieces in which a log is written, and wherever
// the loop is left, each entry is given once and as it is given of the whole log.
func TestFollowInPieces(t *testing.T) {
	for seed := range uint64(200) {
		log := grownLog(seed)
		want := must(t, of(grow(t, log).next(0)))
		r := rand.New(rand.NewPCG(seed, 20))
		g := grow(t, nil)
		var got []string
		for rest := log; len(rest) > 0; {
			n := min(1+r.IntN(1+r.IntN(3000)), len(rest))
			g.write(rest[:n])
			rest = rest[n:]
			got = append(got, must(t, of(g.next(r.IntN(3))))...)
		}
		got = append(got, must(t, of(g.next(0)))...)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: got %d entries\n%s\nwant %d\n%s", seed, len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
		}
	}
}

// grownLog is a random log, in some seeds with other line ends, glued lines, or
// without its sums and ids.
func grownLog(seed uint64) []byte {
	log := randomLog(seed)
	switch seed / 32 % 5 {
	case 1:
		return bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n"))
	case 2:
		return bytes.ReplaceAll(log, []byte("}\n{\"type\":\"m"), []byte("}{\"type\":\"m"))
	case 3:
		return bytes.ReplaceAll(bytes.ReplaceAll(log, []byte(`"version":3,`), nil), []byte(`,"id":"`), []byte(`,"n":"`))
	case 4:
		return bytes.TrimSuffix(log, []byte("\n"))
	}
	return log
}

// TestFollowGivesTheTree: of a sound log Follow gives what Entries gives.
func TestFollowGivesTheTree(t *testing.T) {
	for seed := range uint64(40) {
		log := sessgen.Tree(rand.New(rand.NewPCG(seed, 21)), 50, &sessgen.TreeOptions{Native: seed%2 == 0})
		g := grow(t, log)
		got, want := must(t, of(g.next(0))), walked(t, tree(t, log, nil).Entries())
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: got\n%s\nwant\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if at := must(t, of(tree(t, log, nil).Cursor())); at != g.at {
			t.Errorf("seed %d: got cursor %+v of the tree, want %+v as Follow left it", seed, at, g.at)
		}
	}
}

// TestFollowFromATree: reading a log and following it from there gives every entry
// once, also where the log ends in what does not count yet.
func TestFollowFromATree(t *testing.T) {
	b := batch(nativeHead, note("a", "", "1"), note("b", "a", "2"))
	whole := string(bytes.Join(b, nil))
	for name, parts := range map[string][2]string{
		"no final newline": {piHeader + "\n" + note("a", "", "1"), "\n" + note("b", "a", "2") + "\n"},
		"glued":            {piHeader + "\n" + note("a", "", "1"), note("b", "a", "2") + "\n"},
		"a torn line":      {piHeader + "\n" + note("a", "", "1") + "\n" + `{"type":"mess`, note("b", "a", "2")[13:] + "\n"},
		"torn on its line": {piHeader + "\n" + note("a", "", "1") + `{"type":"mess`, note("b", "a", "2")[13:] + "\n"},
		"a half batch":     {whole[:len(whole)-40], whole[len(whole)-40:]},
		"only a header":    {piHeader, "\n" + note("a", "", "1") + "\n"},
	} {
		g := grow(t, []byte(parts[0]))
		x := read(t, g.path)
		got := walked(t, x.Entries())
		g.at = must(t, of(x.Cursor()))
		g.write([]byte(parts[1]))
		got = append(got, must(t, of(g.next(1)))...)
		got = append(got, must(t, of(g.next(0)))...) // from a cursor of Follow
		if want := walked(t, read(t, g.path).Entries()); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestCursorProvesItself changes a log behind a cursor's back.
func TestCursorProvesItself(t *testing.T) {
	log := lines(piHeader, note("a", "", "1"), note("b", "a", "2"))
	other := bytes.Replace(log, []byte(`:"2"`), []byte(`:"3"`), 1)
	more := append(slices.Clip(log), note("c", "b", "3")+"\n"...)
	for name, c := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"nothing":              {func(string) error { return nil }, ""},
		"grown":                {func(p string) error { return os.WriteFile(p, more, 0o600) }, "c"},
		"a copy in its place":  {func(p string) error { return replace(p, more) }, "c"},
		"cut":                  {func(p string) error { return os.Truncate(p, int64(len(log)-1)) }, "conflict"},
		"emptied":              {func(p string) error { return os.Truncate(p, 0) }, "conflict"},
		"rewritten, same size": {func(p string) error { return os.WriteFile(p, other, 0o600) }, "conflict"},
		"another in its place": {func(p string) error { return replace(p, append(other, more...)) }, "conflict"},
		"shifted":              {func(p string) error { return replace(p, append([]byte("\n\n"), more...)) }, "conflict"},
		"gone":                 {os.Remove, "not there"},
	} {
		g := grow(t, log)
		must(t, of(g.next(0)))
		if err := c.change(g.path); err != nil {
			t.Fatal(err)
		}
		list, err := g.next(0)
		got := ""
		switch {
		case errors.Is(err, sessiontree.ErrConflict):
			got = "conflict"
		case errors.Is(err, os.ErrNotExist):
			got = "not there"
		case err != nil:
			got = err.Error()
		case len(list) > 0:
			got, _, _ = strings.Cut(list[0], " ")
		}
		if got != c.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, c.want)
		}
	}
}

// overwrite changes a file where it is; it is never shorter than before or after.
func overwrite(path string, log []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(log, 0)
	return errors.Join(err, f.Truncate(int64(len(log))))
}

func replace(path string, log []byte) error {
	return errors.Join(os.WriteFile(path+".new", log, 0o600), os.Rename(path+".new", path))
}

func TestCursorsThatNoLogGave(t *testing.T) {
	log := lines(piHeader, note("a", "", "1"))
	for _, at := range []sessiontree.Cursor{{Offset: -1}, {Offset: 1}, {Offset: 1 << 62}, {Offset: int64(len(log)), Sum: 1}} {
		g := grow(t, log)
		g.at = at
		if list, err := g.next(0); !errors.Is(err, sessiontree.ErrConflict) || !strings.Contains(err.Error(), g.path) {
			t.Errorf("%+v: got %v (%v), want ErrConflict with the path", at, list, err)
		}
	}
}

// TestFollowedLogChanges changes a log while it is followed: a writer's repairs are
// no conflict, since what they cut was never given.
func TestFollowedLogChanges(t *testing.T) {
	log := lines(piHeader, note("a", "", "1"))
	b := string(lines(note("b", "a", "2")))
	write := func(more string) func(string) error {
		return func(p string) error { return overwrite(p, append(slices.Clip(log), more...)) }
	}
	for name, c := range map[string]struct {
		changes []func(path string) error // each but the last one is seen on the way
		want    string                    // id of what comes, or the error
	}{
		"a torn end is cut":        {[]func(string) error{write(b[:40]), write(""), write(b)}, "b"},
		"a torn end is mended":     {[]func(string) error{write(b[:40]), write(b[:20] + "\n" + b)}, "b"},
		"it is cut":                {[]func(string) error{func(p string) error { return os.Truncate(p, 50) }}, "it was cut"},
		"rewritten, longer":        {[]func(string) error{func(p string) error { return overwrite(p, append([]byte("\n\n"), append(slices.Clip(log), b...)...)) }}, "is another"},
		"replaced":                 {[]func(string) error{func(p string) error { return replace(p, append(slices.Clip(log), b...)) }}, "another file"},
		"gone, and another for it": {[]func(string) error{os.Remove, write(b)}, "not as it was left"},
	} {
		g := grow(t, log)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute) // against a hang
		got := ""
		var writer sync.WaitGroup
		for e, err := range sessiontree.Follow(ctx, g.path, &g.at, &sessiontree.FollowOptions{Poll: time.Millisecond}) {
			if err != nil || e.ID != "a" {
				got = fmt.Sprint(e.ID, err)
				break
			}
			writer.Go(func() {
				for _, change := range c.changes {
					if err := change(g.path); err != nil {
						t.Error(err)
					}
					time.Sleep(20 * time.Millisecond) // long enough to be seen, as a rule
				}
			})
		}
		stop()
		writer.Wait()
		if !strings.Contains(got, c.want) || got == "" {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestFollowAWriter follows a log that another goroutine writes in odd pieces.
func TestFollowAWriter(t *testing.T) {
	for _, native := range []bool{false, true} {
		log := sessgen.Tree(rand.New(rand.NewPCG(1, 22)), 300, &sessgen.TreeOptions{Native: native})
		want := walked(t, tree(t, log, nil).Entries())
		g := grow(t, nil)
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			r := rand.New(rand.NewPCG(2, 22))
			for rest := log; len(rest) > 0; {
				n := min(1+r.IntN(2000), len(rest))
				g.write(rest[:n])
				rest = rest[n:]
				runtime.Gosched()
			}
		}()
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		var got []string
		for e, err := range sessiontree.Follow(ctx, g.path, &g.at, &sessiontree.FollowOptions{Poll: time.Millisecond}) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, shown(t, e)); len(got) == len(want) {
				stop() // which ends the loop, and is no error
			}
		}
		stop()
		<-wrote
		if !slices.Equal(got, want) {
			t.Errorf("native %v: got %d entries, want %d", native, len(got), len(want))
		}
	}
}

// TestFollowEndsWithItsContext: at once, also where there is much to give.
func TestFollowEndsWithItsContext(t *testing.T) {
	g := grow(t, lines(piHeader, note("a", "", "1"), note("b", "a", "2"), note("c", "b", "3")))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n := 0
	for _, err := range sessiontree.Follow(ctx, g.path, &g.at, nil) {
		if n++; err != nil {
			t.Fatal(err)
		}
		stop()
	}
	if got := g.ids(); n != 1 || got != "b c" {
		t.Errorf("got %d entries and then %q, want 1, and the others behind the cursor", n, got)
	}
}

// TestFollowLeavesNothingBehind: no goroutine, and no open file.
func TestFollowLeavesNothingBehind(t *testing.T) {
	g := grow(t, lines(piHeader, note("a", "", "1")))
	before := runtime.NumGoroutine()
	for range 2000 { // more than a process may have files open, as a rule
		g.at = sessiontree.Cursor{}
		must(t, of(g.next(1)))
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("got %d goroutines, want %d as before", after, before)
	}
}

func TestFollowLongLines(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	log := lines(piHeader, note("a", "", long), note("b", "a", long), note("c", "b", ""))
	g := grow(t, nil)
	var got []string
	for rest := log; len(rest) > 0; {
		n := min(700_001, len(rest))
		g.write(rest[:n])
		rest = rest[n:]
		got = append(got, must(t, of(g.next(0)))...)
	}
	if want := walked(t, tree(t, log, nil).Entries()); !slices.Equal(got, want) {
		t.Errorf("got %d entries, want %d", len(got), len(want))
	}
}

func TestFollowWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	var at sessiontree.Cursor
	for path, want := range map[string]error{dir: store.ErrNotALog, filepath.Join(dir, "none"): os.ErrNotExist} {
		n := 0
		for _, err := range sessiontree.Follow(t.Context(), path, &at, nil) {
			if n++; !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", path, err, want)
			}
		}
		if n != 1 {
			t.Errorf("%s: got %d times something, want once an error", path, n)
		}
	}
}
