package jsonvalue

import "bytes"

// Get gives the value of an object's member: the last one of that name, as in
// JavaScript, nil where there is none or raw is no object. It shares raw's bytes.
func Get(raw []byte, name string) (value []byte) {
	if Spans(raw, func(key []byte, at, end int) {
		if Is(key, name) {
			value = raw[at:end]
		}
	}) != nil {
		return nil
	}
	return value
}

// Is tells whether the bytes between a key's quotes spell a name.
func Is(key []byte, name string) bool { return string(Key(key)) == name }

// Key decodes the bytes between a key's quotes. As a rule they are what they stand for, and
// stay where they are.
func Key(key []byte) []byte {
	if bytes.IndexByte(key, '\\') < 0 {
		return key
	}
	return []byte(Unquote(key))
}

// Set gives the object raw with a member set to a value, in place where raw has the
// member, else as its last; a nil value takes the member away. Everything else
// keeps its bytes. raw, which must be an object, is not changed.
func Set(raw []byte, name string, value []byte) []byte {
	out := make([]byte, 0, len(raw)+len(name)+len(value)+8)
	out = append(out, '{')
	done := false
	_ = Spans(raw, func(key []byte, at, end int) {
		member := raw[at:end]
		if Is(key, name) {
			if done || value == nil {
				return
			}
			member, done = value, true
		}
		out = appendMember(out, key, member)
	})
	if !done && value != nil {
		quoted := AppendString(nil, name)
		out = appendMember(out, quoted[1:len(quoted)-1], value)
	}
	return append(out, '}')
}

func appendMember(object, key, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	object = append(append(append(object, '"'), key...), `":`...)
	return append(object, value...)
}

// Array joins values to an array.
func Array[V ~[]byte](values ...V) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
