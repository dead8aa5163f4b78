package stats

import (
	"cmp"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// Early is what was read of answers and results, which are most of a log, while the log was
// scanned: they need not be read again.
type early struct {
	offsets []int64 // ascending, as in the log
	facts   []fact
}

// early scans a log that has not been scanned yet. Where only a path is asked for, it does
// not: most of the log may be beside that.
func (p *parser) early(t *sessiontree.Tree, tip entries.ID) (*early, error) {
	e := &early{}
	if tip != "" {
		return e, nil
	}
	return e, t.ScanRecords(func(offset int64, role, record []byte) {
		f := fact{role: string(role)}
		if f.role != "assistant" && f.role != "toolResult" {
			return
		}
		if m, err := parse(record); err == nil {
			p.add(&m, &f)
			e.offsets, e.facts = append(e.offsets, offset), append(e.facts, f)
		}
	})
}

// of gives what was read of an entry, nil where nothing was.
func (e *early) of(entry entries.Entry) *fact {
	i, found := slices.BinarySearchFunc(e.offsets, entry.Offset, cmp.Compare)
	if !found || entry.Type != entries.TypeMessage || entry.Role != e.facts[i].role {
		return nil
	}
	return &e.facts[i]
}
