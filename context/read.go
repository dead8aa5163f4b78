package modelcontext

import (
	"bytes"
	"runtime"
	"sync"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// A reading is what became of one entry: a message, an edit, or nothing and why.
type reading struct {
	message Message // Raw is nil where there is none
	content []byte  // of a stored message
	edit    *edit
	reason  Reason
	detail  string
	started string // the call of which the entry tells that its tool was started
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

// read reads the bodies of entries, in batches so that what is kept besides the
// messages stays small, and by all processors where that pays.
func (b *builder) read(selected []entries.Entry, one func(entries.Entry, []byte) reading) (all readings, err error) {
	const batch = 4096
	all.messages = make([]Message, 0, len(selected))
	for len(selected) > 0 {
		part := selected[:min(batch, len(selected))]
		selected = selected[len(part):]
		list := make([]reading, len(part))
		if err := b.readBatch(part, list, one); err != nil {
			return all, err
		}
		for i, r := range list {
			b.take(&all, part[i].ID, r)
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
	case r.started != "":
		b.ctx.started[r.started] = true
	}
}

// readBatch fills list. Each worker has a run of neighbours, which are neighbours in
// the file too.
func (b *builder) readBatch(part []entries.Entry, list []reading, one func(entries.Entry, []byte) reading) error {
	const alone = 64 // entries that are not worth another goroutine
	workers := min(runtime.GOMAXPROCS(0), (len(part)+alone-1)/alone)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		from, to := w*len(part)/workers, (w+1)*len(part)/workers
		wait.Go(func() {
			for i := from; i < to && errs[w] == nil; i++ {
				list[i], errs[w] = readOne(part[i], one)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func readOne(e entries.Entry, one func(entries.Entry, []byte) reading) (reading, error) {
	if !contributes(e) {
		return reading{}, nil
	}
	raw, err := e.Raw()
	if err != nil {
		return reading{}, err
	}
	if e.Type == entries.TypeCustom {
		return reading{started: startedCall(raw)}, nil
	}
	return one(e, raw), nil
}

// startedCall gives the call's id where a custom entry is a tool_execution_start.
func startedCall(raw []byte) string {
	if !bytes.Contains(raw, []byte(entries.CustomToolExecutionStart)) {
		return ""
	}
	rec, err := readRecord(raw)
	if err != nil || jsonvalue.String(rec["customType"]) != entries.CustomToolExecutionStart {
		return ""
	}
	return jsonvalue.Exact(jsonvalue.Get(rec["data"], "toolCallId"))
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
	return jsonvalue.Array(new(object).raw("type", []byte(`"text"`)).raw("text", text).json())
}
