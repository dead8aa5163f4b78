package lock

import (
	"bytes"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Boot tells when this machine was started: by an id that each start has anew, and
// by the time. Both are zero where the system does not say.
func Boot() (id string, started time.Time) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", time.Time{}
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		started = time.Now().Add(-time.Duration(info.Uptime) * time.Second)
	}
	return string(bytes.TrimSpace(b)), started
}
