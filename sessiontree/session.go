package sessiontree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/internal/lock"
	"github.com/sessctl/sessctl/store"
)

// Options say how a session is written. Nil stands for the zero value.
type Options struct {
	// Sync says when an append is made durable.
	Sync SyncMode
	// Lock says how long the session is locked for other writers.
	Lock LockMode
	// Settle is how long a log that ends in a torn line must not have changed
	// before Open cuts it: another program may still be writing. 0 stands for two
	// seconds.
	Settle time.Duration

	fsys     durable.FS // of tests; nil is the real one
	unlocked bool       // of tests on a simulated disk, which has no locks
	now      func() time.Time
	machine  *machine
}

// A Boot is a start of a simulated machine.
type Boot struct {
	ID      string
	Started time.Time
	Now     func() time.Time
}

// In gives options for a session on another file system and machine. It is for this
// module's tests of crashes, on a simulated disk. A log has rested at once, as the clock of
// a disk stands still while nothing is written.
func (o Options) In(fsys durable.FS, b Boot) *Options {
	o.Settle, o.fsys, o.now = -1, fsys, b.Now
	o.machine = &machine{
		acquire: func(path string) (*lock.Lock, lock.Info, error) { return lock.AcquireIn(fsys, path, b.ID) },
		boot:    func() (string, time.Time) { return b.ID, b.Started },
	}
	return &o
}

// A machine is what tests put in the place of this one: its writer's locks, and
// when it was started.
type machine struct {
	acquire func(path string) (*lock.Lock, lock.Info, error)
	boot    func() (id string, started time.Time)
}

// A SyncMode says when appends are made durable. Whatever has to be on disk before
// something irrevocable happens (tool_execution_start, file states, restores,
// rewinds) is synced in every mode.
type SyncMode int

// The sync modes.
const (
	SyncAlways SyncMode = iota // before Append returns
	SyncTurn                   // by EndTurn, Sync and Close
	SyncNever                  // when the system pleases
)

// A LockMode says how long the writer's lock is held.
type LockMode int

// The lock modes.
const (
	LockSession LockMode = iota // from Open to Close
	LockTurn                    // from the first append of a turn to EndTurn
)

// The errors of writing.
var (
	// ErrLocked: another process writes to the session; a *LockedError names it.
	ErrLocked = store.ErrLocked
	// ErrUnknown: a write failed in a way that leaves its outcome unknown. Close the
	// session and open it anew; appending again what was reserved an id is safe.
	ErrUnknown = store.ErrUnknown
	// ErrClosed: the session was closed.
	ErrClosed = store.ErrClosed
	// ErrReadOnly: the log cannot be appended to; the text says why.
	ErrReadOnly = errors.New("the session can only be read")
	// ErrExists: there is a session at this path.
	ErrExists = store.ErrExists
)

// A LockedError tells which process has a session. errors.Is(err, ErrLocked) holds.
type LockedError struct {
	Path  string
	PID   int // 0 where it is not known
	Host  string
	Since time.Time
}

func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d on %s, since %s", e.PID, e.Host, e.Since.Local().Format(time.DateTime))
	}
	return fmt.Sprintf("%s: %v: %s; stop it, or wait until it is done", e.Path, ErrLocked, who)
}

// Is makes errors.Is(err, ErrLocked) hold.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// A Session is a log that is written. One process writes at a time, which the lock
// sees to; programs that know nothing of it are noticed. A Session is safe for
// concurrent use: appends that come together share what it takes to make them
// durable.
type Session struct {
	path string
	opt  Options
	head *jsonl.Head
	ids  entries.IDs

	mu         sync.Mutex
	log        *store.FileLog
	lock       *lock.Lock // nil while the session is not locked
	lastHolder lock.Info  // what the holder before left in the lock file
	waiting    waitingLine
	lines      []byte // of the appends that are being taken up
	scratch    []byte // for the lines of an append
	end        int64  // of the log
	prev       uint32 // what the next line's sum repeats
	leaf       entries.ID
	mine       map[entries.ID]bool // reserved or appended here; true once appended
	before     *Tree               // the log as it was found, for questions about older entries
	repairs    []Repair
	closed     bool
}

// LockPath gives the path of the lock file that belongs to a log.
func LockPath(path string) string { return path + ".lock" }

