package jsonl

// Outline reads a record by itself, without a log: one that tells of a longer record,
// whose place in its log is said. It reports false where it is no record.
func (r *Record) Outline(line int, offset, size int64, object []byte) bool {
	*r = Record{}
	if !r.leading(object) {
		p := parser{}
		p.walk(object, 0)
		if *r = p.recs[0]; len(p.recs) > 1 || r.Fault != "" {
			return false
		}
	}
	r.Line, r.Offset, r.Size = line, offset, size
	return r.entry(false)
}
