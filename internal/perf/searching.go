package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/sessctl/sessctl/search"
)

// The cases of this file look for a text in the large sessions, beside the programs that
// people do that with: grep, which counts lines, whatever the text stands in, and jq,
// which has to decode each of them.

// sought stands in a few hundred messages of a generated gigabyte.
const sought = "cursor offset merge"

func searchAll(path string) (n int64, err error) {
	p, err := search.Compile(search.Query{Text: sought})
	if err != nil {
		return 0, err
	}
	opt := &search.Options{Workers: runtime.GOMAXPROCS(0)}
	for r := range search.Files(context.Background(), []string{path}, p, opt) {
		if r.Err != nil {
			return n, r.Err
		}
		n++
	}
	return n, nil
}

func grepCase(path string) (int64, time.Duration, error) {
	return timedCommand(exec.Command("grep", "-cF", sought, path), func(out string) (n int64, err error) {
		_, err = fmt.Sscan(out, &n)
		return n, err
	})
}

func jqCase(path string) (int64, time.Duration, error) {
	filter := fmt.Sprintf(`select(any(.. | strings; contains(%q))) | 1`, sought)
	return timedCommand(exec.Command("jq", "-c", filter, path), func(out string) (int64, error) {
		return int64(strings.Count(out, "\n")), nil
	})
}

// timedCommand runs another program on one processor, as GOMAXPROCS does with ours.
func timedCommand(cmd *exec.Cmd, read func(string) (int64, error)) (n int64, took time.Duration, err error) {
	start := time.Now()
	out, err := cmd.Output()
	took = time.Since(start)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // grep found nothing
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", cmd, err)
	}
	n, err = read(string(out))
	return n, took, err
}

// soughtLines counts by a plain reading of the log, soughtText without the records of
// programs, which nobody reads.
func soughtLines(s *session) int64 { return countSought(s, func([]byte) bool { return true }) }

func soughtText(s *session) int64 {
	return countSought(s, func(line []byte) bool { return !bytes.HasPrefix(line, []byte(`{"type":"custom",`)) })
}

func countSought(s *session, counts func(line []byte) bool) int64 {
	file, err := os.Open(s.path)
	if err != nil {
		return -1
	}
	defer file.Close()
	n := int64(0)
	for lines := bufio.NewReaderSize(file, 1<<20); ; {
		line, err := lines.ReadBytes('\n')
		if bytes.Contains(line, []byte(sought)) && counts(line) {
			n++
		}
		if err == io.EOF {
			return n
		} else if err != nil {
			return -1
		}
	}
}

// searchRows compare with grep, and with jq on the session that has the size for that.
func searchRows(s *session) []row {
	grep := job{"grep", s}
	return []row{
		{"grep -cF", grep, job{"limit", s}, nil},
		{"search, one core", job{"search", s}, grep, []target{faster(0.5), under(128)}},
		{"search, 2 processors", job{"search2", s}, grep, []target{faster(0.5), under(128)}},
	}
}

func jqRows(s *session) []row {
	jq := job{"jq", s}
	return []row{
		{"jq, any string", jq, job{"limit", s}, nil},
		{"search, one core", job{"search", s}, jq, []target{faster(10)}},
	}
}
