package jsonl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCutAtEveryByte: whatever of the last line a crash left, it is one torn tail,
// and nothing in it counts.
func TestCutAtEveryByte(t *testing.T) {
	plain := []string{piHeader, msg("a", ""), msg("b", "a")}
	for name, lines := range map[string][]string{
		"pi":                        plain,
		"native":                    seal(nativeHeader, plain[1], plain[2]),
		"pi's line in a native log": append(seal(nativeHeader, plain[1]), plain[2]),
	} {
		whole, last := join(lines[:2]...), lines[2]
		for cut := 1; cut < len(last); cut++ {
			log := whole + last[:cut]
			x := agree(t, log)
			if !slices.Equal(x.ids, []string{"a"}) || x.end.Limit != int64(len(whole)) {
				t.Errorf("%s, cut at %d: got entries %v up to byte %d, want a up to %d", name, cut, x.ids, x.end.Limit, len(whole))
			}
			checkDamage(t, log, x, finding{TornTail, 3, last[:cut], 1, false})
		}
	}
}

// TestCutBatchAtEveryByte: a batch of three lines is whole or void.
func TestCutBatchAtEveryByte(t *testing.T) {
	lines := seal(nativeHeader, msg("a", ""), batch(msg("b", "a")), batch(msg("c", "b")), msg("d", "c"))
	before, all := join(lines[:2]...), join(lines[2:]...)
	ends := []int{len(lines[2]) + 1, len(lines[2]) + len(lines[3]) + 2}
	for cut := range len(all) {
		log := before + all[:cut]
		x := agree(t, log)
		if cut == len(all)-1 { // only the newline is missing
			checkDamage(t, log, x, finding{NoFinalNewline, 5, lines[4], 1, true})
			continue
		}
		if !slices.Equal(x.ids, []string{"a"}) || x.end.Limit != int64(len(before)) {
			t.Errorf("cut at %d: got entries %v up to byte %d, want a up to %d", cut, x.ids, x.end.Limit, len(before))
		}
		checkDamage(t, log, x, cutBatch(lines, ends, all, cut)...)
	}
	if x := agree(t, before+all); len(x.ids) != 4 || len(x.damage) > 0 {
		t.Errorf("whole: got entries %v, damage %+v, want four and none", x.ids, x.damage)
	}
}

// cutBatch is the damage that a batch, cut somewhere, is.
func cutBatch(lines []string, ends []int, all string, cut int) (want []finding) {
	count, start := 0, 0
	for i, end := range ends {
		if cut >= end-1 { // the line is whole, but maybe for its newline
			count, start = i+1, end
		}
	}
	if count > 0 {
		want = append(want, finding{IncompleteBatch, 3, lines[2], count, false})
	}
	if start < cut {
		want = append(want, finding{TornTail, 3 + count, all[start:cut], 1, false})
	}
	return want
}

func TestBatches(t *testing.T) {
	lines := seal(nativeHeader, batch(msg("a", "")), batch(msg("b", "a")), msg("c", "b"))
	foreign, garbage := msg("x", "a"), "<<<"
	bad := strings.Replace(lines[3], "é", "è", 1)
	open := []string{lines[0], lines[1], lines[2]}
	tail := sealAfter(checksum(foreign), msg("d", "x"))[0]
	run(t, []damageCase{
		{"void at the end", join(open...), "", []finding{{IncompleteBatch, 2, lines[1], 2, false}}},
		{"void with blank lines behind it", join(open...) + "\n\n", "", []finding{{IncompleteBatch, 2, lines[1], 2, false}, {BlankLines, 4, "", 2, true}}},
		{"void with NULs behind it", join(open...) + nuls, "", []finding{{IncompleteBatch, 2, lines[1], 2, false}, {NUL, 4, nuls, 1, false}}},
		{"void with garbage behind it", join(open...) + join(garbage), "", []finding{{IncompleteBatch, 2, lines[1], 2, false}, {NotJSON, 4, garbage, 1, false}}},
		{"foreign line behind it", join(append(open, foreign)...), "a b x",
			[]finding{{IncompleteBatch, 2, lines[1], 2, false}, {ForeignLine, 4, foreign, 1, true}}},
		{"foreign and native lines behind it", join(append(open, foreign, tail)...), "a b x d",
			[]finding{{IncompleteBatch, 2, lines[1], 2, false}, {ForeignLine, 4, foreign, 1, true}}},
		{"torn foreign line behind it", join(open...) + foreign[:40], "",
			[]finding{{IncompleteBatch, 2, lines[1], 2, false}, {TornTail, 4, foreign[:40], 1, false}}},
		{"array behind it", join(append(open, "[1]")...), "a b", []finding{{IncompleteBatch, 2, lines[1], 2, false}, {NotObject, 4, "[1]", 1, false}}},
		{"header behind it", join(append(open, piHeader)...), "a b", []finding{{IncompleteBatch, 2, lines[1], 2, false}, {ExtraHeader, 4, piHeader, 1, false}}},
		{"last line's sum is wrong", join(lines[0], lines[1], lines[2], bad), "",
			[]finding{{IncompleteBatch, 2, lines[1], 2, false}, {TornTail, 4, bad, 1, false}}},
		{"middle line is unreadable", join(lines[0], lines[1], garbage, lines[3]), "a c", []finding{{NotJSON, 3, garbage, 1, false}}},
		{"pi knows no batches", join(piHeader, strings.TrimSuffix(msg("a", ""), "}")+`,"more":true}`), "a", nil},
	})
}

