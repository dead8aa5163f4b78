package jsonl

import (
	"strings"
	"testing"
)

// A damageCase is a log with what a reader must find in it.
type damageCase struct {
	what string
	log  string
	ids  string // of the entries, in order
	want []finding
}

func run(t *testing.T, cases []damageCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			x := agree(t, c.log)
			if got := strings.Join(x.ids, " "); got != c.ids {
				t.Errorf("got entries %q, want %q", got, c.ids)
			}
			checkDamage(t, c.log, x, c.want...)
		})
	}
}

const nuls = "\x00\x00\x00"

func TestSoundLogs(t *testing.T) {
	run(t, []damageCase{
		{"pi", join(piHeader, msg("a", ""), msg("b", "a")), "a b", nil},
		{"native", join(seal(nativeHeader, msg("a", ""), msg("b", "a"))...), "a b", nil},
		{"native batch", join(seal(nativeHeader, batch(msg("a", "")), batch(msg("b", "a")), msg("c", "b"))...), "a b c", nil},
		{"header only", join(piHeader), "", nil},
		{"native header only", join(seal(nativeHeader)...), "", nil},
		{"empty", "", "", nil},
		{"unknown type", join(piHeader, `{"type":"new","id":"a"}`), "a", nil},
		{"no type", join(piHeader, `{"id":"a"}`), "a", nil},
		{"other order and spaces", join(piHeader, ` { "message" : {"content":[{"id":"no"}],"role":"user"} , "parentId":null,"id" : "a","type":"message"} `), "a", nil},
		{"doubled id", join(piHeader, `{"type":"message","id":"a","id":"b"}`), "b", nil},
		{"escaped keys", join(piHeader, `{"\u0074ype":"message","i\u0064":"\u0061"}`), "a", nil},
		{"keys of other case", join(piHeader, `{"type":"x","ID":"no","id":"a","Id":"no"}`), "a", nil},
		{"version 1", join(`{"type":"session","id":"s"}`, `{"type":"message"}`, `{"type":"message","id":7}`), " ", nil},
		{"line separators inside", join(piHeader, "{\"type\":\"x\",\"id\":\"a\",\"t\":\"\u2028\u2029\u0085\"}"), "a", nil},
	})
}

func TestLinesThatAreNoRecords(t *testing.T) {
	a, b := msg("a", ""), msg("b", "a")
	native := seal(nativeHeader, a, b)
	garbage := "<<<<<<< HEAD"
	run(t, []damageCase{
		{"NUL line", join(piHeader, nuls, a), "a", []finding{{NUL, 2, nuls, 1, false}}},
		{"NULs before a record", join(piHeader, nuls+a), "a", []finding{{NUL, 2, nuls, 1, false}}},
		{"NULs behind a record", join(piHeader, a+nuls, b), "a b", []finding{{NUL, 2, nuls, 1, false}}},
		{"NULs between records", join(piHeader, a+nuls+b), "a b", []finding{{NUL, 2, nuls, 1, false}}},
		{"NULs at the end", join(piHeader, a) + nuls, "a", []finding{{NUL, 3, nuls, 1, false}}},
		{"NULs at the end of a line at the end", join(piHeader) + a + nuls, "a",
			[]finding{{NoFinalNewline, 2, a, 1, true}, {NUL, 2, nuls, 1, false}}},
		{"fragment and NULs at the end", join(piHeader, a) + b[:40] + nuls, "a",
			[]finding{{TornTail, 3, b[:40], 1, false}, {NUL, 3, nuls, 1, false}}},
		{"fragment, NULs, record", join(piHeader, a[:40]+nuls+b), "b", []finding{{NotJSON, 2, a[:40], 1, false}, {NUL, 2, nuls, 1, false}}},
		{"NULs inside a record", join(piHeader, a[:40]+nuls+a[40:], b), "b", []finding{{NotJSON, 2, a[:40] + nuls + a[40:], 1, false}}},
		{"NULs in a native log", join(native[0], nuls+native[1], native[2]+nuls), "a b", []finding{{NUL, 2, nuls, 1, false}, {NUL, 3, nuls, 1, false}}},

		{"not JSON", join(piHeader, garbage, a), "a", []finding{{NotJSON, 2, garbage, 1, false}}},
		{"not JSON, last", join(piHeader, a, garbage), "a", []finding{{NotJSON, 3, garbage, 1, false}}},
		{"not JSON, last, torn", join(piHeader, a) + garbage, "a", []finding{{TornTail, 3, garbage, 1, false}}},
		{"not JSON in a native log", join(native[0], garbage, native[1], native[2]), "a b", []finding{{NotJSON, 2, garbage, 1, false}}},
		{"control character in a string", join(piHeader, strings.Replace(a, "é", "\t", 1), b), "b",
			[]finding{{NotJSON, 2, strings.Replace(a, "é", "\t", 1), 1, false}}},
		{"fault before a tool call", join(piHeader, strings.Replace(a, `"content":`, `"content";`, 1), b), "b",
			[]finding{{NotJSON, 2, strings.Replace(a, `"content":`, `"content";`, 1), 1, false}}},

		{"number", join(piHeader, "12", a), "a", []finding{{NotObject, 2, "12", 1, false}}},
		{"array of records", join(piHeader, "["+a+"]", b), "b", []finding{{NotObject, 2, "[" + a + "]", 1, false}}},
		{"null at the end", join(piHeader, a) + "null", "a", []finding{{NotObject, 3, "null", 1, false}}},
		{"text in a native log", join(native[0], native[1], `"text"`, native[2]), "a b", []finding{{NotObject, 3, `"text"`, 1, false}}},

		{"no id", join(piHeader, `{"type":"message"}`, a), "a", []finding{{NoID, 2, `{"type":"message"}`, 1, false}}},
		{"empty id", join(piHeader, `{"type":"x","id":""}`, a), "a", []finding{{NoID, 2, `{"type":"x","id":""}`, 1, false}}},
		{"number as id, last", join(piHeader, a, `{"type":"x","id":7}`), "a", []finding{{NoID, 3, `{"type":"x","id":7}`, 1, false}}},
		{"id taken back", join(piHeader, `{"type":"x","id":"a","id":null}`), "", []finding{{NoID, 2, `{"type":"x","id":"a","id":null}`, 1, false}}},
		{"empty object", join(piHeader, `{}`, a), "a", []finding{{NoID, 2, `{}`, 1, false}}},
	})
}

