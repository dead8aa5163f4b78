package sessiontree

import (
	"os"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/store"
)

// Protocols that leave out a step. The simulator has to catch each, or it shows
// nothing of the one that leaves out none.
var broken = map[string]protocol{
	"directories are not synced": {wrap: func(fsys durable.FS) durable.FS { return noDirSync{fsys} }},
	"acknowledged before the sync": {wrap: func(fsys durable.FS) durable.FS {
		return &altered{FS: fsys, sync: without(".jsonl")}
	}},
	"the lock file is not synced": {wrap: func(fsys durable.FS) durable.FS {
		return &altered{FS: fsys, sync: without(".lock")}
	}},
	"what is cut is not synced": {wrap: func(fsys durable.FS) durable.FS {
		return &altered{FS: fsys, sync: without(".damaged")}
	}},
	"a sync that failed is done again, and believed": {deaf: true, wrap: func(fsys durable.FS) durable.FS {
		return &altered{FS: fsys, sync: again}
	}},
	"a sync that failed is forgotten": {opener: openBy(func(s *Session) error {
		s.lastHolder.Failed = false
		return s.repair()
	})},
	"a short write is not cut back": {wrap: func(fsys durable.FS) durable.FS {
		return &altered{FS: fsys, sync: durable.File.Sync, keepShort: true}
	}},
	"a torn tail stays":                                     {opener: openBy(func(*Session) error { return nil })},
	"batches are not whole":                                 {opener: openBy(mend(withoutBatches))},
	"sums are not checked":                                  {opener: openBy(mend(withoutSums))},
	"only the end is judged after the machine went down":    {opener: openBy(mend(onlyTheEnd))},
	"lines without a sum count after the machine went down": {opener: openBy(mend(foreignLines))},
}

// mostStates is in how many states a broken protocol has to be caught.
const mostStates = 30_000

func TestBrokenProtocolsAreCaught(t *testing.T) {
	for name, p := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(0); p.states < mostStates; seed++ {
				if err := p.history(seed); err != nil {
					t.Logf("caught after %d states: %v", p.states, err)
					return
				}
			}
			t.Errorf("not caught in %d states", p.states)
		})
	}
}

type noDirSync struct{ durable.FS }

func (noDirSync) SyncDir(string) error { return nil }

// altered is a file system on which files are synced otherwise and, with keepShort,
// what a write that failed has left is not cut.
type altered struct {
	durable.FS
	sync      func(durable.File) error
	keepShort bool
}

func (a *altered) OpenFile(name string, flag int, perm os.FileMode) (durable.File, error) {
	f, err := a.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &alteredFile{File: namedFile{f, name}, a: a}, nil
}

type alteredFile struct {
	durable.File
	a     *altered
	short bool
}

type namedFile struct {
	durable.File
	name string
}

func (f *alteredFile) Sync() error { return f.a.sync(f.File) }

func (f *alteredFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	f.short = err != nil
	return n, err
}

func (f *alteredFile) Truncate(size int64) error {
	if f.a.keepShort && f.short {
		return nil
	}
	return f.File.Truncate(size)
}

// without leaves out the sync of files with a suffix.
func without(suffix string) func(durable.File) error {
	return func(f durable.File) error {
		if strings.HasSuffix(f.(namedFile).name, suffix) {
			return nil
		}
		return f.Sync()
	}
}

func again(f durable.File) error {
	if f.Sync() == nil {
		return nil
	}
	return f.Sync()
}

// openBy is Open with another repair.
func openBy(repair func(*Session) error) func(path string, opt *Options) (*Session, error) {
	return func(path string, opt *Options) (s *Session, err error) {
		s = newSession(path, opt)
		size := int64(0)
		for _, step := range []func() error{
			s.acquire,
			func() (err error) { s.log, err = store.OpenFileLogIn(s.fsys(), path); return err },
			s.nameDurable,
			func() (err error) { size, err = s.log.Size(); return err },
			func() (err error) { s.head, err = jsonl.ReadHead(s.log, size); return err },
			func() error { return repair(s) },
			s.settle,
			s.findLeaf,
		} {
			if err := step(); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
}

// mend is Session.repair with another judgement of where the log ends that counts.
func mend(judge func(s *Session, size int64) (int64, error)) func(*Session) error {
	return func(s *Session) error {
		size, err := s.log.Size()
		if err != nil {
			return err
		}
		at, err := judge(s, size)
		if err == nil && at < size {
			err = s.cut(jsonl.TornTail, at, size)
			size = at
		}
		if err != nil {
			return err
		}
		return s.finalNewline(size)
	}
}

func withoutBatches(s *Session, size int64) (int64, error) {
	end, err := jsonl.ReadEnd(s.log, size, s.head)
	if err != nil {
		return 0, err
	}
	for _, d := range end.Damage {
		if d.Kind == jsonl.TornTail {
			return d.Offset, nil
		}
	}
	return size, nil
}

func withoutSums(s *Session, size int64) (int64, error) {
	head := *s.head
	head.Native = false
	end, err := jsonl.ReadEnd(s.log, size, &head)
	if err != nil {
		return 0, err
	}
	return end.Limit, nil
}

func onlyTheEnd(s *Session, size int64) (int64, error) {
	end, err := jsonl.ReadEnd(s.log, size, s.head)
	if err != nil {
		return 0, err
	}
	return end.Limit, nil
}

func foreignLines(s *Session, size int64) (int64, error) {
	limit, err := onlyTheEnd(s, size)
	if err != nil {
		return 0, err
	}
	at, kind, err := s.doubtful(limit)
	if kind == jsonl.ForeignLine {
		at = limit
	}
	return at, err
}
