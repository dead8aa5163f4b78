package sessiontree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/durable"
	"github.com/sessctl/sessctl/store"
)

// A protocol is how sessions are written: the zero value as they are. What a broken
// one does otherwise has to be caught.
type protocol struct {
	wrap   func(durable.FS) durable.FS // of what the session writes to
	opener func(path string, opt *Options) (*Session, error)
	deaf   bool // a sync that failed is not told of
	states int  // that were checked
}

func (p *protocol) wrapped(fsys durable.FS) durable.FS {
	if p.wrap != nil {
		return p.wrap(fsys)
	}
	return fsys
}

func (p *protocol) open(path string, opt *Options) (*Session, error) {
	if p.opener != nil {
		return p.opener(path, opt)
	}
	return Open(path, opt)
}

// A history is one life of a few logs on a computer, with crashes.
type history struct {
	*protocol
	r     *rand.Rand
	c     computer
	fsys  durable.FS
	mode  SyncMode
	lock  LockMode
	s     *Session // nil while no log is open
	log   *script  // of s
	logs  []*script
	calm  bool   // no crashes are tried
	bytes []byte // that are being written
	fails func(op durable.Op) error
	last  string // what is being done
	err   error  // what was violated
}

func (p *protocol) history(seed uint64) error {
	h := &history{protocol: p, r: rand.New(rand.NewPCG(seed, 1)), c: newComputer()}
	h.mode, h.lock = SyncMode(h.r.IntN(3)), LockMode(h.r.IntN(2))
	stale(h.c.disk)
	h.boot(h.c)
	h.create()
	for range 14 {
		if h.err != nil {
			return fmt.Errorf("seed %d, modes %d and %d, %s: %w", seed, h.mode, h.lock, h.last, h.err)
		}
		h.step()
	}
	return h.err
}

// boot goes on with another computer, where no session is open.
func (h *history) boot(c computer) {
	h.c, h.s = c, nil
	faulty := &durable.Faulty{FS: h.c.disk, Fault: h.before}
	h.fsys = h.wrapped(&recorder{FS: faulty, writes: h.writes})
}

func (h *history) options() *Options {
	opt := h.c.options(h.fsys, h.mode)
	opt.Lock = h.lock
	return opt
}

// writes notes what is written to a log, or to the temporary file of a new one.
func (h *history) writes(name string, off int64, p []byte) {
	h.bytes = p
	switch l := h.log; {
	case name == l.path && off == int64(len(l.text)),
		len(l.text) == 0 && strings.HasSuffix(name, ".tmp"):
		l.tried = slices.Clone(p)
	}
}

// before is asked before each operation of the session's: the power may be cut here,
// or the process die, and the operation may fail.
func (h *history) before(op durable.Op) error {
	if h.calm || h.err != nil {
		return nil
	}
	switch op.Kind {
	case durable.Stat, durable.ReadAt, durable.ReadDir:
		return nil
	case durable.Write:
		h.crashes(h.c, 1)
		h.torn(op)
	default:
		h.crashes(h.c, 2)
	}
	if h.fails != nil {
		return h.fails(op)
	}
	return nil
}

// crashes checks some of the states that a crash or a death may leave now.
func (h *history) crashes(c computer, n int) {
	for range n {
		h.check(c.crashed(h.r), h.log, h.log.durable)
	}
	if h.r.IntN(3) == 0 {
		h.check(c.killed(), h.log, h.log.written)
	}
	if other := h.logs[h.r.IntN(len(h.logs))]; other != h.log && h.r.IntN(3) == 0 {
		h.check(c.crashed(h.r), other, other.durable)
	}
}

// torn is a death in the middle of a write.
func (h *history) torn(op durable.Op) {
	if op.Name == h.log.path {
		k := h.c.killed()
		put(k.disk, op.Name, h.bytes[:h.r.IntN(op.Len+1)], op.Offset)
		h.crashes(k, 1)
		h.check(k, h.log, h.log.written)
	}
}

func (h *history) check(c computer, l *script, least int64) {
	if h.err != nil {
		return
	}
	h.states++
	if err := h.recovered(c, l, least, h.r); err != nil {
		h.err = fmt.Errorf("%s: %w", l.path, err)
	}
}

// step does one thing.
func (h *history) step() {
	if h.s == nil {
		h.reopen()
		return
	}
	steps := []func(){
		h.append, h.append, h.append, h.append, h.appendTo, h.move, h.label, h.repeat, h.endTurn, h.endTurn,
		h.close, h.fork, h.foreign, h.syncFails, h.writeFails, h.writeFails, h.crash, h.crash, h.kill, h.tear, h.openFails,
	}
	steps[h.r.IntN(len(steps))]()
}

var sizes = [...]int{0, 20, 200, 300, 700, 1400}

