package sessiontree

import (
	"errors"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonl"
)

// A Verdict is what Verify found.
type Verdict struct {
	Entries   int
	OK        bool // nothing was lost, as far as can be seen
	Damage    []Damage
	Checksums Checksums
	Pairing   []Pairing
}

// Checksums says what the sums of a log are worth.
type Checksums string

// What sums are worth.
const (
	ChecksumsOK   Checksums = "ok"
	ChecksumsNone Checksums = "none" // a log without sums
	ChecksumsBad  Checksums = "bad"
)

// A Pairing is a tool call without its result, or the other way round.
type Pairing struct {
	Kind       PairingKind
	Entry      entries.ID // of the call or of the result
	ToolCallID string
	Line       int
}

// A PairingKind names a sort of Pairing.
type PairingKind string

// The sorts of Pairing.
const (
	PairingOpenCall     PairingKind = "open-call"     // no result follows the call on any branch
	PairingOrphanResult PairingKind = "orphan-result" // no call stands above the result
	PairingSecondResult PairingKind = "second-result" // the call has one already on this path
)

// Verify reads the whole log and checks what readers do without: with
// ReadOptions.Verify the inside and the encoding of every line, and always the
// pairing of tool calls with their results, for which it reads all messages.
func (t *Tree) Verify() (Verdict, error) {
	x, err := t.whole()
	if err != nil {
		return Verdict{}, err
	}
	pairing, err := t.pairing(x)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Entries: len(x.recs) - x.absent, Damage: t.Damage(), Pairing: pairing}
	for _, p := range pairing {
		if p.Kind == PairingOpenCall {
			e := t.at(x, x.ids.find(x, p.Entry))
			line, offset := t.Place(e)
			v.Damage = append(v.Damage, Damage{
				Kind: jsonl.OpenCall, Line: line, Offset: offset, Length: e.Size, Count: 1, Note: true,
				Detail: "call " + p.ToolCallID + " has no result",
			})
		}
	}
	slices.SortStableFunc(v.Damage, byOffset)
	v.Checksums = t.checksums(v.Damage)
	v.OK = !loses(v.Damage)
	return v, nil
}

func (t *Tree) checksums(damage []Damage) Checksums {
	if !t.head.Native {
		return ChecksumsNone
	}
	for _, d := range damage {
		if d.Kind == jsonl.BadChecksum || d.Kind == jsonl.Order && !d.Note {
			return ChecksumsBad
		}
	}
	return ChecksumsOK
}

// pairs is the work of pairing: for every assistant message with calls, which of
// them have a result below.
type pairs struct {
	t     *Tree
	x     *index
	above []int32 // the nearest assistant message at or above an entry, or -1
	calls map[int32][]string
	made  map[callAt]bool
	found map[callAt]bool
	list  []Pairing
}

type callAt struct {
	entry int32
	call  string
}

func (t *Tree) pairing(x *index) ([]Pairing, error) {
	_, kids, err := t.kids()
	if err != nil {
		return nil, err
	}
	p := &pairs{t: t, x: x, above: make([]int32, len(x.recs)), calls: map[int32][]string{}, made: map[callAt]bool{}, found: map[callAt]bool{}}
	for _, i := range x.byDepth(kids) {
		if err := p.see(i); err != nil {
			return nil, err
		}
	}
	for _, i := range slices.Sorted(maps.Keys(p.calls)) {
		for _, c := range p.calls[i] {
			if !p.found[callAt{i, c}] {
				p.add(PairingOpenCall, i, c)
			}
		}
	}
	slices.SortStableFunc(p.list, func(a, b Pairing) int { return a.Line - b.Line })
	return p.list, nil
}

func (p *pairs) add(kind PairingKind, i int32, call string) {
	e := p.t.at(p.x, i)
	p.list = append(p.list, Pairing{kind, e.ID, call, e.Line})
}

func (p *pairs) see(i int32) error {
	r := &p.x.recs[i]
	p.above[i] = -1
	if r.parent >= 0 {
		p.above[i] = p.above[r.parent]
	}
	if r.flags&lost != 0 || entries.Type(p.x.words[r.kind]) != entries.TypeMessage {
		return nil
	}
	var err error
	switch p.x.words[r.role] {
	case "assistant":
		err = p.assistant(i)
	case "toolResult":
		err = p.result(i)
	}
	if errors.Is(err, entries.ErrBody) {
		return nil // a body that is damaged inside pairs with nothing
	}
	return err
}

func (p *pairs) assistant(i int32) error {
	p.above[i] = i
	m, err := p.t.at(p.x, i).Message()
	if err != nil {
		return err
	}
	for _, b := range m.Calls() {
		p.calls[i] = append(p.calls[i], b.ID)
		p.made[callAt{i, b.ID}] = true
	}
	return nil
}

func (p *pairs) result(i int32) error {
	m, err := p.t.at(p.x, i).Message()
	if err != nil {
		return err
	}
	at := p.caller(i, m.ToolCallID)
	if at < 0 {
		p.add(PairingOrphanResult, i, m.ToolCallID)
		return nil
	}
	if call := (callAt{at, m.ToolCallID}); !p.found[call] {
		p.found[call] = true
	} else if p.second(i, at, m.ToolCallID) {
		p.add(PairingSecondResult, i, m.ToolCallID)
	}
	return nil
}

// caller finds the assistant message above a result that made its call: the
// nearest one, as a rule.
func (p *pairs) caller(i int32, call string) int32 {
	const most = 1000 // turns that a late result may wait; a hostile log must not make this quadratic
	at := p.above[i]
	for n := 0; at >= 0 && n < most; n++ {
		if p.made[callAt{at, call}] {
			return at
		}
		up := p.x.recs[at].parent
		if up < 0 {
			return -1
		}
		at = p.above[up]
	}
	return -1
}

// second tells whether the path between a result and its call has a result already;
// branches may each have their own.
func (p *pairs) second(i, call int32, id string) bool {
	const most = 1000
	at := p.x.recs[i].parent
	for n := 0; at >= 0 && at != call && n < most; n, at = n+1, p.x.recs[at].parent {
		if p.x.words[p.x.recs[at].role] != "toolResult" {
			continue
		}
		if m, err := p.t.at(p.x, at).Message(); err == nil && m.ToolCallID == id {
			return true
		}
	}
	return false
}
