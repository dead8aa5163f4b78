// Package jsonl reads the lines of a session log: bytes in, records and damage out.
//
//	head, err := jsonl.ReadHead(src, size)         // the header, and what it says
//	end, err := jsonl.ReadEnd(src, size, head)     // where the whole records end
//	for r, err := range jsonl.Forward(...)         // all of them, in file order
//	for r, err := range jsonl.Backward(...)        // or from the last one up
//
// A line is looked at by one function whatever the direction ([chunk.parse]), and
// what a crash left at the end is judged once, by ReadEnd, before either reader
// starts; so both give the same records.
//
// A record keeps its leading fields only (type, id, parentId, timestamp, a
// message's role). Where a native line's sum is right, the line is not looked at
// any further: the sum vouches for it. Every other line is checked to be the JSON
// that JavaScript would accept, since the programs that write these logs skip the
// lines that are not.
//
// Only "\n" ends a line; there is no limit to its length. Memory is a few blocks
// and the longest line.
package jsonl
