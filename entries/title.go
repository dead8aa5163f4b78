package entries

import "github.com/sessctl/sessctl/internal/jsonvalue"

// TitleSize is the length of oh-my-pi's title line with its newline, in bytes. The
// line is rewritten in place, so its size never changes.
const TitleSize = 256

// A Title is the line that oh-my-pi puts in front of the header. It replaces the
// header's title.
type Title struct {
	Title  string
	Source string // "auto", "user" or empty
}

// ParseTitle reads a line, without its newline, as a title line. It is one only if
// it has exactly the fields that oh-my-pi demands.
func ParseTitle(line []byte) (Title, bool) {
	if len(line) != TitleSize-1 {
		return Title{}, false
	}
	var t Title
	ok := map[string]bool{}
	source := true // it may be left out
	err := jsonvalue.Members(line, func(name string, value []byte) {
		switch name {
		case "type":
			ok[name] = string(value) == `"title"`
		case "v":
			ok[name] = jsonvalue.Number(value) == 1
		case "title":
			t.Title, ok[name] = jsonvalue.String(value), value[0] == '"'
		case "updatedAt", "pad":
			ok[name] = value[0] == '"'
		case "source":
			t.Source = jsonvalue.String(value)
			source = t.Source == "auto" || t.Source == "user"
		}
	})
	if err != nil || !source || !ok["type"] || !ok["v"] || !ok["title"] || !ok["updatedAt"] || !ok["pad"] {
		return Title{}, false
	}
	return t, true
}
