//go:build !amd64

package castagnoli

const canFold = false

func fold(uint32, *byte, int) uint32 { panic("castagnoli: fold is not available") }

func foldLine(*byte, int) (uint32, int) { panic("castagnoli: foldLine is not available") }
