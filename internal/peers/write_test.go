package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A script is what a peer is to do with a session; see write.mjs.
type script struct {
	File  string     `json:"file,omitempty"`
	Dir   string     `json:"dir,omitempty"`
	Steps [][]string `json:"steps"`
}

// A wrote is what the peer says of it.
type wrote struct {
	File  string   `json:"file"`
	IDs   []string `json:"ids"`
	Leaf  string   `json:"leaf"`
	Error string   `json:"error"`
}

// write has the peer write.
func (p peer) write(t *testing.T, s script) wrote {
	t.Helper()
	dir, work := installed(t), t.TempDir()
	driver, err := filepath.Abs("write.mjs")
	if err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), p.command(dir), driver, filepath.Join(dir, p.folder))
	cmd.Dir, cmd.Env = work, []string{"HOME=" + work, "TMPDIR=" + work, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	var w wrote
	if err == nil {
		err = json.Unmarshal(out, &w)
	}
	if err != nil || w.Error != "" {
		t.Fatalf("%s: %v\n%s%s", p.name, err, out, w.Error)
	}
	return w
}

// A dialogue is a session that programs write to in turns.
type dialogue struct {
	t    *testing.T
	peer peer
	file string
	now  []byte // the log as it was left
}

func (d *dialogue) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *dialogue) bytes() []byte {
	log, err := os.ReadFile(d.file)
	d.must(err)
	return log
}

// ourSession makes a session here: a label, two branches, a batch, a name, odd text.
func ourSession(t *testing.T, p peer) *dialogue {
	d := &dialogue{t: t, peer: p}
	s, err := sessiontree.Create(t.TempDir(), entries.Header{Cwd: "/home/u/proj"}, nil)
	d.must(err)
	d.file = s.Path()
	first := d.append(s, entries.UserMessage("rename the parser \u2028 \U0001F600 <&>"))
	answer := entries.AssistantMessage(entries.Assistant{
		Content: []json.RawMessage{entries.TextBlock("done")}, API: "a", Provider: "acme", Model: "large", StopReason: "stop",
		Usage: entries.Tokens{Input: 100, Output: 1e-7, Cost: 0.1},
	})
	second := d.append(s, answer, entries.CustomDraft("note", []byte(`{"big":12345678901234567000}`)))
	_, err = s.SetLabel(t.Context(), first.Leaf, "start")
	d.must(err)
	d.append(s, entries.UserMessage("and its tests"))
	_, err = s.MoveLeaf(t.Context(), second.IDs[0], sessiontree.ReasonCheckout)
	d.must(err)
	d.append(s, entries.UserMessage("rather its docs"))
	_, err = s.SetName(t.Context(), "renaming")
	d.must(err)
	d.must(s.Close())
	d.now = d.bytes()
	return d
}

func (d *dialogue) append(s *sessiontree.Session, drafts ...entries.Draft) sessiontree.Appended {
	d.t.Helper()
	done, err := s.Append(context.Background(), drafts...)
	d.must(err)
	return done
}

// agree demands that the peer and this reader see the same: the leaf, the entries,
// the paths of all entries, the labels and the name.
func (d *dialogue) agree(when string) answer {
	d.t.Helper()
	r := request{File: d.file}
	r.Leaves = wholeScan(d.t, r).IDs
	got := wholeScan(d.t, r)
	want := d.peer.ask(d.t, []request{r})[0]
	if d.peer == omp { // its names are titles, and those of others it does not read
		want.Name = got.Name
	}
	for _, difference := range differences(got, want) {
		d.t.Errorf("%s: %s", when, difference)
	}
	return got
}

// theirs has the peer write. Where it only appends, what stood there stands there.
func (d *dialogue) theirs(appends bool, steps ...[]string) wrote {
	d.t.Helper()
	w := d.peer.write(d.t, script{File: d.file, Steps: steps})
	log := d.bytes()
	if appends && !bytes.HasPrefix(log, d.now) {
		d.t.Errorf("%s changed what stood in the log", d.peer.name)
	}
	d.now = log
	return w
}

