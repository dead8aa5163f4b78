package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/stats"
)

// The cases of this file read a transcript of Claude Code, beside jq, which decodes each of
// its lines.

// transcript is the shape of a session that is the one of testdata again and again, as one
// long conversation.
const transcript = "transcript"

const patternFile = "testdata/claude/projects/-home-ada-ferry/6513270e-269e-4d37-a2a7-4de452e6b438.jsonl"

var (
	freshForm  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}|(?:msg|req|toolu)_01\w{22}`)
	resultForm = regexp.MustCompile(`("tool_result","content"|"stdout"):"((?:[^"\\]|\\.)+)"`)
)

const (
	resultBytes = 19000 // which makes a line about 4 KB long, as those of public transcripts are
	rewindEvery = 100   // repetitions of which one keeps the branch that was left
)

// A pattern is what a transcript repeats.
type pattern struct {
	lines       [][]byte
	from, until int // lines of the branch that was left
	session     string
}

// readPattern reads the session of testdata, and makes its results as long as results are.
// Perf runs in the repository's root, its tests where they stand.
func readPattern() (*pattern, error) {
	data, err := os.ReadFile(patternFile)
	if err != nil {
		if data, err = os.ReadFile(filepath.Join("..", "..", patternFile)); err != nil {
			return nil, err
		}
	}
	p := &pattern{session: strings.TrimSuffix(filepath.Base(patternFile), ".jsonl")}
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		switch {
		case bytes.Contains(line, []byte(`"Wait, then:`)):
			p.from = i
		case bytes.Contains(line, []byte(`"No timeouts.`)):
			p.until = i
		case bytes.HasPrefix(line, []byte(`{"type":"last-prompt"`)), bytes.HasPrefix(line, []byte(`{"type":"ai-title"`)):
			continue // they are about the end of a session
		}
		p.lines = append(p.lines, resultForm.ReplaceAllFunc(line, longer))
	}
	if p.from == 0 || p.until <= p.from {
		return nil, fmt.Errorf("%s has no branch that was left", patternFile)
	}
	return p, nil
}

func longer(result []byte) []byte {
	m := resultForm.FindSubmatch(result)
	return fmt.Appendf(nil, `%s:"%s"`, m[1], bytes.Repeat(m[2], resultBytes/len(m[2])+1))
}

// writeTranscript repeats the pattern with fresh ids, each time below the time before.
func writeTranscript(w io.Writer, size int64) (s sessgen.Stats, err error) {
	p, err := readPattern()
	if err != nil {
		return s, err
	}
	r := &repetition{pattern: p, w: w}
	s.Depth = 1 // the branch that is active
	for n := 0; s.Bytes < size && err == nil; n++ {
		err = r.once(n, &s)
	}
	return s, err
}

type repetition struct {
	*pattern
	w    io.Writer
	last []byte // uuid of the last record of the conversation
}

// once counts lines as entries, and branches as depth.
func (r *repetition) once(n int, s *sessgen.Stats) error {
	parent := r.last
	fresh := func(id []byte) []byte {
		if string(id) == r.session {
			return id
		}
		return fmt.Appendf(nil, "%s%06x%s", id[:len(id)-12], n, id[len(id)-6:])
	}
	if n%rewindEvery == 0 {
		s.Depth++
	}
	for i, line := range r.lines {
		if i >= r.from && i < r.until && n%rewindEvery != 0 {
			continue
		}
		line = freshForm.ReplaceAllFunc(line, fresh)
		if parent != nil {
			line = bytes.Replace(line, []byte(`"parentUuid":null`), fmt.Appendf(nil, `"parentUuid":"%s"`, parent), 1)
		}
		if _, id, ok := bytes.Cut(line, []byte(`,"uuid":"`)); ok {
			r.last = id[:36]
		}
		if _, err := r.w.Write(append(line, '\n')); err != nil {
			return err
		}
		s.Entries, s.Bytes = s.Entries+1, s.Bytes+int64(len(line))+1
	}
	return nil
}

// countTranscript counts prompts by a plain reading.
func (s *session) countTranscript() error {
	data, err := os.ReadFile(s.path)
	s.Messages = int64(bytes.Count(data, []byte(`"promptSource":"typed"`)))
	return err
}

func foreignBranches(path string) (int64, error) {
	t, err := readForeign(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	list, err := t.Branches()
	return int64(len(list)), err
}

func foreignStats(path string) (int64, error) {
	t, err := readForeign(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	s, err := stats.Read(t, &stats.Options{Prompt: formats.Prompt})
	if err != nil {
		return 0, err
	}
	c := stats.NewCounter(nil)
	c.Add(s)
	return int64(c.Total().Prompts), nil
}

func readForeign(path string) (*sessiontree.Tree, error) {
	return formats.Read(path, &sessiontree.ReadOptions{Workers: runtime.GOMAXPROCS(0)})
}

// jqTypes decodes each line and prints one member of it.
func jqTypes(path string) (int64, time.Duration, error) {
	return timedCommand(exec.Command("jq", "-c", ".type", path), func(out string) (int64, error) {
		return int64(strings.Count(out, "\n")), nil
	})
}

func (c *config) longTranscript() *session {
	return &session{format: string(sessiontree.AgentClaude), shape: transcript, mb: c.foreign}
}

// foreignRows compare with jq, which uses one processor.
func foreignRows(c *config) []row {
	s := c.longTranscript()
	jq := job{"jq-types", s}
	return []row{
		{"jq -c .type", jq, job{"limit", s}, nil},
		{"branches, one core", job{"branches", s}, jq, []target{faster(5)}},
		{"branches, 2 processors", job{"branches2", s}, jq, []target{faster(5)}},
		{"stats, one core", job{"stats", s}, jq, []target{faster(5)}},
		{"stats, 2 processors", job{"stats2", s}, jq, []target{faster(5)}},
	}
}
