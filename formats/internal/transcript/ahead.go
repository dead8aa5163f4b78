package transcript

import (
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/internal/syntax"
)

// mostAhead is how many walk ahead: taking what they find keeps no more of them busy.
const mostAhead = 3

// mostFound bounds what is found in a block: one of tiny lines would take a hundred times
// its size. The others are left to the scan.
const mostFound = 4096

// A scout walks the lines of blocks before they are taken. It knows only lines that are one
// object and nothing else: all others are left to the scan.
type scout[W Walker] struct {
	to   Translator[W]
	text syntax.Text
}

// Sighted is what a scout found in a block: of its first n lines.
type sighted[W Walker] struct {
	n    int
	list []found[W]
}

// line gives what was found on line i, nil where nothing was.
func (s *sighted[W]) line(i int) *found[W] {
	if s == nil || i >= s.n || s.list[i].end == 0 {
		return nil
	}
	return &s.list[i]
}

// Found is an object that is all of a line; its end is 0 where there is none.
type found[W Walker] struct {
	walker  W
	at, end int
}

func (s *scout[W]) look(b *jsonl.Block) {
	if b.Found == nil {
		b.Found = &sighted[W]{}
	}
	seen := b.Found.(*sighted[W])
	seen.n = 0
	for l := range b.Lines {
		if seen.n == mostFound {
			break
		}
		if seen.n == len(seen.list) {
			seen.list = append(seen.list, found[W]{walker: s.to.Walker(true)})
		}
		s.line(l.Bytes, &seen.list[seen.n])
		seen.n++
	}
}

func (s *scout[W]) line(line []byte, f *found[W]) {
	s.text.Reset(line)
	f.at, f.end = s.text.Space(0), 0
	if end := f.walker.Walk(&s.text, line, f.at); end > 0 && s.text.Space(end) == len(line) {
		f.end = end
	}
}
