package jsonvalue

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestGet(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1,"b":2}`:        "1",
		`{"a":1,"a":[2, 3]}`:   "[2, 3]",
		`{"\u0061":"x","b":0}`: `"x"`,
		`{"b":{"a":1}}`:        "",
		`["a"]`:                "",
		`{"a":1`:               "",
	} {
		if got := string(Get([]byte(raw), "a")); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct{ raw, value, want string }{
		{`{}`, "1", `{"a":1}`},
		{`{"b":2}`, "1", `{"b":2,"a":1}`},
		{`{"a":0,"b":2}`, "1", `{"a":1,"b":2}`},
		{`{"a":0,"b":2,"a":3}`, "1", `{"a":1,"b":2}`},
		{`{"\u0061":0, "b":"\ud800"}`, "1", `{"\u0061":1,"b":"\ud800"}`},
		{`{"a":0,"b":2,"\u0061":3}`, "", `{"b":2}`},
		{`{"b":2}`, "", `{"b":2}`},
	} {
		var value []byte
		if c.value != "" {
			value = []byte(c.value)
		}
		raw := []byte(c.raw)
		if got := string(Set(raw, "a", value)); got != c.want {
			t.Errorf("%s with %q: got %s, want %s", c.raw, c.value, got, c.want)
		}
		if string(raw) != c.raw {
			t.Errorf("%s was changed", c.raw)
		}
	}
}

// FuzzSet: what is set is what is read, and nothing else of the object changes.
func FuzzSet(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[{}],"a":2}`), "a", []byte(`"x"`))
	f.Add([]byte(`{"\ud800":1}`), "\"", []byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte, name string, value []byte) {
		value = bytes.Trim(value, " \t\r\n")
		if Spans(raw, func([]byte, int, int) {}) != nil || Check(value) != nil {
			return
		}
		set := Set(raw, name, value)
		if name = String(AppendString(nil, name)); !bytes.Equal(Get(set, name), value) {
			t.Fatalf("%s: set %q to %s, got %s", raw, name, value, Get(set, name))
		}
		without, again := Set(raw, name, nil), Set(set, name, nil)
		if !bytes.Equal(without, again) || Get(without, name) != nil {
			t.Fatalf("%s: without %q got %s and %s", raw, name, without, again)
		}
		if json.Valid(raw) && !json.Valid(set) {
			t.Fatalf("%s: got %s", raw, set)
		}
	})
}
