package modelcontext

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// snapcompactCases are preserveData, and the blocks that oh-my-pi 18.2.3 makes of it.
var snapcompactCases = []struct{ in, want string }{
	{`null`,
		`null`},
	{`{}`,
		`null`},
	{`{"snapcompact":{}}`,
		`null`},
	{`{"snapcompact":{"text":"only the source"}}`,
		`null`},
	{`{"snapcompact":{"frames":[],"textHead":"a\u2588b\u000e","textTail":"c"}}`,
		`[{"type":"text","text":"a\nbc"}]`},
	{`{"snapcompact":{"textTail":"c","truncatedChars":1}}`,
		`[{"type":"text","text":"\n-------------- middle history omitted above\nc"}]`},
	{`{"snapcompact":{"textHead":"h","textTail":"t","frames":[{"data":"A","mimeType":"image/png","cols":1,"rows":1,"chars":1,"font":"5x8","detail":"high"},{"data":"blob:sha256:00","mimeType":"image/png","cols":1,"rows":1,"chars":1,"font":"5x8"},{"data":"blob:sha256:01","mimeType":"image/png","cols":1,"rows":1,"chars":1,"font":"5x8"},{"data":"B","mimeType":"image/png","cols":1,"rows":1,"chars":1,"font":"5x8","detail":""}]}}`,
		`[{"type":"text","text":"h\n-------------- imaged middle below\n"},{"type":"image","data":"A","mimeType":"image/png","detail":"high"},{"type":"text","text":"-------------- 2 archived image frames unavailable here --------------"},{"type":"image","data":"B","mimeType":"image/png"},{"type":"text","text":"-------------- imaged middle above\nt"}]`},
	{`{"snapcompact":{"textTail":"t","frames":[{"data":"blob:sha256:00","mimeType":"image/png","cols":1,"rows":1,"chars":1,"font":"5x8"}]}}`,
		`[{"type":"text","text":"-------------- 1 archived image frame unavailable here --------------\n-------------- middle history omitted above\nt"}]`},
	{`{"snapcompact":{"frames":[{"data":"","mimeType":"image/png","cols":1,"rows":1,"chars":1,"font":"5x8"},{"data":"A"},null,5,{"data":"A","mimeType":"image/png","cols":"1","rows":1,"chars":1,"font":"5x8"},{"data":"C","mimeType":"image/png","cols":1,"rows":1,"chars":1,"font":"5x8"}]}}`,
		`[{"type":"image","data":"C","mimeType":"image/png"}]`},
	{`{"snapcompact":{"textHead":"![a](data:image/png;base64,QUJD) [b](data:a/b;base64,QU data:text/plain;charset=utf-8;BASE64,QQ==) x"}}`,
		`[{"type":"text","text":"[data URL omitted: image/png, 4 base64 chars] [b]([data URL omitted: a/b, 2 base64 chars] [data URL omitted: text/plain;charset=utf-8, 4 base64 chars]) x"}]`},
	{`{"snapcompact":{"textHead":"![a[b]( data:a/b;base64,QU [\u202612ch elided\u2026] JD\n) data:;base64,x data:a/b,x [c](data:a/b;base64,)","textTail":"(data:a/b;base64,AA[...3CH elided...]AA)"}}`,
		`[{"type":"text","text":"[data URL omitted: a/b, 16 base64 chars] data:;base64,x data:a/b,x [data URL omitted: a/b, 0 base64 chars]([data URL omitted: a/b, 22 base64 chars])"}]`},
}

