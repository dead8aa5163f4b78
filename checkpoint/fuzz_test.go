package checkpoint

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// FuzzRecord: the data of a file record may be anything. What is read keeps inside a
// workspace, knows what it does not know, and is the same when it is written and read
// again.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"phase":"after","source":"tool","files":[{"path":"a","state":{"kind":"file","mode":"0644","size":1,"sha256":"` + strings.Repeat("ab", 32) + `"},"before":{"kind":"absent"}}]}`))
	f.Add([]byte(`{"phase":"end","outcome":"done","files":[{"path":"../x","state":{"kind":"file"}},{"path":".git/x","state":{"kind":"dir","mode":"99999"}}]}`))
	f.Add([]byte(`{"files":[{"path":"a/../b","from":{"kind":"symlink"}},{"path":"","state":7}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r record
		if json.Unmarshal(data, &r) != nil {
			return
		}
		h := &history{paths: map[string][]event{}}
		h.ids = append(h.ids, "x")
		h.take(testEntry(t, data), r)
		for name, events := range h.paths {
			if !usable(name) || strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
				t.Errorf("%q leads out of the workspace", name)
			}
			for _, ev := range events {
				checkState(t, ev.after)
			}
		}
		var again record
		if err := json.Unmarshal(encode(r), &again); err != nil || !bytes.Equal(encode(r), encode(again)) {
			t.Errorf("written and read again: %v\n%s\n%s", err, encode(r), encode(again))
		}
	})
}

func checkState(t *testing.T, s State) {
	t.Helper()
	switch s.Kind {
	case File:
		if !validSum(s.SHA256) {
			t.Errorf("a file without content: %+v", s)
		}
	case Absent, Symlink, Dir, Unknown:
	default:
		t.Errorf("a state of no kind: %+v", s)
	}
	if s.Kind == Unknown && s.Same(s) {
		t.Error("unknown is the same as something")
	}
}

// FuzzIndex: what a scan remembered is believed as a whole or not at all.
func FuzzIndex(f *testing.F) {
	x := newIndex()
	x.at = time.Unix(1, 2)
	x.dirs["."] = []node{
		{"a", signature{1, 2, 3, 4, 5, 0o644}, State{Kind: File, Mode: 0o644, Size: 1, SHA256: strings.Repeat("cd", 32)}},
		{"d", signature{mode: 0o755}, State{Kind: Dir, Mode: 0o755}},
		{"l", signature{}, State{Kind: Symlink, Target: "a"}},
		{"u", signature{}, unknown("why")},
	}
	f.Add(x.encode())
	f.Add([]byte(indexMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := decodeIndex(withSum(data))
		if got == nil {
			return
		}
		again := decodeIndex(withSum(got.encode()))
		if again == nil || len(again.dirs) != len(got.dirs) {
			t.Fatal("what was read cannot be written and read again")
		}
		if cut := withSum(data); decodeIndex(cut[:len(cut)-1]) != nil {
			t.Error("a cut file is believed")
		}
	})
}

// FuzzMentions: a sum is found wherever it stands, also across the pieces of a stream.
func FuzzMentions(f *testing.F) {
	f.Add([]byte(`{"sha256":"`), []byte(`"}`), true)
	f.Add([]byte("abc"), []byte("def"), false)
	f.Fuzz(func(t *testing.T, before, after []byte, list bool) {
		sum := sumOf(before)
		data := before
		if list {
			data = append(bytes.Clone(data), listKey...)
		}
		data = append(bytes.Clone(data), sum...)
		data = append(data, after...)
		m := &mentions{sums: map[string]bool{}, lists: map[string]bool{}}
		if err := m.read(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if !m.sums[sum] || list && !m.lists[sum] {
			t.Errorf("not found in %q", data)
		}
	})
}
