// Command sessctl shows the conversation logs of AI agents as the trees that they
// are. See docs/cli.md.
package main

import (
	"os"

	"github.com/sessctl/sessctl/cmd/sessctl/internal/command"
)

func main() { os.Exit(command.Main(os.Args[1:])) }
