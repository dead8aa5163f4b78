package durable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// A protocol is a small log writer: what it leaves out loses data, and the disk has
// to show that. The zero value is right.
type protocol struct {
	noSum     bool // believe any record that is long enough
	noHeal    bool // append behind whatever a crash left
	noSync    bool
	noDirSync bool
	retrySync bool // go on after a failed Sync, when the next succeeds
	noCutBack bool // append behind what a short write left
}

// smallLog appends records: length, sum, number, filler. The sum starts from what is
// this log's own, as a sum that is chained to the record before does: no sum that is
// the same in every log tells a stale record from one of this log.
type smallLog struct {
	protocol
	fsys FS
	file File
	end  int64
	dead bool
}

const thisLog, anotherLog = 0, 1

func sum(log uint32, b []byte) uint32 { return crc32.Update(log, crc32.IEEETable, b) }

func encode(log, id uint32, n int) []byte {
	b := make([]byte, 12+n)
	binary.LittleEndian.PutUint32(b, uint32(n))
	binary.LittleEndian.PutUint32(b[8:], id)
	for i := range n {
		b[12+i] = byte(id) | 1
	}
	binary.LittleEndian.PutUint32(b[4:], sum(log, b[8:]))
	return b
}

// decode returns the numbers of the whole records, and where they end.
func (p protocol) decode(b []byte) (ids []uint32, end int64) {
	for len(b) >= 12 {
		n := int(binary.LittleEndian.Uint32(b)) + 12
		if n > len(b) || n < 12 || !p.noSum && binary.LittleEndian.Uint32(b[4:]) != sum(thisLog, b[8:n]) {
			break
		}
		ids = append(ids, binary.LittleEndian.Uint32(b[8:]))
		b, end = b[n:], end+int64(n)
	}
	return ids, end
}

func (p protocol) open(fsys FS) (*smallLog, []uint32, error) {
	f, err := fsys.OpenFile("log", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b := make([]byte, fi.Size())
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, nil, err
	}
	ids, end := p.decode(b)
	l := &smallLog{protocol: p, fsys: fsys, file: f, end: end}
	if p.noHeal {
		l.end = fi.Size()
	}
	return l, ids, l.settle()
}

// settle makes certain what the log starts from.
func (l *smallLog) settle() error {
	if err := l.file.Truncate(l.end); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	if l.noDirSync {
		return nil
	}
	return l.fsys.SyncDir(".")
}

var errDead = errors.New("an earlier Sync failed")

func (l *smallLog) append(id uint32, n int) error {
	if l.dead {
		return errDead
	}
	b := encode(thisLog, id, n)
	done, err := l.file.WriteAt(b, l.end)
	if err != nil {
		if l.noCutBack {
			l.end += int64(done)
			return err
		}
		return errors.Join(err, l.file.Truncate(l.end))
	}
	l.end += int64(len(b))
	if l.noSync {
		return nil
	}
	err = l.file.Sync()
	if err != nil && l.retrySync {
		err = l.file.Sync()
	}
	l.dead = err != nil
	return err
}

// history runs a log with faults, cuts the power, and recovers, twice over; it
// returns what was violated.
func (p protocol) history(r *rand.Rand) error {
	d := NewDisk()
	d.Stale(encode(anotherLog, 1<<20, 100))
	var tried, acked []uint32
	for range 2 {
		l, found, err := p.open(faultyAtTimes(d, r))
		if err != nil {
			return nil // a fault before anything was promised
		}
		if err := accounts(found, tried, acked); err != nil {
			return err
		}
		for range 1 + r.IntN(8) {
			id := uint32(len(tried) + 1)
			tried = append(tried, id)
			if l.append(id, r.IntN(1000)) == nil {
				acked = append(acked, id)
			}
		}
		d = d.Crash(r)
	}
	return accounts(found(p, d), tried, acked)
}

func found(p protocol, d *Disk) []uint32 {
	ids, _ := p.decode(contentOf(d, "log"))
	return ids
}

// faultyAtTimes fails one write or sync of a few.
func faultyAtTimes(d *Disk, r *rand.Rand) FS {
	switch r.IntN(4) {
	case 0:
		return &Faulty{FS: d, Fault: FailNth(Sync, 2+r.IntN(4), syscall.EIO)}
	case 1:
		return &Faulty{FS: d, Fault: FailNth(Write, 1+r.IntN(4), &ShortWrite{N: r.IntN(500), Err: syscall.ENOSPC})}
	}
	return d
}

// accounts checks that all that was acknowledged was found, in order, and nothing
// that was never tried.
func accounts(found, tried, acked []uint32) error {
	last := uint32(0)
	for _, id := range found {
		if id <= last || id > uint32(len(tried)) {
			return fmt.Errorf("garbage: record %d behind %d", id, last)
		}
		last = id
		if len(acked) > 0 && id == acked[0] {
			acked = acked[1:]
		}
	}
	if len(acked) > 0 {
		return fmt.Errorf("record %d was acknowledged and is lost", acked[0])
	}
	return nil
}

// The right protocol loses nothing, and each that leaves out a step is caught: so
// the simulator itself stays proven.
func TestProtocolsThatAreBrokenAreCaught(t *testing.T) {
	const histories = 3000
	for name, p := range map[string]protocol{
		"right": {}, "no sums": {noSum: true}, "no healing": {noHeal: true}, "no sync": {noSync: true},
		"no directory sync": {noDirSync: true}, "retry of a failed sync": {retrySync: true},
		"short writes stay": {noCutBack: true},
	} {
		violations := 0
		var example error
		for seed := range uint64(histories) {
			if err := p.history(newRand(seed)); err != nil {
				violations++
				example = err
			}
		}
		t.Logf("%-24s %5d of %d: %v", name, violations, histories, example)
		if (violations == 0) != (p == protocol{}) {
			t.Errorf("%s: %d violations in %d histories, such as %v", name, violations, histories, example)
		}
	}
}

// BenchmarkCrash is the disk alone: a log of 8 KiB with three unsynced writes, a
// lock file, an unsynced rename.
func BenchmarkCrash(b *testing.B) {
	d := NewDisk()
	f := newFile(b, d, "log", repeat("x", 8<<10))
	must(b, f.Sync(), newFile(b, d, "log.lock", "{}").Close(), d.SyncDir("."))
	for i := range 3 {
		put(b, f, repeat("y", 1000), int64(8<<10+i*1000))
	}
	must(b, newFile(b, d, "temp", "x").Close(), d.Rename("temp", "name"))
	r := newRand(1)
	b.ReportAllocs()
	for b.Loop() {
		d.Crash(r)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "states/s")
}

// BenchmarkHistory is a whole test: a log is written, crashed and recovered twice.
func BenchmarkHistory(b *testing.B) {
	b.ReportAllocs()
	seed := uint64(0)
	for b.Loop() {
		seed++
		if err := (protocol{}).history(newRand(seed)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "states/s")
}