func TestSnapcompactBlocks(t *testing.T) {
	for _, c := range snapcompactCases {
		list := snapcompactBlocks([]byte(c.in))
		got := jsonvalue.Array(list...)
		if list == nil {
			got = []byte("null")
		}
		if string(canonical(got)) != string(canonical([]byte(c.want))) {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// testArchive has frames of these sizes, of which 0 is one that is stored elsewhere.
func testArchive(members, frame string, sizes ...int) []byte {
	var frames [][]byte
	for _, n := range sizes {
		data := strings.Repeat("A", n)
		if n == 0 {
			data = "blob:sha256:00"
		}
		frames = append(frames, []byte(`{"data":"`+data+`","mimeType":"image/png","cols":1,"rows":1,"chars":1`+frame+`}`))
	}
	return []byte(`{"snapcompact":{"frames":` + string(jsonvalue.Array(frames...)) + members + `}}`)
}

func omittedNotice(frames, bytes string) string {
	return "-------------- snapcompact image middle omitted\n" + frames + " could not be included. " + bytes +
		" of base64 exceeded the per-request snapcompact payload budget." +
		" The compacted summary and visible text edges remain available.\n--------------"
}

const oneStored = "-------------- 1 archived image frame unavailable here --------------"

func TestSnapcompactBudget(t *testing.T) {
	const shaped, million = `,"variant":"bw"`, 1_000_000
	sixteen := slices.Repeat([]int{1}, 16)
	long := func(name string, n int) string { return `,"` + name + `":"` + strings.Repeat("x", n) + `"` }
	for _, c := range []struct {
		name string
		in   []byte
		want []string // the data of an image's size, or text
	}{
		{"the newest have the budget", testArchive("", shaped, 1_250_000, 2*million, million), []string{omittedNotice("1 archived image frame", "1.3 MB"), "2000000", "1000000"}},
		{"an older one that fits is sent", testArchive("", shaped, 1, 3*million, 2, 3*million-3), []string{"1", omittedNotice("1 archived image frame", "3.0 MB"), "2", "2999997"}},
		{"gaps of two causes", testArchive("", shaped, 3*million, 0, 3*million, 3*million, 1), []string{omittedNotice("1 archived image frame", "3.0 MB"), oneStored, omittedNotice("2 archived image frames", "6.0 MB"), "1"}},
		{"sixteen with shapes", testArchive("", shaped, sixteen...), slices.Repeat([]string{"1"}, 16)},
		{"sixteen without", testArchive("", "", sixteen...), []string{omittedNotice("16 archived image frames", "16 B")}},
		{"fifteen without", testArchive("", "", sixteen[1:]...), slices.Repeat([]string{"1"}, 15)},
		{"a shape that is null is one", testArchive("", `,"font":null`, sixteen...), slices.Repeat([]string{"1"}, 16)},
		{"many bytes without shapes", testArchive("", "", 3*million), []string{"3000000"}},
		{"and much that was dropped", testArchive(`,"truncatedChars":1e6`, "", 3*million), []string{omittedNotice("1 archived image frame", "3.0 MB")}},
		{"and less", testArchive(`,"truncatedChars":999999`, "", 3*million), []string{"3000000"}},
		{"and much text", testArchive(long("text", 250_000), "", 3*million), []string{omittedNotice("1 archived image frame", "3.0 MB")}},
		{"and less text", testArchive(long("text", 249_999), "", 3*million), []string{"3000000"}},
		{"text at its ends counts where there is no other", testArchive(long("textTail", 250_000), "", 3*million),
			[]string{omittedNotice("1 archived image frame", "3.0 MB") + "\n-------------- middle history omitted above\n" + strings.Repeat("x", 250_000)}},
	} {
		if got := sizesAndTexts(snapcompactBlocks(c.in)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %.300q, want %.300q", c.name, got, c.want)
		}
	}
}

func sizesAndTexts(list []json.RawMessage) (texts []string) {
	for _, block := range list {
		if kindOf(block) == "image" {
			texts = append(texts, interpolated(jsonvalue.AppendNumber(nil, float64(units(jsonvalue.String(jsonvalue.Get(block, "data")))))))
			continue
		}
		texts = append(texts, jsonvalue.String(jsonvalue.Get(block, "text")))
	}
	return texts
}
