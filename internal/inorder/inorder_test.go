package inorder_test

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/sessctl/sessctl/internal/inorder"
)

func numbers(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// TestOrder: whoever is quicker, the order is that of the elements, and each gives all.
func TestOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		var got []int
		for r := range inorder.Do(context.Background(), workers, numbers(300), func(_ context.Context, i int, emit func(int) bool) {
			for k := range i % 100 { // more than any task may be ahead
				runtime.Gosched()
				emit(1000*i + k)
			}
		}) {
			got = append(got, r)
		}
		if len(got) != 3*4950 || !slices.IsSorted(got) {
			t.Errorf("%d workers: got %d results, sorted: %v", workers, len(got), slices.IsSorted(got))
		}
	}
}

// TestEnough: whoever stops is not kept waiting, and nothing goes on behind him.
func TestEnough(t *testing.T) {
	var running atomic.Int32
	for r := range inorder.Do(context.Background(), 4, numbers(1_000_000_000), func(ctx context.Context, i int, emit func(int) bool) {
		running.Add(1)
		defer running.Add(-1)
		for emit(i) {
		}
	}) {
		if r == 0 {
			break
		}
	}
	if n := running.Load(); n != 0 {
		t.Errorf("%d goroutines went on", n)
	}
}

// TestGivenUp: where the context is done, seq and work end.
func TestGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for range inorder.Do(ctx, 3, numbers(1_000_000_000), func(_ context.Context, i int, emit func(int) bool) { emit(i) }) {
		if n++; n == 50 {
			cancel()
		}
	}
	if n < 50 || n > 10_000 {
		t.Errorf("got %d results", n)
	}
}