func (h *history) drafts() []entries.Draft {
	drafts := make([]entries.Draft, 1+h.r.IntN(4))
	for i := range drafts {
		drafts[i] = filler(sizes[h.r.IntN(len(sizes))] + h.r.IntN(60))
	}
	return drafts
}

// acked takes up what an append returned; a plain error leaves the log as it was.
func (h *history) acked(what string, a Appended, err error) {
	h.last = what
	if h.err != nil {
		return
	}
	if err != nil {
		h.err = fmt.Errorf("%s failed: %w", what, err)
		return
	}
	h.log.acknowledge()
	if a.Durable {
		h.log.acknowledgeDurable()
	}
}

func (h *history) append() {
	a, err := h.s.Append(context.Background(), h.drafts()...)
	h.acked("append", a, err)
}

// any is some entry of the session's.
func (h *history) any() entries.ID {
	h.calm = true
	defer func() { h.calm = false }()
	t, err := h.s.Tree()
	if err != nil {
		panic(err)
	}
	var ids []entries.ID
	for e, err := range t.Entries() {
		if err != nil {
			panic(err)
		}
		ids = append(ids, e.ID)
	}
	if len(ids) == 0 {
		return ""
	}
	return ids[h.r.IntN(len(ids))]
}

func (h *history) appendTo() {
	a, err := h.s.AppendTo(context.Background(), h.any(), h.drafts()...)
	h.acked("appendTo", a, err)
}

func (h *history) move() {
	a, err := h.s.MoveLeafWithSummary(context.Background(), h.any(), strings.Repeat("s", h.r.IntN(3)*200))
	h.acked("move", a, err)
}

func (h *history) label() {
	if id := h.any(); id != "" {
		a, err := h.s.SetLabel(context.Background(), id, "label")
		h.acked("label", a, err)
	}
}

// repeat appends, and appends the same again.
func (h *history) repeat() {
	drafts := h.reserved()
	a, err := h.s.Append(context.Background(), drafts...)
	h.acked("append", a, err)
	b, err := h.s.Append(context.Background(), drafts...)
	h.acked("repeat", b, err)
	if err == nil && !b.Repeated {
		h.err = errors.New("it was not known to be there")
	}
}

func (h *history) reserved() []entries.Draft {
	drafts := h.drafts()
	for i := range drafts {
		id, err := h.s.NewID()
		if err != nil {
			panic(err)
		}
		drafts[i] = drafts[i].WithID(id)
	}
	return drafts
}

func (h *history) endTurn() {
	h.last = "end of turn"
	if err := h.s.EndTurn(context.Background()); err != nil {
		h.err = errors.Join(h.err, err)
	} else if h.mode != SyncNever {
		h.log.acknowledgeDurable()
	}
}

func (h *history) close() {
	h.last = "close"
	err := h.s.Close()
	if h.err == nil && err != nil {
		h.err = err
	}
	if h.mode != SyncNever {
		h.log.acknowledgeDurable()
	}
	h.s = nil
}

// create makes a new session, on which the history goes on.
func (h *history) create() {
	h.new("create", func(header entries.Header) (*Session, error) {
		return Create("dir", header, h.options())
	})
}

func (h *history) new(what string, create func(entries.Header) (*Session, error)) {
	h.last = what
	header := entries.Header{ID: fmt.Sprint("session", len(h.logs)), Time: time.Unix(1e9, 0), Cwd: "/home/u"}
	h.log = &script{path: "dir/" + fileName(header)}
	h.logs = append(h.logs, h.log)
	s, err := create(header)
	h.s = s
	h.acked(what, Appended{Durable: true}, err)
}

func (h *history) fork() {
	source := h.s
	t, err := source.Tree()
	if err != nil {
		panic(err)
	}
	h.new("fork", func(header entries.Header) (*Session, error) {
		return Fork(context.Background(), t, "", "dir", header, h.options())
	})
	source.log.Close()
	source.release(false)
}

// foreign is an append of a program that knows nothing of sums and locks. The
// session notices, and goes on behind it. What such programs write while nobody has
// the lock is theirs: it is not judged after a crash, as it may be good.
func (h *history) foreign() {
	if h.s.lock == nil {
		h.append()
	}
	if h.err != nil {
		return
	}
	line := fmt.Appendf(nil, `{"type":"message","id":"foreign%d","parentId":"%s","message":{"role":"user","content":"%s"}}`+"\n",
		h.r.Uint64(), h.s.Leaf(), strings.Repeat("f", h.r.IntN(900)))
	h.log.tried = line
	put(h.c.disk, h.log.path, line, int64(len(h.log.text)))
	h.log.acknowledge()
	h.last = "append behind a foreign line"
	if _, err := h.s.Append(context.Background(), filler(10)); !errors.Is(err, ErrConflict) && h.err == nil {
		h.err = fmt.Errorf("a foreign line was not noticed: %w", err)
	}
	h.crashes(h.c, 3)
	h.last = "reload"
	if err := h.s.Reload(); err != nil && h.err == nil {
		h.err = err
	}
	h.append()
}

