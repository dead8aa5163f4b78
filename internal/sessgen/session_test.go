package sessgen

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var formats = map[string]Format{"native": Native, "pi": Pi}

// eachFormat runs a test on a session of 4 MB in both formats.
func eachFormat(t *testing.T, opt Options, check func(*testing.T, Options, []byte, Stats)) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			opt.Format = format
			log, stats := generated(t, 4e6, opt)
			check(t, opt, log, stats)
		})
	}
}

func generated(t *testing.T, size int64, opt Options) ([]byte, Stats) {
	t.Helper()
	var log bytes.Buffer
	stats, err := Write(&log, size, &opt)
	if err != nil {
		t.Fatal(err)
	}
	return log.Bytes(), stats
}

func TestWriteIsDeterministic(t *testing.T) {
	eachFormat(t, Options{Seed: 3}, func(t *testing.T, opt Options, log []byte, _ Stats) {
		if again, _ := generated(t, 4e6, opt); !bytes.Equal(log, again) {
			t.Error("the same seed gave other bytes")
		}
		opt.Seed++
		if other, _ := generated(t, 4e6, opt); bytes.Equal(log[:2000], other[:2000]) {
			t.Error("another seed gave the same bytes")
		}
	})
}

func TestStatsDescribeTheLog(t *testing.T) {
	eachFormat(t, Options{Seed: 1}, func(t *testing.T, _ Options, log []byte, stats Stats) {
		entries := readLog(t, log)
		byID := checkTree(t, entries)
		want := Stats{Entries: int64(len(entries)), Bytes: int64(len(log)), Leaf: entries[len(entries)-1].ID}
		for e := byID[want.Leaf]; e != nil; e = byID[e.parent()] {
			want.Depth++
			if want.LastCompaction == "" && e.Type == "compaction" {
				want.LastCompaction = e.ID
			}
		}
		if stats != want || want.LastCompaction == "" {
			t.Errorf("stats %+v, the log says %+v", stats, want)
		}
		if over := stats.Bytes - 4e6; over < 0 || over > 500e3 {
			t.Errorf("%d bytes beyond the size", over)
		}
	})
}

func TestEveryKindOccurs(t *testing.T) {
	eachFormat(t, Options{Seed: 1}, func(t *testing.T, opt Options, log []byte, _ Stats) {
		seen := map[string]int{}
		for _, e := range readLog(t, log) {
			seen[e.Type+e.CustomType+e.Message.Role]++
		}
		want := []string{"messageuser", "messageassistant", "messagetoolResult", "compaction", "model_change",
			"thinking_level_change", "customtodo-state", "custom_messagereminder", "branch_summary"}
		if opt.Format == Native {
			want = append(want, "customleaf", "customtool_execution_start", "custom_messagerewind-report")
		}
		for _, kind := range want {
			if seen[kind] == 0 {
				t.Errorf("no %s among %v", kind, seen)
			}
		}
	})
}

func TestKeyOrder(t *testing.T) {
	eachFormat(t, Options{}, func(t *testing.T, opt Options, log []byte, _ Stats) {
		for _, e := range readLog(t, log) {
			late := opt.Format == Pi && strings.HasPrefix(e.Type, "custom")
			base := `{"type":"` + e.Type + `","id":"`
			if late {
				base = `{"type":"` + e.Type + `","customType":"`
			}
			end := `"timestamp":"` + e.Timestamp + `"}`
			if !bytes.HasPrefix(e.line, []byte(base)) || late && !bytes.HasSuffix(e.line, []byte(end)) {
				t.Fatalf("key order of %.200s", e.line)
			}
		}
	})
}

func TestIDsSuitTheFormat(t *testing.T) {
	eachFormat(t, Options{}, func(t *testing.T, opt Options, log []byte, _ Stats) {
		last := ""
		for _, e := range readLog(t, log) {
			if opt.Format == Pi && len(e.ID) != 8 {
				t.Fatalf("pi id %q", e.ID)
			}
			if opt.Format == Native && (len(e.ID) != 26 || e.ID <= last) {
				t.Fatalf("ULID %q after %q", e.ID, last)
			}
			last = e.ID
		}
	})
}

func TestNativeSumsAndBatches(t *testing.T) {
	log, _ := generated(t, 2e6, Options{Seed: 5})
	checkSums(t, linesOf(t, log))
	entries := readLog(t, log)
	batches := 0
	for i, e := range entries[:len(entries)-1] {
		if !e.More {
			continue
		}
		batches++
		if next := entries[i+1]; next.CustomType != "rewind-report" || next.parent() != e.ID || next.More {
			t.Errorf("a batch goes on with %.200s", next.line)
		}
		if !bytes.Contains(e.line, []byte(`,"more":true,"crc":"`)) {
			t.Errorf("more is not just before the sum: %s", e.line)
		}
	}
	if batches == 0 || entries[len(entries)-1].More {
		t.Errorf("%d batches, or one is open at the end", batches)
	}
}

