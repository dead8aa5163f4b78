package sessiontree

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/lock"
	"github.com/sessctl/sessctl/store"
)

// acquire takes the writer's lock, unless this session has it. settle has to follow.
func (s *Session) acquire() error {
	if s.lock != nil || s.opt.unlocked {
		return nil
	}
	l, before, err := s.machine().acquire(LockPath(s.path))
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return &LockedError{Path: s.path, PID: held.Holder.PID, Host: held.Holder.Host, Since: held.Holder.Since}
	}
	if err != nil {
		return err
	}
	s.lock, s.lastHolder = l, before
	return nil
}

// acquireTurn takes the lock for a log that was read before.
func (s *Session) acquireTurn() error {
	if s.lock != nil || s.opt.unlocked {
		return nil
	}
	if err := s.acquire(); err != nil {
		return err
	}
	err := s.settle()
	s.noteFailure(s.log, err)
	return err
}

// machine is this one, except in tests.
func (s *Session) machine() machine {
	if s.opt.machine != nil {
		return *s.opt.machine
	}
	return machine{lock.Acquire, lock.Boot}
}

// release gives the lock up, and leaves for the next holder how far the log is
// durable and, with clean, that it was closed in order: if all of it is durable.
func (s *Session) release(clean bool) error {
	if s.lock == nil {
		return nil
	}
	synced := s.synced()
	err := errors.Join(s.lock.Update(synced, clean && synced >= s.end), s.lock.Release())
	s.lock = nil
	return err
}

// synced is the offset up to which the log is known to be durable.
func (s *Session) synced() int64 {
	if s.log == nil {
		return s.lastHolder.Synced
	}
	return max(s.log.Synced(), s.lastHolder.Synced)
}

// noteFailure leaves for whoever opens the log anew that a sync may have failed.
func (s *Session) noteFailure(log *store.FileLog, err error) {
	if !errors.Is(err, ErrUnknown) || s.log != log || s.lastHolder.Failed {
		return
	}
	s.lastHolder.Synced, s.lastHolder.Failed = s.synced(), true
	if s.lock != nil {
		// Where that fails too, the next holder believes what it can read.
		_ = s.lock.Fail(s.lastHolder.Synced)
	}
}

// settle makes durable what is in the log, once it is judged and mended, and notes
// that: from there on the log is this holder's.
func (s *Session) settle() error {
	if s.lastHolder.Failed {
		if err := s.log.Renew(s.lastHolder.Synced); err != nil {
			return err
		}
	}
	if err := s.log.Sync(context.Background()); err != nil {
		return err
	}
	s.lastHolder.Synced, s.lastHolder.Failed = s.log.Synced(), false
	if s.lock == nil {
		return nil
	}
	return s.lock.Settled(s.lastHolder.Synced)
}

// LockLog takes the writer's lock of a log for something else than appending, such
// as moving it away. A lock that another process has is ErrLocked.
func LockLog(path string) (unlock func() error, err error) {
	s := newSession(path, nil)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		s.path = real // of an archive there is no log; its lock stands where that was
	}
	if err := s.acquire(); err != nil {
		return nil, err
	}
	return func() error { return s.release(s.lastHolder.Clean) }, nil
}
