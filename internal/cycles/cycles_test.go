package cycles

import (
	"slices"
	"testing"
)

func TestFirsts(t *testing.T) {
	for _, test := range []struct{ parents, want []int32 }{
		{nil, nil},
		{[]int32{-1, 0, 1, 0}, nil},
		{[]int32{0}, []int32{0}},                                // its own parent
		{[]int32{2, 0, 1, 2}, []int32{0}},                       // one hangs on a cycle
		{[]int32{3, -1, 3, 4, 2, 6, 5}, []int32{2, 5}},          // found from one that hangs on it
		{[]int32{1, 0, 3, 2, 1, 4, 5, 7, -1}, []int32{0, 2, 7}}, // several
		{[]int32{-1, 2, 3, 1, 0}, []int32{1}},                   // beside a sound part
	} {
		for _, cut := range []bool{false, true} {
			parents := slices.Clone(test.parents)
			var got []int32
			for i := range Firsts(len(parents), func(i int32) int32 { return parents[i] }) {
				if got = append(got, i); cut {
					parents[i] = -1
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%v: got %v, want %v", test.parents, got, test.want)
			}
			if cut && len(slices.Collect(Firsts(len(parents), func(i int32) int32 { return parents[i] }))) > 0 {
				t.Errorf("%v: cycles are left", parents)
			}
		}
	}
}
