package transcript

// Room gives a list with room for one more, and where it has to grow for as many as a
// whole transcript will make if it goes on as it did up to offset of its size bytes:
// growing step by step would move everything again and again. It does not trust its
// guess far: large records may follow many small ones.
func Room[T any](list []T, offset, size int64) []T {
	if len(list) < cap(list) || len(list) < 1000 {
		return list
	}
	n := int(float64(len(list)) * float64(size) / float64(offset+1) * 1.25)
	n = min(max(n, len(list)*5/4), len(list)*8)
	return append(make([]T, 0, n), list...)
}
