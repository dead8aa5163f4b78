package checkpoint_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestBehavioursAreTested: docs/files.md has each behaviour once, and each test and
// script that it names exists.
func TestBehavioursAreTested(t *testing.T) {
	data, err := os.ReadFile("../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	test := regexp.MustCompile("`([a-z/]+)\\.(Test\\w+)`")
	rows := map[int]int{}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) == 5 {
			if n, err := strconv.Atoi(strings.TrimSpace(cells[1])); err == nil {
				rows[n]++
				if !test.MatchString(cells[3]) && !strings.HasPrefix(cells[3], " does not apply: ") {
					t.Errorf("%d has neither a test nor a reason", n)
				}
			}
		}
		for _, m := range test.FindAllStringSubmatch(line, -1) {
			if !hasTest(t, m[1], m[2]) {
				t.Errorf("there is no %s in %s", m[2], m[1])
			}
		}
		for _, m := range regexp.MustCompile("`([\\w-]+\\.txtar)`").FindAllStringSubmatch(line, -1) {
			if _, err := os.Stat("../cmd/sessctl/testdata/script/" + m[1]); err != nil {
				t.Error(err)
			}
		}
	}
	for n := 1; n <= 90; n++ {
		if want := n <= 31 || n >= 66; want != (rows[n] == 1) {
			t.Errorf("behaviour %d has %d rows", n, rows[n])
		}
	}
}

// hasTest looks for a test in the files of a folder and below it.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	found := errors.New("found")
	err := filepath.WalkDir(filepath.Join("..", dir), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		data, err := os.ReadFile(file)
		if strings.Contains(string(data), "\nfunc "+name+"(t *testing.T) {") {
			return found
		}
		return err
	})
	if err != nil && !errors.Is(err, found) {
		t.Fatal(err)
	}
	return err != nil
}
