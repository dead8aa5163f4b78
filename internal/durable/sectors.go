package durable

import "slices"

// A disk writes a sector whole or not at all.
const sectorSize = 512

// A sector's bytes are never written to once it is in an image.
type sector [sectorSize]byte

// An image is the content of a file. It has the sectors that its size needs, nil for
// zeros, and zeros behind the size in the last one.
type image struct {
	size    int64
	sectors []*sector
}

// sectorsOf says how many sectors hold so many bytes.
func sectorsOf(size int64) int { return int((size + sectorSize - 1) / sectorSize) }

// resized returns sectors for a size; it may write to the slice, but not to sectors.
func resized(sectors []*sector, size int64) []*sector {
	n := sectorsOf(size)
	if n > len(sectors) {
		return append(sectors, make([]*sector, n-len(sectors))...)
	}
	sectors = sectors[:n]
	if used := size % sectorSize; used != 0 && sectors[n-1] != nil {
		sectors[n-1] = sectors[n-1].head(used)
	}
	return sectors
}

// head returns a sector with zeros behind its first bytes.
func (s *sector) head(used int64) *sector {
	if *s == (sector{}) {
		return nil
	}
	h := new(sector)
	copy(h[:used], s[:])
	return h
}

// readAt copies from a position up to the size.
func (m image) readAt(p []byte, off int64) (n int) {
	p = p[:max(0, min(int64(len(p)), m.size-off))]
	for n < len(p) {
		i, in := (off+int64(n))/sectorSize, (off+int64(n))%sectorSize
		part := p[n:min(len(p), n+int(sectorSize-in))]
		if s := m.sectors[i]; s != nil {
			copy(part, s[in:])
		} else {
			clear(part)
		}
		n += len(part)
	}
	return n
}

// patched returns the sectors from first on as they are with bytes put at a position.
func (m image) patched(p []byte, off int64) (first int, sectors []*sector) {
	first = int(off / sectorSize)
	blocks := make([]sector, sectorsOf(off+int64(len(p)))-first)
	sectors = make([]*sector, len(blocks))
	at := int(off % sectorSize)
	for i := range blocks {
		sectors[i] = &blocks[i]
		if old := first + i; len(p) < sectorSize || at > 0 {
			m.copySector(old, sectors[i])
		}
		p = p[copy(blocks[i][at:], p):]
		at = 0
	}
	return first, sectors
}

func (m image) copySector(i int, to *sector) {
	if i < len(m.sectors) && m.sectors[i] != nil {
		*to = *m.sectors[i]
	}
}

// stalePool is the last sectors that were freed.
type stalePool struct {
	sectors []*sector
	next    int
}

// stalePoolSize is small, as every crash copies the pool.
const stalePoolSize = 32

func (p *stalePool) add(sectors ...*sector) {
	for _, s := range sectors {
		switch {
		case s == nil:
		case len(p.sectors) < stalePoolSize:
			p.sectors = append(p.sectors, s)
		default:
			p.sectors[p.next%stalePoolSize] = s
			p.next++
		}
	}
}

func (p *stalePool) clone() stalePool {
	return stalePool{sectors: slices.Clone(p.sectors), next: p.next}
}
