package main

import "fmt"

// manyFiles is a folder of small files, and largerFiles one of a twentieth of them, with as
// many bytes.
func (c *config) manyFiles() *session {
	return &session{shape: folder, links: c.files, mb: int64(max(1, c.files/2000))}
}

func (c *config) largerFiles() *session {
	return &session{shape: folder, links: max(100, c.files/20), mb: int64(max(1, c.files/2000))}
}

func (c *config) longLog() *session {
	return &session{format: "native", shape: edited, links: c.files}
}

// fileRows are the rows of file states.
func fileRows(c *config) []row {
	many, larger := c.manyFiles(), c.largerFiles()
	rows := append(lookRows(many), firstRows(many)...)
	rows = append(rows, job{"plan-all", many}.row("plan of a turn that changed the mode of every file", job{"git-status", many}, under(512)))
	rows = append(rows, firstRows(larger)...)
	rows = append(rows, restoreRows(larger)...)
	return append(rows, editedRows(c.longLog())...)
}

func (j job) row(title string, against job, targets ...target) row {
	return row{title, j, against, targets}
}

// lookRows compare a scan with git's, in a folder where nothing or little changed.
func lookRows(s *session) []row {
	status := job{"git-status", s}
	return []row{
		status.row("git status --porcelain (the limit)", status),
		job{"look", s}.row("scan, nothing changed", status, atMost(1.5), reads(1<<20), under(256)),
		job{"look-anew", s}.row("scan, nothing changed, in a new process", status, atMost(1.5), under(256)),
		job{"look-ten", s}.row("scan after a turn that changed 10 files, stored", status, atMost(1.5), grows()),
	}
}

// firstRows compare a first scan with git's first add.
func firstRows(s *session) []row {
	add := job{"git-add", s}
	return []row{
		add.row("git add --all into a new repository (the limit)", add),
		job{"look-first", s}.row("first scan, all files stored", add, atMost(1.5), under(512)),
	}
}

// restoreRows compare a restore with copying.
func restoreRows(s *session) []row {
	bare := job{"copy", s}
	n := thousands(restored(s.links))
	return []row{
		job{"turns", s}.row(fmt.Sprintf("%d turns that change 1 KB each, stored", turns(s.links)), job{"turns", s}, grows()),
		bare.row(fmt.Sprintf("copy %s files, with fsyncs (the limit)", n), bare),
		job{"restore", s}.row(fmt.Sprintf("restore %s files: commit", n), bare, atMost(2), under(256)),
		job{"plan-restore", s}.row(fmt.Sprintf("restore %s files: plan and commit", n), bare, atMost(2)),
	}
}

// editedRows compare with a scan of the log.
func editedRows(s *session) []row {
	scan := job{"scan", s}
	return []row{
		scan.row("whole scan, one core (the limit)", scan),
		job{"track", s}.row("Track", scan, atMost(2)),
		job{"plan-near", s}.row("plan to take back the last turn", scan, atMost(10)),
		job{"plan-far", s}.row("plan to take back all turns", scan, atMost(10)),
	}
}

// reads wants that a process reads at most so many bytes: no file's.
func reads(most int64) target {
	return target{text: fmt.Sprintf("≤ %d KiB read", most>>10), judge: func(got, _ sample) (string, bool) {
		return fmt.Sprintf("%d KiB read", got.Read>>10), got.Read <= most
	}}
}

// grows wants that a store grows by no more than the changed files take compressed.
func grows() target {
	return target{text: "≤ 1 × zstd of the files", judge: func(got, _ sample) (string, bool) {
		ratio := float64(got.Grew) / float64(got.May)
		return fmt.Sprintf("%.3f × zstd of the files", ratio), ratio <= 1
	}}
}
