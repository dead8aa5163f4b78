package sessgen

import (
	"hash/crc32"
	"io"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	sumKey     = `,"crc":"`
	sumLength  = len(sumKey) + 16 + len(`"}`)
	flushLimit = 256 << 10
)

// A logWriter builds one line after the other in its buffer and seals each. A
// line is begun with open, filled through buf, and finished with close.
type logWriter struct {
	w       io.Writer // nil: everything stays in buf
	buf     []byte
	native  bool
	flushed int64
	err     error

	start int    // of the line in buf
	last  uint32 // first half of the line before
	late  *stamp // pi writes these fields behind a custom entry's own
	stamp stamp
}

func newLogWriter(w io.Writer, f Format) *logWriter {
	return &logWriter{w: w, native: f == Native, buf: make([]byte, 0, flushLimit*3/2)}
}

// size is the length of the log so far.
func (l *logWriter) size() int64 { return l.flushed + int64(len(l.buf)) }

func (l *logWriter) open(kind string, s stamp) {
	l.start, l.stamp, l.late = len(l.buf), s, nil
	l.raw(`{"type":"`, kind, `"`)
	if !l.native && (kind == "custom" || kind == "custom_message") {
		l.late = &l.stamp
		return
	}
	l.base(s)
}

func (l *logWriter) base(s stamp) {
	l.id("id", s.id)
	l.id("parentId", s.parent)
	l.time("timestamp", s.ms)
}

// close ends the line. more says that the batch goes on with the next one.
func (l *logWriter) close(more bool) {
	if l.late != nil {
		l.base(*l.late)
	}
	if !l.native {
		l.raw("}\n")
		l.flush(flushLimit)
		return
	}
	if more {
		l.raw(`,"more":true`)
	}
	l.seal()
	l.flush(flushLimit)
}

func (l *logWriter) seal() {
	sum := crc32.Checksum(l.buf[l.start:], castagnoli)
	l.raw(sumKey)
	l.buf = appendHex32(l.buf, sum)
	l.buf = appendHex32(l.buf, l.last)
	l.raw("\"}\n")
	l.last = sum
}

// foreign appends a line that is not this writer's: garbage or a copy. The
// next line's sum is chained to it as the format says; an empty line is
// nobody's neighbour.
func (l *logWriter) foreign(line []byte) {
	if len(line) > 0 {
		l.last = chainValue(line)
	}
	l.buf = append(append(l.buf, line...), '\n')
}

// chainValue is what the line behind this one repeats: the first half of its
// sum if that is right, else a sum of the whole line.
func chainValue(line []byte) uint32 {
	if n := len(line) - sumLength; n > 0 && string(line[n:n+len(sumKey)]) == sumKey {
		sum := crc32.Checksum(line[:n], castagnoli)
		if string(appendHex32(nil, sum)) == string(line[n+len(sumKey):][:8]) {
			return sum
		}
	}
	return crc32.Checksum(line, castagnoli)
}

func (l *logWriter) flush(limit int) {
	if l.w == nil || len(l.buf) < limit || l.err != nil {
		return
	}
	_, l.err = l.w.Write(l.buf)
	l.flushed += int64(len(l.buf))
	l.buf = l.buf[:0]
}

// finish writes what is left and returns the first error.
func (l *logWriter) finish() error {
	l.flush(1)
	return l.err
}

func (l *logWriter) raw(parts ...string) {
	for _, part := range parts {
		l.buf = append(l.buf, part...)
	}
}

func (l *logWriter) key(name string) { l.raw(`,"`, name, `":`) }

func (l *logWriter) id(name string, id entryID) {
	l.key(name)
	l.buf = appendID(l.buf, id)
}

func (l *logWriter) time(name string, ms int64) {
	l.key(name)
	l.buf = appendTime(l.buf, ms)
}

func (l *logWriter) number(name string, f float64) {
	l.key(name)
	l.buf = appendNumber(l.buf, f)
}

func (l *logWriter) text(name, value string) {
	l.key(name)
	l.buf = appendString(l.buf, value)
}

// escaped writes text that is escaped already.
func (l *logWriter) escaped(name string, value []byte) {
	l.raw(`,"`, name, `":"`)
	l.buf = append(l.buf, value...)
	l.buf = append(l.buf, '"')
}

// header writes the first line, from the id source's present time.
func (l *logWriter) header(ids *idSource) {
	l.start = len(l.buf)
	l.raw(`{"type":"session","version":3,"id":`)
	if l.native {
		l.buf = appendID(l.buf, ids.ulid())
	} else {
		l.buf = appendUUID(l.buf, ids.r, ids.ms)
	}
	l.time("timestamp", ids.ms)
	l.text("cwd", workDir)
	if l.native {
		l.raw(`,"titleSource":"user","format":"sessiontree/1","records":["tool_execution_start"]`)
	}
	l.late = nil
	l.close(false)
}
