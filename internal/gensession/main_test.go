package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "17": 17, "17B": 17, "2kb": 2000, "1.5MB": 1500000, "3GB": 3e9} {
		if got, err := parseSize(text); got != want || err != nil {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "MB", "-1", "1TB", "ten", "NaN", "1e300GB"} {
		if _, err := parseSize(text); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"-x"}, {"-format", "omp"}, {"-tree", "1", "-chain", "1"}, {"more"}, {"-size", "big"}} {
		_, err := parse(args)
		if code := report(err); code != 2 {
			t.Errorf("%v: exit %d (%v)", args, code, err)
		}
	}
}

func TestRunWritesTheSameToFileAndStdout(t *testing.T) {
	for _, args := range [][]string{
		{"-size", "50KB"}, {"-size", "50KB", "-format", "pi", "-no-compaction"}, {"-tree", "20"}, {"-chain", "20"},
	} {
		file := filepath.Join(t.TempDir(), "log.jsonl")
		var stdout, notes bytes.Buffer
		runArgs(t, args, &stdout, &notes)
		runArgs(t, append(args, "-o", file), &notes, &notes)
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, stdout.Bytes()) || len(got) == 0 {
			t.Errorf("%v: %d bytes in the file, %d on stdout, %v", args, len(got), stdout.Len(), err)
		}
	}
}

func runArgs(t *testing.T, args []string, stdout, notes *bytes.Buffer) {
	t.Helper()
	c, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(c, stdout, notes); err != nil {
		t.Fatal(err)
	}
}
