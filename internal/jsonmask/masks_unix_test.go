//go:build unix

package jsonmask

import (
	"syscall"
	"testing"
)

// The vector path must not read past the end of p, where there may be nothing.
func TestEndOfMapping(t *testing.T) {
	page := syscall.Getpagesize()
	m, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer syscall.Munmap(m)
	if err := syscall.Mprotect(m[page:], syscall.PROT_NONE); err != nil {
		t.Skip(err)
	}
	for i := range page {
		m[i] = `\"x\`[i%4]
	}
	for n := range 200 {
		compare(t, m[page-n:page])
	}
}
