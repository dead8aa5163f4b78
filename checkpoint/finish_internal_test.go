package checkpoint

import "testing"

// TestBeforeOfDamagedBegin: a begin that names a path twice, the first time without saying
// what it was, is anybody's, and must not stop whoever finishes the restore.
func TestBeforeOfDamagedBegin(t *testing.T) {
	from, to := State{Kind: Absent}, State{Kind: Dir, Mode: 0o755}
	u := &unended{record: record{Files: []fileRecord{{Path: "a"}, {Path: "a", From: &from, To: &to}, {Path: "a", From: &to, To: &from}}}}
	if got := u.before(false)("a"); got != from {
		t.Errorf("it was %v, want %v", got, from)
	}
	if got := u.before(true)("a"); got != to {
		t.Errorf("it was to be %v, want %v", got, to)
	}
}
