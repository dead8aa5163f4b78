#include "textflag.h"

// AHEAD sets acc to (acc moved ahead by the distance of the constants in k) XOR
// next. tmp is overwritten.
#define AHEAD(k, next, acc, tmp) \
	VPCLMULQDQ $0x11, k, acc, tmp \
	VPCLMULQDQ $0x00, k, acc, acc \
	VPTERNLOGD $0x96, next, tmp, acc

// FOUR takes in the 256 bytes at SI, by four independent accumulators, which hide
// the latency of the multiplication.
#define FOUR \
	AHEAD(Z9, 0(SI), Z0, Z4) \
	AHEAD(Z9, 64(SI), Z1, Z5) \
	AHEAD(Z9, 128(SI), Z2, Z6) \
	AHEAD(Z9, 192(SI), Z3, Z7)

// FIRST loads what FOUR goes on from.
#define FIRST \
	VMOVDQU64 (SI), Z0 \
	VMOVDQU64 64(SI), Z1 \
	VMOVDQU64 128(SI), Z2 \
	VMOVDQU64 192(SI), Z3 \
	VPXORQ    Z8, Z0, Z0 \
	VBROADCASTI32X4 ·ahead2048(SB), Z9

// ONE makes one accumulator, Z0, of the four.
#define ONE \
	VBROADCASTI32X4 ·ahead512(SB), Z9 \
	AHEAD(Z9, Z1, Z0, Z4) \
	AHEAD(Z9, Z2, Z0, Z4) \
	AHEAD(Z9, Z3, Z0, Z4)

// REDUCE leaves in AX the state that Z0 stands for: Z0 is a 64-byte message with the
// remainder of the whole. Doing this here rather than through hash/crc32 keeps it
// off the heap.
#define REDUCE(residue) \
	VMOVDQU64 Z0, residue-64(SP) \
	VZEROUPPER \
	XORL   AX, AX \
	CRC32Q residue-64(SP), AX \
	CRC32Q residue-56(SP), AX \
	CRC32Q residue-48(SP), AX \
	CRC32Q residue-40(SP), AX \
	CRC32Q residue-32(SP), AX \
	CRC32Q residue-24(SP), AX \
	CRC32Q residue-16(SP), AX \
	CRC32Q residue-8(SP), AX

// func fold(state uint32, p *byte, n int) uint32
TEXT ·fold(SB), NOSPLIT, $64-28
	MOVL state+0(FP), AX
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX

	// A CRC state is equivalent to itself XORed into the first four bytes of the
	// message, with the state then zero.
	VMOVD AX, X8
	FIRST
	JMP   check

	PCALIGN $32
loop:
	FOUR

check:
	ADDQ $256, SI
	SUBQ $256, CX
	CMPQ CX, $256
	JGE  loop

	// What is left goes by single registers.
	ONE
	JMP  checkLast

last:
	AHEAD(Z9, 0(SI), Z0, Z4)
	ADDQ $64, SI

checkLast:
	SUBQ $64, CX
	JGE  last

	REDUCE(residue)
	MOVL AX, ret+24(FP)
	RET

DATA newline<>+0(SB)/4, $"\n   "
GLOBL newline<>(SB), RODATA|NOPTR, $4

// FIND clears ZF if one of the 256 bytes at (SI)(offset) is a newline.
#define FIND(offset) \
	VPCMPEQB (offset+0)(SI), Z10, K1 \
	VPCMPEQB (offset+64)(SI), Z10, K2 \
	VPCMPEQB (offset+128)(SI), Z10, K3 \
	VPCMPEQB (offset+192)(SI), Z10, K4 \
	KORQ     K1, K2, K1 \
	KORQ     K3, K4, K3 \
	KORTESTQ K1, K3

// func foldLine(p *byte, n int) (state uint32, done int)
TEXT ·foldLine(SB), NOSPLIT, $64-32
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	XORL DX, DX
	VPBROADCASTB newline<>+0(SB), Z10

	SUBQ $512, CX // what is left behind the next 512 bytes
	JLT  none
	FIND(0)
	JNE  none
	FIND(256)
	JNE  none

	MOVL  $-1, AX
	VMOVD AX, X8
	FIRST

	PCALIGN $32
line:
	// Here 256 bytes at SI are taken in, and the next 256 have no newline.
	ADDQ $256, SI
	ADDQ $256, DX
	SUBQ $256, CX
	JLT  end
	FIND(256)
	JNE  end
	FOUR
	JMP  line

end:
	ONE
	REDUCE(residue)
	MOVL AX, state+16(FP)
	MOVQ DX, done+24(FP)
	RET

none:
	VZEROUPPER
	MOVL $-1, state+16(FP)
	MOVQ DX, done+24(FP)
	RET
