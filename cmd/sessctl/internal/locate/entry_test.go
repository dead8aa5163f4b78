package locate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/locate"
	"github.com/sessctl/sessctl/sessiontree"
)

const entries = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}
{"type":"message","id":"aaaa0001","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"message","id":"bbbb0002","parentId":"aaaa0001","message":{"role":"user","content":"first"}}
{"type":"message","id":"cccc0003","parentId":"bbbb0002","message":{"role":"user","content":"three"}}
{"type":"message","id":"bbbb0002","parentId":"aaaa0001","message":{"role":"user","content":"second"}}
{"type":"label","id":"dddd0004","parentId":"cccc0003","targetId":"aaaa0001","label":"root"}
{"type":"label","id":"dddd0005","parentId":"dddd0004","targetId":"cccc0003","label":"twice"}
{"type":"label","id":"dddd0006","parentId":"dddd0005","targetId":"bbbb0002","label":"twice"}
{"type":"label","id":"dddd0007","parentId":"dddd0006","targetId":"dddd0004","label":"aaaa0001"}
{"type":"label","id":"dddd0008","parentId":"dddd0007","targetId":"gone","label":"lost"}
{"type":"message","id":"@","parentId":"dddd0008","message":{"role":"user","content":"odd"}}
{"type":"message","id":"eeee0009","parentId":"@","message":{"role":"user","content":"leaf"}}
`

func TestEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(entries), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := sessiontree.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Scan(); err != nil { // for the lines
		t.Fatal(err)
	}
	for name, want := range map[string]string{ // ids and lines
		"@": "eeee0009:12", "@~0": "eeee0009:12", "@~1": "@:11", "@~9": "aaaa0001:2", ":2": "aaaa0001:2", ":5": "bbbb0002:5", ":12": "eeee0009:12",
		":3":       "bbbb0002:3", // lost its id, and can still be named
		"cccc0003": "cccc0003:4", "cccc": "cccc0003:4", "0003": "cccc0003:4", "bbbb": "bbbb0002:5", "0002": "bbbb0002:5",
		"root": "aaaa0001:2", "aaaa0001": "aaaa0001:2", // an id goes before a label
		"twice": "several", "dddd": "several", "000": "not found", "zzzz": "not found", "": "not found", "gone": "not found", "lost": "not found",
		"@~10": "not found", "@~-1": "not found", "@~x": "not found", "@~": "not found", ":0": "not found", ":1": "not found", ":99": "not found", ":x": "not found", ":": "not found",
	} {
		e, err := locate.Entry(x, name)
		got := string(e.ID) + ":" + strconv.Itoa(e.Line)
		switch {
		case errors.Is(err, locate.ErrAmbiguous):
			got = "several"
		case errors.Is(err, sessiontree.ErrNotFound):
			got = "not found"
		case err != nil:
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %s (%v), want %s", name, got, err, want)
		}
		if err != nil && len(name) > 1 && !strings.Contains(err.Error(), strings.TrimPrefix(name, ":")) {
			t.Errorf("%q: got %q, which does not name it", name, err)
		}
	}
}

// TestEntryOfAnEmptyLog has nothing to find.
func TestEntryOfAnEmptyLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(entries[:strings.Index(entries, "\n")+1]), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := sessiontree.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, name := range []string{"@", "@~1", ":1", "aaaa"} {
		if e, err := locate.Entry(x, name); !errors.Is(err, sessiontree.ErrNotFound) {
			t.Errorf("%s: got %v (%v), want ErrNotFound", name, e.ID, err)
		}
	}
}
