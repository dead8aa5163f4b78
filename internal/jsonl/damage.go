package jsonl

// A Kind names a sort of damage or note. The names are part of the command's JSON
// (docs/cli.md) and never change their meaning.
type Kind string

// Damage. Of these something was lost, or may have been.
const (
	TornTail        Kind = "torn-tail"
	IncompleteBatch Kind = "incomplete-batch"
	NUL             Kind = "nul"
	NotJSON         Kind = "not-json"
	NotObject       Kind = "not-object"
	Concatenated    Kind = "concatenated"
	NoHeader        Kind = "no-header"
	LateHeader      Kind = "late-header"
	ExtraHeader     Kind = "extra-header"
	NoID            Kind = "no-id"
	DuplicateID     Kind = "duplicate-id"
	MissingParent   Kind = "missing-parent"
	Cycle           Kind = "cycle"
	BadChecksum     Kind = "bad-checksum"
	Order           Kind = "order"
	InvalidUTF8     Kind = "invalid-utf8"
)

// Notes. These are oddities that cost nothing.
const (
	LeafMoved      Kind = "leaf-moved"
	OpenCall       Kind = "open-call"
	TitleSlot      Kind = "title-slot"
	ForeignLine    Kind = "foreign-line"
	ForwardParent  Kind = "forward-parent"
	BlankLines     Kind = "blank-lines"
	NoFinalNewline Kind = "no-final-newline"
	BOM            Kind = "bom"
	CRLF           Kind = "crlf"
)

// Notes of package formats on another program's transcript.
const (
	LeftOut       Kind = "left-out"       // a record that is known and becomes no entry
	UnknownRecord Kind = "unknown-record" // one of a kind that is not known; it is kept
)

// A Damage is one thing that a reader worked around, or notes.
type Damage struct {
	Kind   Kind
	File   string // where it is in another file than the log's own: a segment of its thread
	Line   int    // the first line concerned, from 1; 0 where the whole log was not read
	Offset int64  // of the first byte concerned
	Length int64  // in bytes, of the first line concerned
	Count  int    // how many lines: notes on many lines are one
	Detail string
	Note   bool // nothing was lost
}

// A Report collects damage. Notes of the kinds that come on line after line are
// counted, not repeated; so is damage of a kind that there is no end of.
type Report struct {
	list    []Damage
	counted map[Kind]int // index in list of the one that further ones are counted in
	added   map[Kind]int
}

// mostOfAKind is how much damage of a kind is listed one by one: a large file that
// is no log at all must not fill the memory.
const mostOfAKind = 10_000

// Add takes up one damage.
func (r *Report) Add(d Damage) {
	d.Count = max(d.Count, 1)
	if i, ok := r.counted[d.Kind]; ok {
		r.list[i].Count += d.Count
		return
	}
	if r.added == nil {
		r.counted, r.added = map[Kind]int{}, map[Kind]int{}
	}
	r.added[d.Kind]++
	switch d.Kind {
	case CRLF, BlankLines, ForeignLine, ForwardParent:
		d.Note = true
		r.counted[d.Kind] = len(r.list)
	default:
		if r.added[d.Kind] == mostOfAKind {
			r.counted[d.Kind] = len(r.list)
		}
	}
	r.list = append(r.list, d)
}

// count adds n lines to a kind that is counted.
func (r *Report) count(kind Kind, n int) { r.list[r.counted[kind]].Count += n }

// List gives what was collected, in the order of the file.
func (r *Report) List() []Damage { return r.list }

// Last gives the damage that was added last, to be completed.
func (r *Report) Last() *Damage { return &r.list[len(r.list)-1] }
