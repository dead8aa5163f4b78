package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sessctl/sessctl/internal/castagnoli"
)

// A Source is what logs are read from; store.Source has it.
type Source interface{ io.ReaderAt }

// A viewer is a source that has bytes in memory: it gives those of [from, to), or nil where
// they have to be read.
type viewer interface{ View(from, to int64) []byte }

// ErrCut is returned when a log lost bytes while it was read.
var ErrCut = errors.New("the log changed under its reader")

const (
	// forwardBlock is as large as makes reading cheap (larger gains nothing) and
	// small enough to stay in the processor's cache.
	forwardBlock  = 2 << 20
	backwardBlock = 256 << 10
	headBlock     = 64 << 10
	// firstBlock is for who most likely wants no more than a line or two.
	firstBlock = 16 << 10
	// lastBlock has the last line of most logs, which is all that is wanted most often.
	lastBlock = 4 << 10
	// keptBlock is the largest buffer that is kept for the next block: what a
	// giant line needed is given back.
	keptBlock = 8 << 20
)

// A chunk is a run of whole lines and their records.
type chunk struct {
	parser
	buf  []byte
	data []byte // whole lines; the last may lack its newline at the log's end
	base int64  // where data starts in the log

	parsed int // bytes of data whose records were found
	lines  int // how many lines that are

	part     []byte // lines of data that wholeLine can read
	partFrom int    // where they start in data

	shown Block // for Blocks
}

func (c *chunk) end() int64 { return c.base + int64(len(c.data)) }

// read fills data with the bytes [from, to) of the log.
func (c *chunk) read(src Source, from, to int64) error {
	if v, ok := src.(viewer); ok {
		if c.base, c.data = from, v.View(from, to); c.data != nil {
			return nil
		}
	}
	n := int(to - from)
	if cap(c.buf) < n || cap(c.buf) > keptBlock && n <= keptBlock {
		c.buf = make([]byte, n)
	}
	c.base, c.data = from, c.buf[:n]
	got, err := src.ReadAt(c.data, from)
	if got == n {
		return nil
	}
	if err == io.EOF {
		return fmt.Errorf("%w: it ends at byte %d, not %d", ErrCut, from+int64(got), to)
	}
	return err
}

// loadForward takes the whole lines that start at from, about block bytes of them
// and at least one. limit is the log's end.
func (c *chunk) loadForward(src Source, from, limit int64, block int) error {
	to := min(from+int64(block), limit)
	if err := c.read(src, from, to); err != nil || to == limit {
		return err
	}
	if n := lastNewline(c.data); n >= 0 {
		c.data = c.data[:n+1]
		return nil
	}
	to, err := c.lineEnd(src, to, limit)
	if err != nil {
		return err
	}
	return c.read(src, from, to)
}

// lineEnd finds the end of the line that goes on at from.
func (c *chunk) lineEnd(src Source, from, limit int64) (int64, error) {
	for from < limit {
		to := min(from+forwardBlock, limit)
		if err := c.read(src, from, to); err != nil {
			return 0, err
		}
		if n := bytes.IndexByte(c.data, '\n'); n >= 0 {
			return from + int64(n) + 1, nil
		}
		from = to
	}
	return limit, nil
}

// loadBackward takes the whole lines before end, about block bytes of them and at
// least one. end is the start of a line, or the log's end.
func (c *chunk) loadBackward(src Source, end int64, block int) error {
	from := max(end-int64(block), 0)
	if err := c.read(src, from, end); err != nil || from == 0 {
		return err
	}
	// The first newline, since looking for the last one is many times slower.
	if n := bytes.IndexByte(c.data[:len(c.data)-1], '\n'); n >= 0 {
		c.base, c.data = from+int64(n)+1, c.data[n+1:]
		return nil
	}
	from, err := c.lineStart(src, from)
	if err != nil {
		return err
	}
	return c.read(src, from, end)
}

