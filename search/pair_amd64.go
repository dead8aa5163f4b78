package search

import "golang.org/x/sys/cpu"

var hasBlocks = cpu.X86.HasAVX2

// blockBytes is how many positions skipBlocks looks at together.
const blockBytes = 64

// skipBlocks passes blocks of the n positions from data on, a multiple of blockBytes,
// that have the pair nowhere, and gives how many positions that are. gap bytes behind
// the last position can be read.
//
//go:noescape
func skipBlocks(data *byte, n, gap int, first, second, anyFirst, anySecond uint64) int
