package modelcontext

import "encoding/json"

// A group is an answer with calls, and their results: providers want them together.
type group struct {
	answer  int               // place of the answer
	calls   []json.RawMessage // its toolCall blocks
	results []int             // place of the result of each call; -1 where there is none
}

// groups finds the answers with calls in a list, and of each call its result: the
// first one behind it with its id, before another answer uses that id again.
func groups(list []Message) []group {
	var all []group
	type place struct{ group, call int }
	open := map[string][]place{}
	for i, m := range list {
		switch m.Role {
		case RoleAssistant:
			g := group{answer: i}
			fresh := map[string]bool{}
			for _, b := range blocks(m.Content()) {
				if kindOf(b) != "toolCall" {
					continue
				}
				id := idText(fieldOf(b, "id"))
				if !fresh[id] {
					fresh[id], open[id] = true, nil
				}
				open[id] = append(open[id], place{len(all), len(g.calls)})
				g.calls, g.results = append(g.calls, b), append(g.results, -1)
			}
			if len(g.calls) > 0 {
				all = append(all, g)
			}
		case RoleToolResult:
			id := idText(m.Field("toolCallId"))
			if queue := open[id]; len(queue) > 0 {
				all[queue[0].group].results[queue[0].call] = i
				open[id] = queue[1:]
			}
		}
	}
	return all
}
