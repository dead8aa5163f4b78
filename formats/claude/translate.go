package claude

import (
	"fmt"
	"hash/maphash"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/sessiontree"
	"github.com/sessctl/sessctl/store"
)

// From reads the transcript in src, a session's or that of a subagent; name stands for its
// path. Closing the tree closes src.
func From(src store.Source, name string, opt *sessiontree.ReadOptions) (*sessiontree.Tree, error) {
	size, err := src.Size()
	if err != nil {
		return nil, err
	}
	t := newTranslator(src, size, name)
	if err := t.read(opt); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t.log.Tree(sessiontree.AgentClaude, name, opt)
}

// read makes the log.
func (t *translator) read(opt *sessiontree.ReadOptions) error {
	scan := transcript.Scan[*walker]{Log: t.log, To: t, Options: opt}
	if err := scan.File(t.src, 0, t.size); err != nil {
		return err
	}
	t.write()
	return t.failed
}

// A node is one record of the transcript's graph.
type node struct {
	uuid, up string
	moment
	cut          *cut   // where a compaction cut the conversation, nil as a rule
	holds        span   // what it says, from at on
	says         uint64 // ... as a hash, once it was asked for
	at           transcript.Place
	size         int64
	loose        bool // it has no uuid of its own, and no parent: it stands where it stands in the file
	side         bool // a subagent's, inside its caller's file
	typed        bool // a person typed it
	anew         bool // it begins the conversation anew
	dropped      bool // another record stands for it
	made         bool // its uuid is not its own
	first, parts int32
	answer       int32      // -1 where it is none
	id           entries.ID // in the log

	parent, child, last, next int32 // in the graph: -1 is none
}

// A cut is what a compaction says of what it cuts.
type cut struct {
	logical string // the record that it follows
	kept    string // the first one that it keeps
}

// logical is the record that a compaction follows, "" as a rule.
func (n *node) logical() string {
	if n.cut == nil {
		return ""
	}
	return n.cut.logical
}

// A moment is by what a repetition is found: a resumed session has the same messages with
// the same times.
type moment struct {
	class class
	time  string
}

// A class is a type of record that is in the graph.
type class uint8

const (
	other class = iota
	user
	assistant
)

// A translator makes a session log of a transcript.
type translator struct {
	*walker  // of the record at hand
	log      *transcript.Log
	failed   error // of reading a record again
	src      store.Source
	size     int64 // of src; 0 where not all of it is taken
	w        *transcript.Writer
	base     string // of the file's name
	subagent bool   // the file is a subagent's
	judged   bool   // ... which is known

	nodes   []node
	byUUID  map[string]int32
	earlier map[original]int32 // records that lost their uuid
	parts   []part
	answers []answer
	tools   map[string]string // the names of tools, by their calls
	words   map[string]string // strings that come again and again, by what stands in the lines

	boundary boundary
	named    bool      // a person named the session
	summary  []summary // that may be the session's own
	leaf     string    // of the last last-prompt
	leafLine int32
	header   transcript.Header
	seed     maphash.Seed
}

// A summary names a session by its leaf, which may be another session's.
type summary struct {
	leaf string
	node node
	part part
}

func newTranslator(src store.Source, size int64, path string) *translator {
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), store.ArchiveSuffix), ".jsonl")
	return &translator{
		walker: newWalker(), log: transcript.NewLog(src), src: src, size: size, base: base,
		byUUID: make(map[string]int32, about(size)), tools: map[string]string{}, words: map[string]string{}, seed: maphash.MakeSeed(),
	}
}

// about guesses how many records a transcript has: not many more than most have.
func about(size int64) int64 { return min(size/(2<<10), 1<<18) }

// Walker implements transcript.Translator.
func (t *translator) Walker(ahead bool) *walker {
	w := newWalker()
	w.ahead = ahead
	return w
}

// Take implements transcript.Translator.
func (t *translator) Take(walked *walker, w *transcript.Writer, at transcript.Place, size int64) {
	t.walker, t.w = walked, w
	r := &t.rec
	n := node{
		uuid: t.str(r.uuid), up: t.up(), moment: moment{time: t.str(r.time)},
		at: at, size: size, first: int32(len(t.parts)), answer: -1, parent: -1, child: -1, last: -1, next: -1,
	}
	if logical := t.str(r.logical); logical != "" {
		n.cut = &cut{logical: logical}
	}
	t.seeHeader(&n)
	switch kind := t.word(r.kind); kind {
	case "user", "assistant", "system", "progress", "attachment":
		t.entry(&n, kind)
	default:
		t.bookkeeping(&n, kind)
	}
}

// word is str for what comes again and again: it is decoded once.
func (t *translator) word(s span) string {
	b := s.Of(t.line)
	word, known := t.words[string(b)]
	if !known {
		word = t.str(s)
		t.words[string(b)] = word
	}
	return word
}

