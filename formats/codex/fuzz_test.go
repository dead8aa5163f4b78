package codex

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/formats/internal/transcript/transcripttest"
	"github.com/sessctl/sessctl/sessiontree"
)

// A taking counts what a translator is given, and what becomes of it.
type taking struct {
	*translator
	lost int // records of which nothing is left
}

func (c *taking) Take(walked *walker, w *transcript.Writer, at transcript.Place, size int64) {
	items, notes := len(c.r.items), c.counted()
	c.translator.Take(walked, w, at, size)
	if len(c.r.items) == items && c.counted() == notes {
		c.lost++
	}
}

func (c *taking) counted() (n int) {
	for _, d := range c.log.Notes.List() {
		n += d.Count
	}
	return n
}

// check translates a rollout and fails where the log is not sound, or where nothing is
// left of a record.
func check(t *testing.T, raw []byte) {
	t.Helper()
	log, lost := translate(t, raw, nil)
	if lost > 0 {
		t.Errorf("of %d records nothing is left", lost)
	}
	ahead, _ := translate(t, raw, &sessiontree.ReadOptions{Workers: 2})
	transcripttest.Same(t, ahead, log)
	transcripttest.Sound(t, log, sessiontree.AgentCodex)
}

// translate makes the log of one file, and counts the records of which nothing is left.
func translate(t *testing.T, raw []byte, opt *sessiontree.ReadOptions) (log *transcript.Log, lost int) {
	t.Helper()
	src := transcripttest.Source{Reader: bytes.NewReader(raw)}
	log = transcript.NewLog(src)
	c := &taking{translator: newTranslator(log, opt)}
	c.r = &rollout{tag: "c", fails: map[string]bool{}}
	c.settings = append(c.settings, setting{"", "openai"})
	scan := transcript.Scan[*walker]{Log: log, To: c, Options: opt}
	if err := scan.File(src, 0, int64(len(raw))); err != nil {
		t.Fatal(err)
	}
	f := &family{log: log, t: c.translator, rollouts: []*rollout{c.r}}
	w := &writing{family: f, taken: map[entries.ID]bool{}, at: map[*rollout]state{}}
	w.write()
	return log, c.lost
}

// FuzzTranslate: whatever the bytes, the log that is made of them is sound, and of every
// record something is in it, or it is counted.
func FuzzTranslate(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(transcripttest.Text(seed)))
	}
	f.Fuzz(check)
}

// FuzzRecords is FuzzTranslate for records of the right form in any order: each byte is
// one.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, dice []byte) {
		records := strings.Split(transcripttest.Text(strings.Join(seeds, "\n")), "\n")
		var raw []byte
		for _, b := range dice {
			raw = append(append(raw, records[int(b)%len(records)]...), '\n')
		}
		check(t, raw)
	})
}

var seeds = []string{
	`{'timestamp':'2026-01-01T00:00:00.000Z','type':'session_meta','payload':{'id':'01a22c42-3574-7be3-a8f1-3043a34a103d','cwd':'/','forked_from_id':'x','history_base':{'thread_id':'y','end_byte_offset':3}}}
{'timestamp':'2026-01-01T00:00:00.000Z','type':'session_meta','payload':{'id':'z'}}
{'timestamp':'2026-01-01T00:00:00.000Z','type':'turn_context','payload':{'model':'m','effort':'high','turn_id':'01a22c41-3574-7be3-a8f1-3043a34a103d'}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'response_item','payload':{'type':'message','role':'user','content':[{'type':'input_text','text':'q'},{'type':'input_text','text':'<environment_context>'},{'type':'input_image','image_url':'data:image/png;base64,AA'},'s',1]}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'response_item','payload':{'type':'message','role':'assistant','content':'a'}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'response_item','payload':{'type':'function_call','name':'f','arguments':'{\'a\': 1}','call_id':'c'}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'response_item','payload':{'type':'function_call_output','call_id':'c','output':{'content':'x','success':false}}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'event_msg','payload':{'type':'thread_rolled_back','num_turns':1}}`,
	`{'timestamp':'2026-01-01T00:00:01.000Z','type':'event_msg','payload':{'type':'user_message','message':'q'}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'event_msg','payload':{'type':'agent_message','message':'a'}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'event_msg','payload':{'type':'token_count','info':{'last_token_usage':{'input_tokens':5},'total_token_usage':{'input_tokens':5}}}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'token_usage_record','payload':{'usage':{'input_tokens':5,'cached_input_tokens':2,'output_tokens':1}}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'compacted','payload':{'message':'','replacement_history':[{'role':'user','content':[{'text':'s'}]}]}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'event_msg','payload':{'type':'item_completed','item':{'type':'AgentMessage','content':[{'type':'Text','text':'a'}]}}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'event_msg','payload':{'type':'item_completed','item':{'type':'CommandExecution','id':'c','exit_code':1}}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'response_item','payload':{'type':'reasoning','summary':[{'text':'r'}]}}
{'timestamp':'2026-01-01T00:00:01.000Z','type':'zzz','payload':{}}`,
	`{'type':'response_item','payload':{'type':'message','role':'user','content':[{'type':'input_text','text':'LONG'},{'type':'input_image','image_url':'data:image/png;base64,LONG'},'LONG']}}
{'type':'response_item','payload':{'type':'local_shell_call','action':{'command':['LONG'],'env':{}},'call_id':'c'}}
{'type':'response_item','payload':{'type':'custom_tool_call','name':'f','input':'LONG','call_id':'d'}}
{'type':'response_item','payload':{'type':'function_call_output','call_id':'c','output':'LONG'}}
{'type':'response_item','payload':{'type':'ghost_snapshot','value':'LONG'}}`,
	`{'id':'x','timestamp':'2025','instructions':null}
{'type':'message','role':'user','content':[]}
{'type':'message','role':'assistant'}
{'type':'message','role':'assistant','content':[]}
{'type':'function_call','arguments':3}
{'type':'custom_tool_call_output','output':[1,'x']}
{'record_type':'state'}
{'type':'response_item','payload':{'type':'message','role':'user'}}`,
}
