// Package search finds text in sessions: in what a person would read of an entry, so
// that a hit is never in an id, a key or the data of an image, and none is missed
// because of the way in which JSON spells it.
//
//	p, err := search.Compile(search.Query{Text: "deadlock", IgnoreCase: true})
//	for r := range search.Files(ctx, paths, p, nil) { ... } // hits of many sessions
//	for hit, err := range p.Tree(ctx, t, 1) { ... }         // or of one that is open
//
// Call [Compile] first. [Files] goes over logs on all processors and gives their hits
// in the order of the paths, as they are found.
//
// # How it is fast
//
// A log is read as bytes. The longest part of the text that JSON has no need to escape
// (of a regular expression, such a part of what each of its matches has to contain) is
// looked for in every spelling that JSON allows; only where a line has it the log is
// read as a session, and only the entries of such lines are decoded. Memory is a few
// blocks for each processor, the entry that is decoded, and in sessions with hits what
// a [sessiontree.Tree] takes.
//
// # Caveats
//
// An expression without such a part (`\d+`) decodes every entry: ten times slower.
// What is not text of the conversation is not searched: ids, names of tools, types,
// records of programs (custom entries), images. Of the arguments of a call the values
// are, at any depth.
package search