// up is the uuid of the record's parent: as a rule that of the record before it.
func (t *translator) up() string {
	if len(t.nodes) > 0 {
		before := t.nodes[len(t.nodes)-1].uuid
		if strings.IndexByte(before, '\\') < 0 && t.is(t.rec.parent, before) {
			return before
		}
	}
	return t.str(t.rec.parent)
}

// seeHeader takes what the session's header says from the first records that say it.
func (t *translator) seeHeader(n *node) {
	h := &t.header
	if h.Time == "" {
		h.Time = n.time
	}
	if h.Cwd == "" {
		h.Cwd = t.str(t.rec.cwd)
	}
	if t.rec.session.None() {
		return
	}
	id := t.word(t.rec.session)
	if h.ID == "" || id == t.base {
		h.ID = id
	}
}

// entry takes a record of the graph.
func (t *translator) entry(n *node, kind string) {
	r := &t.rec
	whole := span{At: int(n.at.Offset - t.w.LineStart())}
	whole.End = whole.At + int(n.size)
	t.judge(kind)
	n.holds = t.holds(whole.At)
	n.side = r.sidechain && !t.subagent
	subtype := ""
	switch {
	case n.side:
		t.keep("sidechain", whole)
	case kind == "user":
		n.class = user
		t.user(n)
	case kind == "assistant" && !r.message.None():
		n.class = assistant
		t.answer(n)
	case kind == "attachment":
		t.attachment(n, whole)
	case kind == "system":
		if subtype = t.str(r.subtype); subtype == "compact_boundary" {
			t.seeBoundary()
		}
		fallthrough
	default:
		t.keep(name(kind, subtype), whole)
	}
	if int(n.first) == len(t.parts) && n.answer < 0 {
		t.log.Notes.Note(jsonl.UnknownRecord, n.at, n.size, "a "+kind+" record without a content that can be read; it is kept as it is")
		t.keep(kind, whole)
	}
	t.join(n)
}

// holds gives the part of a record that says something, from where the record starts.
func (t *translator) holds(start int) span {
	for _, s := range []span{t.rec.content, t.rec.attachment, t.rec.subtype} {
		if !s.None() {
			return span{At: s.At - start, End: s.End - start}
		}
	}
	return span{}
}

// hash is that of what a record says. It is read again for it, since hardly any record
// has to be compared. What cannot be read any more ends the reading.
func (t *translator) hash(n *node) uint64 {
	if n.says != 0 || n.holds.None() {
		return n.says
	}
	part := make([]byte, n.holds.End-n.holds.At)
	if got, err := t.src.ReadAt(part, n.at.Offset+int64(n.holds.At)); got < len(part) {
		t.failed = transcript.Short(err)
	}
	n.says = maphash.Bytes(t.seed, part)
	return n.says
}

// hashOf is hash for a record that is at hand.
func (t *translator) hashOf(n *node, record []byte) uint64 {
	if n.holds.None() {
		return 0
	}
	return maphash.Bytes(t.seed, n.holds.Of(record))
}

// equal tells whether two records were written at one moment and say the same.
func (t *translator) equal(a, b *node) bool { return a.moment == b.moment && t.hash(a) == t.hash(b) }

// judge tells by the first message whether the file is a subagent's.
func (t *translator) judge(kind string) {
	if t.judged || kind != "user" && kind != "assistant" {
		return
	}
	t.judged = true
	agent := t.str(t.rec.agent)
	t.subagent = t.rec.sidechain && (agent != "" || strings.HasPrefix(t.base, "agent-"))
	if t.subagent {
		t.header.ParentSession, t.header.ID = t.header.ID, t.base
	}
}

// join puts a record into the graph. One that was written before, as a resumed or
// compacted session does, is there already; of different records with one uuid the last
// has it.
func (t *translator) join(n *node) {
	n.parts = int32(len(t.parts)) - n.first
	if n.uuid == "" {
		n.loose = n.up == ""
	} else if i, ok := t.byUUID[n.uuid]; ok {
		n.says = t.hashOf(n, t.line[n.at.Offset-t.w.LineStart():])
		if t.again(&t.nodes[i], n) {
			return
		}
	}
	// Where several records have the parent's uuid, it is the one that was there.
	if p, ok := t.byUUID[n.up]; ok && n.up != "" {
		n.parent = p
	}
	if n.uuid != "" {
		t.byUUID[n.uuid] = int32(len(t.nodes))
	}
	t.nodes = append(transcript.Room(t.nodes, n.at.Offset, t.size), *n)
}

// again tells whether a record says what one before it with its uuid said.
func (t *translator) again(before, n *node) bool {
	twin := before
	if !t.equal(before, n) {
		i, known := t.earlier[original{n.uuid, n.moment, t.hash(n)}]
		if !known {
			t.rename(before)
			return false
		}
		twin = &t.nodes[i]
	}
	t.log.Notes.Note(jsonl.DuplicateID, n.at, n.size, "a record that was written again; it counts once")
	if n.answer >= 0 {
		t.answers[twin.answer].join(&t.answers[n.answer])
	}
	return true
}