// TestFlipEveryByte: any changed byte of a native line in the middle of a log is
// reported once, and no other line is blamed.
func TestFlipEveryByte(t *testing.T) {
	lines := seal(nativeHeader, msg("a", ""), msg("b", "a"), msg("c", "b"), msg("d", "c"))
	for line := 1; line <= 3; line++ {
		for at := range len(lines[line]) {
			for _, flip := range []byte{0x01, 0x20, 0x80} {
				changed := []byte(lines[line])
				changed[at] ^= flip
				checkFlip(t, lines, line, at, string(changed))
			}
		}
	}
}

func checkFlip(t *testing.T, lines []string, line, at int, changed string) {
	t.Helper()
	log := slices.Clone(lines)
	log[line] = changed
	if strings.Contains(changed, "\n") {
		return // that makes two lines of it
	}
	x := agree(t, join(log...))
	what := fmt.Sprintf("line %d, byte %d: %q", line+1, at, changed[max(at-3, 0):min(at+3, len(changed))])
	switch sum := len(changed) - len(`,"crc":"`) - 18; {
	case len(x.damage) == 0 || x.damage[0].Line != line+1:
		t.Errorf("%s: got %+v, want damage on that line", what, x.damage)
	case at >= sum && at < sum+len(`,"crc":`) && x.damage[0].Kind == ForeignLine:
		// Without its field it looks like another program's line: two notes.
	case len(x.damage) > 1 || x.damage[0].Note:
		t.Errorf("%s: got %+v, want one damage", what, x.damage)
	case at >= len(changed)-10 && at < len(changed)-2 && isHex(changed[at]) != (x.damage[0].Kind == Order):
		t.Errorf("%s: got %+v, want order where a digit became another one", what, x.damage)
	}
	if len(x.ids) < 3 {
		t.Errorf("%s: got entries %v, want all but one at least", what, x.ids)
	}
}

