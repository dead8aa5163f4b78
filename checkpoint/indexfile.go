package checkpoint

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// An index is kept between processes in a disposable file of the store: without it the
// next scan reads every file once more. It begins with indexMagic and ends with a CRC-32C
// over all before; what does not is not believed. The magic changes with the format.
const (
	indexSuffix = ".index"
	indexMagic  = "sessctl-index/2\n"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (t *Tracker) indexPath() string {
	return filepath.Join(t.st.dir, statesDir, t.ws.key()+indexSuffix)
}

func (t *Tracker) saveIndex(x *index) {
	data := x.encode()
	if err := writeState(t.indexPath(), binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))); err != nil {
		t.opt.Logger.Warn("what a scan saw cannot be kept; the next process reads all files again", "error", err)
	}
}

func (t *Tracker) loadIndex() *index {
	data, err := os.ReadFile(t.indexPath())
	if err != nil {
		return nil
	}
	return decodeIndex(data)
}

// encode leaves the rules out: those of another process's scan say nothing of a turn of
// this one.
func (x *index) encode() []byte {
	e := &encoder64{b: []byte(indexMagic)}
	e.int(x.at.UnixNano())
	e.int(int64(len(x.dirs)))
	for dir, list := range x.dirs {
		e.text(dir)
		e.bool(x.stale[dir])
		e.int(int64(len(list)))
		for _, n := range list {
			e.node(n)
		}
	}
	return e.b
}

type encoder64 struct{ b []byte }

func (e *encoder64) int(n int64) { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder64) bool(is bool) {
	if is {
		e.int(1)
	} else {
		e.int(0)
	}
}

func (e *encoder64) text(s string) {
	e.int(int64(len(s)))
	e.b = append(e.b, s...)
}

// kinds are the kinds of states by their numbers.
var kinds = []Kind{Absent, File, Symlink, Dir, Unknown}

func (e *encoder64) node(n node) {
	e.text(n.name)
	s := n.signature
	for _, v := range []int64{s.size, s.mtime, s.ctime, int64(s.dev), int64(s.ino), int64(s.mode)} {
		e.int(v)
	}
	for i, k := range kinds {
		if k == n.state.Kind {
			e.int(int64(i))
		}
	}
	switch n.state.Kind {
	case File:
		sum, _ := hex.DecodeString(n.state.SHA256)
		e.b = append(e.b, sum...)
	case Symlink:
		e.text(n.state.Target)
	case Unknown:
		e.text(n.state.Reason)
	}
}

var errIndex = errors.New("not an index")

// A decoder64 reads what an encoder64 wrote; after the first thing that makes no sense it
// gives zeros.
type decoder64 struct {
	b   []byte
	err error
}

func (d *decoder64) int() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.err = errIndex
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder64) bytes(n int64) []byte {
	if n < 0 || n > int64(len(d.b)) {
		d.err = errIndex
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder64) text() string { return string(d.bytes(d.int())) }

func decodeIndex(data []byte) *index {
	const sum = 4
	n := len(data) - sum
	if n < len(indexMagic) || string(data[:len(indexMagic)]) != indexMagic || binary.LittleEndian.Uint32(data[n:]) != crc32.Checksum(data[:n], castagnoli) {
		return nil
	}
	d := &decoder64{b: data[len(indexMagic):n]}
	x := newIndex()
	x.at = time.Unix(0, d.int())
	for range d.int() {
		dir := d.text()
		x.stale[dir] = d.int() != 0
		count := d.int()
		if d.err != nil || count < 0 || count > int64(len(d.b)) {
			return nil
		}
		list := make([]node, 0, count)
		for range count {
			list = append(list, d.node())
		}
		x.dirs[dir] = list
	}
	if d.err != nil {
		return nil
	}
	return x
}

func (d *decoder64) node() (n node) {
	n.name = d.text()
	n.signature = signature{size: d.int(), mtime: d.int(), ctime: d.int(), dev: uint64(d.int()), ino: uint64(d.int()), mode: fs.FileMode(d.int())}
	kind := d.int()
	if kind < 0 || kind >= int64(len(kinds)) {
		d.err = errIndex
		return n
	}
	n.state.Kind = kinds[kind]
	switch n.state.Kind {
	case File:
		const sumSize = 32
		n.state.SHA256 = hex.EncodeToString(d.bytes(sumSize))
		n.state.Size, n.state.Mode = n.signature.size, n.signature.mode&modeBits
	case Dir:
		n.state.Mode = n.signature.mode & modeBits
	case Symlink:
		n.state.Target = d.text()
	case Unknown:
		n.state.Reason = d.text()
	}
	return n
}
