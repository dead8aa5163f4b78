package command

import (
	"encoding/json"
	"strings"
	"testing"
)

// oddStates hold a value wherever file states are read.
func oddStates(value string) string {
	records := []string{
		`{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/nowhere"}`,
		`{"type":"message","id":"aaaa0001","parentId":null,"message":{"role":"user","content":V}}`,
		`{"type":"message","id":"aaaa0002","parentId":"aaaa0001","message":{"role":"assistant","content":[{"type":"toolCall","id":V,"name":V,"arguments":{"command":"git push V"}},{"type":"toolCall","id":"c","name":"mcpV","arguments":V}]}}`,
		`{"type":"custom","id":"aaaa0003","parentId":"aaaa0002","customType":"file-snapshot","data":{"phase":"before","source":"tool","toolCallId":V,"files":[{"path":V,"state":{"kind":"absent"}}],"notCovered":[{"path":V,"reason":V}]}}`,
		`{"type":"custom","id":"aaaa0004","parentId":"aaaa0003","customType":"file-snapshot","data":{"phase":"after","source":V,"toolCallId":V,"workspace":{"path":V},"files":[{"path":V,"state":{"kind":"symlink","target":V}},{"path":V,"state":{"kind":V,"mode":V,"sha256":V,"reason":V}},{"path":"a","before":{"kind":"symlink","target":"x"},"state":{"kind":"symlink","target":V},"source":V}]}}`,
		`{"type":"custom","id":"aaaa0005","parentId":"aaaa0004","customType":"file-snapshot","data":{"phase":V,"turn":V,"beside":[V],"files":[{"path":"a","state":{"kind":"unknown","reason":V}},V]}}`,
		`{"type":"custom","id":"aaaa0006","parentId":"aaaa0005","customType":"file-snapshot","data":{"phase":"carried","list":V,"of":7}}`,
		`{"type":"custom","id":"aaaa0007","parentId":"aaaa0006","customType":"file-restore","data":{"phase":"end","begin":V,"outcome":V,"undoes":V,"redoes":V,"files":[{"path":"b","state":{"kind":"file","mode":"0644","size":3,"sha256":"` + strings.Repeat("a", 64) + `"},"result":V,"source":V}]}}`,
		`{"type":"custom","id":"aaaa0008","parentId":"aaaa0007","customType":"file-restore","data":{"phase":"begin","to":V,"scope":V,"plan":V,"files":[{"path":"b","from":{"kind":V},"to":{"kind":V}}]}}`,
		`{"type":"custom","id":"aaaa0009","parentId":"aaaa0008","customType":"file-snapshot","data":V}`,
	}
	log := strings.Join(records, "\n") + "\n"
	inside := strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`)
	log = strings.NewReplacer(`git push V`, `git push `+inside, `"mcpV"`, `"mcp`+inside+`"`).Replace(log)
	return strings.ReplaceAll(log, "V", value)
}

// TestOddFileStates: whatever stands in records of file states, what is told of them is
// fit for a terminal, JSON is JSON, and nothing is done.
func TestOddFileStates(t *testing.T) {
	root := t.TempDir()
	for what, value := range map[string]string{
		"escape sequences": `"a\u001b[2J\u001b]0;x\u0007\u202e\u009b2J\r\nplan 0"`, "raw controls": "\"a\u202e\u2066\u009b2J\x7f\"",
		"no UTF-8": "\"\x9b2J\xff\"", "lone surrogates": `"\ud83d \udc00"`, "a NUL": `"\u0000"`,
		"a way out": `"../../etc/passwd"`, "git": `".git/config"`, "empty": `""`, "a dot": `"."`, "plain": `"a"`,
	} {
		log := write(t, "log.jsonl", oddStates(value))
		before := fileState(t, log)
		for _, args := range [][]string{
			{"files"}, {"files", "--json"}, {"files", "diff", log, "root", "@"}, {"files", "diff", log, "root", "@", "--json"},
			{"files", "diff", log, "--root", root}, {"files", "plan", log, "root", "--diff", "--root", root}, {"files", "plan", log, "root", "--json", "--root", root},
			{"undo", "--scope", "both", "--dry-run", log, "--root", root}, {"files", "restore", "--dry-run", "--json", log, "root", "--root", root},
		} {
			if len(args) < 3 {
				args = append(args, log)
			}
			r := sessctl(t, args...)
			what := what + ": " + strings.Join(args, " ")
			if r.code != exitOK && r.code != exitConflict {
				t.Errorf("%s: got exit code %d: %s", what, r.code, r.stderr)
			}
			checkPrintable(t, what, r.stdout+r.stderr)
			if strings.Contains(what, "--json") && !json.Valid([]byte(r.stdout)) {
				t.Errorf("%s: got no JSON: %q", what, r.stdout)
			}
			told := "\n" + r.stderr
			if args[0] == "files" { // undo gives a prompt back as it is
				told += r.stdout
			}
			if strings.Count(told, "\nplan ") > 1 {
				t.Errorf("%s: what a record says stands as a line of its own: %s", what, told)
			}
		}
		if after := fileState(t, log); after != before {
			t.Errorf("%s: the log was changed", what)
		}
	}
}
