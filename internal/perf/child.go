package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/pprof"
	"time"
)

// A sample is what one process measured of itself.
type sample struct {
	NS     int64 `json:"ns"`
	Peak   int64 `json:"peak"` // of resident memory in bytes; 0 where it is not known
	Result int64 `json:"result"`
}

// reportCase is all that a child does.
func reportCase(name, path string, out io.Writer) error {
	c, err := caseNamed(name)
	if err != nil {
		return err
	}
	result, took, err := c.measure(path)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(sample{took.Nanoseconds(), peakMemory(), result})
}

// measure runs a case once.
func (c benchCase) measure(path string) (result int64, took time.Duration, err error) {
	if c.timed != nil {
		return c.timed(path)
	}
	start := time.Now()
	result, err = c.run(path)
	return result, time.Since(start), err
}

// runChild measures a case in a process of its own.
func runChild(name, path string) (s sample, err error) {
	c, err := caseNamed(name)
	if err != nil {
		return s, err
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	cmd := exec.Command(self, "-case", name, path)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", c.procs))
	return sampleOf(cmd)
}

// sampleOf runs a process that prints a sample.
func sampleOf(cmd *exec.Cmd) (s sample, err error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%s: %w", cmd, err)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("%s printed %.100q: %w", cmd, out, err)
	}
	return s, nil
}

// profiled is the session of a profile.
func (c *config) profiled() *session {
	switch c.format {
	case "flat":
		return &session{format: "native", shape: flat, mb: c.small}
	case "chain":
		return &session{format: "native", shape: chain, links: c.chain}
	}
	return &session{format: c.format, mb: c.big}
}

// writeProfile repeats a case for three seconds, since the profiler looks only a
// hundred times a second.
func (c *config) writeProfile() error {
	work, err := caseNamed(c.profile)
	if err != nil {
		return err
	}
	s := c.profiled()
	if err := s.make(c.dir); err != nil {
		return err
	}
	file, err := os.Create(c.file)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for start := time.Now(); time.Since(start) < 3*time.Second; {
		if _, _, err := work.measure(s.path); err != nil {
			return err
		}
	}
	return nil
}
