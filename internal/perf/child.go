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

	// Of cases of file states: the bytes that the process has read meanwhile, and those that
	// the store grew by, with what they may be.
	Read int64 `json:"read,omitempty"`
	Grew int64 `json:"grew,omitempty"`
	May  int64 `json:"may,omitempty"`
}

// reportCase is all that a child does.
func reportCase(name, path string, out io.Writer) error {
	c, err := caseNamed(name)
	if err != nil {
		return err
	}
	got, err := c.measure(path)
	if err != nil {
		return err
	}
	if got.Peak == 0 {
		got.Peak = peakMemory()
	}
	return json.NewEncoder(out).Encode(got)
}

// measure runs a case once.
func (c benchCase) measure(path string) (got sample, err error) {
	switch {
	case c.sampled != nil:
		return c.sampled(path)
	case c.timed != nil:
		var took time.Duration
		got.Result, took, err = c.timed(path)
		got.NS = took.Nanoseconds()
		return got, err
	}
	got.NS, err = clock(func() error {
		got.Result, err = c.run(path)
		return err
	})
	return got, err
}

// clock takes the time of some work, in nanoseconds.
func clock(work func() error) (ns int64, err error) {
	start := time.Now()
	err = work()
	return time.Since(start).Nanoseconds(), err
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
	case "folder":
		return c.manyFiles()
	case "edited":
		return c.longLog()
	case "claude":
		return c.longTranscript()
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
		if _, err := work.measure(s.path); err != nil {
			return err
		}
	}
	return nil
}
