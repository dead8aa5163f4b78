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
	offsets []int64  // ascending, as in the log
	said    [][]said // ... part by part: moving all of it when it grows would cost more than the reading
}

// saidPart is how many there are in a part.
const saidPart = 512

// early scans a log that has not been scanned yet. Where only a path is asked for, it does
// not: most of the log may be beside that.
func (p *parser) early(t *sessiontree.Tree, tip entries.ID) (*early, error) {
	e := &early{}
	if tip != "" {
		return e, nil
	}
	return e, t.ScanRecords(func(offset int64, role, record []byte) {
		if string(role) != "assistant" && string(role) != "toolResult" {
			return
		}
		if m, err := parse(record); err == nil {
			if s, whole := p.said(string(role), &m); whole {
				e.add(offset, s)
			}
		}
	})
}

func (e *early) add(offset int64, s said) {
	if len(e.offsets)%saidPart == 0 {
		e.said = append(e.said, make([]said, 0, saidPart))
	}
	last := &e.said[len(e.said)-1]
	e.offsets, *last = append(e.offsets, offset), append(*last, s)
}

// of gives what was read of an entry, nil where nothing was.
func (e *early) of(entry entries.Entry) *said {
	i, found := slices.BinarySearchFunc(e.offsets, entry.Offset, cmp.Compare)
	if !found || entry.Type != entries.TypeMessage {
		return nil
	}
	return &e.said[i/saidPart][i%saidPart]
}
