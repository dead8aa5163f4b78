package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/search"
)

// TestFilesOfOneSession: an entry that several files of a session have is given once, of the
// first of them; an id that a session has twice, or lacks, hides nothing.
func TestFilesOfOneSession(t *testing.T) {
	said := func(texts ...string) (records []string) {
		for _, text := range texts {
			records = append(records, message("user", fmt.Sprintf(`"content":"same %s"`, text)))
		}
		return records
	}
	named := func(id string, records ...string) string {
		return write(t, "log.jsonl", strings.Replace(log(records...), `"s1"`, fmt.Sprintf("%q", id), 1))
	}
	two, three := said("one", "two"), said("one", "two", "three")
	twice := write(t, "log.jsonl", strings.ReplaceAll(log(two...), `"id":"e2"`, `"id":"e1"`))
	for name, tc := range map[string]struct {
		paths       []string
		hits, first []int // by the index of the path
	}{
		"copies":         {[]string{named("s1", two...), named("s1", two...)}, []int{0, 0}, []int{0}},
		"one went on":    {[]string{named("s1", two...), named("s1", three...)}, []int{0, 0, 1}, []int{0}},
		"others between": {[]string{named("s1", two...), named("s2", two...), named("s1", two...)}, []int{0, 0, 1, 1}, []int{0, 1}},
		"no session id":  {[]string{named("", two...), named("", two...)}, []int{0, 0, 1, 1}, []int{0, 1}},
		"one id twice":   {[]string{twice}, []int{0, 0}, []int{0}},
	} {
		for _, first := range []bool{false, true} {
			want := tc.hits
			if first {
				want = tc.first
			}
			var got []int
			for r := range search.Files(context.Background(), tc.paths, compile(t, search.Query{Text: "same"}), &search.Options{First: first}) {
				got = append(got, slices.Index(tc.paths, r.Session.Path))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, first %v: got hits in %v, want %v", name, first, got, want)
			}
		}
	}
}