func TestRecordsOnOneLine(t *testing.T) {
	a, b, c := msg("a", ""), msg("b", "a"), msg("c", "b")
	native := seal(nativeHeader, a, b, c)
	run(t, []damageCase{
		{"two", join(piHeader, a+b), "a b", []finding{{Concatenated, 2, b, 1, false}}},
		{"three", join(piHeader, a+b+c), "a b c", []finding{{Concatenated, 2, b, 1, false}, {Concatenated, 2, c, 1, false}}},
		{"two with a space", join(piHeader, a+" \t"+b+" "), "a b", []finding{{Concatenated, 2, b, 1, false}}},
		{"two native", join(native[0], native[1]+native[2], native[3]), "a b c", []finding{{Concatenated, 2, native[2], 1, false}}},
		{"three native, last", join(native[0], native[1]+native[2]+native[3]), "a b c",
			[]finding{{Concatenated, 2, native[2], 1, false}, {Concatenated, 2, native[3], 1, false}}},
		{"header and record", join(piHeader + a), "a", []finding{{Concatenated, 1, a, 1, false}}},
		{"two, last torn", join(piHeader) + a + b[:50], "a", []finding{{TornTail, 2, b[:50], 1, false}}},
		{"without end", join(piHeader) + a + b, "a b", []finding{{NoFinalNewline, 2, a, 1, true}, {Concatenated, 2, b, 1, false}}},
		{"record and garbage", join(piHeader, a+"xyz", b), "a b", []finding{{NotJSON, 2, "xyz", 1, false}}},
		{"fragment, fragment, record", join(piHeader, a[:50]+b[:30]+c), "c", []finding{{NotJSON, 2, a[:50] + b[:30], 1, false}}},
	})
}

// TestFragmentAndRecord: a record that was torn at any byte, with a whole one
// written behind it on the same line, costs nothing but itself.
func TestFragmentAndRecord(t *testing.T) {
	a, b := msg("a", ""), msg("b", "a")
	for cut := 1; cut < len(a); cut++ {
		log := join(piHeader, a[:cut]+b, msg("c", "b"))
		x := agree(t, log)
		if got := strings.Join(x.ids, " "); got != "b c" {
			t.Errorf("cut at %d: got entries %q, want b c", cut, got)
		}
		checkDamage(t, log, x, finding{NotJSON, 2, a[:cut], 1, false})
	}
	native := seal(nativeHeader, a, b)
	for cut := 1; cut < len(native[1]); cut++ {
		log := join(native[0], native[1][:cut]+native[2])
		x := agree(t, log)
		if got := strings.Join(x.ids, " "); got != "b" {
			t.Errorf("native, cut at %d: got entries %q, want b", cut, got)
		}
		checkDamage(t, log, x, finding{NotJSON, 2, native[1][:cut], 1, false})
	}
}

