package sessiontree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/internal/jsonl"
)

// A Repair is what Open mended at the end of a log.
type Repair struct {
	Kind   DamageKind // of what was cut: torn-tail, incomplete-batch, or any after the machine went down; no-final-newline
	Offset int64
	Length int64  // in bytes, of what was cut
	Saved  string // the file that has the cut bytes; "" where nothing was cut
}

// Repairs lists what Open mended: a torn last line or a batch without its end was
// cut, after its bytes were saved to `<log>.damaged`; a missing last newline was
// added. After the machine went down, what was never known to be durable is cut from
// the first line on that does not follow the one before it: blocks may be missing
// there, and blocks of other files in their place.
func (s *Session) Repairs() []Repair {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.repairs)
}

// repair mends the end of the log.
func (s *Session) repair() error {
	end, size, err := s.settledEnd()
	if err != nil {
		return err
	}
	kind := jsonl.TornTail
	if len(end.Damage) > 0 {
		kind = end.Damage[0].Kind
	}
	if at, was, err := s.doubtful(end.Limit); err != nil {
		return err
	} else if at < end.Limit {
		end.Limit, kind = at, was
	}
	if end.Limit < size {
		if err := s.cut(kind, end.Limit, size); err != nil {
			return err
		}
		size = end.Limit
	}
	return s.finalNewline(size)
}

// settledEnd judges the end of the log, as long as it was at one moment: what comes
// later is not ours to cut. An end that is not whole, or has no newline, may still
// be being written by another program, so it has to rest first.
func (s *Session) settledEnd() (end *jsonl.End, size int64, err error) {
	for {
		info, err := s.log.Stat()
		if err != nil {
			return nil, 0, err
		}
		size := info.Size()
		end, err := jsonl.ReadEnd(s.log, size, s.head)
		if err != nil {
			return nil, 0, err
		}
		ended, err := s.lineStarts(size)
		if err != nil {
			return nil, 0, err
		}
		rested := s.now().Sub(info.ModTime())
		if end.Limit == size && ended || rested >= s.opt.Settle || rested < 0 {
			return end, size, nil
		}
		time.Sleep(min(s.opt.Settle-rested, 100*time.Millisecond))
		if err := s.reopen(); err != nil { // what was written meanwhile is no conflict
			return nil, 0, err
		}
	}
}

// doubtful gives the offset from which the log does not count after the machine
// went down, or limit. What was never known to be durable is held against its sums.
// That is done in one go with what else is to be cut: a log that was written to
// after the machine's start is not judged any more.
func (s *Session) doubtful(limit int64) (at int64, kind DamageKind, err error) {
	last := s.lastHolder
	boot, started := s.machine().boot()
	if !s.head.Native || s.head.Rewritten() || last.PID == 0 || last.Clean || last.Boot == "" || boot == "" || last.Boot == boot {
		return limit, "", nil
	}
	info, err := s.log.Stat()
	if err != nil || !info.ModTime().Before(started) {
		return limit, "", err
	}
	from := min(last.Synced, limit)
	if starts, err := s.lineStarts(from); err != nil || !starts {
		from = 0
	}
	at, kind, err = jsonl.Intact(s.log, s.head, from, limit)
	if err != nil || at == limit || at <= s.head.Offset {
		return limit, "", err
	}
	// What is left may end inside a batch.
	end, err := jsonl.ReadEnd(s.log, at, s.head)
	if err != nil {
		return limit, "", err
	}
	return end.Limit, kind, nil
}

// lineStarts tells whether a line starts at an offset.
func (s *Session) lineStarts(at int64) (bool, error) {
	if at == 0 {
		return true, nil
	}
	var before [1]byte
	_, err := s.log.ReadAt(before[:], at-1)
	return before[0] == '\n', err
}

// cut saves what stands from an offset on, then cuts it.
func (s *Session) cut(kind DamageKind, at, size int64) error {
	saved, err := s.save(at, size)
	if err != nil {
		return fmt.Errorf("cannot save what a crash left at byte %d, so it stays: %w", at, err)
	}
	if err := s.log.Cut(at); err != nil {
		return fmt.Errorf("cannot cut what a crash left at byte %d: %w", at, err)
	}
	s.repairs = append(s.repairs, Repair{Kind: kind, Offset: at, Length: size - at, Saved: saved})
	return nil
}

// A damagedPart is the line that stands before cut bytes in the damaged file.
type damagedPart struct {
	Offset int64     `json:"offset"`
	Length int64     `json:"length"`
	Time   time.Time `json:"time"`
}

// save appends bytes of the log to its damaged file, and makes that durable.
func (s *Session) save(from, to int64) (path string, err error) {
	path = s.path + ".damaged"
	f, err := durable.OpenAppend(s.fsys(), path, os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	part := make([]byte, to-from)
	if err = readFull(s.log, part, from); err == nil {
		head, _ := json.Marshal(damagedPart{from, to - from, s.now().UTC()})
		_, _, err = durable.Append(f, append(append(append(head, '\n'), part...), '\n'))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	// Whoever made the file may have died before its name was durable.
	return path, s.nameDurable()
}

// finalNewline ends a last line that counts, so that the next one does not stand
// behind it.
func (s *Session) finalNewline(size int64) error {
	if ended, err := s.lineStarts(size); err != nil || ended {
		return err
	}
	if err := s.write(size, []byte("\n")); err != nil {
		return err
	}
	if err := s.log.Sync(context.Background()); err != nil {
		return err
	}
	s.repairs = append(s.repairs, Repair{Kind: jsonl.NoFinalNewline, Offset: size})
	return nil
}
