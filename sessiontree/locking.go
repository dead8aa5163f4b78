package sessiontree

import (
	"errors"

	"github.com/sessctl/sessctl/internal/lock"
)

// acquire takes the writer's lock, unless this session has it.
func (s *Session) acquire() error {
	if s.lock != nil || s.opt.unlocked {
		return nil
	}
	l, before, err := lock.Acquire(LockPath(s.path))
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return &LockedError{Path: s.path, PID: held.Holder.PID, Host: held.Holder.Host, Since: held.Holder.Since}
	}
	if err != nil {
		return err
	}
	s.lock, s.lastHolder = l, before
	return nil
}

// release gives the lock up, and leaves for the next holder how far the log is
// durable and, with clean, that it was closed in order.
func (s *Session) release(clean bool) error {
	if s.lock == nil {
		return nil
	}
	var synced int64
	if s.log != nil {
		synced = s.log.Synced()
	}
	err := errors.Join(s.lock.Update(max(synced, s.lastHolder.Synced), clean), s.lock.Release())
	s.lock = nil
	return err
}

// LockLog takes the writer's lock of a log for something else than appending, such
// as moving it away. A lock that another process has is ErrLocked.
func LockLog(path string) (unlock func() error, err error) {
	s := newSession(path, nil)
	if err := s.acquire(); err != nil {
		return nil, err
	}
	return func() error { return s.release(s.lastHolder.Clean) }, nil
}
