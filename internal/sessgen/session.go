package sessgen

import (
	"io"
	"math"
	"math/rand/v2"
)

// Options shape the session that Write makes. The zero value is a native log
// of seed 0 with the defaults named here.
type Options struct {
	Format Format
	Seed   uint64
	// Branches is the probability that the next entry attaches up to 50
	// entries above the leaf, in the file's order. 0 means 0.05; a negative
	// value means never.
	Branches float64
	// CompactEvery is how many entries of the path, at least and at most, are
	// between two compactions. Zero means 150 to 250.
	CompactEvery [2]int
	NoCompaction bool
}

func (o *Options) withDefaults() Options {
	full := Options{}
	if o != nil {
		full = *o
	}
	if full.Branches == 0 {
		full.Branches = 0.05
	}
	if full.CompactEvery == [2]int{} {
		full.CompactEvery = [2]int{150, 250}
	}
	return full
}

// Stats says what Write wrote.
type Stats struct {
	Entries        int64 // without the header
	Bytes          int64
	Depth          int64  // entries on the leaf's path
	Leaf           string // id of the last entry
	LastCompaction string // id of the latest compaction on the leaf's path, or ""
}

// Write writes a session of at least size bytes to w, and stops at the first
// whole record (or whole batch) that reaches it. It holds about 3 MB of text
// to cut from, and the latest few thousand entries' ids, whatever the size.
func Write(w io.Writer, size int64, opt *Options) (Stats, error) {
	s := newSession(w, opt.withDefaults())
	s.log.header(&s.ids)
	for s.log.size() < size && s.log.err == nil {
		s.step()
	}
	err := s.log.finish()
	return s.stats(), err
}

// recent is how many entries are remembered. The longest way back is that of a
// kept entry, 40 parents up, each of which may be 50 entries before its child.
const recent = 4096

// farthestBranch is how many entries above the leaf a branch may begin.
const farthestBranch = 50

// A node is an entry with the state of its path that later entries need.
type node struct {
	id          entryID
	seq, parent int64 // position in the file; -1 is before the first entry
	depth       int64
	tokens      int64 // in the context, since the last compaction
	since       int   // entries since the last compaction
	compaction  entryID
	isResult    bool
	batchHead   bool
	model       uint8
	level       uint8
	title       string
	turn        turn
}

type session struct {
	log   *logWriter
	ids   idSource
	r     *rand.Rand
	opt   Options
	ring  []node
	root  node
	count int64
	leaf  int64
	limit int // entries until the next compaction
}

func newSession(w io.Writer, opt Options) *session {
	r := rand.New(rand.NewPCG(opt.Seed, 0x5e551041))
	s := &session{
		log: newLogWriter(w, opt.Format), ids: newIDSource(r, opt.Format, 3000),
		r: r, opt: opt, ring: make([]node, recent), leaf: -1,
	}
	s.root = node{seq: -1, parent: -1, turn: turn{user: true, checkpoint: -1}}
	s.newLimit()
	return s
}

func (s *session) stats() Stats {
	leaf := s.at(s.leaf)
	return Stats{
		Entries: s.count, Bytes: s.log.size(), Depth: leaf.depth,
		Leaf: leaf.id.String(), LastCompaction: leaf.compaction.String(),
	}
}

func (s *session) newLimit() { s.limit = s.between(s.opt.CompactEvery[0], s.opt.CompactEvery[1]) }

// at returns a remembered entry; it stays valid for the next few thousand.
func (s *session) at(seq int64) *node {
	if seq < 0 {
		return &s.root
	}
	return &s.ring[seq%recent]
}

// remembered says whether the entry has not been forgotten yet.
func (s *session) remembered(seq int64) bool { return seq >= 0 && seq > s.count-recent }

// open begins an entry under the leaf, and returns its node to be adjusted.
func (s *session) open(kind string) *node {
	parent := s.at(s.leaf)
	n := s.at(s.count)
	*n = *parent
	n.parent, n.seq = parent.seq, s.count
	n.depth, n.since = parent.depth+1, parent.since+1
	n.isResult, n.batchHead = false, false
	var ms int64
	n.id, ms = s.ids.next()
	s.log.open(kind, stamp{n.id, parent.id, ms})
	s.count++
	return n
}

func (s *session) close(n *node) {
	start := s.log.size() - int64(len(s.log.buf)-s.log.start)
	s.log.close(n.batchHead)
	n.tokens += (s.log.size() - start) / 4
	s.leaf = n.seq
}

// step writes the next record, or the batch that is due.
func (s *session) step() {
	leaf := s.at(s.leaf)
	switch {
	case leaf.turn.rewinding:
		s.rewindBatch()
	case s.chance(s.opt.Branches) && s.branch():
	case leaf.turn.pending > 0:
		s.toolStep()
	case s.compactionDue(leaf):
		s.compaction()
	case s.count < 2 || s.chance(metadataShare):
		s.metadata()
	case leaf.turn.user:
		s.user()
	default:
		s.assistant()
	}
}

func (s *session) chance(p float64) bool { return s.r.Float64() < p }

func (s *session) between(low, high int) int { return low + s.r.IntN(max(1, high-low+1)) }

// lineSize draws from the distribution that coding sessions have: log-normal,
// cut at both ends.
func (s *session) lineSize() int {
	median := lineMedian
	if s.log.native {
		median = nativeLineMedian
	}
	size := median * math.Exp(lineSpread*s.r.NormFloat64())
	return int(min(max(size, 300), 235e3))
}

func (s *session) code(n int) []byte  { return codePool().take(s.r, n) }
func (s *session) prose(n int) []byte { return prosePool().take(s.r, n) }
