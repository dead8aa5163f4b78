package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sessctl/sessctl/entries"
)

// A Source says who changed a file.
type Source string

// The sources of changes.
const (
	// ByTool is a tool of this session, which said so.
	ByTool Source = "tool"
	// ByScan is something that happened during a turn, and no tool said so: a command,
	// a generator, or a person who worked beside the agent.
	ByScan Source = "scan"
	// ByUser is something that happened while no turn ran.
	ByUser Source = "user"
)

// A phase says which moment a snapshot shows.
type phase string

const (
	phaseBefore  phase = "before"
	phaseAfter   phase = "after"
	phaseCarried phase = "carried" // the leaf moved, and the files stayed
	phaseBegin   phase = "begin"   // of a restore
	phaseEnd     phase = "end"
)

// A Result says what became of a path in a restore.
type Result string

// The results of paths.
const (
	Restored Result = "restored"
	Removed  Result = "removed"
	There    Result = "there" // it was so already
	Kept     Result = "kept"  // left as it is
	Conflict Result = "conflict"
	Failed   Result = "failed"
)

// A fileRecord is one path in a record. Which fields it has depends on the record.
type fileRecord struct {
	Path   string `json:"path"`
	State  *State `json:"state,omitempty"`
	Before *State `json:"before,omitempty"`
	From   *State `json:"from,omitempty"`
	To     *State `json:"to,omitempty"`
	Source Source `json:"source,omitempty"` // of carried states, where it is not the record's
	Result Result `json:"result,omitempty"`
}

// An Uncovered is a path that is left out, and why.
type Uncovered struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// An identity names a workspace: a folder that was moved keeps dev and ino, one that was
// replaced has others.
type identity struct {
	Path string `json:"path"`
	Dev  uint64 `json:"dev,omitempty"`
	Ino  uint64 `json:"ino,omitempty"`
}

// A record is the data of a file record. Both kinds share this type: most of their
// readers want the paths.
type record struct {
	Turn       entries.ID `json:"turn,omitempty"`
	Phase      phase      `json:"phase"`
	Source     Source     `json:"source,omitempty"`
	ToolCallID string     `json:"toolCallId,omitempty"`
	Workspace  *identity  `json:"workspace,omitempty"`
	// Beside names other sessions whose turns ran at the same time in the same workspace.
	Beside []string `json:"beside,omitempty"`

	// Of the begin of a restore.
	Plan   string      `json:"plan,omitempty"`
	To     *entries.ID `json:"to,omitempty"` // whose states are restored
	Scope  Scope       `json:"scope,omitempty"`
	Move   *move       `json:"move,omitempty"`
	Rewind entries.ID  `json:"rewind,omitempty"` // the rewind's result
	// Of both: what the restore takes back or brings back, a turn's prompt or the end of
	// a restore.
	Undoes entries.ID `json:"undoes,omitempty"`
	Redoes entries.ID `json:"redoes,omitempty"`

	// Of the end of a restore.
	Begin   entries.ID `json:"begin,omitempty"`
	Outcome outcome    `json:"outcome,omitempty"`

	Files []fileRecord `json:"files,omitempty"`
	// NotCovered of a tool's edit are paths that it may have changed. Of a scan it is all
	// that is left out; an empty list says that nothing is.
	NotCovered []Uncovered `json:"notCovered,omitzero"`
	// List, in the place of many files, is the blob that has them.
	List string `json:"list,omitempty"`
	Of   int    `json:"of,omitempty"` // how many files List has
}

// A move is what becomes of the leaf at the end of a restore.
type move struct {
	To     entries.ID `json:"to"` // "" is before the first entry
	Reason string     `json:"reason"`
}

type outcome string

const (
	outcomeDone    outcome = "done"
	outcomeAborted outcome = "aborted"
)

// longestList is how many files an entry names itself.
const longestList = 1000

// A fileList is the blob of a record with many files.
type fileList struct {
	Files      []fileRecord `json:"files"`
	NotCovered []Uncovered  `json:"notCovered,omitzero"`
}

// draft makes an entry of a record. Of many files it makes a blob, which is durable
// before the entry that names it.
func (r record) draft(st *Store) (entries.Draft, error) {
	kind := entries.CustomFileSnapshot
	if r.Phase == phaseBegin || r.Phase == phaseEnd {
		kind = entries.CustomFileRestore
	}
	if len(r.Files)+len(r.NotCovered) > longestList && st != nil {
		sum, err := st.Put(encode(fileList{r.Files, r.NotCovered}))
		if err != nil {
			return entries.Draft{}, err
		}
		r.List, r.Of, r.Files, r.NotCovered = sum, len(r.Files), nil, nil
	}
	return entries.CustomDraft(kind, encode(r)), nil
}

// readRecord reads a file record; ok is false for any other entry. The files of a long
// list come from the store, without which nothing is known of them.
func readRecord(e entries.Entry, st *Store) (r record, ok bool, err error) {
	if e.Type != entries.TypeCustom {
		return r, false, nil
	}
	c, err := e.Custom()
	if err != nil || c.CustomType != entries.CustomFileSnapshot && c.CustomType != entries.CustomFileRestore {
		return r, false, err
	}
	if err := json.Unmarshal(c.Data, &r); err != nil {
		return r, false, fmt.Errorf("%w: entry %s: its file states cannot be read: %w", entries.ErrBody, e.ID, err)
	}
	if r.List == "" {
		return r, true, nil
	}
	if st == nil {
		return r, true, fmt.Errorf("entry %s: %w: its list of %d files is a blob of its own", e.ID, ErrNoBlob, r.Of)
	}
	data, err := st.Get(r.List)
	if err != nil {
		return r, true, fmt.Errorf("entry %s: its list of %d files: %w", e.ID, r.Of, err)
	}
	var list fileList
	if err := json.Unmarshal(data, &list); err != nil {
		return r, true, fmt.Errorf("%w: entry %s: its list of files: %w", entries.ErrBody, e.ID, err)
	}
	r.Files, r.NotCovered = list.Files, list.NotCovered
	return r, true, nil
}

// Recorded reads which paths a file record is about, and for the snapshots of a tool the
// id of its call; ok is false for any other entry. st is needed for long lists alone.
func Recorded(e entries.Entry, st *Store) (callID string, paths []string, ok bool) {
	r, ok, err := readRecord(e, st)
	if err != nil || !ok {
		return "", nil, ok
	}
	for _, f := range r.Files {
		paths = append(paths, f.Path)
	}
	return r.ToolCallID, paths, true
}

// IsSnapshot tells whether an entry is a snapshot of what a tool did, which may be copied
// along with the tool's result.
func IsSnapshot(e entries.Entry) bool {
	r, ok, err := readRecord(e, nil)
	return ok && (err == nil || r.List != "") && r.Source == ByTool && (r.Phase == phaseBefore || r.Phase == phaseAfter)
}

// damaged tells of an error of readRecord that stays: the record makes no sense, or its
// list is lost. Any other is one of reading, and what the record says is not known.
func damaged(err error) bool { return errors.Is(err, entries.ErrBody) || errors.Is(err, ErrNoBlob) }

// encode writes what cannot fail: records of strings and numbers.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
