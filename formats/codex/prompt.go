package codex

import "strings"

// notices are how texts begin that stand in a user's message and that no person typed:
// Codex tells the model there where it works, and by what instructions.
var notices = []string{
	"<environment_context>", "# AGENTS.md instructions", "<user_instructions>", "<INSTRUCTIONS>", "<permissions",
	"<turn_aborted>", "<subagent_notification>", "<user_shell_command>", "<skill>", "<skills_instructions>",
	"<collaboration_mode>", "<multi_agent_mode>", "<apps_instructions>", "<personality_spec>", "<goal_context>",
	"<user_action>", "<codex_internal_context",
}

// noticed tells whether a text of a user's message is one of Codex's own.
func noticed(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	for _, n := range notices {
		if strings.HasPrefix(text, n) {
			return true
		}
	}
	return false
}
