package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sessctl/sessctl/formats"
	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/sessiontree"
)

// The cases of this file are of a farm: a directory of many sessions, as ls finds them.

// farm is a session's shape that stands for many: its links are how many.
const farm = "farm"

// makeFarm writes sessions of three sizes, a hundred in each directory, each written
// last when its conversation was.
func (s *session) makeFarm(dir string) error {
	s.path = filepath.Join(dir, s.file())
	mark := filepath.Join(s.path, "made")
	if text, err := os.ReadFile(mark); err == nil && string(text) == s.name() {
		return nil
	}
	if err := os.RemoveAll(s.path); err != nil {
		return err
	}
	for i := range s.links {
		if err := s.writeFarm(i); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, []byte(s.name()), 0o644)
}

// farmSizes are those of a few prompts, of an hour and of a day.
var farmSizes = []int64{8e3, 8e3, 60e3, 8e3, 60e3, 8e3, 8e3, 60e3, 8e3, 400e3}

func (s *session) writeFarm(i int) error {
	path := filepath.Join(s.path, fmt.Sprintf("project-%03d", i/100), fmt.Sprintf("2026-01-05T09-00-00-000Z_%06d.jsonl", i))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	opt := &sessgen.Options{Format: sessgen.Native, Seed: uint64(i)}
	if i%2 == 1 {
		opt.Format = sessgen.Pi
	}
	_, err = sessgen.Write(w, farmSizes[i%len(farmSizes)], opt)
	if err = errors.Join(err, w.Flush(), file.Close()); err != nil {
		return err
	}
	at := sessiontree.Describe(path).Modified
	return os.Chtimes(path, at, at)
}

// bareReads is what nobody who looks into every file can do without.
func bareReads(dir string) (n int64, err error) {
	buf := make([]byte, 64<<10)
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		n++
		return bareRead(path, buf)
	})
	return n, err
}

func bareRead(path string, buf []byte) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	for _, at := range []int64{0, max(info.Size()-int64(len(buf)), 0)} {
		if _, err := file.ReadAt(buf, at); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

func listAll(dir string) (int64, error) { return listSome(dir, 0) }

func listTwenty(dir string) (int64, error) { return listSome(dir, 20) }

func listSome(dir string, limit int) (n int64, err error) {
	opt := &sessiontree.ListOptions{Limit: limit, Workers: runtime.GOMAXPROCS(0), Describe: formats.Describe}
	for info, err := range sessiontree.List([]string{dir}, opt) {
		if err = errors.Join(err, info.Err); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// warmFarm brings the beginnings and ends into the page cache.
func (s *session) warmFarm() error {
	_, err := bareReads(s.path)
	return err
}

func farmRows(sessions int) []row {
	s := &session{format: "native", shape: farm, links: sessions}
	bare := job{"ls-bare", s}
	return []row{
		{"open, stat, two reads, close of each (the limit)", bare, bare, nil},
		{"list all, one core", job{"ls", s}, bare, []target{atMost(2.5), under(64)}},
		{"list all, 2 processors", job{"ls2", s}, bare, []target{atMost(2.5)}},
		{"list the last 20, one core", job{"ls-20", s}, bare, []target{atMost(1)}},
	}
}
