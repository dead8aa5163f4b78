package modelcontext_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	modelcontext "github.com/sessctl/sessctl/context"
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
	"github.com/sessctl/sessctl/internal/sessgen"
)

// FuzzBuild builds contexts of logs that are anything: from the end up as after a
// whole scan, without failing, and into JSON.
func FuzzBuild(f *testing.F) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 31))
		f.Add(sessgen.ContextTree(r, 12, &sessgen.ContextOptions{Native: seed%3 == 0, Omp: seed%3 == 1, Version: int(seed % 4)}), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, log []byte, omp bool) {
		tail, whole := readLog(t, log), readLog(t, log)
		if tail == nil {
			return
		}
		opt := &modelcontext.Options{Lookback: -1}
		if omp {
			opt.Dialect = modelcontext.Omp
		}
		got, err := modelcontext.Build(tail, tail.Leaf(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := whole.Scan(); err != nil {
			t.Fatal(err)
		}
		want, err := modelcontext.Build(whole, whole.Leaf(), opt)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "from the end up", got, want)
		for _, m := range append(got.Render(), got.Messages...) {
			if err := jsonvalue.Check(m.Raw); err != nil {
				t.Fatalf("got %s: %v", m.Raw, err)
			}
		}
	})
}

// FuzzRepair repairs lists of messages that are anything, one a line.
func FuzzRepair(f *testing.F) {
	for _, seed := range []string{
		`{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"a","arguments":{}}]}` + "\n" + `{"role":"toolResult","toolCallId":"1","content":[]}`,
		`{"role":"user","content":"\ud83d"}` + "\n" + `{"role":"assistant","stopReason":"error","content":[{"type":"toolCall","id":"1"}]}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"","thinkingSignature":"x"},{"type":"text","text":" "},{"type":"redactedThinking","data":"x"},{"type":"text","text":"t"}]}`,
		`{"role":"bashExecution","command":1,"images":[{"type":"image"}]}` + "\n" + `{"role":"fileMention","files":[null,{"image":{}}]}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, lines []byte, omp bool) {
		log := []byte(piHeader + "\n")
		parent := ""
		for m := range bytes.Lines(lines) {
			if m = bytes.TrimSpace(m); jsonvalue.Check(m) != nil || m[0] != '{' {
				continue
			}
			id := string(rune('a'+len(log)%26)) + string(jsonvalue.AppendNumber(nil, float64(len(log))))
			log = append(log, entry("message", id, parent, `"message":`+string(m))+"\n"...)
			parent = id
		}
		tree := readLog(t, log)
		c, err := modelcontext.Build(tree, entries.ID(parent), &modelcontext.Options{Dialect: map[bool]modelcontext.Dialect{false: modelcontext.Pi, true: modelcontext.Omp}[omp]})
		if err != nil {
			t.Fatal(err)
		}
		// The checker is encoding/json's; what that does not read is not compared.
		for _, m := range c.Messages {
			if !json.Valid(m.Raw) {
				return
			}
		}
		checkRepaired(t, "fuzzed", c)
		less := modelcontext.Policy{MaskResults: true, KeepTurns: 1, NoThinking: true, NoImages: true, Budget: 20}
		checkRepaired(t, "reduced", c.Apply(less))
		for _, m := range [][]modelcontext.Message{c.Repair().Apply(less).Messages, c.Repair().Apply(less).Render()} {
			for _, v := range checkProvider(rawMessages(m), nil) {
				t.Errorf("repaired, then reduced: %v", v)
			}
		}
	})
}
