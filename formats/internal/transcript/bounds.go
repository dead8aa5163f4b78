package transcript

import "strings"

// The bounds of this file keep a hostile transcript from making a log of many times its
// size: by records and blocks of a few bytes, or by one long name that much else repeats.
// Those of real programs do not come near them.
const (
	// mostName is how much is kept of a name that other records repeat: a tool, a model.
	mostName = 256
	// mostID is the longest id that an entry has of its record.
	mostID = 256
	// mostTime is longer than any time is written.
	mostTime = 64
	// fewDrafts are made of any transcript, and of a large one a draft for so many of its bytes.
	fewDrafts     = 100_000
	bytesForDraft = 32
)

// Crowded tells that more was drafted than the transcript, as far as it was read, has room
// for: what is of no great worth is then left out, and counted.
func (w *Writer) Crowded() bool {
	read := w.before + w.at + int64(len(w.line))
	return int64(w.log.drafted) > fewDrafts+read/bytesForDraft
}

// Name cuts what other records may repeat.
func Name(name string) string { return Cut(name, mostName) }

// Cut gives the beginning of a text, of at most so many bytes.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// ID tells whether an entry may have the id of its record.
func ID(id string) bool { return id != "" && len(id) <= mostID }
