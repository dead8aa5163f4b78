#include "textflag.h"

// The bytes compared with, to be broadcast.
DATA compared<>+0(SB)/4, $"\\\" b" // backslash, quote, space, b
GLOBL compared<>(SB), RODATA|NOPTR, $4

// func masks(p *byte, n int, stops *uint64)
TEXT ·masks(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ stops+16(FP), DI

	VPBROADCASTB    compared<>+0(SB), Z10
	VPBROADCASTB    compared<>+1(SB), Z11
	VPBROADCASTB    compared<>+2(SB), Z12
	VPBROADCASTB    compared<>+3(SB), Z13
	VBROADCASTI32X4 ·escapes(SB), Z14
	MOVQ  $0xAAAAAAAAAAAAAAAA, R15
	XORL  BX, BX                // 1 if the block before ended in an escaping backslash
	XORL  R14, R14              // index of the mask words

	CMPQ CX, $64
	JLT  last

	PCALIGN $32
whole:
	VMOVDQU64 (SI), Z0

block:
	VPCMPEQB Z10, Z0, K1       // backslash
	VPCMPEQB Z11, Z0, K2       // quote
	VPCMPUB  $1, Z12, Z0, K3   // below space
	VPSHUFB  Z0, Z14, Z1
	VPCMPEQB Z1, Z0, K4        // \ / f n r t
	VPCMPEQB Z13, Z0, K5       // b
	KORQ     K4, K5, K5
	KORQ     K2, K5, K5
	KMOVQ    K1, R8
	KMOVQ    K2, R9
	KMOVQ    K3, R10
	KMOVQ    K5, R11

	// A run of backslashes escapes by turns, beginning with its first. With S the
	// runs and O the odd places, (2S|O)-S holds all places of a run that begins
	// at an even place and none of one that begins at an odd place. Its XOR with
	// O is then every second byte of a run from the first on, which escape, and
	// the byte after a run of odd length, which is escaped.
	ANDNQ R8, BX, R12          // S: backslashes, but for one the block before escapes
	ORQ   R8, BX
	LEAQ  (R12)(R12*1), R13
	ORQ   R15, R13
	SUBQ  R12, R13
	XORQ  R15, R13             // escaping, or ending a run
	XORQ  R13, BX              // escaped
	MOVQ  BX, AX
	ANDQ  R8, R13              // escaping
	MOVQ  R13, BX
	SHRQ  $63, BX

	ANDNQ R9, AX, R9           // quotes that are not escaped
	ANDNQ AX, R11, R11         // escaped bytes that may not be
	ORQ   R10, R11
	ORQ   R9, R11
	MOVQ  R11, (DI)(R14*8)

	INCQ R14
	ADDQ $64, SI
	SUBQ $64, CX
	CMPQ CX, $64
	JGE  whole

last:
	// Once the last block is done CX is zero or negative.
	TESTQ CX, CX
	JLE   done

	// The load under a mask does not touch the bytes past the end.
	MOVQ     $-1, AX
	BZHIQ    CX, AX, AX
	KMOVQ    AX, K6
	VMOVDQA64 Z12, Z0
	VMOVDQU8 (SI), K6, Z0
	JMP      block

done:
	VZEROUPPER
	RET