// lineStart finds the start of the line that end is in.
func (c *chunk) lineStart(src Source, end int64) (int64, error) {
	for step := int64(headBlock); end > 0; step = min(2*step, forwardBlock) {
		from := max(end-step, 0)
		if err := c.read(src, from, end); err != nil {
			return 0, err
		}
		if n := lastNewline(c.data); n >= 0 {
			return from + int64(n) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// lastNewline is bytes.LastIndexByte, which goes byte by byte, by way of
// bytes.IndexByte, which does not.
func lastNewline(data []byte) int {
	const window = 4 << 10
	for end := len(data); end > 0; end -= min(window, end) {
		start := max(end-window, 0)
		last := -1
		for n := start; n < end; {
			i := bytes.IndexByte(data[n:end], '\n')
			if i < 0 {
				break
			}
			last = n + i
			n = last + 1
		}
		if last >= 0 {
			return last
		}
	}
	return -1
}

// someRecords is how many records Forward holds of a chunk at once: a block of
// ordinary lines has fewer, and one of tiny lines would take a hundred times its
// size.
const someRecords = 1 << 14

// parse finds the records of all lines.
func (c *chunk) parse() { c.parseFirst(len(c.data) + 1) }

// parseFirst is parseOn from the first line on.
func (c *chunk) parseFirst(most int) {
	c.parsed, c.lines, c.part, c.partFrom = 0, 0, nil, 0
	c.parseOn(most)
}

// parseOn finds the records of the next lines, about as many as said, and tells
// whether there were any.
func (c *chunk) parseOn(most int) bool {
	c.recs = c.recs[:0]
	for c.parsed < len(c.data) && len(c.recs) < most {
		c.lines++
		if c.native || c.deep || !c.parseWhole() {
			c.parseAny()
		}
	}
	return len(c.recs) > 0
}

// parseWhole finds the record of the next line where that is an ordinary one.
func (c *chunk) parseWhole() bool {
	if c.parsed >= c.partFrom+len(c.part) {
		c.nextPart()
	}
	next := c.wholeLine(c.part, c.parsed-c.partFrom)
	if next == 0 {
		return false
	}
	r := &c.recs[len(c.recs)-1]
	r.Line, r.lineStart = c.lines, c.base+int64(c.parsed)
	r.Offset += c.base + int64(c.partFrom)
	c.parsed = c.partFrom + next
	return true
}

// nextPart takes the next lines as one text. They are few enough to be in the
// processor's second cache still when they are read for the second time.
func (c *chunk) nextPart() {
	const size = 128 << 10
	c.part, c.partFrom = c.data[c.parsed:], c.parsed
	if len(c.part) > size {
		if n := bytes.IndexByte(c.part[size:], '\n'); n >= 0 {
			c.part = c.part[:size+n+1]
		}
	}
	if !c.block.ResetLines(c.part) {
		c.block.Reset(nil)
	}
}

// parseAny finds the records of the next line.
func (c *chunk) parseAny() {
	line := c.data[c.parsed:]
	if c.begun = (begun{}); c.native {
		c.begun.sum, c.begun.bytes = castagnoli.Line(line)
	}
	n := bytes.IndexByte(line[c.begun.bytes:], '\n')
	ended := n >= 0
	if ended {
		line = line[:c.begun.bytes+n]
	}
	if !ended || len(line) > 0 || !c.blankAgain() {
		c.parseLine(c.base+int64(c.parsed), line, c.lines, ended)
	}
	c.parsed += len(line) + 1
}

// blankAgain counts an empty line with the one before it.
func (c *chunk) blankAgain() bool {
	if len(c.recs) == 0 {
		return false
	}
	last := &c.recs[len(c.recs)-1]
	if last.Fault != BlankLines || last.Size > 0 || last.CR || last.BOM {
		return false
	}
	last.blanks++
	last.lineStart++
	return true
}
