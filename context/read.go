package modelcontext

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
)

// A reading is what became of one entry: a message, an edit, or nothing and why.
type reading struct {
	message Message // Raw is nil where there is none
	content []byte  // of a stored message
	edit    *edit
	reason  Reason
	detail  string
	started *string // the call of which the entry tells that its tool was started; "" where it names none
}

// readings are those of many entries.
type readings struct {
	messages []Message
	edits    []edit
}

// contributes tells whether an entry's body is needed for a context.
func contributes(e entries.Entry) bool {
	switch e.Type {
	case entries.TypeMessage, entries.TypeCustomMessage, entries.TypeBranchSummary,
		entries.TypeContextEdit, entries.TypeCompaction, entries.TypeCustom:
		return true
	}
	return false
}

// read reads the bodies of entries, given the lowest first, in the order of the path:
// in batches, so that what is kept besides the messages stays small.
func (b *builder) read(up []entries.Entry, one func(entries.Entry, []byte) reading) (all readings, err error) {
	const batch = 4096
	all.messages = make([]Message, 0, len(up))
	part := make([]entries.Entry, min(batch, len(up)))
	list := make([]reading, len(part))
	for end := len(up); end > 0; end -= len(part) {
		part = part[:min(batch, end)]
		copy(part, up[end-len(part):end])
		slices.Reverse(part)
		clear(list)
		if err := b.readBatch(part, list, one); err != nil {
			return all, err
		}
		for i, e := range part {
			b.take(&all, e.ID, list[i])
		}
	}
	return all, nil
}

func (b *builder) take(all *readings, id entries.ID, r reading) {
	switch {
	case r.message.Raw != nil:
		all.messages = append(all.messages, r.message)
	case r.edit != nil:
		all.edits = append(all.edits, *r.edit)
	case r.reason != "":
		b.ctx.Report.drop(id, r.reason, r.detail)
	case r.started != nil:
		b.ctx.started[*r.started] = true
	}
}

// readBatch fills list. Where that pays each processor has a part of neighbours, which
// are neighbours in the file too.
func (b *builder) readBatch(part []entries.Entry, list []reading, one func(entries.Entry, []byte) reading) error {
	const alone = 64 // entries that are not worth another goroutine
	workers := min(runtime.GOMAXPROCS(0), (len(part)+alone-1)/alone)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		from, to := w*len(part)/workers, (w+1)*len(part)/workers
		wait.Go(func() { errs[w] = b.readRuns(part[from:to], list[from:to], one) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// readRuns reads entries that stand side by side in the file at once.
func (b *builder) readRuns(part []entries.Entry, list []reading, one func(entries.Entry, []byte) reading) error {
	for len(part) > 0 {
		if !contributes(part[0]) {
			part, list = part[1:], list[1:]
			continue
		}
		n := run(part)
		if err := b.readRun(part[:n], list[:n], one); err != nil {
			return err
		}
		part, list = part[n:], list[n:]
	}
	return nil
}

// run counts the first entries that stand side by side and are small enough to be read
// at once: a message keeps the run that it came with in memory.
func run(part []entries.Entry) int {
	const most, gap = 64 << 10, 2 // bytes; a gap is a newline
	n := 1
	for ; n < len(part); n++ {
		prev, e := part[n-1], part[n]
		between := e.Offset - prev.Offset - prev.Size
		if between < 0 || between > gap || e.Offset+e.Size-part[0].Offset > most {
			break
		}
	}
	return n
}

func (b *builder) readRun(part []entries.Entry, list []reading, one func(entries.Entry, []byte) reading) error {
	first, last := part[0], part[len(part)-1]
	all, err := b.t.ReadRecord(first.Offset, last.Offset+last.Size-first.Offset)
	if err != nil {
		return fmt.Errorf("entry %s at byte %d: %w", first.ID.Short(), first.Offset, err)
	}
	for i, e := range part {
		at := e.Offset - first.Offset
		raw := all[at : at+e.Size : at+e.Size]
		if raw[0] != '{' || raw[len(raw)-1] != '}' {
			return fmt.Errorf("entry %s at byte %d: %w", e.ID.Short(), e.Offset, sessiontree.ErrChanged)
		}
		list[i] = readOne(e, raw, one)
	}
	return nil
}

func readOne(e entries.Entry, raw []byte, one func(entries.Entry, []byte) reading) reading {
	switch {
	case !contributes(e):
		return reading{}
	case e.Type == entries.TypeCustom:
		return reading{started: startedCall(raw)}
	}
	return one(e, raw)
}

// startedCall gives the call's id where a custom entry is a tool_execution_start. One
// that names no call leaves open which: then nothing can be said to have never started.
func startedCall(raw []byte) *string {
	if !bytes.Contains(raw, []byte(entries.CustomToolExecutionStart)) {
		return nil
	}
	rec, err := readRecord(raw)
	if err != nil || jsonvalue.String(rec["customType"]) != entries.CustomToolExecutionStart {
		return nil
	}
	id := jsonvalue.Exact(jsonvalue.Get(rec["data"], "toolCallId"))
	return &id
}

// messageObject finds the message of a record, nil where it is no object, and that
// message's content.
func messageObject(raw []byte) (object, content []byte, err error) {
	value, err := jsonvalue.Inner(raw, "message", func() { content = nil }, func(key []byte, at, end int) {
		if jsonvalue.Is(key, "content") {
			content = raw[at:end]
		}
	})
	if !isObject(value) {
		return nil, nil, err
	}
	return value, content, err
}

func fieldOf(object []byte, name string) []byte { return jsonvalue.Get(object, name) }

// arrayOfText is content of one block, of text that is a JSON string.
func arrayOfText(text []byte) []byte {
	return jsonvalue.Array(rawTextBlock(text))
}