func TestHeaders(t *testing.T) {
	a, b := msg("a", ""), msg("b", "a")
	extra := strings.Replace(piHeader, `"s"`, `"s2"`, 1)
	none := `{"type":"session","version":3}`
	run(t, []damageCase{
		{"none", join(a, b), "a b", []finding{{NoHeader, 1, "", 1, false}}},
		{"late", join(a, piHeader, b), "a b", []finding{{LateHeader, 2, piHeader, 1, false}}},
		{"extra", join(piHeader, a, extra, b), "a b", []finding{{ExtraHeader, 3, extra, 1, false}}},
		{"the same again", join(piHeader, a, piHeader, b), "a b", []finding{{ExtraHeader, 3, piHeader, 1, false}}},
		{"late and extra", join(a, piHeader, extra), "a", []finding{{LateHeader, 2, piHeader, 1, false}, {ExtraHeader, 3, extra, 1, false}}},
		{"behind garbage", join("x", piHeader, a), "a", []finding{{NotJSON, 1, "x", 1, false}}},
		{"behind a blank line", join("", piHeader, a), "a", []finding{{BlankLines, 1, "", 1, true}}},
		{"without an id", join(none, a), "a", []finding{{NoHeader, 1, "", 1, false}, {ExtraHeader, 1, none, 1, false}}},
		{"torn", piHeader[:50], "", []finding{{NoHeader, 1, "", 1, false}, {TornTail, 1, piHeader[:50], 1, false}}},
		{"native without one", join(seal(nativeHeader, a, b)[1:]...), "a b", []finding{{NoHeader, 1, "", 1, false}}},
		{"only newlines", "\n\n\n", "", []finding{{NoHeader, 1, "", 1, false}, {BlankLines, 1, "", 3, true}}},
	})
}

func TestNotes(t *testing.T) {
	a, b := msg("a", ""), msg("b", "a")
	native := seal(nativeHeader, a, b)
	titled := append([]string{titleSlot}, native...)
	tail := sealAfter(sumOf(native[2]), msg("c", "b"))[0]
	run(t, []damageCase{
		{"blank lines", join(piHeader, "", "", a, " \t", b, ""), "a b", []finding{{BlankLines, 2, "", 4, true}}},
		{"blank lines in a native log", join(native[0], "", native[1], "", "", native[2]), "a b", []finding{{BlankLines, 2, "", 3, true}}},
		{"no final newline", join(piHeader) + a, "a", []finding{{NoFinalNewline, 2, a, 1, true}}},
		{"no final newline, native", join(native[:2]...) + native[2], "a b", []finding{{NoFinalNewline, 3, native[2], 1, true}}},
		{"no final newline, header", piHeader, "", []finding{{NoFinalNewline, 1, piHeader, 1, true}}},
		{"mark", "\ufeff" + join(piHeader, a), "a", []finding{{BOM, 1, piHeader, 1, true}}},
		{"mark, native", "\ufeff" + join(native...), "a b", []finding{{BOM, 1, native[0], 1, true}}},
		{"mark alone", "\ufeff", "", []finding{{NoHeader, 1, "", 1, false}, {BOM, 1, "\ufeff", 1, true}, {BlankLines, 1, "\ufeff", 1, true}}},
		{"mark on line 2", join(piHeader, "\ufeff"+a, b), "a b", []finding{{NotJSON, 2, "\ufeff", 1, false}}},
		{"carriage returns", strings.ReplaceAll(join(piHeader, a, b), "\n", "\r\n"), "a b", []finding{{CRLF, 1, piHeader, 3, true}}},
		{"carriage returns, native", strings.ReplaceAll(join(native...), "\n", "\r\n"), "a b", []finding{{CRLF, 1, native[0], 3, true}}},
		{"one carriage return", join(piHeader, a+"\r", b), "a b", []finding{{CRLF, 2, a, 1, true}}},
		{"title", join(titleSlot, piHeader, a), "a", []finding{{TitleSlot, 1, titleSlot, 1, true}}},
		{"title of another size", join(titleSlot[:200]+titleSlot[201:], piHeader, a), "a",
			[]finding{{NoID, 1, titleSlot[:200] + titleSlot[201:], 1, false}, {LateHeader, 2, piHeader, 1, false}}},
		{"foreign lines", join(append(native[:3:3], msg("x", "b"), msg("y", "x"), tail)...), "a b x y c",
			[]finding{{ForeignLine, 4, msg("x", "b"), 2, true}, {Order, 6, tail, 1, true}}},
		{"foreign line in a sound chain", join(append(native[:3:3], msg("x", "b"), sealAfter(checksum(msg("x", "b")), msg("c", "x"))[0])...), "a b x c",
			[]finding{{ForeignLine, 4, msg("x", "b"), 1, true}}},
		{"title of a native log", join(titled...), "a b", []finding{{TitleSlot, 1, titleSlot, 1, true}}},
	})
}
