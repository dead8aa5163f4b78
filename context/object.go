package modelcontext

import (
	"encoding/json"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// An object is a JSON object that is being written. A member without a value is
// left out, as JSON.stringify leaves out what is undefined.
type object struct{ buf []byte }

func (o *object) raw(name string, value []byte) *object {
	if value == nil {
		return o
	}
	o.buf = jsonvalue.AppendString(append(o.buf, ','), name)
	o.buf = append(append(o.buf, ':'), value...)
	return o
}

// text takes text as jsonvalue.Exact gives it.
func (o *object) text(name, value string) *object {
	return o.raw(name, jsonvalue.AppendExact(nil, value))
}

func (o *object) json() json.RawMessage {
	if len(o.buf) == 0 {
		return json.RawMessage("{}")
	}
	o.buf[0] = '{'
	return append(o.buf, '}')
}

// textBlock is a block of text, as jsonvalue.Exact gives it.
func textBlock(text string) json.RawMessage {
	return new(object).text("type", "text").text("text", text).json()
}
