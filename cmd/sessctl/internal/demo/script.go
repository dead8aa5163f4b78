package demo

import "github.com/sessctl/sessctl/tool"

// The story: a test fails, the hunt for the reason goes astray in much output, and a
// report of a few lines is all that has to be kept of it.

func read(path string) call    { return call{"read", args{Path: path}} }
func bash(command string) call { return call{"bash", args{Command: command}} }
func edit(path, from, to string) call {
	return call{"edit", args{Path: path, OldText: from, NewText: to}}
}

const report = `TestDoubledQuote fails because of parser/split.go:13. Split writes one quote for a doubled one, but then reads the second one again, which ends the quoted field. An i++ is missing there. ` +
	`Ruled out: the CRLF line ends of testdata/export.csv, whose 240 lines all pass (my change of parser/lines.go for them is taken back with this). Next: add the i++ and run all tests.`

var overview = turn{"What is in this project, and do its tests pass?", []answer{
	{calls: []call{read("README.md"), read("parser/split.go"), bash("go test ./...")}},
	{text: "It is a small parser for comma-separated values. One of its four tests fails: TestDoubledQuote, where a quoted field has a doubled quote in it."},
}}

const (
	untrimmed = `strings.TrimSuffix(text, "\n")`
	trimmed   = `strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")`
)

var hunt = turn{"Find out why, and fix it.", []answer{
	{calls: []call{{tool.NameCheckpoint, args{Goal: "find out why TestDoubledQuote fails", Label: "before-the-hunt"}}}},
	{calls: []call{bash("go test -v ./..."), read("testdata/export.csv")}},
	{text: "The export has CRLF line ends, and its last fields end in a stray \\r. Perhaps that confuses the quotes.", calls: []call{read("parser/lines.go")}},
	{calls: []call{edit("parser/lines.go", untrimmed, trimmed), bash("go test -v ./...")}},
	{text: "It was not the line ends. I look at the test alone.", calls: []call{
		read("parser/split_test.go"), bash("go test -v -run TestDoubledQuote ./..."),
	}},
	{calls: []call{{tool.NameRewind, args{Report: report, Files: tool.FilesRestore}}}},
}}

const (
	unfixed = "\t\t\tfield.WriteByte('\"')\n"
	fixed   = unfixed + "\t\t\ti++\n"
)

var afterCrash = turn{"You were interrupted. Go on.", []answer{
	{calls: []call{edit("parser/split.go", unfixed, fixed), bash("go test ./...")}},
	{text: "Fixed: Split skips the second quote of a doubled one now (parser/split.go:14). All four tests pass."},
}}
