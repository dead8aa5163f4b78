package claude

import (
	"strconv"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/sessiontree"
)

// A writing is the log on its way.
type writing struct {
	*graph
	list  []int32
	says  map[messageAt]*message
	ends  []entries.ID        // the last entry of each segment so far
	taken map[entries.ID]bool // the ids in the log
	last  int32               // the segment of the last entry
}

// A message is what a model said at once: the answers that are its lines.
type message struct {
	lines []int32
	id    entries.ID // of its entry
}

// A messageAt names a message of a model in a segment.
type messageAt struct {
	segment int32
	id      string
}

// write decides on the tree and writes the log.
func (t *translator) write() {
	t.ownSummary()
	g := t.graph()
	w := &writing{graph: g, list: g.sorted(), ends: make([]entries.ID, len(g.segments)), taken: map[entries.ID]bool{}}
	w.header()
	w.collect()
	for _, i := range w.list {
		w.node(i)
	}
	w.leaf()
}

// ownSummary gives the session the name of the last summary whose leaf it has, where it
// has no other name. The others are told of.
func (t *translator) ownSummary() {
	own := -1
	for k, s := range t.summary {
		if _, ok := t.byUUID[s.leaf]; ok && !t.named {
			own = k
		}
	}
	for k, s := range t.summary {
		_, mine := t.byUUID[s.leaf]
		switch {
		case k == own:
			s.node.uuid, s.node.first, s.node.loose = "", int32(len(t.parts)), true
			s.node.parts, t.parts = 1, append(t.parts, s.part)
			t.nodes = append(t.nodes, s.node)
		case mine:
			t.log.Notes.Note(jsonl.LeftOut, s.node.at, s.node.size, "summary: the session has another name")
		default:
			t.log.Notes.Note(jsonl.LeftOut, s.node.at, s.node.size, "summary: of another session")
		}
	}
}

func (w *writing) header() {
	h := w.translator.header
	if h.ID == "" {
		h.ID = w.base
	}
	w.log.Header(h, len(w.parts)+len(w.answers))
}

// collect finds the lines of each message.
func (w *writing) collect() {
	w.says = map[messageAt]*message{}
	for _, i := range w.list {
		a := w.nodes[i].answer
		if a < 0 {
			continue
		}
		at := w.message(i)
		if w.says[at] == nil {
			w.says[at] = &message{}
		}
		w.says[at].lines = append(w.says[at].lines, a)
	}
}

// message names the message that an answer is a line of. One without an id is a message
// by itself.
func (w *writing) message(i int32) messageAt {
	id := w.answers[w.nodes[i].answer].id
	if id == "" {
		id = "\x00" + strconv.Itoa(int(i))
	}
	return messageAt{w.of[i], id}
}

// node writes what becomes of a record.
func (w *writing) node(i int32) {
	n := &w.nodes[i]
	if n.answer >= 0 {
		w.answerOf(i, n)
	}
	primary := w.primary(n)
	for k := range n.parts {
		p := &w.parts[n.first+k]
		var id entries.ID
		if k == primary {
			n.id = w.id(n)
			id = n.id
		} else {
			id = w.free(n.base() + entries.ID("~"+strconv.Itoa(int(k)+1)))
		}
		w.record(i, n, p.kind, id)
		w.log.Put(p.draft)
		if p.kind == entries.TypeCompaction {
			w.log.Member("firstKeptEntryId", string(w.kept(i, n)))
		}
		w.log.End()
	}
}

// primary is the part that has the record's own uuid: its first message, if it has one.
func (w *writing) primary(n *node) int32 {
	for k := range n.parts {
		if w.parts[n.first+k].kind == entries.TypeMessage {
			return k
		}
	}
	return 0
}

// answerOf writes a model's message where its first line stands.
func (w *writing) answerOf(i int32, n *node) {
	m := w.says[w.message(i)]
	if m.lines[0] == n.answer {
		m.id = w.id(n)
		w.record(i, n, entries.TypeMessage, m.id)
		w.put(m.lines, n.time)
		w.log.End()
	}
	n.id = m.id
}

// record starts an entry behind the last one of its segment.
func (w *writing) record(i int32, n *node, kind entries.Type, id entries.ID) {
	s := w.of[i]
	w.log.Record(n.at, kind, string(id), string(w.end(s)), n.time)
	w.ends[s], w.last = id, s
}

// end gives the last entry of a segment so far, or of the one that it goes on from.
func (w *writing) end(s int32) entries.ID {
	for ; s >= 0; s = w.segments[s].parent {
		if w.ends[s] != "" {
			return w.ends[s]
		}
	}
	return ""
}

// base is the id that a record's entry has: its uuid, or its place where it has none, or one
// that is so long that those below it could not name it.
func (n *node) base() entries.ID {
	if transcript.ID(n.uuid) {
		return entries.ID(n.uuid)
	}
	return entries.ID("c" + strconv.FormatInt(n.at.Offset, 10))
}

// id is the id of a record's entry.
func (w *writing) id(n *node) entries.ID {
	if transcript.ID(n.uuid) && !n.made {
		return entries.ID(n.uuid)
	}
	return w.free(n.base())
}

// free gives an id that no record has, and no other entry.
func (w *writing) free(id entries.ID) entries.ID {
	for {
		if _, taken := w.byUUID[string(id)]; !taken && !w.taken[id] {
			w.taken[id] = true
			return id
		}
		id += "~"
	}
}

// kept gives the first entry that a compaction keeps: itself, which keeps none, where
// its boundary names none that stands above it.
func (w *writing) kept(i int32, n *node) entries.ID {
	k, ok := w.byUUID[n.cut.kept]
	if !ok || n.cut.kept == "" || w.nodes[k].id == "" || w.nodes[k].dropped {
		return n.id
	}
	for s := w.of[i]; s >= 0; s = w.segments[s].parent {
		if s == w.of[k] {
			return w.nodes[k].id
		}
	}
	return n.id
}

// leaf lets the log end where the conversation does. As a rule it does so anyhow.
func (w *writing) leaf() {
	active, at := w.active()
	if active < 0 || active == w.last {
		return
	}
	leaf := w.end(active)
	n := &w.nodes[at]
	w.log.Record(n.at, entries.TypeCustom, string(w.free(leaf+"~leaf")), string(leaf), n.time)
	w.log.Text(`,"customType":"`, entries.CustomLeaf, `","data":{"from":""`)
	w.log.Text(`,"reason":"`, string(sessiontree.ReasonCheckout), `"}`)
	w.log.End()
}

// active finds the segment that goes on: that of the newest message, or of the leaf that
// a later last-prompt names.
func (w *writing) active() (segment, at int32) {
	newest := int32(-1)
	for i := range w.nodes {
		if n := &w.nodes[i]; n.class != other && !n.dropped && !n.side && n.inGraph() {
			newest = int32(i)
		}
	}
	if newest < 0 {
		return -1, -1
	}
	named, ok := w.byUUID[w.translator.leaf]
	if !ok || w.nodes[named].dropped || w.nodes[newest].at.Line > w.leafLine {
		return w.of[newest], newest
	}
	return w.of[named], named
}

var _ transcript.Translator[*walker] = (*translator)(nil)
