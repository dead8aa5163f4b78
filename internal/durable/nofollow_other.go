//go:build !unix

package durable

// noFollow does nothing: this system's open has no such flag.
const noFollow = 0

// nonBlock keeps an open from waiting, where a system knows that.
const nonBlock = 0
