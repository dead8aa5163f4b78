package claude

import (
	"bytes"
	"testing"

	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/formats/internal/transcript/transcripttest"
	"github.com/sessctl/sessctl/sessiontree"
)

// A taking counts what a translator is given.
type taking struct {
	*translator
	records int
}

func (c *taking) Take(walked *walker, w *transcript.Writer, at transcript.Place, size int64) {
	c.records++
	c.translator.Take(walked, w, at, size)
}

// check translates a transcript and fails where the log is not sound, or where a record
// is neither in it nor counted.
func check(t *testing.T, raw []byte) {
	t.Helper()
	src := transcripttest.Source{Reader: bytes.NewReader(raw)}
	c := &taking{translator: newTranslator(src, int64(len(raw)), "s.jsonl")}
	scan := transcript.Scan[*walker]{Log: c.log, To: c}
	if err := scan.File(src, 0, int64(len(raw))); err != nil {
		t.Fatal(err)
	}
	c.write()
	ahead := newTranslator(src, int64(len(raw)), "s.jsonl")
	if err := ahead.read(&sessiontree.ReadOptions{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	transcripttest.Same(t, ahead.log, c.log)
	kept := 0
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.dropped {
			continue // and counted as written again
		}
		if n.parts == 0 && n.answer < 0 {
			t.Errorf("the record at byte %d makes no entry", n.at.Offset)
		}
		kept++
	}
	for _, d := range c.log.Notes.List() {
		if d.Note && (d.Kind == "left-out" || d.Kind == "duplicate-id") {
			kept += d.Count
		}
	}
	if kept != c.records {
		t.Errorf("%d of %d records are kept or counted", kept, c.records)
	}
	transcripttest.Sound(t, c.log, sessiontree.AgentClaude)
}

// FuzzTranslate: whatever the bytes, the log that is made of them is sound, and every
// record is in it or counted.
func FuzzTranslate(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(transcripttest.Text(seed)))
	}
	f.Fuzz(check)
}

// FuzzGraph is FuzzTranslate for records of the right form and any graph: four bytes
// make one.
func FuzzGraph(f *testing.F) {
	f.Add([]byte("u1 0a21u32r43u51zc60du76 "))
	// Records that a program keeps for itself stand last, on another branch.
	f.Add([]byte("Y01772112010C1117710(1101101\x7f(\b\x8f\x19Uq\x12\x87\xe3\xd1\xf7BɿX{3pv\xb7\x89/\x1c\xb65NG\x96\xb4\x98\xc7\xea2\xa4\xf3\x10\xbb\xb5\xbe\x11\xb3\xa72\x93u\x81l\x9cO+\x97\xd2gR\xd2\xe6A\x9c;\xe0\x0e\x1a\aͪ\x17\xa2U\xcd]\xd2Z \xf6\xf3\xc0>\x8e\x12r\xe9(/\x04Rp\a\x15\x82\x00\xf7S0\xb1Ek-R\xc0\xb0M\xca\xdf[\x92\xd5\xe5!3B2\xda\xe7\x88x\x0f\xbc\x94\xf8\rB&s\xf1\xddLJ\x87K\xaf\xf1z\xa86\xa1\x88G}LE\x91\v/`6\toė\x89.\xecM]\xe1\xf6\x18%ǰ\xcb\xfeF5s\xab\xa9C\x1ef\xf3\xc6S|\xa8"))
	f.Fuzz(func(t *testing.T, dice []byte) {
		var raw []byte
		for ; len(dice) >= 4; dice = dice[4:] {
			raw = append(raw, recordOf(dice)...)
		}
		check(t, raw)
	})
}

