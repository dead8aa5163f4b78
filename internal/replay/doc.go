// Command replay tells what rewinding saves, and when it does not:
//
//	go run ./internal/replay [-seed N] [-report TOKENS] [-read P -write P -output P]
//
// It makes traces of 50 to 500 tool calls and replays each through several ways of
// building the context, on real sessions in a temporary folder: everything is sent, old
// results are masked, the context is compacted, explorations are wrapped in checkpoint
// and rewind. No model is asked, and so nothing is said of how good the answers would
// be: each way is given the same answers, in the same order, and never has to read
// again what it left out. The same flags print the same tables; how long a replay takes is not
// measured.
//
// What is assumed: a provider's cache holds the messages that a request shares with the
// beginning of the one before, for as long as the session lasts; reading them costs a
// tenth of an input token, writing the others 1.25, an output token 5. Only the output that
// a way adds is counted: reports, summaries, and the calls that ask for them. A compaction's
// request is sent with the whole context, and so reads the cache. See docs/rewind.md.
package main
