package sessgen

// bigNumbers are numbers that a reader must not decode and encode again.
var bigNumbers = []string{
	"9007199254740993", "12345678901234567890", "1e+21", "1e-7", "0.1", "-1.5e+300", "123456789.123456789123",
}

func (t *tree) custom(*treeEntry) {
	t.log.raw(`,"customType":"state"`)
	if t.chance(0.2) {
		return // data may be absent
	}
	t.log.raw(`,"data":{"n":`, bigNumbers[t.r.IntN(len(bigNumbers))], `,"deep":[[[{"id":"not this","parentId":null}]]]`)
	t.text(",", "text")
	t.log.raw("}")
}

func (t *tree) customMessage(e *treeEntry) {
	e.editable = true
	t.log.raw(`,"customType":"note"`)
	t.content(true)
	t.log.raw(`,"display":`, boolText(t.chance(0.5)))
	if t.chance(0.4) {
		t.log.raw(`,"details":{"n":`, bigNumbers[t.r.IntN(len(bigNumbers))], `}`)
	}
}

// branchSummary is written where the leaf has moved; fromId is where it was.
func (t *tree) branchSummary(s stamp) {
	t.log.open("branch_summary", s)
	t.log.id("fromId", t.leafID())
	if t.chance(0.3) {
		t.log.text("summary", "")
	} else {
		t.log.raw(`,"summary":"what was tried: `, t.sample(), `"`)
	}
	t.log.close(false)
}

func (t *tree) compaction(e *treeEntry) {
	t.log.raw(`,"summary":"so far: `, t.sample(), `"`)
	t.log.id("firstKeptEntryId", t.keptID(e))
	t.log.number("tokensBefore", float64(t.r.IntN(200000)))
	if t.opt.Native && e.settings.known {
		t.log.raw(`,"details":{"settings":`)
		t.log.settings(e.settings)
		t.log.raw("}")
	}
}

// keptID is on the path mostly; else off it, this entry's own, or in no file.
func (t *tree) keptID(e *treeEntry) entryID {
	switch t.r.IntN(8) {
	case 0:
		return t.anyID(e)
	case 1:
		return e.id
	case 2:
		return t.unusedID()
	}
	path := t.path(e, 12)
	if len(path) == 0 {
		return e.id
	}
	return t.entries[path[t.r.IntN(len(path))]].id
}

// path lists up to most entries above e, the nearest first.
func (t *tree) path(e *treeEntry, most int) []int {
	var path []int
	for i := e.parent; i >= 0 && len(path) < most; i = t.entries[i].parent {
		path = append(path, i)
	}
	return path
}

// editable lists the entries on the path that a context_edit may name.
func (t *tree) editable(e *treeEntry) []int {
	var found []int
	for _, i := range t.path(e, 20) {
		if t.entries[i].editable {
			found = append(found, i)
		}
	}
	return found
}

func (t *tree) contextEdit(e *treeEntry) {
	targets := t.editable(e)
	t.log.id("targetId", t.entries[targets[t.r.IntN(len(targets))]].id)
	switch t.r.IntN(3) {
	case 0:
		t.log.raw(`,"replacement":null`)
	case 1:
		t.log.raw(`,"replacement":{"content":"`, t.sample(), `"}`)
	default:
		t.log.raw(`,"replacement":{"content":[`)
		t.block()
		t.log.raw("]}")
	}
}

func (t *tree) usageEntry(*treeEntry) {
	t.log.raw(`,"kind":"cache_warm","provider":"anthropic","model":"claude-opus-4-5"`)
	t.usage()
	if t.chance(0.3) {
		t.text(",", "note")
	}
}
