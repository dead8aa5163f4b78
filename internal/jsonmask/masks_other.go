//go:build !amd64

package jsonmask

const vectors = false

func masks(*byte, int, *uint64) { panic("jsonmask: masks is not available") }
