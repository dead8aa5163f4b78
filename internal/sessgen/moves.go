package sessgen

// branch moves the leaf up to 50 entries back and says so as the format does.
// It returns whether something was written.
func (s *session) branch() bool {
	target := s.branchTarget()
	if target < 0 {
		return false
	}
	old := s.at(s.leaf).id
	s.leaf = target
	switch {
	case s.chance(0.4):
		s.branchSummary(old)
	case s.log.native:
		s.leafMarker(old)
	default: // pi just goes on there
		s.afterMove()
	}
	return true
}

// branchTarget draws an entry that a person would go back to: one with no call
// open, and not between the two halves of a batch. -1 where it finds none.
func (s *session) branchTarget() int64 {
	for range 8 {
		seq := s.count - 1 - int64(s.between(1, farthestBranch))
		if seq < 0 || seq == s.leaf {
			continue
		}
		if n := s.at(seq); n.turn.pending == 0 && !n.batchHead && !n.turn.rewinding {
			return seq
		}
	}
	return -1
}

func (s *session) afterMove() {
	if s.at(s.leaf).turn.user {
		s.user()
		return
	}
	s.assistant()
}

func (s *session) branchSummary(old entryID) {
	n := s.open("branch_summary")
	n.turn.user = true
	s.log.id("fromId", old)
	s.log.escaped("summary", s.prose(s.lineSize()/2))
	s.log.raw(`,"details":{"readFiles":["src/`, word(s.r), `.ts"],"modifiedFiles":[]}`)
	s.close(n)
}

var moveReasons = []string{"checkout", "undo", "redo"}

func (s *session) leafMarker(old entryID) {
	n := s.open("custom")
	n.turn.user = true
	s.log.raw(`,"customType":"leaf","data":{"from":`)
	s.log.buf = appendID(s.log.buf, old)
	s.log.text("reason", moveReasons[s.r.IntN(len(moveReasons))])
	s.log.raw("}")
	s.close(n)
}

// rewindBatch goes back to the checkpoint in two records that are one batch.
func (s *session) rewindBatch() {
	left := *s.at(s.leaf)
	s.leaf = left.turn.checkpoint
	opened := *s.at(s.leaf)
	report := s.prose(s.lineSize() / 3)

	n := s.open("branch_summary")
	n.batchHead = true
	n.turn.checkpoint = -1
	s.log.id("fromId", left.id)
	s.log.escaped("summary", report)
	s.log.raw(`,"details":{"startedAt":`)
	s.startedAt(opened.id)
	s.log.raw("}")
	rewoundAt := s.log.stamp.ms
	s.close(n)
	s.rewindReport(report, rewoundAt, &left, &opened)
}

func (s *session) rewindReport(report []byte, rewoundAt int64, left, opened *node) {
	n := s.open("custom_message")
	s.log.raw(`,"customType":"rewind-report","content":"Checkpoint closed.","display":false,"details":{"report":"`)
	s.log.buf = append(s.log.buf, report...)
	s.log.raw(`","startedAt":`)
	s.startedAt(opened.id)
	s.log.time("rewoundAt", rewoundAt)
	s.log.id("checkpoint", opened.id)
	s.log.number("droppedEntries", float64(left.depth-opened.depth))
	s.log.number("droppedTokens", float64(max(0, left.tokens-opened.tokens)))
	s.log.raw(`,"readFiles":["src/`, word(s.r), `.ts"],"modifiedFiles":[],"restored":[]}`)
	s.close(n)
}

// startedAt is the time inside the checkpoint's ULID.
func (s *session) startedAt(id entryID) {
	s.log.buf = appendTime(s.log.buf, id.milliseconds())
}

func (s *session) compactionDue(leaf *node) bool {
	return !s.opt.NoCompaction && leaf.since >= s.limit
}

func (s *session) compaction() {
	kept := s.keptEntry()
	n := s.open("compaction")
	if kept.n == 0 { // the path is too short: keep nothing, in pi's way
		kept = n.id
	}
	s.log.escaped("summary", s.prose(s.between(3000, 9000)))
	s.log.id("firstKeptEntryId", kept)
	s.log.number("tokensBefore", float64(n.tokens))
	s.compactionDetails(n)
	n.compaction, n.since, n.tokens = n.id, 0, 2000
	s.close(n)
	s.newLimit()
}

// compactionDetails lists files as pi does, and in native logs what is in
// force.
func (s *session) compactionDetails(n *node) {
	s.log.raw(`,"details":{"readFiles":["src/`, word(s.r), `.ts"],"modifiedFiles":[]`)
	if s.log.native {
		s.log.raw(`,"settings":`)
		s.log.settings(settings{model: int(n.model), level: int(n.level), name: n.title})
	}
	s.log.raw("}")
}

// keptEntry draws one of the entries 5 to 40 up on the path.
func (s *session) keptEntry() entryID {
	kept, seen := entryID{}, 0
	seq := s.leaf
	for up := 1; up <= 40 && s.remembered(seq); up++ {
		n := s.at(seq)
		if up >= 5 && n.mayBeFirstKept() {
			seen++
			if s.r.IntN(seen) == 0 {
				kept = n.id
			}
		}
		seq = n.parent
	}
	return kept
}

// mayBeFirstKept says whether a context may begin with the entry. A result may
// not: its call would be summarised away.
func (n *node) mayBeFirstKept() bool {
	return !n.isResult && (n.turn.pending == 0 || n.id == n.turn.caller)
}