// writeFails makes a write short; it is undone, and the next one succeeds.
func (h *history) writeFails() {
	done := false
	h.fails = func(op durable.Op) error {
		if op.Kind != durable.Write || op.Name != h.log.path || done {
			return nil
		}
		done = true
		return &durable.ShortWrite{N: h.r.IntN(op.Len), Err: syscall.ENOSPC}
	}
	drafts := h.reserved()
	_, err := h.s.Append(context.Background(), drafts...)
	h.fails = nil
	h.last = "a write that fails"
	if !errors.Is(err, syscall.ENOSPC) && h.err == nil {
		h.err = fmt.Errorf("the error of a write is %w", err)
	}
	a, err := h.s.Append(context.Background(), drafts...)
	h.acked("an append after a write that failed", a, err)
}

// syncFails makes an fsync fail. The session is opened anew, and what was being
// appended is appended again.
func (h *history) syncFails() {
	h.fails = h.firstSync()
	drafts := h.reserved()
	_, err := h.s.Append(context.Background(), drafts...)
	if err == nil {
		h.log.acknowledge()
		err = h.s.Sync(context.Background())
	}
	h.fails = nil
	h.last = "a sync that fails"
	if h.deaf {
		h.log.acknowledge()
		h.log.acknowledgeDurable()
		return
	}
	if !errors.Is(err, store.ErrUnknown) && h.err == nil {
		h.err = fmt.Errorf("the error of a sync is %w", err)
	}
	if h.r.IntN(2) == 0 {
		h.s.Close()
		h.reopen()
	} else if err := h.s.Reload(); err != nil {
		h.err = errors.Join(h.err, err)
	} else {
		h.log.found(content(h.c.disk, h.log.path))
	}
	if h.err == nil {
		a, err := h.s.Append(context.Background(), drafts...)
		h.acked("the same append after a sync that failed", a, err)
	}
}

// crash cuts the power, and goes on from what is left.
func (h *history) crash() {
	h.powerCut()
	h.reopen()
}

func (h *history) powerCut() {
	for _, l := range h.logs {
		l.written = l.durable
	}
	h.boot(h.c.crashed(h.r))
}

func (h *history) kill() {
	h.boot(h.c.killed())
	h.reopen()
}

// openFails makes an fsync fail while a log is opened that was not closed.
func (h *history) openFails() {
	if h.boot(h.c.killed()); h.r.IntN(2) == 0 {
		h.powerCut()
	}
	h.fails = h.firstSync()
	_, err := h.protocol.open(h.log.path, h.options())
	h.fails = nil
	h.last = "an open that fails"
	if h.deaf {
		h.reopen()
		return
	}
	if !errors.Is(err, store.ErrUnknown) && h.err == nil {
		h.err = fmt.Errorf("the error of a sync is %w", err)
	}
	h.reopen()
}

// firstSync is a fault: the first sync of the log fails.
func (h *history) firstSync() func(durable.Op) error {
	done := false
	return func(op durable.Op) error {
		if op.Kind == durable.Sync && op.Name == h.log.path && !done {
			done = true
			return syscall.EIO
		}
		return nil
	}
}

// tear kills the process in the middle of an append, or cuts the power then.
func (h *history) tear() {
	var left computer
	h.fails = func(op durable.Op) error {
		if op.Kind == durable.Write && op.Name == h.log.path && left.disk == nil {
			left = h.c.killed()
			put(left.disk, op.Name, h.bytes[:h.r.IntN(op.Len)], op.Offset)
		}
		return nil
	}
	h.append()
	h.fails = nil
	if h.err != nil || left.disk == nil {
		return
	}
	n := len(h.log.ends) - 2
	batch := slices.Clone(h.log.text[h.log.ends[n]:])
	h.log.found(h.log.text[:h.log.ends[n]])
	h.log.tried = batch
	h.log.durable = min(h.log.durable, h.log.written)
	h.boot(left)
	if h.r.IntN(2) == 0 {
		h.crash()
	} else {
		h.reopen()
	}
}

// reopen opens the log, with crashes while it is repaired.
func (h *history) reopen() {
	h.last = "open"
	s, err := h.protocol.open(h.log.path, h.options())
	if h.err != nil {
		return
	}
	if err != nil {
		h.err = fmt.Errorf("it cannot be opened: %w", err)
		return
	}
	text := content(h.c.disk, h.log.path)
	if h.err = h.log.allows(text, h.log.written); h.err == nil {
		h.s = s
		h.log.found(text)
	}
}