// ours goes on below the leaf that the peer left, and demands that the log is sound
// and that nothing of the peer's was changed.
func (d *dialogue) ours(leaf string) {
	d.t.Helper()
	s, err := sessiontree.Open(d.file, nil)
	d.must(err)
	if string(s.Leaf()) != leaf || s.Repairs() != nil {
		d.t.Errorf("got leaf %s, repairs %v, want %s and none", s.Leaf(), s.Repairs(), leaf)
	}
	done := d.append(s, entries.UserMessage("sessctl goes on"), entries.UserMessage("in a batch"))
	x, err := s.Tree()
	d.must(err)
	if e, err := x.Entry(done.IDs[0]); err != nil || string(e.Parent) != leaf {
		d.t.Errorf("got parent %s (%v), want %s", e.Parent, err, leaf)
	}
	d.must(s.Close())
	log := d.bytes()
	if !bytes.HasPrefix(log, d.now) {
		d.t.Error("sessctl changed what stood in the log")
	}
	d.now = log
}

// verified demands that the log is sound but for these notes, each so many times.
func (d *dialogue) verified(notes map[sessiontree.DamageKind]int) {
	d.t.Helper()
	checkVerdict(d.t, d.file, notes)
}

func checkVerdict(t *testing.T, file string, notes map[sessiontree.DamageKind]int) {
	t.Helper()
	x, err := sessiontree.Read(file, &sessiontree.ReadOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	v, err := x.Verify()
	if err != nil || !v.OK {
		t.Errorf("the log is not sound: %+v (%v)", v, err)
	}
	got := map[sessiontree.DamageKind]int{}
	for _, damage := range v.Damage {
		got[damage.Kind] += max(damage.Count, 1)
	}
	for kind, n := range notes {
		if got[kind] != n {
			t.Errorf("got %d notes %s, want %d: %+v", got[kind], kind, n, v.Damage)
		}
		delete(got, kind)
	}
	if len(got) > 0 {
		t.Errorf("got notes %v, want none of them", got)
	}
}

// turn is what a peer does: it goes on, goes elsewhere, and labels.
var turn = [][]string{
	{"user", "the peer goes on"}, {"branch", "#1"}, {"assistant", "elsewhere"}, {"label", "#0", "theirs"}, {"custom", "acme.note"},
}

// TestPiWritesToNativeLogs: pi opens a native log with branches, sees what we see,
// and appends; sessctl goes on from there, and pi again.
func TestPiWritesToNativeLogs(t *testing.T) {
	installed(t)
	d := ourSession(t, pi)
	d.agree("before")
	w := d.theirs(true, turn...)
	if a := d.agree("what pi wrote"); a.Labels[a.IDs[0]] != "theirs" {
		t.Errorf("got labels %q, want pi's", a.Labels)
	}
	d.verified(map[sessiontree.DamageKind]int{"foreign-line": 4})
	d.ours(w.Leaf)
	d.agree("what sessctl wrote behind it")
	d.verified(map[sessiontree.DamageKind]int{"foreign-line": 4})
	w = d.theirs(true, []string{"summary", "#2", "it was in vain"}, []string{"name", "pi's name"})
	d.ours(w.Leaf)
	if a := d.agree("once more"); a.Name != "pi's name" {
		t.Errorf("got name %q, want pi's", a.Name)
	}
	d.verified(map[sessiontree.DamageKind]int{"foreign-line": 6})
}

// TestWritingToLogsOfPi: sessctl goes on in a log that pi made, as pi would, and pi
// behind it.
func TestWritingToLogsOfPi(t *testing.T) {
	installed(t)
	d := &dialogue{t: t, peer: pi}
	dir := t.TempDir()
	w := pi.write(t, script{Dir: dir, Steps: [][]string{{"user", "one"}, {"assistant", "two"}, {"branch", "=0"}, {"assistant", "three"}, {"label", "=0", "start"}}})
	d.file = w.File
	d.now = d.bytes()
	d.ours(w.Leaf)
	d.agree("what sessctl wrote")
	w = d.theirs(true, turn...)
	d.ours(w.Leaf)
	d.agree("once more")
	d.verified(nil)
	if log := string(d.bytes()); strings.Contains(log, `"crc"`) || strings.Contains(log, `"more"`) {
		t.Error("a log of pi got what only native logs have")
	}
}