func TestPiHasNoSums(t *testing.T) {
	log, _ := generated(t, 2e6, Options{Format: Pi})
	for _, word := range []string{`"crc"`, `"more"`, "sessiontree", `"leaf"`} {
		if bytes.Contains(log, []byte(word)) {
			t.Errorf("%s in a pi log", word)
		}
	}
}

func TestBranchesReachUpToFiftyEntries(t *testing.T) {
	eachFormat(t, Options{Seed: 2, NoCompaction: true}, func(t *testing.T, _ Options, log []byte, _ Stats) {
		entries := readLog(t, log)
		byID := checkTree(t, entries)
		branches := 0
		for i, e := range entries[1:] {
			up := i - byID[e.parent()].at
			if up > farthestBranch {
				t.Errorf("entry %d is under one that is %d above the leaf", i+1, up)
			}
			if up > 0 {
				branches++
			}
			if e.Type == "compaction" {
				t.Error("a compaction in spite of NoCompaction")
			}
		}
		if share := float64(branches) / float64(len(entries)); share < 0.02 || share > 0.09 {
			t.Errorf("%.3f of the entries are branches", share)
		}
	})
}

func TestNegativeBranchesMeanNone(t *testing.T) {
	log, _ := generated(t, 1e6, Options{Format: Pi, Branches: -1})
	entries := readLog(t, log)
	for i, e := range entries[1:] {
		if e.parent() != entries[i].ID {
			t.Fatalf("entry %d is a branch", i+1)
		}
	}
}

func TestCompactionKeepsFromThePath(t *testing.T) {
	opt := Options{Seed: 4, CompactEvery: [2]int{60, 80}}
	eachFormat(t, opt, func(t *testing.T, opt Options, log []byte, _ Stats) {
		entries := readLog(t, log)
		byID := checkTree(t, entries)
		for _, e := range entries {
			if e.Type != "compaction" {
				continue
			}
			kept := byID[e.FirstKeptEntryID]
			if up := pathDistance(byID, &e, kept.ID); up < 5 || up > 40 || kept.Message.Role == "toolResult" {
				t.Errorf("kept entry %s is %d up", kept.ID, up)
			}
			if (e.Details.Settings != nil) != (opt.Format == Native) {
				t.Errorf("settings in %.80s", e.line)
			}
		}
	})
}

func pathDistance(byID map[string]*record, from *record, id string) int {
	up := 0
	for e := from; e != nil; e = byID[e.parent()] {
		if e.ID == id {
			return up
		}
		up++
	}
	return -1
}

func TestLineSizes(t *testing.T) {
	for name, format := range formats {
		log, _ := generated(t, 60e6, Options{Seed: 1, Format: format})
		var sizes []int
		for _, line := range linesOf(t, log) {
			sizes = append(sizes, len(line)+1)
		}
		slices.Sort(sizes)
		at := func(share float64) int { return sizes[int(share*float64(len(sizes)-1))] }
		got := [6]int{at(0.01), at(0.5), at(0.9), at(0.99), at(1), len(log) / len(sizes)}
		low := [6]int{180, 2300, 11500, 45000, 150000, 5400}
		high := [6]int{400, 3100, 16000, 70000, 245000, 6900}
		for i := range got {
			if got[i] < low[i] || got[i] > high[i] {
				t.Errorf("%s: %d not in %d..%d (of %v)", name, got[i], low[i], high[i], got)
			}
		}
	}
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

var errFull = errors.New("full")

func TestWriteErrorsAreReturned(t *testing.T) {
	for _, room := range []int{0, 1e6} {
		if _, err := Write(&failingWriter{room}, 2e6, nil); !errors.Is(err, errFull) {
			t.Errorf("room %d: %v", room, err)
		}
	}
}

func TestEveryCallHasItsResultOnThePath(t *testing.T) {
	eachFormat(t, Options{Seed: 9}, func(t *testing.T, _ Options, log []byte, _ Stats) {
		entries := readLog(t, log)
		byID := checkTree(t, entries)
		for _, e := range entries {
			if e.Message.Role != "toolResult" {
				continue
			}
			caller := callerOf(&e)
			if up := pathDistance(byID, &e, caller); up < 1 || up > 4 {
				t.Fatalf("the caller %s of %s is %d up", caller, e.ID, up)
			}
		}
	})
}

// callerOf reads the assistant's id out of the call's.
func callerOf(e *record) string {
	_, rest, _ := strings.Cut(string(e.line), `"toolCallId":"toolu_`)
	id, _, _ := strings.Cut(rest, "_")
	return id
}

func BenchmarkWrite(b *testing.B) {
	for name, format := range formats {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(50e6)
			b.ReportAllocs()
			for i := range b.N {
				if _, err := Write(discard{}, 50e6, &Options{Format: format, Seed: uint64(i)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func ExampleWrite() {
	var log bytes.Buffer
	stats, err := Write(&log, 1e6, &Options{Format: Native, Seed: 1})
	fmt.Println(stats.Bytes == int64(log.Len()), err)
	// Output: true <nil>
}
