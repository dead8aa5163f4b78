package sessiontree

import (
	"context"
	"regexp"
	"strings"
	"testing"
)

// The operations that change something, in their order, are what the promises of
// docs/durability.md rest on. The names are shortened: LOG is the session's file.
const (
	wantCreate = `
mkdir dir
syncdir .
mkdir dir/deep
syncdir dir
open LOG.lock
write LOG.lock 0+512
truncate LOG.lock 512
syncdir dir/deep
open TEMP
write TEMP 0+180
sync TEMP
close TEMP
link TEMP LOG
remove TEMP
syncdir dir/deep
open LOG
sync LOG
write LOG.lock 0+512
truncate LOG.lock 512
sync LOG.lock`

	wantAppend = `
write LOG 180+464
sync LOG`

	// A batch is one write.
	wantBatch = `
write LOG 644+1488
sync LOG`

	wantClose = `
close LOG
write LOG.lock 0+512
truncate LOG.lock 512
close LOG.lock`

	wantOpen = `
open LOG.lock
write LOG.lock 0+512
truncate LOG.lock 512
open LOG
syncdir dir/deep
sync LOG
write LOG.lock 0+512
truncate LOG.lock 512
sync LOG.lock`

	// What is cut is durable elsewhere before it is cut, and the cut before anything
	// is built on it.
	wantRepair = `
open LOG.lock
write LOG.lock 0+512
truncate LOG.lock 512
open LOG
syncdir dir/deep
open LOG.damaged
write LOG.damaged 0+543
sync LOG.damaged
close LOG.damaged
syncdir dir/deep
truncate LOG 2132
sync LOG
sync LOG
write LOG.lock 0+512
truncate LOG.lock 512
sync LOG.lock`
)

var (
	reading = regexp.MustCompile(`(?m)^(stat|readat|readdir) .*\n`)
	logName = regexp.MustCompile(`dir/deep/[^.\s]*\.jsonl`)
	temp    = regexp.MustCompile(`dir/deep/\.\S*\.tmp`)
)

// changes gives the trace from an operation on, and where it ends.
func (f *faultRun) changes(from int) (string, int) {
	lines := f.fsys.Trace()
	trace := strings.Join(lines[from:], "\n") + "\n"
	trace = logName.ReplaceAllString(temp.ReplaceAllString(trace, "TEMP"), "LOG")
	return "\n" + strings.TrimSuffix(reading.ReplaceAllString(trace, ""), "\n"), len(lines)
}

func TestTraces(t *testing.T) {
	f := newFaultRun(t)
	from := 0
	for _, step := range []struct {
		name, want string
		do         func()
	}{
		{"create", wantCreate, func() { f.do(f.create) }},
		{"append", wantAppend, func() { f.append(1) }},
		{"append of a batch", wantBatch, func() { f.append(3) }},
		{"sync with nothing to do", "\n", func() { f.do(func() error { return f.s.EndTurn(context.Background()) }) }},
		{"close", wantClose, func() { f.do(func() error { return f.s.Close() }) }},
		{"open", wantOpen, func() { f.do(f.open) }},
		{"a death", "\nclose LOG", f.tear},
		{"open with a repair", wantRepair, func() { f.do(f.open) }},
	} {
		step.do()
		got := ""
		if got, from = f.changes(from); got != step.want {
			t.Errorf("%s: got%s\nwant%s", step.name, got, step.want)
		}
	}
}
