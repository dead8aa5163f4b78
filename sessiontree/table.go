package sessiontree

import (
	"hash/maphash"
	"math/bits"
	"sort"

	"github.com/sessctl/sessctl/entries"
)

// A table finds recs by their id: open addressing over indexes, since a map of
// strings takes several times the memory. A slot holds the upper half of the id's
// hash and the index plus one, so that most searches look at no id but the right
// one; 0 is free. Where ids are ordered it is empty, since they can be searched.
type table struct {
	seed  maphash.Seed
	slots []uint64
}

// newTable makes a table with room for n ids, so that it need not grow, and with a
// third to two thirds of it free.
func newTable(n int) table {
	return table{seed: maphash.MakeSeed(), slots: make([]uint64, 2<<bits.Len(uint(n+n/2)/2))}
}

// slot finds the place of id: where it is, or where it would go.
func (t *table) slot(x *index, id entries.ID) (place *uint64, hash uint64) {
	hash = maphash.String(t.seed, string(id)) >> 32
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if *s == 0 || *s>>32 == hash && x.id(&x.recs[uint32(*s)-1]) == id {
			return s, hash
		}
	}
}

// find gives the index of the rec that has the id, or -1.
func (t *table) find(x *index, id entries.ID) int32 {
	if x.ordered {
		return x.search(0, len(x.recs), id)
	}
	s, _ := t.slot(x, id)
	return int32(uint32(*s)) - 1
}

// put enters the rec at index i under its id, and gives the index of the rec that
// had it before, or -1.
func (t *table) put(x *index, i int32) int32 {
	s, hash := t.slot(x, x.id(&x.recs[i]))
	before := int32(uint32(*s)) - 1
	*s = hash<<32 | uint64(i+1)
	return before
}

// findAbove is find for the parent of an entry, which most often stands not far
// above it: where ids are ordered it looks there first, in growing steps.
func (x *index) findAbove(child int32, id entries.ID) int32 {
	if !x.ordered {
		return x.ids.find(x, id)
	}
	from, to := int(child), len(x.recs)
	for step := 16; from > 0 && x.id(&x.recs[from]) > id; step *= 4 {
		from, to = max(from-step, 0), from
	}
	return x.search(from, to, id)
}

// search finds an id among ordered ones.
func (x *index) search(from, to int, id entries.ID) int32 {
	n := sort.Search(to-from, func(i int) bool { return x.id(&x.recs[from+i]) >= id })
	if i := from + n; i < to && x.id(&x.recs[i]) == id {
		return int32(i)
	}
	return -1
}
