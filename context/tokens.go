package modelcontext

import (
	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// An Estimator tells how many tokens a rendered message takes, about.
type Estimator func(rendered Message) int

// An Estimate is the size of a context in tokens, about.
type Estimate struct {
	Tokens int
	// Recorded is what the log says of the context up to the answer Answer, itself
	// included; 0 where it says nothing that still holds.
	Recorded int
	Answer   entries.ID
}

// Tokens estimates the context's size: what the provider counted for the last
// answer, and for what came after it the estimator (nil stands for
// EstimateTokens). An answer from before the latest compaction counts what is gone,
// and a failed one nothing. Of a context that Apply made it is what the context before
// took, without what Apply took away.
func (c *Context) Tokens(est Estimator) Estimate {
	if est == nil {
		est = EstimateTokens
	}
	if c.reduced != nil {
		return Estimate{Tokens: *c.reduced}
	}
	var e Estimate
	rest := c.Messages
	for i := len(rest) - 1; i >= 0; i-- {
		if n := recorded(rest[i]); n > 0 {
			e.Recorded, e.Answer, rest = n, rest[i].Entry, rest[i+1:]
			break
		}
	}
	e.Tokens = e.Recorded
	for _, m := range (&Context{Dialect: c.Dialect, Messages: rest}).Render() {
		e.Tokens += est(m)
	}
	return e
}

func recorded(m Message) int {
	if m.Role != RoleAssistant || m.old || failed(m) {
		return 0
	}
	return entries.ParseMessage(m.Raw).ContextTokens()
}

// What EstimateTokens goes by. Providers' tokens are three to four bytes of English
// or code on average, and about one character of Chinese; images take from several
// hundred to a few thousand.
const (
	bytesPerToken = 4
	perMessage    = 4
	perImage      = 1200
)

// EstimateTokens is the estimator that is used where none is given: a token for
// every four bytes of text, thinking, names and arguments, and 1200 for an image.
func EstimateTokens(m Message) int {
	content := m.Content()
	if isString(content) {
		return perMessage + len(jsonvalue.String(content))/bytesPerToken
	}
	n := 0
	for _, b := range blocks(content) {
		switch kindOf(b) {
		case "text":
			n += len(jsonvalue.String(fieldOf(b, "text")))
		case "thinking":
			n += len(jsonvalue.String(fieldOf(b, "thinking")))
		case "image":
			n += perImage * bytesPerToken
		case "toolCall":
			n += len(jsonvalue.String(fieldOf(b, "name"))) + len(fieldOf(b, "arguments"))
		default:
			n += len(b)
		}
	}
	return perMessage + n/bytesPerToken
}
