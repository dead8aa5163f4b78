package durable

import "slices"

// Kill returns the disk as the death of the process leaves it: everything that was
// written is there, and what was not durable still is not. Handles die, so that a
// file that was removed while it was open is gone. The disk itself, with its
// handles, goes on apart from the new one.
//
// A process may also die in the middle of a write: see KillInside.
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := &survivors{made: map[*inode]*inode{}}
	k := &Disk{lastID: d.lastID, ticks: d.ticks, pool: d.pool.clone()}
	k.root = b.inode(d.root)
	for _, op := range d.ops {
		edits := slices.Clone(op)
		for i, e := range edits {
			edits[i] = edit{b.inode(e.dir), e.name, b.inode(e.node)}
		}
		k.ops = append(k.ops, edits)
	}
	return k
}

// survivors makes the inodes of a disk after a death from those before.
type survivors struct {
	made map[*inode]*inode
}

func (b *survivors) inode(old *inode) *inode {
	if old == nil {
		return nil
	}
	if n, ok := b.made[old]; ok {
		return n
	}
	n := &inode{}
	b.made[old] = n
	*n = *old
	n.now.sectors, n.shared = slices.Clone(n.now.sectors), false
	n.changes = slices.Clone(old.changes)
	n.entries = b.list(old.entries)
	n.syncedEntries = b.list(old.syncedEntries)
	return n
}

func (b *survivors) list(entries []entry) []entry {
	to := make([]entry, len(entries))
	for i, e := range entries {
		to[i] = entry{e.name, b.inode(e.node)}
	}
	return to
}