// recordOf makes a record by a kind, a uuid, a parent and what else it may have.
func recordOf(dice []byte) string {
	bodies := []string{
		`"type":"user","message":{"content":"hi"}`, `"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"<ide_selection>"},{"type":"text","text":"x"}]}`,
		`"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"n"}]}`, `"type":"assistant","message":{"id":"k","content":"said"}`,
		`"type":"progress"`, `"type":"system","subtype":"compact_boundary","compactMetadata":{"preservedSegment":{"headUuid":"b"}}`,
		`"type":"user","isCompactSummary":true,"message":{"content":"sum"}`, `"type":"attachment","attachment":{"type":"queued_command","commandMode":"prompt","prompt":"p"}`,
		`"type":"last-prompt","leafUuid":"c"`, `"type":"summary","summary":"s","leafUuid":"d"`, `"type":"file-history-snapshot"`, `"type":"custom-title","customTitle":"t"`,
		`"type":"user","isSidechain":true,"message":{"content":"side"}`, `"type":"zzz"`,
	}
	s := "{" + bodies[int(dice[0])%len(bodies)]
	if id := dice[1] % 16; id > 0 {
		s += `,"uuid":"` + string('a'+rune(id%12)) + `"`
	}
	if up := dice[2] % 16; up > 0 {
		s += `,"parentUuid":"` + string('a'+rune(up%13)) + `"`
	}
	if dice[3]&1 > 0 {
		s += `,"logicalParentUuid":"` + string('a'+rune(dice[3]>>4)) + `"`
	}
	if dice[3]&2 > 0 {
		s += `,"timestamp":"2026-01-01T00:00:00.000Z"`
	}
	end := "}\n"
	if dice[3]&12 == 12 {
		end = "}"
	}
	return s + end
}

var seeds = []string{
	`{'type':'user','uuid':'u1','parentUuid':null,'timestamp':'2026-01-01T00:00:00.000Z','sessionId':'s','message':{'role':'user','content':'hi'}}
{'type':'assistant','uuid':'a1','parentUuid':'u1','timestamp':'2026-01-01T00:00:01.000Z','message':{'id':'m','content':[{'type':'text','text':'x'},{'type':'tool_use','id':'t','name':'n','input':{}}],'usage':{'input_tokens':1}}}
{'type':'user','uuid':'r1','parentUuid':'a1','timestamp':'2026-01-01T00:00:02.000Z','message':{'content':[{'type':'tool_result','tool_use_id':'t','content':[{'type':'text','text':'y'}],'is_error':true}]}}
{'type':'user','uuid':'u2','parentUuid':'u1','timestamp':'2026-01-01T00:00:03.000Z','message':{'content':[{'type':'text','text':'<ide_selection>a</ide_selection>'},{'type':'image','source':{'data':'AA','media_type':'image/png'}}]}}`,
	`{'type':'system','subtype':'compact_boundary','uuid':'b','parentUuid':null,'logicalParentUuid':'u9','compactMetadata':{'preTokens':5,'preservedSegment':{'headUuid':'u1'}}}
{'type':'user','uuid':'c','parentUuid':'b','isCompactSummary':true,'message':{'content':'sum'}}{'type':'summary','summary':'s','leafUuid':'c'}
{'type':'last-prompt','leafUuid':'b','sessionId':'s'}{'type':'custom-title','customTitle':'t','sessionId':'s'}
{'type':'attachment','uuid':'q','parentUuid':'c','attachment':{'type':'queued_command','commandMode':'prompt','prompt':[{'type':'text','text':'p'}]}}`,
	`{'type':'user','uuid':'x','parentUuid':'y','message':{'content':'1'}}
{'type':'user','uuid':'y','parentUuid':'x','message':{'content':'2'}}
{'type':'user','uuid':'x','parentUuid':'x','isSidechain':true,'agentId':'a','message':{'content':'3'}}
{'type':'user','uuid':'x~2','parentUuid':'x','message':'err'}{'type':'progress','uuid':'c0','parentUuid':'zz'}`,
	`{'type':'user','uuid':'u','message':{'content':[{'type':'text','text':'LONG'},{'type':'image','source':{'data':'LONG','media_type':'image/png'}},{'type':'zzz','value':'LONG'}]}}
{'type':'assistant','uuid':'a','parentUuid':'u','message':{'id':'m','content':[{'type':'thinking','thinking':'LONG','signature':'LONG'},{'type':'tool_use','id':'t','name':'Write','input':{'file_path':'/a' , 'content' : 'LONG','edits':['LONG'],'LONG':1,'n':2}}]}}
{'type':'user','uuid':'r','parentUuid':'a','toolUseResult':'LONG','message':{'content':[{'type':'tool_result','tool_use_id':'t','content':'LONG'}]}}
{'type':'system','uuid':'s','parentUuid':'r','content':'LONG'}{'type':'user','uuid':'c','parentUuid':'s','isCompactSummary':true,'message':{'content':'LONG'}}`,
	"{'type':'user','uuid':'u','mess\x00\x00{'type':'assistant','parentUuid':'u','message':{'content':'t'},'sessionId':'s'}\r\n\r\n[1]\n{}",
}