// Create makes a session in a directory, which is made where it is missing. Of the
// header ID and Time are set where they are empty. The session's file is 0600, and
// on disk when Create returns.
func Create(dir string, h entries.Header, opt *Options) (*Session, error) {
	s := newSession("", opt)
	if err := s.fillHeader(&h); err != nil {
		return nil, err
	}
	line, _ := seal(h.Append(nil), 0, false, 0)
	return s.create(dir, fileName(h), line)
}

func (s *Session) makeDir(dir string) error { return durable.MkdirAll(s.fsys(), dir, 0o700) }

// fileName is the time, without what file systems refuse, and the id.
func fileName(h entries.Header) string {
	stamp := h.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	return strings.NewReplacer(":", "-", ".", "-").Replace(stamp) + "_" + h.ID + ".jsonl"
}

func (s *Session) fillHeader(h *entries.Header) error {
	if h.Time.IsZero() {
		h.Time = s.now()
	}
	if h.ID == "" {
		id, err := s.ids.New()
		if err != nil {
			return err
		}
		h.ID = string(id)
	}
	if h.ID != filepath.Base(h.ID) || strings.HasPrefix(h.ID, ".") {
		return fmt.Errorf("session id %q cannot be part of a file name", h.ID)
	}
	return nil
}

// Open opens a session to append to it. It takes the writer's lock, and repairs
// what a crash explains: see Repairs. Logs of pi and oh-my-pi are opened as such:
// what is appended to them has no sums. A log of version 1, or of a later native
// format than this package knows, is ErrReadOnly.
func Open(path string, opt *Options) (*Session, error) {
	s := newSession(path, opt)
	if err := s.findFile(); err != nil {
		return nil, err
	}
	if err := s.acquire(); err != nil {
		return nil, err
	}
	log, err := store.OpenFileLogIn(s.fsys(), s.path)
	if err != nil {
		s.release(false)
		return nil, err
	}
	s.log = log
	if err := s.nameDurable(); err != nil {
		s.log.Close()
		s.release(false)
		return nil, err
	}
	return s.start()
}

// nameDurable makes certain that what is appended is found again: whoever gave the
// log its name may have died before that was durable.
func (s *Session) nameDurable() error {
	err := s.fsys().SyncDir(filepath.Dir(s.path))
	if errors.Is(err, fs.ErrPermission) {
		return nil // a directory that is not ours, and neither is what happens in it
	}
	return err
}

// findFile makes sure that there is a log to lock, and follows symbolic links to it:
// the lock stands beside the file itself, whatever name it is opened by.
func (s *Session) findFile() error {
	if _, err := s.fsys().Stat(s.path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrNotFound, err)
		}
		return err
	}
	if s.opt.fsys != nil {
		return nil
	}
	path, err := filepath.EvalSymlinks(s.path)
	if err == nil {
		s.path = path
	}
	return err
}

func newSession(path string, opt *Options) *Session {
	s := &Session{path: path, mine: map[entries.ID]bool{}}
	if opt != nil {
		s.opt = *opt
	}
	if s.opt.Settle == 0 {
		s.opt.Settle = 2 * time.Second
	}
	s.ids.Now = s.opt.now
	return s
}

func (s *Session) fsys() durable.FS {
	if s.opt.fsys != nil {
		return s.opt.fsys
	}
	return durable.OS()
}

func (s *Session) now() time.Time {
	if s.opt.now != nil {
		return s.opt.now()
	}
	return time.Now()
}

