package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// A fake is an endpoint on loopback: it answers as it is told, and refuses what the API
// would refuse. A refusal fails the test: this program must never deserve one.
type fake struct {
	t      *testing.T
	url    string
	mu     sync.Mutex
	script []reply
	seen   []request
	given  [][]wireBlock // the thinking of each answer
}

// A reply is an answer's content, or an error with its status.
type reply struct {
	content []any
	stop    string // "" stands for tool_use or end_turn
	status  int
	message string
	hang    func() // is called in place of an answer, which then never comes
}

// A request is what the tests and the rules look at.
type request struct {
	MaxTokens int64           `json:"max_tokens"`
	Model     string          `json:"model"`
	System    json.RawMessage `json:"system"`
	Tools     json.RawMessage `json:"tools"`
	Messages  []wireMessage   `json:"messages"`
}

type wireMessage struct {
	Role    string
	Content []wireBlock
}

// A wireBlock keeps the bytes that it was read from.
type wireBlock struct {
	raw                       string
	Type, Text, ID, Name      string
	Thinking, Signature, Data string
	ToolUseID                 string `json:"tool_use_id"`
	IsError                   bool   `json:"is_error"`
	Content                   []wireBlock
	Input                     json.RawMessage
	Source                    struct{ Data, Type string }
}

func (b *wireBlock) UnmarshalJSON(data []byte) error {
	type plain wireBlock
	err := json.Unmarshal(data, (*plain)(b))
	b.raw = string(data)
	return err
}

// newFake starts an endpoint with a script, and leads the SDK to it.
func newFake(t *testing.T, script ...reply) *fake {
	t.Helper()
	f := &fake{t: t, script: script}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	t.Setenv("ANTHROPIC_API_KEY", "a key of the test")
	t.Setenv("ANTHROPIC_BASE_URL", server.URL)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	w.Header().Set("content-type", "application/json")
	w.Header().Set("x-should-retry", "false") // the SDK need not try three times
	var req request
	if err := json.Unmarshal(body, &req); err != nil || r.URL.Path != "/v1/messages" {
		f.t.Errorf("a request to %s that cannot be read: %v", r.URL.Path, err)
	}
	if words := f.refuse(req); words != "" {
		f.t.Errorf("request %d was refused: %s\n%s", len(f.seen)+1, words, body)
		fail(w, 400, "invalid_request_error", words)
		return
	}
	f.seen = append(f.seen, req)
	if len(f.script) == 0 {
		f.t.Errorf("a request too many: %s", body)
		fail(w, 500, "api_error", "the script is at its end")
		return
	}
	next := f.script[0]
	f.script = f.script[1:]
	if next.hang != nil {
		next.hang()
		<-r.Context().Done()
		return
	}
	if next.status != 0 {
		fail(w, next.status, "overloaded_error", next.message)
		return
	}
	f.answer(w, next)
}

func fail(w http.ResponseWriter, status int, kind, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

func (f *fake) answer(w io.Writer, next reply) {
	raw, _ := json.Marshal(next.content)
	var blocks []wireBlock
	if err := json.Unmarshal(raw, &blocks); err != nil {
		f.t.Error(err)
	}
	if next.stop == "" {
		next.stop = "end_turn"
		if slices.ContainsFunc(blocks, func(b wireBlock) bool { return b.Type == "tool_use" }) {
			next.stop = "tool_use"
		}
	}
	f.given = append(f.given, thoughts(blocks))
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": fmt.Sprintf("msg_%d", len(f.seen)), "type": "message", "role": "assistant", "model": "a-model-20990101",
		"content": json.RawMessage(raw), "stop_reason": next.stop, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2},
	})
}

// The parts of answers.
func says(content ...any) reply { return reply{content: content} }

func text(s string) any { return map[string]any{"type": "text", "text": s} }

func think(s, signature string) any {
	return map[string]any{"type": "thinking", "thinking": s, "signature": signature}
}

func redacted(data string) any { return map[string]any{"type": "redacted_thinking", "data": data} }

func use(id, name string, pairs ...string) any {
	input := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		input[pairs[i]] = pairs[i+1]
	}
	return map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}
}

// last gives the last request, and its last message.
func (f *fake) last() (request, wireMessage) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) == 0 {
		f.t.Fatal("no request was sent")
	}
	r := f.seen[len(f.seen)-1]
	return r, r.Messages[len(r.Messages)-1]
}

// raws gives the bytes of blocks.
func raws(blocks []wireBlock) (list []string) {
	for _, b := range blocks {
		list = append(list, b.raw)
	}
	return list
}