func TestSums(t *testing.T) {
	objects := []string{nativeHeader, msg("a", ""), msg("b", "a"), msg("c", "b"), msg("d", "c")}
	l := seal(objects...)
	wrong := strings.Replace(l[2], "é", "è", 1)
	added := strings.TrimSuffix(l[2], "}") + `,"omp":{"crc":"x","n":1}}`
	twice := strings.TrimSuffix(wrong, "}") + `,"crc":"` + fmt.Sprintf("%08x%08x", checksum(strings.TrimSuffix(wrong, "}")), sumOf(l[1])) + `"}`
	noID := strings.Replace(wrong, `"id":"b"`, `"di":"b"`, 1)
	unreadable := strings.Replace(l[2], `"b"`, `"b`, 1)
	inserted := sealAfter(sumOf(l[1]), msg("n", "a"))[0]
	badHeader := strings.Replace(l[0], "/x", "/y", 1)
	noHex := l[2][:len(l[2])-3] + `x"}`
	run(t, []damageCase{
		{"wrong", join(l[0], l[1], wrong, l[3], l[4]), "a b c d", []finding{{BadChecksum, 3, wrong, 1, false}}},
		{"wrong, without an id", join(l[0], l[1], noID, l[3]), "a c", []finding{{BadChecksum, 3, noID, 1, false}}},
		{"wrong and unreadable", join(l[0], l[1], unreadable, l[3]), "a c", []finding{{BadChecksum, 3, unreadable, 1, false}}},
		{"no hexadecimal number", join(l[0], l[1], noHex, l[3]), "a b c", []finding{{BadChecksum, 3, noHex, 1, false}}},
		{"wrong on the last line", join(l[0], l[1], wrong), "a", []finding{{TornTail, 3, wrong, 1, false}}},
		{"wrong and unreadable on the last line", join(l[0], l[1], unreadable), "a", []finding{{TornTail, 3, unreadable, 1, false}}},
		{"wrong in the header", join(badHeader, l[1], l[2]), "a b", []finding{{BadChecksum, 1, badHeader, 1, false}}},
		{"wrong in the header alone", join(badHeader), "", []finding{{BadChecksum, 1, badHeader, 1, false}}},
		{"two wrong ones", join(l[0], strings.Replace(l[1], "é", "è", 1), wrong, l[3]), "a b c",
			[]finding{{BadChecksum, 2, strings.Replace(l[1], "é", "è", 1), 1, false}, {BadChecksum, 3, wrong, 1, false}}},

		{"field behind it", join(l[0], l[1], added, l[3]), "a b c", nil},
		{"the last one counts", join(l[0], l[1], twice), "a b", nil},

		{"line deleted", join(l[0], l[1], l[3], l[4]), "a c d", []finding{{Order, 3, l[3], 1, false}}},
		{"first line deleted", join(l[0], l[2], l[3]), "b c", []finding{{Order, 2, l[2], 1, false}}},
		{"lines swapped", join(l[0], l[1], l[3], l[2], l[4]), "a c b d",
			[]finding{{Order, 3, l[3], 1, false}, {Order, 4, l[2], 1, false}, {Order, 5, l[4], 1, false}}},
		{"line inserted", join(l[0], l[1], inserted, l[2], l[3]), "a n b c", []finding{{Order, 4, l[2], 1, false}}},
		{"line written twice", join(l[0], l[1], l[1], l[2]), "a a b", []finding{{Order, 3, l[1], 1, false}}},
		{"line deleted behind garbage", join(l[0], l[1], "<<<", l[3], l[4]), "a c d", []finding{{NotJSON, 3, "<<<", 1, false}}},
		{"foreign line inserted", join(l[0], l[1], msg("x", "a"), l[2], l[3]), "a x b c",
			[]finding{{ForeignLine, 3, msg("x", "a"), 1, true}, {Order, 4, l[2], 1, true}}},
		{"rewritten by omp", join(titleSlot, badHeader, l[1], l[3], wrong, l[4]), "a c b d", []finding{
			{TitleSlot, 1, titleSlot, 1, true}, {BadChecksum, 2, badHeader, 1, true}, {Order, 4, l[3], 1, true}, {BadChecksum, 5, wrong, 1, true}}},
		{"rewritten by omp, last", join(titleSlot, l[0], l[1], wrong), "a b", []finding{
			{TitleSlot, 1, titleSlot, 1, true}, {BadChecksum, 4, wrong, 1, true}}},
		{"not of a native log", join(piHeader, l[1], wrong, l[4]), "a b d", nil},
	})
}

// TestDeepReading: only it looks at a line whose sum is right, and at encodings.
func TestDeepReading(t *testing.T) {
	bad := strings.Replace(msg("b", "a"), "é", "\xff", 1)
	for name, lines := range map[string][]string{
		"pi":     {piHeader, msg("a", ""), bad, msg("c", "b")},
		"native": seal(nativeHeader, msg("a", ""), bad, msg("c", "b")),
	} {
		log := join(lines...)
		quick, deep := agree(t, log), forward(t, log, Options{Deep: true})
		if !slices.Equal(quick.recs, deep.recs) {
			t.Errorf("%s: deep: got %v, want %v", name, deep.recs, quick.recs)
		}
		checkDamage(t, log, quick)
		checkDamage(t, log, deep, finding{InvalidUTF8, 3, lines[2], 1, false})
	}
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdef", c) >= 0 }
