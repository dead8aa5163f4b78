// Package cycles finds cycles among the parents of a log's records, which only damaged logs
// have.
package cycles

import "iter"

// Firsts gives the first element of every cycle among n elements. Parent gives that of an
// element, and less than 0 for a root. The caller may make what it is given a root.
func Firsts(n int, parent func(i int32) int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		walk := make([]int32, n) // the walk that came by, from 1
		for i := range int32(n) {
			at := i
			for at >= 0 && walk[at] == 0 {
				walk[at] = i + 1
				at = parent(at)
			}
			if at >= 0 && walk[at] == i+1 && !yield(first(at, parent)) {
				return
			}
		}
	}
}

// first gives the first element of the cycle that at is in.
func first(at int32, parent func(int32) int32) int32 {
	least := at
	for i := parent(at); i != at; i = parent(i) {
		least = min(least, i)
	}
	return least
}
