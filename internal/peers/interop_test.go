package peers

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestInteropListsEveryDeviation: docs/interop.md and the tests have the same
// headings.
func TestInteropListsEveryDeviation(t *testing.T) {
	page, err := os.ReadFile("../../docs/interop.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, tested []string
	for line := range strings.Lines(string(page)) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			listed = append(listed, strings.TrimSpace(heading))
		}
	}
	for _, c := range deviationCases {
		tested = append(tested, c.heading)
	}
	if tested = slices.Compact(tested); !slices.Equal(listed, tested) {
		t.Errorf("got headings %q, want those of TestDeviations %q", listed, tested)
	}
	for _, heading := range namedHeadings() {
		if !slices.Contains(listed, heading) {
			t.Errorf("a test names the heading %q, want it in docs/interop.md", heading)
		}
	}
}

func namedHeadings() []string {
	var list []string
	for _, d := range corpusDeviations {
		list = append(list, d.heading)
	}
	for _, logs := range disagreements {
		for _, heading := range logs {
			list = append(list, heading)
		}
	}
	for _, r := range refused {
		if r.heading != "" {
			list = append(list, r.heading)
		}
	}
	return list
}
