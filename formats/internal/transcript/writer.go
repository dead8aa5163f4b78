package transcript

import (
	"bytes"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// kept is from which length on a part of a line stays in its file: shorter ones are
// copied, since reading a piece again costs a system call.
const kept = 256

// mostShort is how much the short members of an object may be together: those of a
// hostile one could be all of a file, and they are copied.
const mostShort = 16 << 10

// A Writer drafts parts of records while a line is at hand.
type Writer struct {
	log    *Log
	file   int32
	line   []byte
	at     int64 // of the line, in the file
	limit  int64 // of the file
	before int64 // bytes of other files that were read
	first  int   // where the draft starts
	long   []Span
}

// Writer gives a writer for the log.
func (l *Log) Writer() *Writer { return &Writer{log: l} }

// LineStart is where the line at hand starts in its file.
func (w *Writer) LineStart() int64 { return w.at }

// Begin starts a draft.
func (w *Writer) Begin() { w.first = len(w.log.drafts) }

// Draft ends the draft that was started and gives it.
func (w *Writer) Draft() Draft {
	w.log.drafted++
	return Draft{int32(w.first), int32(len(w.log.drafts))}
}

// Text adds text.
func (w *Writer) Text(s string) {
	b := w.log.room()
	w.log.bytes = append(b, s...)
	w.made(len(b))
}

// String adds a JSON string.
func (w *Writer) String(s string) {
	b := w.log.room()
	w.log.bytes = jsonvalue.AppendString(b, s)
	w.made(len(b))
}

// Number adds a number.
func (w *Writer) Number(f float64) {
	b := w.log.room()
	w.log.bytes = jsonvalue.AppendNumber(b, f)
	w.made(len(b))
}

func (w *Writer) made(start int) { w.piece(w.log.since(start)) }

func (w *Writer) piece(p piece) {
	w.log.drafts = add(Room(w.log.drafts, w.at, w.limit), w.first, p)
}

// Raw adds a value of the line as it stands there.
func (w *Writer) Raw(s Span) { w.keep(s, w.file) }

// keep adds a part of the line: a short one as what is made, a long one as a place in file.
func (w *Writer) keep(s Span, file int32) {
	if s.End-s.At < kept {
		w.copy(s)
		return
	}
	for at := s.At; at < s.End; at += mostOfAPiece {
		size := min(s.End-at, mostOfAPiece)
		w.piece(piece{at: w.at + int64(at), size: int32(size), file: file})
		file |= inside // of a value that is several pieces, the first stands for all
	}
}

func (w *Writer) copy(s Span) {
	b := w.log.room()
	w.log.bytes = append(b, w.line[s.At:s.End]...)
	w.made(len(b))
}

// Object is Raw for an object whose short members are to be in the log's outlines.
func (w *Writer) Object(s Span) {
	w.long = w.long[:0]
	short := s.End - s.At
	if short >= kept {
		_ = jsonvalue.Spans(s.Of(w.line), func(_ []byte, at, end int) {
			if end-at >= kept {
				w.long = append(w.long, Span{s.At + at, s.At + end})
				short -= end - at
			}
		})
	}
	if short > mostShort {
		w.Raw(s)
		return
	}
	for _, long := range w.long {
		w.copy(Span{s.At, long.At})
		w.Raw(long)
		s.At = long.End
	}
	w.copy(s)
}

// Part is Raw for a value that is at hand as bytes.
func (w *Writer) Part(value []byte) {
	if len(value) > 0 {
		w.Raw(w.span(value))
	}
}

// span finds a part of the line: it shares its bytes, so that its capacity tells where it
// starts.
func (w *Writer) span(part []byte) Span {
	at := cap(w.line) - cap(part)
	return Span{at, at + len(part)}
}

// A Span is a part of a line; the zero Span is none.
type Span struct{ At, End int }

// None tells that nothing was found.
func (s Span) None() bool { return s.End == 0 }

// Of gives the bytes of a span.
func (s Span) Of(line []byte) []byte { return line[s.At:s.End] }

// Blocks adds content, a part of the line, as an array of pi's blocks. A string is one block
// of text; what is neither is an empty array. Of other programs' blocks text and images have a
// form of their own in pi's records; any other stays what it is.
func (w *Writer) Blocks(content []byte) {
	w.Text("[")
	n := 0
	each := func(element []byte) {
		if n++; n > 1 {
			w.Text(",")
		}
		w.Block(element)
	}
	switch {
	case isString(content):
		each(content)
	case len(content) > 0 && content[0] == '[':
		jsonvalue.Elements(content, each)
	}
	w.Text("]")
}

// Block adds one block. Texts of other names (input_text, output_text) are texts; an image may
// be base64 with its type or a data URL.
func (w *Writer) Block(element []byte) {
	if isString(element) {
		w.textOf(element)
		return
	}
	switch jsonvalue.String(jsonvalue.Get(element, "type")) {
	case "text", "input_text", "output_text", "inputText", "Text":
		if text := jsonvalue.Get(element, "text"); isString(text) {
			w.textOf(text)
			return
		}
	case "image":
		source := jsonvalue.Get(element, "source")
		data, media := jsonvalue.Get(source, "data"), jsonvalue.Get(source, "media_type")
		if isString(data) && isString(media) {
			w.image(data[1:len(data)-1], jsonvalue.String(media))
			return
		}
	case "input_image":
		if media, data, ok := dataURL(jsonvalue.Get(element, "image_url")); ok {
			w.image(data, media)
			return
		}
	}
	w.any(element)
}

// any adds what has no form in pi's records: as it is, so that nothing is lost.
func (w *Writer) any(element []byte) {
	if len(element) == 0 || element[0] != '{' {
		w.Text(`{"type":"unknown","value":`)
		w.Part(element)
		w.Text("}")
		return
	}
	w.Part(element)
}

func (w *Writer) textOf(text []byte) {
	w.Text(`{"type":"text","text":`)
	w.Part(text)
	w.Text("}")
}

// Call begins the block of a tool's call; its arguments follow, and a brace.
func (w *Writer) Call(id, tool string) {
	w.Text(`{"type":"toolCall","id":`)
	w.String(id)
	w.Text(`,"name":`)
	w.String(tool)
	w.Text(`,"arguments":`)
}

// Result begins the message of a tool's result, up to its content.
func (w *Writer) Result(id, tool string, content []byte) {
	w.Text(`,"message":{"role":"toolResult","toolCallId":`)
	w.String(id)
	w.Text(`,"toolName":`)
	w.String(tool)
	w.Text(`,"content":`)
	w.Blocks(content)
}

// dataURL takes apart a string with an image in it.
func dataURL(value []byte) (media string, data []byte, ok bool) {
	rest, ok := bytes.CutPrefix(value, []byte(`"data:`))
	if !ok {
		return "", nil, false
	}
	head, data, ok := bytes.Cut(rest, []byte(";base64,"))
	if !ok || len(head) > 100 || bytes.IndexByte(head, '\\') >= 0 {
		return "", nil, false
	}
	return string(head), data[:len(data)-1], true
}

func isString(value []byte) bool { return len(value) > 1 && value[0] == '"' }

func (w *Writer) image(data []byte, media string) {
	w.Text(`{"type":"image","data":"`)
	if len(data) > 0 {
		w.keep(w.span(data), w.file|inside)
	}
	w.Text(`","mimeType":`)
	w.String(media)
	w.Text("}")
}

// Millis adds the number of milliseconds of a timestamp, 0 where it is none.
func (w *Writer) Millis(time string) { w.Number(Millis(time)) }

// Millis gives the milliseconds since 1970 of a timestamp, 0 where it is none.
func Millis(time string) float64 {
	t := entries.ParseTime(time)
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli())
}

// A Usage counts the tokens of a message.
type Usage struct{ Input, Output, CacheRead, CacheWrite float64 }

// Most takes the larger of each count: where a message's usage is told several times,
// it grows.
func (u Usage) Most(v Usage) Usage {
	return Usage{max(u.Input, v.Input), max(u.Output, v.Output), max(u.CacheRead, v.CacheRead), max(u.CacheWrite, v.CacheWrite)}
}

// Plus adds the counts.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// append appends the usage as pi records it. What it cost is not known.
func (u Usage) append(b []byte) []byte {
	total := u.Input + u.Output + u.CacheRead + u.CacheWrite
	b = jsonvalue.AppendNumber(append(b, `{"input":`...), u.Input)
	b = jsonvalue.AppendNumber(append(b, `,"output":`...), u.Output)
	b = jsonvalue.AppendNumber(append(b, `,"cacheRead":`...), u.CacheRead)
	b = jsonvalue.AppendNumber(append(b, `,"cacheWrite":`...), u.CacheWrite)
	b = jsonvalue.AppendNumber(append(b, `,"totalTokens":`...), total)
	return append(b, `,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`...)
}