// An original is what a record says that another one took the uuid of.
type original struct {
	uuid string
	moment
	says uint64
}

// rename gives a record another id, since one further down has its uuid.
func (t *translator) rename(n *node) {
	t.log.Notes.Damage(jsonl.DuplicateID, n.at, n.size,
		"another record has the uuid "+entries.ID(n.uuid).Short()+" further down; this one has the id "+n.second())
	if t.earlier == nil {
		t.earlier = map[original]int32{}
	}
	t.earlier[original{n.uuid, n.moment, t.hash(n)}] = t.byUUID[n.uuid]
	n.uuid, n.made = n.second(), true
}

// second is the id of a record that another one has taken the uuid of.
func (n *node) second() string { return n.uuid + "~" + strconv.FormatInt(n.at.Offset, 10) }

// left are the records without a uuid that become no entry: what Claude Code keeps for
// itself, and what was sent to the model, which the conversation says too.
var left = map[string]string{
	"api-request": "a request as it was sent", "api-request-shape": "the system prompt and the tools of requests", "api-request-blob": "a message as it was sent",
	"last-prompt": "the last prompt and where it stood", "queue-operation": "a prompt on its way", "mode": "", "permission-mode": "", "atis-latch": "", "tools-used": "",
	"cost-state": "sums of what was used; the session's header has the cost", "agent-name": "", "pr-link": "", "worktree-state": "", "relocated": "", "bridge-session": "", "frame-link": "",
	"started": "a workflow's journal", "result": "a workflow's journal",
}

// bookkeeping takes a record that is not in the graph.
func (t *translator) bookkeeping(n *node, kind string) {
	what, known := left[kind]
	switch {
	case kind == "last-prompt":
		t.leaf, t.leafLine = t.str(t.rec.leaf), n.at.Line
		t.rewound()
	case kind == "cost-state":
		t.seeCost()
	case kind == "custom-title", kind == "ai-title":
		t.title(n, kind)
		return
	case kind == "summary":
		t.seeSummary(n)
		return
	case kind == "file-history-snapshot", kind == "file-history-delta":
		t.loose(n, kind)
		return
	}
	if !known {
		if t.loose(n, kind) {
			t.log.Notes.Note(jsonl.UnknownRecord, n.at, n.size, "a record of the type "+quoted(kind)+"; it is kept as it is")
		}
		return
	}
	if what != "" {
		what = ": " + what
	}
	t.log.Notes.Note(jsonl.LeftOut, n.at, n.size, kind+what)
}

// rewound takes an explicit last-prompt, which Claude Code writes behind the prompt that
// follows a rewind. Where that prompt has no parent the rewind went to before the first.
func (t *translator) rewound() {
	if !t.rec.explicit || len(t.nodes) == 0 {
		return
	}
	n := &t.nodes[len(t.nodes)-1]
	n.anew = n.class == user && n.typed && n.up == "" && n.logical() == ""
}

func quoted(kind string) string {
	if kind == "" {
		return `""`
	}
	return `"` + name(kind, "") + `"`
}

// loose keeps a record where it stands, and reports false where there are too many. Where it
// has a uuid after all it is in the graph.
func (t *translator) loose(n *node, kind string) bool {
	if n.uuid == "" && t.w.Crowded() {
		t.log.Notes.Note(jsonl.LeftOut, n.at, n.size, name(kind, "")+": a record without a uuid, behind many others")
		return false
	}
	at := int(n.at.Offset - t.w.LineStart())
	t.keep(name(kind, ""), span{At: at, End: at + int(n.size)})
	t.join(n)
	return true
}

// title names the session. A name that a person gave stays.
func (t *translator) title(n *node, kind string) {
	if kind == "ai-title" && t.named {
		t.log.Notes.Note(jsonl.LeftOut, n.at, n.size, "ai-title: the session has a name")
		return
	}
	t.named = t.named || kind == "custom-title"
	t.sessionInfo(t.str(t.rec.title))
	t.join(n)
}

func (t *translator) sessionInfo(name string) {
	t.w.Begin()
	t.w.Text(`,"name":`)
	t.w.String(name)
	t.add(entries.TypeSessionInfo)
}

// seeSummary keeps a summary until it is known whose leaf it names: most are those of
// sessions that ended before this one began.
func (t *translator) seeSummary(n *node) {
	t.sessionInfo(t.str(t.rec.sumText))
	last := len(t.parts) - 1
	t.summary = append(t.summary, summary{leaf: t.str(t.rec.leaf), node: *n, part: t.parts[last]})
	t.parts = t.parts[:last]
}
