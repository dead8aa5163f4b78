//go:build !linux

package main

import (
	"os"
	"time"
)

// peakMemory is not known here.
func peakMemory() int64 { return 0 }

// waitForQuiet cannot tell here how busy the processors are.
func waitForQuiet(time.Duration) bool { return true }

// dropCache cannot be done here.
func dropCache(string) error { return nil }

// peakOf is not known here.
func peakOf(*os.ProcessState) int64 { return 0 }

// bytesRead is not known here.
func bytesRead() int64 { return 0 }
