//go:build !unix

package durable

// noFollow does nothing: this system's open has no such flag.
const noFollow = 0
