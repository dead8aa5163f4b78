package entries_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/entries"
)

// TestHeaderVersion: pi compares with < 2 and < 3 and takes a missing version for
// 1, so what is no number is not migrated.
func TestHeaderVersion(t *testing.T) {
	for _, test := range []struct {
		member string
		want   int
	}{
		{``, 1},
		{`,"version":null`, 1},
		{`,"version":1`, 1},
		{`,"version":2`, 2},
		{`,"version":3`, 3},
		{`,"version":2.5`, 2},
		{`,"version":"2"`, 2},
		{`,"version":"3"`, 3},
		{`,"version":"three"`, 3},
		{`,"version":"nan"`, 3},
		{`,"version":"null"`, 3},
		{`,"version":[1]`, 3},
		{`,"version":-7`, -1},
		{`,"version":1e300`, 1 << 30},
		{`,"version":12345678901234567890`, 1 << 30},
		{`,"version":3,"version":1`, 1},
		{`,"Version":2`, 1},
		{`,"\u0076ersion":2`, 2},
	} {
		h, err := entries.ParseHeader([]byte(`{"type":"session","id":"s"` + test.member + `}`))
		if err != nil || h.Version != test.want {
			t.Errorf("%s: got version %d (%v), want %d", test.member, h.Version, err, test.want)
		}
	}
}

func TestHeaderIsRefused(t *testing.T) {
	for _, line := range []string{
		``, `null`, `[]`, `{}`, `{"type":"session"}`, `{"type":"session","id":7}`, `{"type":"session","id":null}`,
		`{"type":"message","id":"s"}`, `{"Type":"session","id":"s"}`, `{"type":"session","id":"s"`,
		`{"type":"session","id":"s"} x`, `{"type":"session","id":"s"}{}`, `{"type":"session","id":"s","id":1}`,
		`{"type":"session","type":"message","id":"s"}`,
	} {
		if h, err := entries.ParseHeader([]byte(line)); err == nil {
			t.Errorf("%s: got header %+v, want an error", line, h)
		}
	}
}

func TestHeaderFields(t *testing.T) {
	line := `{"type":"session","version":3,"id":"01A","timestamp":"2026-01-05T09:00:00.5+01:00","cwd":"/a \u0041","titleSource":"user",` +
		`"format":"sessiontree/2","records":["file-snapshot","x",7],"parentSession":"/p","parentEntry":"e1","generator":"g/1","unknown":{"id":"no"}}`
	h, err := entries.ParseHeader([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(h.Raw(), []byte(line)) {
		t.Errorf("Raw: got %s, want the line", h.Raw())
	}
	for what, pair := range map[string][2]any{
		"id":      {h.ID, "01A"},
		"time":    {h.Time, time.Date(2026, 1, 5, 8, 0, 0, 5e8, time.UTC)},
		"cwd":     {h.Cwd, "/a A"},
		"source":  {h.TitleSource, "user"},
		"native":  {h.Native(), true},
		"format":  {h.NativeVersion(), 2},
		"omp":     {h.Omp(), false}, // titleSource is ours, too
		"records": {fmt.Sprint(h.Records), "[file-snapshot x ]"},
		"parent":  {h.ParentSession, "/p"},
		"entry":   {h.ParentEntry, entries.ID("e1")},
		"by":      {h.Generator, "g/1"},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %v, want %v", what, pair[0], pair[1])
		}
	}
}

func TestHeaderOfWhom(t *testing.T) {
	for _, test := range []struct {
		member      string
		native, omp bool
		version     int
	}{
		{``, false, false, 0},
		{`,"title":"t"`, false, true, 0},
		{`,"titleSource":"auto"`, false, true, 0},
		{`,"additionalDirectories":[]`, false, true, 0},
		{`,"previousSessionFiles":[]`, false, true, 0},
		{`,"providerPromptCacheKey":"k"`, false, true, 0},
		{`,"parentSession":"x"`, false, false, 0},
		{`,"format":"sessiontree/1"`, true, false, 1},
		{`,"format":"sessiontree/1","title":"t"`, true, false, 1},
		{`,"format":"sessiontree/99"`, true, false, 99},
		{`,"format":"sessiontree/"`, true, false, 0},
		{`,"format":"sessiontree/x"`, true, false, 0},
		{`,"format":"other/1"`, false, false, 0},
		{`,"format":7`, false, false, 0},
	} {
		h, err := entries.ParseHeader([]byte(`{"type":"session","id":"s"` + test.member + `}`))
		if err != nil || h.Native() != test.native || h.Omp() != test.omp || h.NativeVersion() != test.version {
			t.Errorf("%s: got native %v, omp %v, version %d (%v), want %+v", test.member, h.Native(), h.Omp(), h.NativeVersion(), err, test)
		}
	}
}

// titleLine pads a title line to size bytes, its newline counted but left out.
func titleLine(size int, members string) []byte {
	line := `{"type":"title","v":1,"title":"T","updatedAt":"2026-01-05T09:00:00.000Z"` + members + `,"pad":"`
	return []byte(line + strings.Repeat(" ", size-1-len(line)-len(`"}`)) + `"}`)
}

func TestTitleLine(t *testing.T) {
	long := titleLine(256, "")
	for _, test := range []struct {
		what string
		line []byte
		want bool
	}{
		{"exact", long, true},
		{"with a source", titleLine(256, `,"source":"auto"`), true},
		{"source by a user", titleLine(256, `,"source":"user"`), true},
		{"one byte short", titleLine(255, ""), false},
		{"one byte long", titleLine(257, ""), false},
		{"empty", nil, false},
		{"other source", titleLine(256, `,"source":"me"`), false},
		{"empty source", titleLine(256, `,"source":""`), false},
		{"source no string", titleLine(256, `,"source":1`), false},
		{"title no string", titleLine(256, `,"title":1`), false},
		{"other version", titleLine(256, `,"v":2`), false},
		{"version as text", titleLine(256, `,"v":"1"`), false},
		{"other type", titleLine(256, `,"type":"session"`), false},
		{"no pad", bytes.Replace(long, []byte(`"pad"`), []byte(`"dap"`), 1), false},
		{"not JSON", bytes.Replace(long, []byte(`"pad"`), []byte(`"pad `), 1), false},
		{"something behind it", append(bytes.TrimSuffix(titleLine(254, ""), []byte(`\n`)), "{}"...), false},
	} {
		got, ok := entries.ParseTitle(test.line)
		if ok != test.want || ok && got.Title != "T" {
			t.Errorf("%s: got %+v, %v, want %v", test.what, got, ok, test.want)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x"}`))
	f.Add([]byte(`{"type":"session","version":"\ud83d","id":"\u00","records":[1,[2],{"a":"b"}]}`))
	f.Add([]byte(` {"id":"s","type":"session","format":"sessiontree/1","version":1e999} `))
	f.Add(titleLine(256, ""))
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		h, err := entries.ParseHeader(line)
		if err == nil && !bytes.Equal(h.Raw(), line) {
			t.Errorf("Raw: got %q, want %q", h.Raw(), line)
		}
		if err == nil && (h.Version < -1 || h.Version > 1<<30 || h.NativeVersion() != 0 && !h.Native()) {
			t.Errorf("got version %d, format %q", h.Version, h.Format)
		}
		entries.ParseTitle(line)
		if !bytes.Equal(line, before) {
			t.Error("the line was changed")
		}
	})
}
