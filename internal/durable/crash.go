package durable

import "math/rand/v2"

// Crash returns the disk that the next boot may find if the power is cut now, drawn
// at random. The disk itself goes on as if nothing had happened, so that one history
// yields as many crashes as wanted.
//
// What is durable is there. Of each file any of the unsynced writes and truncations
// may be there, sector by sector, older ones missing under newer ones or not; sizes
// apart from the data, and where a file grew without its data there are zeros or
// bytes that the disk held before (Stale). Of each directory any of the unsynced
// changes may be there. On the new disk everything is durable.
func (d *Disk) Crash(r *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.crash(d.randomOps(r), func(n *inode) image {
		c := d.randomCut(n, r)
		return n.after(&c)
	})
}

// randomOps draws which changes of directories survive: those up to one as often as
// any set, since a journal keeps them in order.
func (d *Disk) randomOps(r *rand.Rand) []bool {
	if len(d.ops) == 0 {
		return nil
	}
	if r.IntN(2) == 0 {
		n := r.IntN(len(d.ops) + 1)
		return d.withEarlier(func(i int) bool { return i < n })
	}
	return d.withEarlier(func(int) bool { return r.Uint32()&1 != 0 })
}

// CrashAll yields, instead of one disk by chance, all that a few simple rules give:
// each file with its unsynced changes up to any sector of any of them, in order and
// reversed, with the size of the torn one and without, and with one change alone and
// all but one; with zeros and with something stale where data is missing; with each
// possible set of the unsynced changes of directories. Files and directories vary
// independently, so keep histories short.
func (d *Disk) CrashAll(yield func(*Disk) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.eachOps(func(kept []bool) bool { return d.eachImages(kept, yield) })
}

// manyOps is from where on CrashAll only takes changes of directories in order.
const manyOps = 8

// eachOps goes through the sets of changes of directories that may survive.
func (d *Disk) eachOps(yield func(kept []bool) bool) {
	if len(d.ops) > manyOps {
		for n := range len(d.ops) + 1 {
			if !yield(d.withEarlier(func(i int) bool { return i < n })) {
				return
			}
		}
		return
	}
	for set := range 1 << len(d.ops) {
		isIn := func(i int) bool { return set>>i&1 != 0 }
		if kept := d.withEarlier(isIn); equals(kept, isIn) && !yield(kept) {
			return
		}
	}
}

func equals(kept []bool, isIn func(i int) bool) bool {
	for i, k := range kept {
		if k != isIn(i) {
			return false
		}
	}
	return true
}

// eachImages yields the disks with all contents of the files that a set of changes
// of directories leaves: it counts through the cuts of all files like a counter
// whose digits are files.
func (d *Disk) eachImages(kept []bool, yield func(*Disk) bool) bool {
	var files []*inode
	images := map[*inode][]image{}
	digits := map[*inode]int{}
	for first := true; ; first = false {
		crashed := d.crash(kept, func(n *inode) image {
			if first {
				files = append(files, n)
				images[n] = d.allImages(n)
			}
			return images[n][digits[n]]
		})
		if !yield(crashed) {
			return false
		}
		if !count(files, digits, images) {
			return true
		}
	}
}

// count moves on to the next combination; false says that there is none.
func count(files []*inode, digits map[*inode]int, images map[*inode][]image) bool {
	for _, n := range files {
		if digits[n]++; digits[n] < len(images[n]) {
			return true
		}
		digits[n] = 0
	}
	return false
}

func (d *Disk) allImages(n *inode) []image {
	var images []image
	for _, c := range d.allCuts(n) {
		images = append(images, n.after(&c))
	}
	return images
}

// bootTicks is how far a crash moves the clock.
const bootTicks = 1000

// crash builds the disk that is left.
func (d *Disk) crash(kept []bool, content func(*inode) image) *Disk {
	b := &rebuild{
		to:      &Disk{lastID: d.lastID, ticks: d.ticks + bootTicks, pool: d.pool.clone()},
		entries: d.entriesAfter(kept),
		content: content,
		made:    map[*inode]*inode{},
	}
	b.to.root = b.inode(d.root)
	return b.to
}

// entriesAfter returns the entries of the directories that kept changes edit.
func (d *Disk) entriesAfter(kept []bool) map[*inode][]entry {
	var after map[*inode][]entry
	for i, op := range d.ops {
		if !kept[i] {
			continue
		}
		if after == nil {
			after = map[*inode][]entry{}
		}
		for _, e := range op {
			before, ok := after[e.dir]
			if !ok {
				before = e.dir.syncedEntries
			}
			after[e.dir] = edited(before, e)
		}
	}
	return after
}

// rebuild makes the inodes of a disk after a crash from those before.
type rebuild struct {
	to      *Disk
	entries map[*inode][]entry // of directories that differ from what was synced
	content func(*inode) image
	made    map[*inode]*inode // files have several names
}

func (b *rebuild) inode(old *inode) *inode {
	if n, ok := b.made[old]; ok {
		return n
	}
	n := &inode{id: old.id, mode: old.mode, mtime: old.mtime, target: old.target}
	b.made[old] = n
	if !old.mode.IsDir() {
		n.now = b.content(old)
		n.synced, n.shared = n.now, true
		return n
	}
	entries, ok := b.entries[old]
	if !ok {
		entries = old.syncedEntries
	}
	n.entries = make([]entry, len(entries))
	for i, e := range entries {
		child := b.inode(e.node)
		child.links++
		n.entries[i] = entry{e.name, child}
	}
	n.syncedEntries = n.entries
	return n
}
