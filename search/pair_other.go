//go:build !amd64

package search

const (
	hasBlocks  = false
	blockBytes = 64
)

func skipBlocks(*byte, int, int, uint64, uint64, uint64, uint64) int { return 0 }
