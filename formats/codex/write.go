package codex

import (
	"fmt"
	"strconv"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// From reads the rollout in src, and the other segments of its thread; path is where it
// stands, and where those are looked for. Closing the tree closes src.
func From(src store.Source, path string, opt *sessiontree.ReadOptions) (*sessiontree.Tree, error) {
	log := transcript.NewLog(src)
	f := &family{log: log, t: newTranslator(log, opt)}
	if _, err := f.read(src, 0, path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.gather()
	w := &writing{family: f, taken: map[entries.ID]bool{}, at: map[*rollout]state{}}
	w.write()
	t, err := log.Tree(sessiontree.AgentCodex, path, opt)
	if err != nil {
		log.CloseFrom(1) // src stays the caller's
	}
	return t, err
}

// A writing is the log on its way.
type writing struct {
	*family
	r     *rollout
	own   string // the id of the thread that was asked for
	taken map[entries.ID]bool
	at    map[*rollout]state // where segments go on
	state
	open []*item // the blocks of the message of a model that grows
}

// A state is a place in the replay: where the next entry goes, and what can be taken
// back before it.
type state struct {
	last    entries.ID
	prompts []entries.ID // what each prompt of the path stands behind
}

func (w *writing) write() {
	first := w.rollouts[0]
	w.own = first.meta.id
	h := transcript.Header{ID: first.meta.id, Time: first.meta.time, Cwd: first.meta.cwd, ParentSession: first.meta.fork}
	if h.ID == "" {
		h.ID = segmentOf(first.path)
	}
	records := 0
	for _, r := range w.rollouts {
		records += len(r.items)
	}
	w.log.Header(h, records)
	for _, r := range w.inOrder() {
		w.rollout(r)
	}
}

// rollout writes one file, from where the one before it was cut.
func (w *writing) rollout(r *rollout) {
	w.r, w.state = r, w.at[r]
	r.spend()
	children := w.children(r)
	for i := range r.items {
		it := &r.items[i]
		for len(children) > 0 && it.behind(&children[0].meta) {
			w.part(children[0])
			children = children[1:]
		}
		w.item(it)
	}
	w.flush()
	for _, child := range children {
		w.part(child)
	}
}

// part notes where a segment goes on.
func (w *writing) part(child *rollout) {
	w.flush()
	w.at[child] = state{w.last, append([]entries.ID(nil), w.prompts...)}
}

// children gives the segments that go on from one, by where they do.
func (w *writing) children(r *rollout) (list []*rollout) {
	for _, other := range w.rollouts {
		if w.baseOf(other) == r {
			list = append(list, other)
		}
	}
	sortByEnd(list)
	return list
}

// behind tells whether an item stands behind the place at which a segment goes on.
func (i *item) behind(m *meta) bool {
	if m.end > 0 {
		return i.at.Offset >= m.end
	}
	return i.ordinal >= m.endOrdinal
}

// tells tells whether an item is what tells something, and not a second telling.
func (r *rollout) tells(i *item) bool { return i.source == byItem || !r.told[i.telling] }

// spend gives what was told of tokens to the message before. That message ends there,
// unless something else came between.
func (r *rollout) spend() {
	last, next := -1, false
	for n := range r.items {
		i := &r.items[n]
		if !r.tells(i) {
			continue
		}
		switch i.class {
		case block:
			last, next = n, true
		case tokens:
			if last >= 0 {
				of := &r.items[last]
				of.usage, of.used, of.last = of.usage.Plus(i.usage), true, of.last || next
				i.used = true
			}
		case prompt, rollback:
			last = -1
		default:
			next = next && i.kind == entries.TypeCustom
		}
	}
}

// item replays one item.
func (w *writing) item(i *item) {
	if !w.r.tells(i) {
		w.log.Notes.Note(jsonl.LeftOut, i.at, i.size, "event_msg: told by items, too")
		return
	}
	switch i.class {
	case block:
		w.grow(i)
	case tokens:
		w.took(i)
	case rollback:
		w.flush()
		w.rollBack(i)
	case prompt:
		w.flush()
		w.prompts = append(w.prompts, w.last)
		w.entry(i)
	case result:
		w.flush()
		w.result(i)
	default:
		if i.kind != entries.TypeCustom {
			w.flush()
		}
		w.entry(i)
	}
}

// grow adds a block to the message that grows.
func (w *writing) grow(i *item) {
	if n := len(w.open); n > 0 && w.open[0].model != i.model {
		w.flush()
	}
	w.open = append(w.open, i)
	if i.last {
		w.flush()
	}
}

// took tells what was taken by no message that is known.
func (w *writing) took(i *item) {
	if i.used {
		return
	}
	w.flush()
	set := w.t.settings[i.model]
	w.begin(i, entries.TypeUsage)
	w.log.Text(`,"kind":"response"`)
	w.log.Member("provider", set.provider)
	w.log.Member("model", set.model)
	w.log.Usage(i.usage)
	w.end(i)
}

// flush writes the message that grew.
func (w *writing) flush() {
	blocks := w.open
	if w.open = nil; len(blocks) == 0 {
		return
	}
	first := blocks[0]
	set := w.t.settings[first.model]
	w.begin(first, entries.TypeMessage)
	w.log.Text(`,"message":{"role":"assistant","content":[`)
	stop, usage := "stop", transcript.Usage{}
	for n, i := range blocks {
		if n > 0 {
			w.log.Text(",")
		}
		w.log.Put(i.draft)
		usage = usage.Plus(i.usage)
		if i.call {
			stop = "toolUse"
		}
	}
	w.log.Text(`],"api":"openai-responses"`)
	w.log.Member("provider", set.provider)
	w.log.Member("model", set.model)
	w.log.Usage(usage)
	w.log.Member("stopReason", stop)
	w.log.Number("timestamp", transcript.Millis(first.time))
	w.log.Text("}")
	w.end(first)
}

func (w *writing) result(i *item) {
	w.begin(i, entries.TypeMessage)
	w.log.Put(i.draft)
	w.log.Text(`,"isError":`, strconv.FormatBool(i.failed || w.r.fails[i.callID]))
	w.log.Number("timestamp", transcript.Millis(i.time))
	w.log.Text("}")
	w.end(i)
}

func (w *writing) entry(i *item) {
	kind := i.kind
	id := w.begin(i, kind)
	w.log.Put(i.draft)
	if kind == entries.TypeCompaction {
		w.log.Member("firstKeptEntryId", string(id))
	}
	w.end(i)
}

// rollBack takes back turns: what follows goes on behind what was before their prompts.
func (w *writing) rollBack(i *item) {
	left := w.last
	if n := min(i.turns, len(w.prompts)); n > 0 {
		first := len(w.prompts) - n
		w.last, w.prompts = w.prompts[first], w.prompts[:first]
	}
	w.begin(i, entries.TypeCustom)
	w.log.Text(`,"customType":"`, entries.CustomLeaf, `","data":{"from":`, string(jsonvalue.AppendString(nil, string(left))))
	w.log.Text(`,"reason":"`, string(sessiontree.ReasonUndo), `"}`)
	w.end(i)
}

// begin starts an entry behind the last one.
func (w *writing) begin(i *item, kind entries.Type) entries.ID {
	place := entries.ID(w.r.tag + strconv.FormatInt(i.at.Offset, 10))
	id := place
	for n := 2; w.taken[id]; n++ {
		id = place + entries.ID("~"+strconv.Itoa(n))
	}
	w.taken[id] = true
	w.log.Record(i.at, kind, string(id), string(w.last), i.time)
	w.last = id
	return id
}

// end ends an entry. What another thread has, too, is marked.
func (w *writing) end(i *item) {
	switch {
	case w.r.meta.id != w.own:
		w.log.Member("copied", w.r.meta.id)
	case i.copied:
		w.log.Member("copied", w.r.meta.fork)
	}
	w.log.End()
}
