package durable

import (
	"math/rand/v2"
	"slices"
)

// A cut says which of a file's unsynced changes a power cut keeps. What is certain
// is kept by all of them.
type cut struct {
	order order
	at    int        // the change that is torn, -1 for one before all
	from  int        // its first sector on the other side
	long  bool       // keep the size that the torn change set
	stale *stalePool // what lost data reads as; zeros without one
	rand  *rand.Rand // of anyOrder, and to choose what is stale
}

// order is in which order the changes reached the disk, as far as they did.
type order uint8

const (
	inOrder  order = iota // those before the torn one are kept, and its first sectors
	reversed              // those behind the torn one are kept, and its last sectors
	alone                 // only the torn one is kept, whole
	except                // only the torn one is lost
	anyOrder              // each sector and each size by a coin
)

// keepsSector tells whether the content that a change gave a sector was written.
func (c *cut) keepsSector(change, i int) bool {
	switch c.order {
	case inOrder:
		return change < c.at || change == c.at && i < c.from
	case reversed:
		return change > c.at || change == c.at && i >= c.from
	case alone:
		return change == c.at
	case except:
		return change != c.at
	}
	return c.rand.Uint32()&1 != 0
}

// sizeAfter returns the size on the disk after a change that set it. A torn write
// leaves the size behind the sectors that were written, or the whole one: then the
// file is longer, and what of its data is missing reads as zeros or stale.
func (c *cut) sizeAfter(before int64, k int, ch *change) int64 {
	whole := k == c.at && c.long
	switch c.order {
	case inOrder:
		if k == c.at && !c.long {
			return min(ch.size, max(before, int64(c.from)*sectorSize))
		}
		whole = k <= c.at
	case reversed:
		whole = whole || k > c.at
	case alone:
		whole = k == c.at
	case except:
		whole = k != c.at
	case anyOrder:
		whole = c.rand.Uint32()&1 != 0
	}
	if whole {
		return ch.size
	}
	return before
}

// lost stands in an image that is being made for a sector of new data that was not
// written, where the file had no sector before.
var lost = new(sector)

// after returns what a cut leaves of a file.
func (n *inode) after(c *cut) image {
	if len(n.changes) == 0 {
		return n.synced
	}
	img := image{size: n.synced.size, sectors: slices.Clone(n.synced.sectors)}
	for k := range n.changes {
		ch := &n.changes[k]
		switch {
		case ch.size < 0:
		case ch.certainty == certain:
			img.size = ch.size
		default:
			img.size = c.sizeAfter(img.size, k, ch)
		}
		img.keep(c, k, ch, sectorsOf(n.synced.size))
	}
	for i, s := range img.sectors {
		if s == lost {
			img.sectors[i] = c.instead()
		}
	}
	img.sectors = resized(img.sectors, img.size)
	return img
}

// keep puts those sectors of a change that the cut keeps. The file had sectors of its
// own before the one called fresh, zeros among them: nothing stale turns up there.
func (m *image) keep(c *cut, k int, ch *change, fresh int) {
	if need := ch.first + len(ch.sectors); need > len(m.sectors) {
		m.sectors = append(m.sectors, make([]*sector, need-len(m.sectors))...)
	}
	for j, s := range ch.sectors {
		switch i := ch.first + j; {
		case ch.certainty == certain || c.keepsSector(k, i):
			m.sectors[i] = s
		case i >= fresh && m.sectors[i] == nil && s != nil:
			m.sectors[i] = lost
		}
	}
}

// instead returns what stands where data was lost: nil is zeros.
func (c *cut) instead() *sector {
	switch {
	case c.stale == nil || len(c.stale.sectors) == 0:
		return nil
	case c.rand == nil:
		return c.stale.sectors[0]
	case c.rand.Uint32()&1 == 0:
		return nil
	}
	return c.stale.sectors[c.rand.IntN(len(c.stale.sectors))]
}

// randomOrders is what randomCut draws from: seldom by a coin for every sector, which
// hardly ever leaves a nearly whole file, where recovery is hardest.
var randomOrders = [...]order{inOrder, inOrder, inOrder, inOrder, reversed, alone, except, anyOrder, anyOrder}

// randomCut draws a cut.
func (d *Disk) randomCut(n *inode, r *rand.Rand) cut {
	c := cut{rand: r, stale: &d.pool}
	if len(n.changes) == 0 {
		return c
	}
	// Two too many: everything is kept, or nothing.
	c.at = r.IntN(len(n.changes)+2) - 1
	c.long = r.IntN(2) == 0
	if c.at >= 0 && c.at < len(n.changes) {
		ch := &n.changes[c.at]
		c.from = ch.first + r.IntN(len(ch.sectors)+1)
	}
	c.order = randomOrders[r.IntN(len(randomOrders))]
	return c
}

// allCuts returns the cuts of a file that CrashAll goes through.
func (d *Disk) allCuts(n *inode) []cut {
	if len(n.changes) == 0 {
		return []cut{{}}
	}
	cuts := []cut{{at: -1}, {at: len(n.changes)}}
	for k := range n.changes {
		cuts = append(cuts, cut{order: alone, at: k}, cut{order: except, at: k})
		first := n.changes[k].first
		for i := first; i <= first+len(n.changes[k].sectors); i++ {
			cuts = append(cuts, cut{at: k, from: i}, cut{at: k, from: i, long: true},
				cut{order: reversed, at: k, from: i, long: true})
		}
	}
	if len(d.pool.sectors) == 0 {
		return cuts
	}
	for _, c := range slices.Clone(cuts) {
		c.stale = &d.pool
		cuts = append(cuts, c)
	}
	return cuts
}
