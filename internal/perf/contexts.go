package main

import "fmt"

// The rows of this file are of what a model is sent: from sessions with compactions, of
// which little is read, and from such as have none.

// compactedRows compare with the quickest that we know to write in JavaScript: pi,
// which keeps all of the log as objects, takes several times as long and gigabytes.
func compactedRows(s *session) []row {
	limit, stream := job{"limit", s}, job{"stream", s}
	return []row{
		{"node, in a stream: context", stream, limit, nil},
		{"context", job{"context", s}, limit, []target{below(20, "limit"), under(64), faster(200).than(stream)}},
	}
}

// flatRows compare with pi where all of the path is the context.
func flatRows(s *session) []row {
	limit, pi := job{"limit", s}, job{"pi-context", s}
	return []row{
		{"read the file, 1 MiB blocks (the limit)", limit, limit, nil},
		{"pi 1.6.0: open, context", pi, limit, nil},
		{"context, one core", job{"context", s}, pi, []target{faster(10)}},
		{"context, 2 processors", job{"context2", s}, pi, []target{faster(10)}},
	}
}

// chainRows show that the time grows as the path does.
func chainRows(longest int) []row {
	var jobs [3]job
	for i, links := range []int{longest / 100, longest / 10, longest} {
		jobs[i] = job{"context", &session{format: "native", shape: chain, links: links}}
	}
	const title = "context of every entry, one core"
	return []row{
		{title, jobs[0], jobs[0], []target{perEntry()}},
		{title, jobs[1], jobs[1], []target{perEntry()}},
		{title, jobs[2], jobs[1], []target{perEntry(), linear(3)}},
	}
}

func (s sample) each() float64 { return float64(s.NS) / float64(s.Result) }

// perEntry shows the time that one takes.
func perEntry() target {
	return target{judge: func(got, _ sample) (string, bool) {
		return fmt.Sprintf("%.0f ns an entry", got.each()), true
	}}
}

// linear wants at most so many times the time per entry of what it is compared with.
func linear(times float64) target {
	return target{text: fmt.Sprintf("≤ %.0f × a tenth's", times), judge: func(got, ref sample) (string, bool) {
		ratio := got.each() / ref.each()
		return fmt.Sprintf("%.2f × a tenth's", ratio), ratio <= times
	}}
}
