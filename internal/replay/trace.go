package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A step is one call of a tool with what comes before it.
type step struct {
	prompt string // of the user's, in front of the call
	text   string // of the answer
	call   call
	// explores numbers the exploration that the call is part of, from 1; 0 is none.
	explores int
}

type call struct{ name, args, result string }

// A trace is what a model and its user do, whatever the way the context is built.
type trace struct {
	kind  string
	steps []step
}

func (t trace) exploration(i int) int {
	if i < 0 || i >= len(t.steps) {
		return 0
	}
	return t.steps[i].explores
}

func (t trace) begins(i int) bool {
	return t.exploration(i) != 0 && t.exploration(i) != t.exploration(i-1)
}
func (t trace) ends(i int) bool {
	return t.exploration(i) != 0 && t.exploration(i) != t.exploration(i+1)
}

func (t trace) name() string { return fmt.Sprintf("%s, %d calls", t.kind, len(t.steps)) }

// A kind says how much of a trace is exploring, and how it is divided.
type kind struct {
	name     string
	share    float64 // of the calls
	min, max int     // calls of an exploration; 0 makes it one
}

var kinds = []kind{
	{"linear", 0.1, 4, 8},
	{"exploring", 0.6, 10, 40},
	{"short explorations", 0.5, 3, 5},
	{"one exploration", 0.5, 0, 0},
}

// A dice makes a trace.
type dice struct {
	r    *rand.Rand
	pool string
}

func newDice(seed, stream uint64) *dice {
	return &dice{rand.New(rand.NewPCG(seed, stream)), pool}
}

// pool is what texts are cut from: no two places in it are alike, and what it says is
// nobody's business.
var pool = makePool()

func makePool() string {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for b.Len() < 1<<17 {
		fmt.Fprintf(&b, "%s(%s) == %d;\n", words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(1e6))
	}
	return b.String()
}

var words = strings.Fields("session branch entry parent leaf record header offset scan index value error token file line reader")

func (d *dice) text(bytes int) string {
	at := d.r.IntN(len(pool) - bytes)
	return strings.TrimSpace(pool[at : at+bytes])
}

// between is skewed: a few results are large, and most are not.
func (d *dice) between(low, high int) int {
	u := d.r.Float64()
	return low + int(u*u*float64(high-low))
}

func (d *dice) path() string {
	return fmt.Sprintf("src/%s/%s%d.go", words[d.r.IntN(len(words))], words[d.r.IntN(len(words))], d.r.IntN(90)+10)
}

// trace makes a trace of n calls. Explorations stand apart from each other, and from the
// ends, by as many other calls.
func (d *dice) trace(k kind, n int) trace {
	t := trace{kind: k.name}
	sizes := d.sizes(k, n)
	others := n
	for _, size := range sizes {
		others -= size
	}
	for i, size := range sizes {
		gap := others / (len(sizes) + 1 - i)
		others -= gap
		d.work(&t, gap)
		d.explore(&t, i+1, size)
	}
	d.work(&t, others)
	return t
}

// sizes divides the calls of a trace that explore.
func (d *dice) sizes(k kind, n int) (sizes []int) {
	left := int(k.share * float64(n))
	if k.max == 0 {
		return []int{left}
	}
	for left >= k.min {
		size := min(left, k.min+d.r.IntN(k.max-k.min+1))
		sizes = append(sizes, size)
		left -= size
	}
	return sizes
}

// turnCalls is after how many calls that do not explore, about, the user says something.
const turnCalls = 25

func (d *dice) work(t *trace, n int) {
	for i := range n {
		s := step{text: d.text(d.between(40, 400)), call: d.working()}
		if len(t.steps) == 0 || i > 0 && d.r.IntN(turnCalls) == 0 {
			s.prompt = d.text(d.between(100, 1200))
		}
		t.steps = append(t.steps, s)
	}
}

// working is a call of work that goes on: its results are 500 tokens on average.
func (d *dice) working() call {
	c := call{name: "read", args: fmt.Sprintf(`{"path":%q}`, d.path()), result: d.text(d.between(200, 6000))}
	switch d.r.IntN(3) {
	case 0:
		c.name, c.args = "edit", fmt.Sprintf(`{"path":%q,"old":%q,"new":%q}`, d.path(), d.text(d.between(60, 600)), d.text(d.between(60, 900)))
		c.result = "The file was changed."
	case 1:
		c.name, c.args = "bash", `{"command":"go test ./..."}`
	}
	return c
}

func (d *dice) explore(t *trace, number, n int) {
	for range n {
		t.steps = append(t.steps, step{text: d.text(d.between(20, 200)), call: d.exploring(d.between(1000, 16000)), explores: number})
	}
}

// exploring is a call that looks at something; in traces its results are 1,500 tokens on
// average.
func (d *dice) exploring(bytes int) call {
	c := call{name: "read", args: fmt.Sprintf(`{"path":%q}`, d.path()), result: d.text(bytes)}
	if d.r.IntN(3) == 0 {
		c.name, c.args = "grep", fmt.Sprintf(`{"pattern":%q}`, words[d.r.IntN(len(words))])
	}
	return c
}

// exploredTokens is what a result has in detours, and on average in explorations.
const exploredTokens = 1500

// detour is a trace for the search of the break-even: an exploration, then work whose
// results have 300 tokens.
func (d *dice) detour(explored, later int) trace {
	t := trace{kind: "detour"}
	t.steps = append(t.steps, step{prompt: "Find out, then change it.", call: d.exploring(400)})
	for range explored {
		t.steps = append(t.steps, step{text: d.text(80), call: d.exploring(4 * exploredTokens), explores: 1})
	}
	for range later {
		t.steps = append(t.steps, step{text: d.text(200), call: d.exploring(1200)})
	}
	return t
}
