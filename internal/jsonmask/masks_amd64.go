package jsonmask

import "golang.org/x/sys/cpu"

var vectors = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// escapes holds each byte that may follow a backslash, at the index of its low
// four bits. '"', 'b' and 'r' share an index, so the first two are compared with
// on their own. Looked up by its own low bits, no other byte finds itself: the
// empty entries are 0, which is at none of their indexes, and the first is above
// 0x7f, for which VPSHUFB gives 0.
//
//lint:ignore U1000 masks_amd64.s reads it
var escapes = [16]byte{
	0: 0xff, 2: 'r', 4: 't', 6: 'f', 0xc: '\\', 0xe: 'n', 0xf: '/',
}

// masks does the work of Strings for the n bytes at p, n positive, except that
// it takes the bytes of the last block past the end of p for spaces. It reads
// nothing past the end of p.
//
//go:noescape
func masks(p *byte, n int, stops *uint64)
