package sessiontree

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/durable"
)

// A computer is a disk, and which start of the machine this is.
type computer struct {
	disk    *durable.Disk
	boots   int
	started time.Time
}

func newComputer() computer {
	d := durable.NewDisk()
	return computer{disk: d, started: d.Now()}
}

// crashed is the computer after the power was cut and came back.
func (c computer) crashed(r *rand.Rand) computer {
	d := c.disk.Crash(r)
	return computer{disk: d, boots: c.boots + 1, started: d.Now()}
}

// killed is the computer after the process died.
func (c computer) killed() computer { return computer{c.disk.Kill(), c.boots, c.started} }

func (c computer) bootID() string { return fmt.Sprint("boot ", c.boots) }

// options make a session live on the computer.
func (c computer) options(fsys durable.FS, sync SyncMode) *Options {
	return Options{Sync: sync}.In(fsys, Boot{c.bootID(), c.started, c.disk.Now})
}

// content is a file, or nil where there is none.
func content(fsys durable.FS, name string) []byte {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	b := make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil
	}
	return b
}

// put writes to a file, as a program does that knows of no locks.
func put(fsys durable.FS, name string, b []byte, off int64) {
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt(b, off)
	}
	if err != nil {
		panic(err)
	}
	f.Close()
}

// stale is what the disk held before: lines of other files that read like entries of
// a log, with sums and without, some of them exactly where a sector begins and ends.
func stale(d *durable.Disk) {
	const bare = `{"type":"message","id":"stale%03d","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"%s"}}` + "\n"
	var b strings.Builder
	for i := range 6 {
		short := fmt.Sprintf(bare, i, "")
		b.WriteString(fmt.Sprintf(bare, i, strings.Repeat("s", 512-len(short))))
	}
	b.WriteString("\n" + fmt.Sprintf(bare, 7, "a") + fmt.Sprintf(bare, 8, "b"))
	d.Stale([]byte(b.String()))
	d.Stale(buildStory()[:3<<10])
}

// A recorder tells of the bytes that are written, before they are.
type recorder struct {
	durable.FS
	writes func(name string, off int64, p []byte)
}

func (r *recorder) OpenFile(name string, flag int, perm os.FileMode) (durable.File, error) {
	f, err := r.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return recordedFile{f, r, name}, nil
}

type recordedFile struct {
	durable.File
	r    *recorder
	name string
}

func (f recordedFile) WriteAt(p []byte, off int64) (int, error) {
	f.r.writes(f.name, off, p)
	return f.File.WriteAt(p, off)
}
