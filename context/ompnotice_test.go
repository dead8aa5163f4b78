package modelcontext

import (
	"testing"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// noticeCases are the meta of outputs, and what formatOutputNotice of oh-my-pi 18.2.3
// makes of it.
var noticeCases = []struct{ meta, want string }{
	{`null`,
		`""`},
	{`{}`,
		`""`},
	{`5`,
		`""`},
	{`"x"`,
		`""`},
	{`{"truncation":{"direction":"head","totalLines":100,"outputLines":10}}`,
		`"\n\n[Showing 10 of 100 lines]"`},
	{`{"truncation":{"direction":"head","totalLines":100,"outputLines":10,"shownRange":{"start":1,"end":10},"nextOffset":11,"truncatedBy":"bytes","maxBytes":51200}}`,
		`"\n\n[Showing lines 1-10 of 100 (50.0KB limit). Use :11 to continue]"`},
	{`{"truncation":{"direction":"tail","totalLines":3,"outputLines":0,"shownRange":{"start":4,"end":3},"truncatedBy":"bytes","outputBytes":1280}}`,
		`"\n\n[Showing 0 of 3 lines (1.3KB limit)]"`},
	{`{"truncation":{"direction":"tail","partialLine":true,"totalLines":1,"outputBytes":1023,"totalBytes":1310720,"nextOffset":2,"artifactId":"1"}}`,
		`"\n\n[Showing line 1 (partial, 1023B of 1.3MB) of 1. Read artifact://1 for full output]"`},
	{`{"truncation":{"direction":"head","partialLine":true,"shownRange":{"start":7},"totalLines":8,"outputBytes":0,"totalBytes":5368709120}}`,
		`"\n\n[Showing line 7 (partial, 0B of 5.0GB) of 8]"`},
	{`{"truncation":{"direction":"middle","totalLines":12345,"outputLines":20,"totalBytes":2000000,"outputBytes":51200,"headRange":{"start":1,"end":10},"tailRange":{"start":12336,"end":12345},"artifactId":"9"}}`,
		`"\n\n[Showing lines 1-10 and 12336-12345 of 12345; 12,325 middle lines (1.9MB) elided. Read artifact://9 for full output]"`},
	{`{"truncation":{"direction":"middle","totalLines":3,"outputLines":2,"totalBytes":10,"outputBytes":9,"headRange":{"start":1,"end":1},"tailRange":{"start":3,"end":3}}}`,
		`"\n\n[Showing lines 1-1 and 3-3 of 3; 1 middle line (1B) elided]"`},
	{`{"truncation":{"direction":"middle","totalLines":1,"totalBytes":1075000,"outputBytes":51200}}`,
		`"\n\n[Showing head and tail bytes of 1 line; 999.8KB elided]"`},
	{`{"truncation":{"direction":"middle","totalLines":1234,"outputLines":2000,"totalBytes":1,"outputBytes":1,"nextOffset":5}}`,
		`"\n\n[Showing 1234 of 1234 lines; middle elided. Use :5 to continue]"`},
	{`{"truncation":{"direction":"middle","totalLines":1,"elidedBytes":"2048","elidedLines":null,"headRange":{"start":1,"end":1},"tailRange":{}}}`,
		`"\n\n[Showing lines 1-1 and undefined-undefined of 1; NaN middle lines (2.0KB) elided]"`},
	{`{"truncation":true,"source":{"type":"report","value":"r"}}`,
		`"\n\n[Showing undefined of undefined lines]"`},
	{`{"truncation":{"artifactId":4,"totalLines":2,"outputLines":1},"source":{"type":"report","value":"two jobs"}}`,
		`"\n\n[Showing 1 of 2 lines. Read artifact://4 for full report (two jobs)]"`},
	{`{"artifactError":"flush"}`,
		`"\n\n[Full output was not saved completely (artifact flush failed)]"`},
	{`{"limits":{"matchLimit":{"reached":5,"suggestion":10},"resultLimit":{"reached":6,"suggestion":12},"headLimit":{"reached":7},"columnTruncated":{"maxColumn":768,"artifactId":"2"}},"artifactError":"write"}`,
		`"\n\n[Full output was not saved completely (artifact write failed). 5 matches limit reached. Use limit=10 for more. 6 results limit reached. Use limit=12 for more. 7 results limit reached. Use limit=undefined for more. Some lines truncated to 768 chars. Read artifact://2 for full output]"`},
	{`{"limits":{"columnTruncated":{"maxColumn":512,"unit":"bytes"}}}`,
		`"\n\n[Some lines truncated to 512 bytes]"`},
	{`{"limits":null}`,
		`""`},
	{`{"diagnostics":{"summary":"2 error(s)","messages":["src/a/x.ts:1:2 [error] one","src/a/y.ts:3:4 [error] two","src\\a\\x.ts:5:6 [hint] three","top.go:1:1 [error] four","no place","src/b/c/z.ts:1:1 [error] five"]}}`,
		`"\n\nLSP Diagnostics (2 error(s)):\n# top.go\n  1:1 [error] four\n\n# src/\n\n## a/\n### x.ts\n  1:2 [error] one\n  5:6 [hint] three\n### y.ts\n  3:4 [error] two\n\n## b/c/\n### z.ts\n  1:1 [error] five\n\nno place"`},
	{`{"diagnostics":{"summary":"s","messages":["/abs/x:1:2 a","file:///u/x.ts:1:2 b","a/:1:1 c","a:1:1 d","/:1:1 e","m\nn:1:1 f","p:1:2\n\n g","p:1:2 h\ni"]}}`,
		`"\n\nLSP Diagnostics (s):\n# file:///u/x.ts\n  1:2 b\n\n# a\n  1:1 c\n\n# p\n  1:2\n\n g\n\n# /abs/\n## x\n  1:2 a\n\nm\nn:1:1 f\np:1:2 h\ni"`},
	{`{"diagnostics":{"summary":"s","messages":["x",null,5]}}`,
		`"\n\nLSP Diagnostics (s):\nx\n\n5"`},
	{`{"diagnostics":{"summary":"s","messages":[]}}`,
		`""`},
}

func TestOutputNotice(t *testing.T) {
	for _, c := range noticeCases {
		got := jsonvalue.AppendExact(nil, outputNotice([]byte(c.meta)))
		if string(got) != string(canonical([]byte(c.want))) {
			t.Errorf("%s\n got %s\nwant %s", c.meta, got, c.want)
		}
	}
}

// The expectations are those of Node's toFixed and toLocaleString.
func TestNumbersAsText(t *testing.T) {
	for f, want := range map[float64]string{0.25: "0.3", 0.75: "0.8", 1.25: "1.3", 1.05: "1.1", 2.449: "2.4", 9.95: "9.9", -1.25: "-1.3", 1e21: "1e+21"} {
		if got := oneDecimal(f); got != want {
			t.Errorf("%v with one decimal: got %s, want %s", f, got, want)
		}
	}
	for value, want := range map[string]string{
		"0": "0", "999": "999", "1000": "1,000", "-1000": "-1,000", "-100": "-100", "1234567.5": "1,234,567.5", "1.0004": "1",
		"1234.56789": "1,234.568", "1e21": "1,000,000,000,000,000,000,000", "1e999": "∞", "-1e999": "-∞", `"1000"`: "1000", "": "NaN",
	} {
		var raw []byte
		if value != "" {
			raw = []byte(value)
		}
		if got := localeText(raw); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}
