// Package layers holds the architecture: which package may import which, and how
// large things may grow. It has tests only.
package layers

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sessctl/sessctl"

// A rule forbids imports, and says why.
type rule struct {
	from   string // packages at or below this path, relative to the module
	unless []string
	forbid []string // packages at or below these paths
	reason string
}

var rules = []rule{
	{from: "entries", forbid: []string{"sessiontree", "store", "internal/jsonl", "cmd"},
		reason: "entries is the codec: bytes and types, no I/O; everything else stands on it"},
	{from: "store", forbid: []string{"entries", "sessiontree", "internal/jsonl", "cmd"},
		reason: "a store keeps bytes and must not depend on what they mean, or it could change them"},
	{from: "internal/durable", forbid: []string{"entries", "sessiontree", "store", "internal/jsonl", "internal/lock", "cmd"},
		reason: "the seam for file operations knows files and nothing of what is in them"},
	{from: "internal/syntax", forbid: []string{"entries", "sessiontree", "store", "internal/jsonl", "cmd"},
		reason: "syntax knows JSON and nothing of sessions"},
	{from: "internal/jsonvalue", forbid: []string{"entries", "sessiontree", "store", "internal/jsonl", "context", "cmd"},
		reason: "jsonvalue knows JSON and nothing of sessions"},
	{from: "context", forbid: []string{"store", "internal/jsonl", "internal/durable", "internal/lock", "checkpoint", "tool", "formats", "cmd"},
		reason: "a context is made of a tree, which knows how logs are read; it writes nothing and knows no provider"},
	{from: "tool", forbid: []string{"store", "internal/jsonl", "internal/durable", "internal/lock", "formats", "cmd"},
		reason: "the tools append entries and read trees; they open no log and know no provider"},
	{from: "checkpoint", forbid: []string{"context", "tool", "internal/jsonl", "internal/lock", "formats", "cmd"},
		reason: "file states are entries and blobs: checkpoint appends to a session and reads its tree, and knows no model"},
	{from: "internal/jsonl", forbid: []string{"sessiontree", "cmd"},
		reason: "data flows bytes, records, types, tree; the line reader must not know the tree"},
	{from: "formats", forbid: []string{"context", "checkpoint", "tool", "internal/durable", "internal/lock", "cmd"},
		reason: "a transcript becomes a tree and nothing else; reading it writes and locks nothing"},
	{from: "formats/claude", forbid: []string{"formats/codex"}, reason: "one agent's format is read without another's"},
	{from: "formats/codex", forbid: []string{"formats/claude"}, reason: "one agent's format is read without another's"},
	{from: "search", forbid: []string{"context", "checkpoint", "tool", "formats", "internal/jsonl", "internal/durable", "internal/lock", "cmd"},
		reason: "search finds lines in bytes and reads trees, whatever format they come from; it knows no model"},
	{from: "stats", forbid: []string{"store", "context", "checkpoint", "tool", "formats", "search", "internal/jsonl", "internal/durable", "internal/lock", "cmd"},
		reason: "stats count what a tree has, whatever format it comes from"},
	{from: "sessiontree", forbid: []string{"cmd", "context", "checkpoint", "tool", "formats", "search", "stats"},
		reason: "contexts, checkpoints, tools and foreign formats build on the tree, never the other way"},
	{from: "cmd/sessctl", forbid: []string{"internal"},
		reason: "what the command needs of the library, other programs need too: it has to be public"},
	{from: "", unless: []string{"cmd", "internal/peers"}, forbid: []string{"cmd"},
		reason: "a harness that embeds the library must not inherit what only the command needs"},
}

// allowed are the modules that the library may require. A harness that embeds it
// inherits them, so another one needs a reason that outweighs that. gitignore has none of
// its own, and git's rules are not to be written a second time here.
var allowed = []string{
	"github.com/git-pkgs/gitignore",
	"github.com/klauspost/compress", "github.com/oklog/ulid/v2", "github.com/tidwall/gjson",
	"github.com/tidwall/match", "github.com/tidwall/pretty", "golang.org/x/sys",
}

type listed struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T, args ...string) (packages []listed) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	return packages
}

// below tells whether a package is at or below a path of the module.
func below(pkg, path string) bool {
	rel, ok := strings.CutPrefix(pkg, module)
	rel = strings.TrimPrefix(rel, "/")
	return ok && (path == "" || rel == path || strings.HasPrefix(rel, path+"/"))
}

func belowAny(pkg string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return below(pkg, p) })
}

func TestImportsGoOneWay(t *testing.T) {
	packages := list(t, "./...", "./cmd/sessctl/...")
	if len(packages) < 8 {
		t.Fatalf("only %d packages found", len(packages))
	}
	for _, p := range packages {
		for _, r := range rules {
			if !below(p.ImportPath, r.from) || belowAny(p.ImportPath, r.unless) {
				continue
			}
			for _, imported := range p.Imports {
				if belowAny(imported, r.forbid) && !(r.from == "cmd/sessctl" && below(imported, "cmd/sessctl")) {
					t.Errorf("%s imports %s: %s", p.ImportPath, imported, r.reason)
				}
			}
		}
	}
}

func TestLibraryRequiresLittle(t *testing.T) {
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if !slices.Contains(allowed, r.Path) {
			t.Errorf("the root module requires %s, which every harness that embeds the library would inherit", r.Path)
		}
	}
}
