// Package stats counts what sessions have: prompts, messages, calls of tools and their
// failures, tokens and cost, time, files, and what rewinds saved.
//
//	c := stats.NewCounter(nil)
//	for each session {
//		s, err := stats.Read(t, nil) // any tree, whatever format it comes from
//		c.Add(s)
//	}
//	fmt.Println(c.Total().Tokens.Cost, c.Groups())
//
// [Read] reads the messages of one session, and may be called for several at the same
// time. [Counter.Add] sums sessions up one by one. What a fork copied has its id and time
// in both sessions, and counts once. Everything is of the whole log, with what was left
// and rewound, unless [Options.Tip] asks for one path.
//
// Tokens and cost are what the logs say, message by message; nothing is estimated. Time is
// that between a message and the one above it: while a model answered, or tools ran.
package stats