// start reads what the log says, repairs its end, and finds the leaf. Where that
// fails nothing stays open.
func (s *Session) start() (*Session, error) {
	err := s.load()
	if err == nil && s.opt.Lock == LockTurn {
		err = s.release(true)
	}
	if err != nil {
		s.log.Close()
		s.release(false)
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return s, nil
}

func (s *Session) load() error {
	err := s.read()
	if err == nil {
		err = s.repair()
	}
	if err == nil {
		err = s.settle()
	}
	s.noteFailure(s.log, err)
	if err != nil {
		return err
	}
	return s.findLeaf()
}

// read reads what the log is.
func (s *Session) read() error {
	size, err := s.log.Size()
	if err != nil {
		return err
	}
	if s.head, err = jsonl.ReadHead(s.log, size); err != nil {
		return err
	}
	return s.writable()
}

// writable refuses the logs that must not be appended to.
func (s *Session) writable() error {
	switch h := s.head.Header; {
	case store.IsArchive(s.log):
		return fmt.Errorf("%w: it is an archive; 'sessctl unarchive' restores its log", ErrReadOnly)
	case s.head.Other:
		return fmt.Errorf("%w: its records are of no type that pi, oh-my-pi or sessctl writes", ErrNoSession)
	case s.head.Empty || !s.head.Found:
		return fmt.Errorf("%w: it has no session header in its first MiB; 'sessctl verify --salvage' makes a sound copy", ErrReadOnly)
	case s.head.V1:
		return fmt.Errorf("%w: it is of version 1, whose readers would flatten branches; 'sessctl fork' goes on with it as a native session", ErrReadOnly)
	case h.NativeVersion() > entries.FormatVersion:
		return fmt.Errorf("%w: its format %q is newer than this program knows", ErrReadOnly, h.Format)
	}
	return nil
}

// findLeaf reads the end of the log.
func (s *Session) findLeaf() error {
	size, err := s.log.Size()
	if err != nil {
		return err
	}
	prev, err := jsonl.Neighbour(s.log, s.head, size)
	if err != nil {
		return err
	}
	t, err := s.treeAt(size)
	if err != nil {
		return err
	}
	s.before, s.prev, s.end, s.leaf = t, prev, size, t.Leaf()
	s.ids.After(s.leaf)
	return nil
}

// treeAt reads the log up to an offset, through a handle that the session owns.
func (s *Session) treeAt(end int64) (*Tree, error) {
	return From(&upTo{s.log, end}, s.path, nil) // the caller has s.mu, or s alone
}

// upTo is a log as it was when it had so many bytes. Closing it closes nothing.
type upTo struct {
	store.Source
	end int64
}

func (u *upTo) Size() (int64, error) { return u.end, nil }
func (u *upTo) Close() error         { return nil }

// Path is the path of the session's log.
func (s *Session) Path() string { return s.path }

// Header gives the session's header.
func (s *Session) Header() entries.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head.Header
}

// Leaf is the id of the entry that the next one will be attached to; "" before the
// first.
func (s *Session) Leaf() entries.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaf
}

// Tree gives the session as it is now: an immutable view, to be used until the
// session is closed.
func (s *Session) Tree() (*Tree, error) {
	s.mu.Lock()
	log, end, closed := s.log, s.end, s.closed
	s.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	return From(&upTo{log, end}, s.path, nil)
}

// NewID reserves an id for an entry that is appended later. Ids are unique, and
// increase in the order in which they are reserved. Appending a draft that has one
// can be repeated: it is appended once.
func (s *Session) NewID() (entries.ID, error) {
	id, err := s.ids.New()
	if err == nil {
		s.mu.Lock()
		s.mine[id] = false
		s.mu.Unlock()
	}
	return id, err
}

// Sync returns when everything that was appended is durable.
func (s *Session) Sync(ctx context.Context) error {
	s.mu.Lock()
	log, closed := s.log, s.closed
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	err := log.Sync(ctx)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.noteFailure(log, err)
	}
	return err
}

// EndTurn makes the turn durable, unless the mode is SyncNever, and with LockTurn
// gives the lock up, so that other programs can write while the agent is idle.
func (s *Session) EndTurn(ctx context.Context) error {
	if s.opt.Sync != SyncNever {
		if err := s.Sync(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opt.Lock == LockTurn {
		return s.release(true)
	}
	return nil
}

// Close makes what was appended durable, unless the mode is SyncNever, and gives
// the session up. Closing again does nothing.
func (s *Session) Close() error {
	var err error
	if s.opt.Sync != SyncNever {
		if err = s.Sync(context.Background()); errors.Is(err, ErrClosed) {
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(err, s.log.Close(), s.release(err == nil))
}

// Reload reads the log anew after ErrConflict, when another program wrote to it or
// replaced it: the leaf is then what that program left. Where that fails the session
// stays as it was.
func (s *Session) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if err := s.acquire(); err != nil {
		return err
	}
	head, old := s.head, s.log
	if err := s.reopen(); err != nil {
		return err
	}
	if err := errors.Join(s.nameDurable(), s.load()); err != nil {
		s.log.Close()
		s.head, s.log = head, old
		return err
	}
	// What was reserved or appended here is looked for in the log from now on: an
	// append that failed may be there, and one that succeeded may be gone.
	s.mine = map[entries.ID]bool{}
	return nil
}

// reopen opens the log as it is now. The handle before is not closed, since trees
// read through it; it goes with the last of them.
func (s *Session) reopen() error {
	log, err := store.OpenFileLogIn(s.fsys(), s.path)
	if err == nil {
		s.log = log
	}
	return err
}
