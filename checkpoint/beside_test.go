package checkpoint_test

import (
	"testing"

	"github.com/sessctl/sessctl/checkpoint"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// beside is another session in the folder of b.
func (b *bench) beside(opt *checkpoint.TrackOptions) *bench {
	b.Helper()
	o := &bench{T: b.T, dir: b.dir, home: b.home, opt: opt}
	s, err := sessiontree.Create(o.home, entries.Header{Cwd: o.dir}, nil)
	o.must(err)
	o.s = s
	o.start()
	b.Cleanup(o.stop)
	return o
}

// What another session wrote, while a turn of this one ran, is not this one's to take back.
func TestAnotherSessionsWorkStays(t *testing.T) {
	tests := map[string]struct{ during, then func(b, o *bench) }{
		"a turn":    {func(b, o *bench) { o.turn("go", func() { o.edit("o", "new") }) }, nil},
		"a restore": {func(b, o *bench) { o.redo(checkpoint.Code) }, nil},
		"a turn, and the leaf moved": {
			func(b, o *bench) { o.turn("go", func() { o.edit("o", "new") }) },
			func(b, o *bench) {
				p := b.plan("", checkpoint.Conversation)
				b.commit(p, nil)
			},
		},
		"a turn, and a restore without it": {
			func(b, o *bench) { o.turn("go", func() { o.edit("o", "new") }) },
			func(b, o *bench) {
				p, err := b.f.Undo(b.Context(), checkpoint.Both, &checkpoint.PlanOptions{Except: []string{"o"}})
				b.must(err)
				b.commit(p, nil)
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, scans)
			o := b.beside(nil)
			o.turn("first", func() { o.edit("o", "new") })
			o.undo(checkpoint.Code, nil)
			b.turn("go", func() { test.during(b, o) })
			if test.then != nil {
				test.then(b, o)
			}
			p := b.plan("", checkpoint.Code)
			b.commit(p, &checkpoint.CommitOptions{Partial: true})
			b.has("o=new")
		})
	}
}

// TestSessionsWithStoresOfTheirOwn: sessions that lie in different folders know of each
// other's turns and edits.
func TestSessionsWithStoresOfTheirOwn(t *testing.T) {
	for name, other := range map[string]func(o *bench){
		"a turn":            func(o *bench) { o.turn("go", func() { o.edit("theirs", "1") }) },
		"an edit, no turns": func(o *bench) { o.edit("theirs", "1") },
		"a restore":         func(o *bench) { o.commit(o.plan("", checkpoint.Code), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, scans)
			o := newBench(t, nil)
			o.stop()
			o.dir = b.dir
			s, err := sessiontree.Create(o.home, entries.Header{Cwd: o.dir}, nil)
			o.must(err)
			o.s = s
			o.start()
			if name == "a restore" {
				o.prompt("before")
				o.edit("theirs", "0")
			}
			b.turn("mine", func() {
				b.edit("mine", "1")
				other(o)
			})
			p := b.planUndo()
			for _, it := range p.Items {
				if want := map[string]checkpoint.Action{"mine": checkpoint.ActRemove, "theirs": checkpoint.ActConflict}[it.Path]; it.Action != want && it.Action != checkpoint.ActSkip {
					t.Errorf("%s is %s: %s", it.Path, it.Action, it.Reason)
				}
			}
			if it := item(t, p, "mine"); it.Action != checkpoint.ActRemove {
				t.Errorf("mine is %s: %s", it.Action, it.Reason)
			}
		})
	}
}
