#include "textflag.h"

// func skipBlocks(data *byte, n, gap int, first, second, anyFirst, anySecond uint64) int
//
// Y4 and Y6 have a byte of ones for each place that has both bytes of the pair.
TEXT ·skipBlocks(SB), NOSPLIT, $0-64
	MOVQ data+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ gap+16(FP), DX
	VPBROADCASTQ first+24(FP), Y0
	VPBROADCASTQ second+32(FP), Y1
	VPBROADCASTQ anyFirst+40(FP), Y2
	VPBROADCASTQ anySecond+48(FP), Y3
	LEAQ (SI)(DX*1), DI
	XORQ AX, AX

loop:
	CMPQ AX, CX
	JGE  done
	VPOR (SI)(AX*1), Y2, Y4
	VPOR (DI)(AX*1), Y3, Y5
	VPOR 32(SI)(AX*1), Y2, Y6
	VPOR 32(DI)(AX*1), Y3, Y7
	VPCMPEQB Y0, Y4, Y4
	VPCMPEQB Y1, Y5, Y5
	VPCMPEQB Y0, Y6, Y6
	VPCMPEQB Y1, Y7, Y7
	VPAND Y4, Y5, Y4
	VPAND Y6, Y7, Y6
	VPOR  Y4, Y6, Y4
	VPTEST Y4, Y4
	JNZ  done
	ADDQ $64, AX
	JMP  loop

done:
	VZEROUPPER
	MOVQ AX, ret+56(FP)
	RET
