package checkpoint

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// A Kind says what a path is.
type Kind string

// The kinds of states.
const (
	Absent  Kind = "absent"
	File    Kind = "file"
	Symlink Kind = "symlink"
	Dir     Kind = "dir"
	// Unknown is a path that could not be read, or is left out: it is never taken for
	// absent, and equals nothing, itself included.
	Unknown Kind = "unknown"
)

// A State is what a path was at a moment.
type State struct {
	Kind   Kind
	Mode   fs.FileMode // permissions and setuid, setgid, sticky, of files and directories
	Size   int64       // of a file, in bytes
	SHA256 string      // of a file's bytes, in lower-case hex: the name of its blob
	Target string      // of a symbolic link
	Reason string      // why it is unknown

	look *look // of a state that was read from disk; few are
}

// A look is what else was seen of a path when it was read.
type look struct {
	signature signature
	links     int // names of a file
}

func lookOf(info fs.FileInfo) *look { return &look{signatureOf(info), linksOf(info)} }

// seen is what else was seen of a path; nothing is like what it gives of a state that was
// not read from disk.
func (s State) seen() look {
	if s.look == nil {
		return look{}
	}
	return *s.look
}

func unknown(format string, values ...any) State {
	return State{Kind: Unknown, Reason: fmt.Sprintf(format, values...)}
}

// Same tells whether two states are known and alike, in content and mode.
func (s State) Same(o State) bool { return s.Kind != Unknown && s.Kind != "" && s.bare() == o.bare() }

func (s State) bare() State {
	s.Reason, s.look = "", nil
	return s
}

const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// unixBits pairs Go's bits with those that chmod(1) writes.
var unixBits = []struct {
	mode fs.FileMode
	unix uint64
}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}}

// FormatMode writes a mode as chmod(1) takes it: "0644".
func FormatMode(mode fs.FileMode) string {
	n := uint64(mode.Perm())
	for _, b := range unixBits {
		if mode&b.mode != 0 {
			n |= b.unix
		}
	}
	return fmt.Sprintf("%04o", n)
}

func parseMode(text string) (mode fs.FileMode, ok bool) {
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > 0o7777 {
		return 0, false
	}
	mode = fs.FileMode(n & 0o777)
	for _, b := range unixBits {
		if n&b.unix != 0 {
			mode |= b.mode
		}
	}
	return mode, true
}

// validSum tells whether a text is written as the sum of a blob is; anything else names
// none. It is asked for each state of a log, where a regular expression takes long.
func validSum(text string) bool {
	return len(text) == sumLength && strings.Trim(text, "0123456789abcdef") == ""
}

// longestTarget is that of a link, on any system.
const longestTarget = 4095

func validTarget(target string) bool {
	return target != "" && len(target) <= longestTarget && !strings.ContainsRune(target, 0)
}

// jsonState is a state as records have it: docs/files.md.
type jsonState struct {
	Kind   Kind   `json:"kind"`
	Mode   string `json:"mode,omitempty"`
	Size   *int64 `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Target string `json:"target,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// MarshalJSON writes a state as records have it.
func (s State) MarshalJSON() ([]byte, error) {
	j := jsonState{Kind: s.Kind, SHA256: s.SHA256, Target: s.Target, Reason: s.Reason}
	if s.Kind == File || s.Kind == Dir {
		j.Mode = FormatMode(s.Mode)
	}
	if s.Kind == File {
		j.Size = &s.Size
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a state. One that makes no sense is unknown: a record may be
// anybody's, and what it does not say must not be taken for absent.
func (s *State) UnmarshalJSON(data []byte) error {
	var j jsonState
	if json.Unmarshal(data, &j) != nil {
		*s = unknown("its record cannot be read")
		return nil
	}
	mode, ok := parseMode(j.Mode)
	*s = State{Kind: j.Kind, SHA256: j.SHA256, Target: j.Target, Reason: j.Reason, Mode: mode}
	if j.Size != nil {
		s.Size = *j.Size
	}
	switch j.Kind {
	case Absent:
		*s = State{Kind: Absent}
		ok = true
	case File:
		ok = ok && validSum(j.SHA256) && s.Size >= 0
	case Symlink:
		*s = State{Kind: Symlink, Target: j.Target}
		ok = validTarget(j.Target)
	case Unknown:
		ok = true
	case Dir:
	default:
		ok = false
	}
	if !ok {
		*s = unknown("its record makes no sense")
	}
	return nil
}
