package checkpoint

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
)

// An Effect is a call whose effects no restore takes back.
type Effect struct {
	Entry  entries.ID `json:"entry"` // of the answer that called it
	Tool   string     `json:"tool"`
	Detail string     `json:"detail"` // secrets in it are hidden
}

// Reach tells where in Detail the part begins that reaches beyond the workspace: a command
// may be long.
func (e Effect) Reach() int {
	if at := outside.FindStringIndex(e.Detail); at != nil && !strings.HasPrefix(strings.ToLower(e.Tool), "mcp") {
		return at[0]
	}
	return 0
}

// effects lists the calls of this side of a fork whose effects stay.
func (v *View) effects(f fork) (list []Effect, err error) {
	list = []Effect{}
	for e, err := range v.tree.Ancestors(v.tree.Leaf()) {
		if err != nil {
			return nil, err
		}
		if f.at > 0 && e.ID == f.here.ids[f.at-1] {
			break
		}
		if e.Type != entries.TypeMessage || e.Role != "assistant" {
			continue
		}
		for _, b := range slices.Backward(callsOf(e)) {
			if detail, ok := effectOf(b); ok {
				list = append(list, Effect{e.ID, b.Name, hideSecrets(detail)})
			}
		}
	}
	slices.Reverse(list)
	return list, nil
}

// callsOf gives the calls of an answer. What cannot be read has none: damage is told of
// elsewhere. Most answers of some sessions call nothing, and need not be taken apart.
func callsOf(e entries.Entry) []entries.Block {
	raw, err := e.Raw()
	if err != nil || !bytes.Contains(raw, []byte("toolCall")) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil // a name without escapes is found as it is
	}
	m, err := e.Message()
	if err != nil {
		return nil
	}
	return m.Calls()
}

// outside are commands that reach beyond the workspace. It is a list of what agents do,
// not a proof: a command that is not listed may reach further too.
var outside = regexp.MustCompile(`(?i)(^|[\s;&|(` + "`" + `])(` + strings.Join([]string{
	`git\s+(\S+\s+)*?(push|fetch|pull|clone|commit|tag|merge|rebase|reset|stash|checkout|switch)\b`,
	`gh\b`, `glab\b`, `hub\b`, `curl\b`, `wget\b`, `http\b`, `https\b`, `ssh\b`, `scp\b`, `sftp\b`, `rsync\b`, `nc\b`, `telnet\b`, `sendmail\b`, `mail\b`,
	`(npm|pnpm|yarn|bun)\s+(i|ci|add|install|publish|unpublish|remove|update|upgrade|link|dlx)\b`, `npx\b`,
	`(pip3?|pipx|uv|poetry|conda)\s+(\S+\s+)*?(install|add|uninstall|publish|sync)\b`, `(cargo|gem)\s+(install|publish|push|yank)\b`, `go\s+(install|get)\b`,
	`(apt|apt-get|dnf|yum|apk|brew|pacman|snap|choco|winget)\b`,
	`docker\b`, `podman\b`, `kubectl\b`, `helm\b`, `terraform\b`, `tofu\b`, `pulumi\b`, `ansible\S*\b`, `vagrant\b`,
	`aws\b`, `gcloud\b`, `az\b`, `heroku\b`, `fly(ctl)?\b`, `vercel\b`, `netlify\b`, `wrangler\b`,
	`(psql|mysql|sqlite3|mongosh?|redis-cli)\b`, `systemctl\b`, `service\b`, `crontab\b`, `kill(all)?\b`, `pkill\b`, `sudo\b`, `twine\b`, `make\s+\S*(deploy|release|publish|install)\S*`,
}, "|") + `)`)

// effectOf tells whether a call has effects beyond the workspace's files, and describes it.
func effectOf(b entries.Block) (detail string, ok bool) {
	if strings.HasPrefix(strings.ToLower(b.Name), "mcp") {
		return string(b.Arguments), true
	}
	var a struct{ Command, Cmd, Script string }
	if json.Unmarshal(b.Arguments, &a) != nil {
		return "", false
	}
	command := a.Command + a.Cmd + a.Script
	return command, outside.MatchString(command)
}

// secrets are what is hidden of a call, each by its group.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:bearer|basic|token)\s+([\w+/.~=-]{6,})`),
	regexp.MustCompile(`(?i)(?:password|passwd|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|authorization)["']?\s*[=:]\s*["']?([^\s"'&;,]{3,})`),
	regexp.MustCompile(`(?i)--?(?:password|token|secret|api-key|user)[= ]["']?([^\s"']{3,})`),
	regexp.MustCompile(`://[^/\s:@]*:([^@/\s]+)@`),
	regexp.MustCompile(`\b((?:sk|pk|rk)-[\w-]{8,}|gh[pousr]_\w{8,}|github_pat_\w{8,}|xox[abprs]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|npm_\w{8,}|glpat-[\w-]{8,}|eyJ[\w-]{10,}\.[\w.-]{10,})`),
}

const hidden = "«hidden»"

// hideSecrets puts a word in the place of what looks like a credential.
func hideSecrets(text string) string {
	for _, re := range secrets {
		for from := 0; ; {
			m := re.FindStringSubmatchIndex(text[from:])
			if m == nil {
				break
			}
			start, end := from+m[2], from+m[3]
			if text[start:end] != hidden {
				text = text[:start] + hidden + text[end:]
				end = start + len(hidden)
			}
			from = end
		}
	}
	return text
}
