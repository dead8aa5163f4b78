package modelcontext_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// checkThinkingLast, rule thinking-last: something follows thinking. Anthropic says:
// "The final block in an assistant message cannot be `thinking`"; [Reasoning]: "Item
// of type 'reasoning' was provided without its required following item". One report
// has measured Anthropic to mind it in the last message only; others have it of any
// (messages.1, messages.N), and Responses minds it anywhere.
func checkThinkingLast(messages []sentMessage) (found []violation) {
	for _, m := range messages {
		blocks := m.sentBlocks()
		if m.role == "assistant" && len(blocks) > 0 && blocks[len(blocks)-1].signed() {
			found = append(found, violation{m.at, "thinking-last", "nothing follows " + blocks[len(blocks)-1].kind})
		}
	}
	return found
}

// checkSignedBytes, rule signed: a signed block is sent as it came, or not at all.
// [Thinking]: "you must include the complete unmodified block back to the API".
// Anthropic says: "Invalid `signature` in `thinking` block".
func checkSignedBytes(messages []sentMessage, original map[string]bool) (found []violation) {
	for _, m := range messages {
		for i, b := range m.signedBlocks() {
			if !original[string(b.raw)] {
				found = append(found, violation{m.at, "signed", fmt.Sprintf("signed block %d is not the log's: %s", i, b.raw)})
			}
		}
	}
	return found
}

func (m sentMessage) signedBlocks() []sentBlock {
	return slices.DeleteFunc(m.blocks(), func(b sentBlock) bool { return m.role != "assistant" || !b.signed() })
}

// signedSet gives the bytes of the signed blocks in messages, for checkProvider.
func signedSet(log []json.RawMessage) map[string]bool {
	set := map[string]bool{}
	messages, _ := sentMessages(log)
	for _, m := range messages {
		for _, b := range m.signedBlocks() {
			set[string(b.raw)] = true
		}
	}
	return set
}

// checkSignedRuns compares the signed blocks of a list with those of the log's own
// messages, for what checkProvider cannot see in a set of blocks. log has the messages
// of the log, in any order. Two rules:
//
//   - signed-run: consecutive signed blocks stay together, and alone. [Thinking]: "the
//     entire sequence of consecutive thinking blocks must match the outputs generated
//     by the model during the original request; you cannot rearrange or modify the
//     sequence of these blocks". Taking away a call between two makes a new sequence.
//   - signed-turn: in the latest turn (what follows the last message that is the
//     user's; results are not), a message has all its signed blocks or none. Anthropic
//     says: "`thinking` or `redacted_thinking` blocks in the latest assistant message
//     cannot be modified. These blocks must remain as they were in the original
//     response". [Thinking] lets earlier turns do without, and none at all is what a
//     request without thinking has.
func checkSignedRuns(list, log []json.RawMessage) (found []violation) {
	runs, whole := map[string]bool{}, map[string]bool{}
	logged, _ := sentMessages(log)
	for _, m := range logged {
		for _, run := range m.signedRuns() {
			runs[run] = true
		}
		whole[strings.Join(m.signedRuns(), "\n\n")] = true
	}
	messages, _ := sentMessages(list)
	turn := 0
	for i, m := range messages {
		if userRoles[m.role] {
			turn = i
		}
	}
	for i, m := range messages {
		own := m.signedRuns()
		for _, run := range own {
			if !runs[run] {
				found = append(found, violation{m.at, "signed-run", run})
			}
		}
		if i >= turn && len(own) > 0 && !whole[strings.Join(own, "\n\n")] {
			found = append(found, violation{m.at, "signed-turn", "not all that the message had"})
		}
	}
	return violationsByPlace(found)
}

// signedRuns gives the bytes of each sequence of signed blocks that has no other
// block in it.
func (m sentMessage) signedRuns() (runs []string) {
	if m.role != "assistant" {
		return nil
	}
	open := false
	for _, b := range m.sentBlocks() {
		switch {
		case !b.signed():
		case open:
			runs[len(runs)-1] += "\n" + string(b.raw)
		default:
			runs = append(runs, string(b.raw))
		}
		open = b.signed()
	}
	return runs
}
