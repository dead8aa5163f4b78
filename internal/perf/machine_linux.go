package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// peakMemory is the most memory that this process ever had resident.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kib int64
	if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
		fmt.Sscan(string(rest[:min(len(rest), 40)]), &kib)
	}
	return kib << 10
}

// peakOf is the most memory that another process had resident, which has ended.
func peakOf(p *os.ProcessState) int64 {
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(usage.Maxrss) << 10
	}
	return 0
}

// bytesRead counts what this process has read so far, with all system calls; listing a
// directory is none of them.
func bytesRead() (n int64) {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	fmt.Sscanf(string(data), "rchar: %d", &n)
	return n
}

// waitForQuiet returns when others leave the processors alone, or after limit. It
// reports which.
func waitForQuiet(limit time.Duration) bool {
	const look = 60 * time.Millisecond
	for start := time.Now(); ; {
		idle, all := ticks()
		time.Sleep(look)
		idle2, all2 := ticks()
		if all2 == all || float64(idle2-idle) >= 0.86*float64(all2-all) {
			return true
		}
		if time.Since(start) >= limit {
			return false
		}
	}
}

// ticks gives the processors' idle time and all time since the machine started.
func ticks() (idle, all int64) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	var name string
	var t [8]int64 // user, nice, system, idle, iowait, irq, softirq, steal
	fmt.Sscan(string(stat), &name, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7])
	for _, n := range t {
		all += n
	}
	return t[3] + t[4], all
}

// dropCache makes the system forget what it holds of a file in memory.
func dropCache(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Sync(); err != nil { // what is not written yet cannot be dropped
		return err
	}
	return unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
}
