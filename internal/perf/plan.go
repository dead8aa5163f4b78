package main

import "fmt"

// A job is a case on a session, one of cases or of peerCases.
type job struct {
	name string
	on   *session
}

// A row is a job, what it is compared with, and what is expected of that.
type row struct {
	title string
	job
	against job
	targets []target
}

// A target judges a sample beside the one it is compared with.
type target struct {
	text  string // "" where the number is only shown
	judge func(got, ref sample) (shown string, reached bool)
	other *job // where set, it is compared with this one and not with the row's
}

// than compares with another job than the row does.
func (t target) than(other job) target {
	t.other = &other
	return t
}

func plan(c *config) (rows []row) {
	for _, group := range []struct {
		name string
		rows func(*config) []row
	}{{"logs", logRows}, {"foreign", foreignRows}, {"files", fileRows}} {
		if c.which == "all" || c.which == group.name {
			rows = append(rows, group.rows(c)...)
		}
	}
	return rows
}

func logRows(c *config) []row {
	native := &session{format: "native", mb: c.big}
	pi := &session{format: "pi", mb: c.big}
	rows := append(bigRows(native, 45), bigRows(pi, 25)...)
	rows = append(append(rows, searchRows(native)...), searchRows(pi)...)
	small := &session{format: "native", mb: c.small}
	rows = append(append(rows, peerRows(small)...), jqRows(small)...)
	rows = append(rows, peerRows(&session{format: "pi", mb: c.small})...)
	rows = append(rows, writeRows(small)...)
	rows = append(rows, flatRows(&session{format: "native", shape: flat, mb: c.small})...)
	rows = append(rows, flatRows(&session{format: "pi", shape: flat, mb: c.small})...)
	return append(append(rows, chainRows(c.chain)...), farmRows(c.farm)...)
}

// bigRows are the rows of a large session, whose whole scan should reach a share
// of the limit.
func bigRows(s *session, share float64) []row {
	limit, scan := job{"limit", s}, job{"scan", s}
	rows := []row{
		{"read the file, 1 MiB blocks (the limit)", limit, limit, nil},
		{"whole scan, one core", scan, limit, []target{atLeast(share), under(64)}},
		{"whole scan, 2 workers", job{"scan2", s}, scan, []target{faster(1), under(64)}},
		{"leaf and path to the latest compaction", job{"tail", s}, scan, []target{below(15, "whole scan"), under(64)}},
		{"leaf only", job{"leaf", s}, scan, []target{below(15, "whole scan"), under(64)}},
	}
	return append(rows, compactedRows(s)...)
}

// peerRows compare with pi doing the same work.
func peerRows(s *session) []row {
	limit, pi := job{"limit", s}, job{"pi", s}
	targets := []target{faster(60), leaner(20)}
	return []row{
		{"read the file, 1 MiB blocks (the limit)", limit, limit, nil},
		{"pi 1.6.0: open, leaf to root", pi, limit, nil},
		{"leaf to root, from the tail", job{"walk", s}, pi, targets},
		{"whole scan, root to leaf", job{"path", s}, pi, targets},
		{"whole scan with 2 workers, root to leaf", job{"path2", s}, pi, targets},
	}
}

// atLeast wants a share of the bandwidth of what it is compared with.
func atLeast(percent float64) target {
	return target{text: fmt.Sprintf("≥ %.0f %% of limit", percent), judge: func(got, ref sample) (string, bool) {
		share := 100 * float64(ref.NS) / float64(got.NS)
		return fmt.Sprintf("%.1f %% of limit", share), share >= percent
	}}
}

// below wants less than a share of the time of what it is compared with.
func below(percent float64, ofWhat string) target {
	return target{text: fmt.Sprintf("< %.0f %% of %s", percent, ofWhat), judge: func(got, ref sample) (string, bool) {
		share := 100 * float64(got.NS) / float64(ref.NS)
		return fmt.Sprintf("%.2f %% of %s", share, ofWhat), share < percent
	}}
}

func faster(times float64) target {
	text := fmt.Sprintf("≥ %.0f × faster", times)
	if times == 1 {
		text = "faster"
	}
	return target{text: text, judge: func(got, ref sample) (string, bool) {
		ratio := float64(ref.NS) / float64(got.NS)
		return fmt.Sprintf("%.2f × as fast", ratio), ratio >= times && ratio != 1
	}}
}

// leaner wants at most one n-th of the memory.
func leaner(n float64) target {
	return target{text: fmt.Sprintf("≤ 1/%.0f of memory", n), judge: func(got, ref sample) (string, bool) {
		ratio := float64(ref.Peak) / float64(got.Peak)
		return fmt.Sprintf("1/%.0f of memory", ratio), ratio >= n
	}}
}

func under(mib float64) target {
	return target{text: fmt.Sprintf("< %.0f MiB", mib), judge: func(got, _ sample) (string, bool) {
		return fmt.Sprintf("%.1f MiB", float64(got.Peak)/(1<<20)), float64(got.Peak) < mib*(1<<20)
	}}
}
