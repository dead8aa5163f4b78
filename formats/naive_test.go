package formats_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Counts are what can be counted of a session in two ways: by the tree that the product
// makes, and by a naive reader that decodes everything and follows the rules of
// docs/formats.md, written from them and not from the product's code.
type counts struct {
	Prompts, Answers, Results, Calls, Errors, Branches int
	Input, Output, CacheRead, CacheWrite               float64
}

type object = map[string]any

// objects decodes every object of a file, several on a line included.
func objects(t testing.TB, path string) (list []object) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		for d := json.NewDecoder(bytes.NewReader(line)); ; {
			var o any
			if d.Decode(&o) != nil {
				break
			}
			if m, ok := o.(object); ok {
				list = append(list, m)
			}
		}
		if err == io.EOF {
			return list
		}
	}
}

func str(o object, path ...string) string {
	s, _ := at(o, path...).(string)
	return s
}

func num(o object, path ...string) float64 {
	f, _ := at(o, path...).(float64)
	return f
}

func at(o object, path ...string) (v any) {
	v = o
	for _, p := range path {
		m, ok := v.(object)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

// blocks gives content as objects; a string is one text.
func blocks(content any) (list []object) {
	switch c := content.(type) {
	case string:
		if c != "" {
			list = append(list, object{"type": "text", "text": c})
		}
	case []any:
		for _, b := range c {
			if m, ok := b.(object); ok {
				list = append(list, m)
			}
		}
	}
	return list
}

// A claudeNode is a record with a parent.
type claudeNode struct {
	o      object
	parent *claudeNode
	kids   []*claudeNode
	typed  bool
}

var claudeNotice = regexp.MustCompile(`^\s*(<(local-command-(stdout|stderr|caveat)|bash-std(out|err)|system-reminder|task-notification|ide_\w+)>|\[Request interrupted by user|Caveat: The messages below)`)

func naiveClaude(t testing.TB, path string) (c counts) {
	t.Helper()
	subagent := strings.HasPrefix(filepath.Base(path), "agent-")
	type key struct{ uuid, time, content string }
	seen := map[key]bool{}
	usage := map[string]object{}
	nodes, byUUID := []*claudeNode{}, map[string]*claudeNode{}
	for i, o := range objects(t, path) {
		kind := str(o, "type")
		content, _ := json.Marshal([]any{kind, at(o, "message", "content"), at(o, "attachment"), at(o, "subtype")})
		k := key{str(o, "uuid"), str(o, "timestamp"), string(content)}
		again := k.uuid != "" && seen[k]
		seen[k] = true
		side := at(o, "isSidechain") == true && !subagent
		if id := str(o, "message", "id"); kind == "assistant" && !side && at(o, "message") != nil {
			if id == "" {
				id = "line " + string(rune(i)) + k.uuid
			}
			u, ok := usage[id]
			if !ok {
				u = object{}
				usage[id] = u
			}
			for _, f := range []string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"} {
				u[f] = max(num(u, f), num(o, "message", "usage", f))
			}
		}
		if again {
			continue
		}
		n := &claudeNode{o: o, typed: kind == "user" && !side && c.claudeUser(o)}
		if kind == "attachment" && !side {
			c.claudeQueued(o)
		}
		if kind == "assistant" && !side {
			for _, b := range blocks(at(o, "message", "content")) {
				if str(b, "type") == "tool_use" {
					c.Calls++
				}
			}
		}
		if k.uuid != "" {
			nodes = append(nodes, n)
			if p, ok := byUUID[str(o, "parentUuid")]; ok {
				n.parent = p
				p.kids = append(p.kids, n)
			}
			byUUID[k.uuid] = n
		}
		if subagent {
			n.typed = false
		}
	}
	for _, u := range usage {
		c.Answers++
		c.Input += num(u, "input_tokens")
		c.Output += num(u, "output_tokens")
		c.CacheRead += num(u, "cache_read_input_tokens")
		c.CacheWrite += num(u, "cache_creation_input_tokens")
	}
	c.Branches = 1
	for _, n := range nodes {
		if leading := leads(n); leading > 1 {
			c.Branches += leading - 1
		}
	}
	if subagent {
		c.Prompts = 0
	}
	return c
}

// leads counts the children that each lead to something typed.
func leads(n *claudeNode) (count int) {
	for _, k := range n.kids {
		for todo := []*claudeNode{k}; len(todo) > 0; todo = todo[1:] {
			if todo[0].typed {
				count++
				break
			}
			todo = append(todo, todo[0].kids...)
		}
	}
	return count
}

// claudeUser counts a user's record and tells whether a person typed in it.
func (c *counts) claudeUser(o object) (typed bool) {
	program := at(o, "isMeta") == true || str(o, "promptSource") == "system" ||
		str(o, "origin", "kind") == "task-notification" || at(o, "origin", "senderTaskId") != nil
	for _, b := range blocks(at(o, "message", "content")) {
		switch text := str(b, "text"); {
		case str(b, "type") == "tool_result":
			c.Results++
			if at(b, "is_error") == true {
				c.Errors++
			}
		case !program && at(o, "isCompactSummary") != true && !claudeNotice.MatchString(text):
			typed = true
		}
	}
	if typed {
		c.Prompts++
	}
	return typed
}

// claudeQueued counts a prompt that was typed while the model worked.
func (c *counts) claudeQueued(o object) {
	kind := str(o, "attachment", "origin", "kind")
	if str(o, "attachment", "type") == "queued_command" && str(o, "attachment", "commandMode") == "prompt" && (kind == "" || kind == "human") {
		c.Prompts++
	}
}

var codexNotice = regexp.MustCompile(`^\s*(<(environment_context|user_instructions|permissions|turn_aborted|INSTRUCTIONS)|# AGENTS\.md)`)

// naiveCodex counts one file; those that a thread has besides are counted by the caller.
func naiveCodex(t testing.TB, list []object) (c counts) {
	t.Helper()
	items, events, failed := []object{}, []object{}, map[string]bool{}
	records, total := false, ""
	for _, o := range list {
		p, ok := at(o, "payload").(object)
		switch {
		case !ok:
			items = append(items, o)
		case str(o, "type") == "response_item":
			items = append(items, p)
		case str(o, "type") == "event_msg":
			events = append(events, p)
			codexFailure(p, failed)
		case str(o, "type") == "token_usage_record":
			records = true
			c.codexTokens(at(p, "usage"))
		}
	}
	users, calls := 0, 0
	for _, p := range items {
		users, calls = users+c.codexItem(p, failed), calls+codexCall(p)
	}
	for _, p := range events {
		switch str(p, "type") {
		case "user_message":
			if users == 0 && !codexNotice.MatchString(str(p, "message")) {
				c.Prompts++
			}
		case "tool_call":
			if calls == 0 {
				c.Calls++
			}
		case "token_count":
			sum, _ := json.Marshal(at(p, "info", "total_token_usage"))
			if records || string(sum) != "null" && string(sum) == total {
				break
			}
			total = string(sum)
			if last := at(p, "info", "last_token_usage"); last != nil {
				c.codexTokens(last)
			} else if at(p, "info", "prompt") != nil {
				c.Input += num(p, "info", "prompt")
				c.Output += num(p, "info", "completion")
			} else {
				c.codexTokens(p)
			}
		}
	}
	c.Calls += calls
	return c
}

func codexCall(p object) int {
	switch str(p, "type") {
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		return 1
	}
	return 0
}

func codexFailure(p object, failed map[string]bool) {
	id := str(p, "call_id")
	switch str(p, "type") {
	case "exec_command_end":
		failed[id] = failed[id] || num(p, "exit_code") != 0
	case "patch_apply_end", "dynamic_tool_call_response":
		failed[id] = failed[id] || at(p, "success") == false
	case "mcp_tool_call_end":
		failed[id] = failed[id] || at(p, "result", "Err") != nil
	case "item_completed":
		id, status := str(p, "item", "id"), str(p, "item", "status")
		failed[id] = failed[id] || num(p, "item", "exit_code") != 0 || status == "failed" || status == "declined"
	}
}

var exited = regexp.MustCompile(`^Exit code: [1-9]|Process exited with code [1-9]|"exit_code":\s*[1-9]`)

// codexItem counts an item, and tells how many user's messages it is.
func (c *counts) codexItem(p object, failed map[string]bool) int {
	switch kind, role := str(p, "type"), str(p, "role"); {
	case role == "user":
		for _, b := range blocks(at(p, "content")) {
			if !codexNotice.MatchString(str(b, "text")) {
				c.Prompts++
				break
			}
		}
		return 1
	case strings.HasSuffix(kind, "_output"):
		c.Results++
		output, _ := at(p, "output").(string)
		if failed[str(p, "call_id")] || exited.MatchString(output) || at(p, "output", "success") == false {
			c.Errors++
		}
	}
	return 0
}

func (c *counts) codexTokens(usage any) {
	u, _ := usage.(object)
	cached, written := num(u, "cached_input_tokens"), num(u, "cache_write_input_tokens")
	c.Input += max(num(u, "input_tokens")-cached-written, 0)
	c.Output += num(u, "output_tokens")
	c.CacheRead += cached
	c.CacheWrite += written
}
