package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessctl/sessctl/store"
)

// readArchive opens and reads an archive to its end, in blocks.
func readArchive(archive []byte) ([]byte, error) {
	src := inMemory(archive)
	s, err := store.OpenArchive(src)
	if err != nil {
		if src.closed {
			err = errors.Join(err, errors.New("the source was closed"))
		}
		return nil, err
	}
	defer s.Close()
	size, err := s.Size()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = io.CopyBuffer(struct{ io.Writer }{&b}, io.NewSectionReader(s, 0, size), make([]byte, 1000))
	return b.Bytes(), err
}

// set gives an archive with one word changed; at counts from the end if negative.
func set(archive []byte, at int, word uint32) []byte {
	b := bytes.Clone(archive)
	if at < 0 {
		at += len(b)
	}
	binary.LittleEndian.PutUint32(b[at:], word)
	return b
}

func TestDamagedArchives(t *testing.T) {
	log := []byte(strings.Repeat("a line of the log\n", 200))
	sound := pack(t, log, &store.ArchiveOptions{FrameSize: 1800}) // two frames
	list := frames(sound)
	if len(list) != 2 {
		t.Fatalf("got %d frames, want 2", len(list))
	}
	const footer = -9
	first, last := footer-24, footer-12 // entries of the table
	bomb := zeros(t, 1<<20)
	for name, test := range map[string]struct {
		archive []byte
		want    string
	}{
		"empty":                        {nil, "empty"},
		"not zstd":                     {log, "byte 0 of the log"},
		"cut in a frame":               {sound[:list[0][0]-5], "no seek table"},
		"cut in the table":             {sound[:len(sound)-20], "no seek table"},
		"cut in the footer":            {sound[:len(sound)-1], "no seek table"},
		"more behind it":               {append(bytes.Clone(sound), log...), "no seek table"},
		"more before it":               {append([]byte("P*M\x18\x00\x00\x00\x00"), sound...), "before the table"},
		"too many frames":              {set(sound, footer, 1<<31), "more than fit"},
		"more frames than there are":   {set(sound, footer, 3), "does not start"},
		"fewer frames than there are":  {set(sound, footer, 1), "does not start"},
		"a later descriptor":           {set(sound, footer+2, 0xB1840000), "later format"},
		"a frame of no bytes":          {set(sound, first, 0), "frame 0 at byte 0"},
		"a frame of too many bytes":    {set(sound, first, 1<<31), "frame 0 at byte 0"},
		"a log of too many bytes":      {set(sound, last+4, 1<<31), "frame 1"},
		"a frame that is longer":       {set(sound, first, uint32(list[0][0]+1)), "before the table"},
		"frames with another border":   {set(set(sound, first, uint32(list[0][0]+1)), last, uint32(list[1][0]-1)), "frame 0 at byte 0"},
		"less than a frame has":        {set(sound, first+4, uint32(list[0][1]-1)), "frame 0 at byte 0"},
		"more than a frame has":        {set(sound, last+4, uint32(list[1][1]+1)), "frame 1"},
		"another sum in the table":     {set(sound, last+8, 1), "frame 1"},
		"another sum in the frame":     {set(sound, list[0][0]-4, 1), "frame 0 at byte 0"},
		"a byte of a frame":            {set(sound, list[0][0]+8, 0), "frame 1 at byte"},
		"a bomb that the table hides":  {append(bytes.Clone(bomb), table([][2]int{{len(bomb), 1000}}, nil)...), "more than the 1000 bytes"},
		"a table that promises a bomb": {append(bytes.Clone(bomb), table([][2]int{{len(bomb), 1 << 27}}, nil)...), "at most"},
		"a bomb without a table":       {zeros(t, 100<<20), "1000 times"},
		"a stream that is cut":         {bomb[:len(bomb)-1], "no seek table"},
	} {
		got, err := readArchive(test.archive)
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %d bytes and %v, want ErrCorrupt with %q", name, len(got), err, test.want)
		}
	}
}

// zeros gives a stream that is far larger than it looks.
func zeros(t *testing.T, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enc.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSoundFramesOfDamagedArchives reads what stands around a damaged frame.
func TestSoundFramesOfDamagedArchives(t *testing.T) {
	log := generate(t, 1<<20)
	archive := pack(t, log, nil)
	list := frames(archive)
	s := unpack(t, set(archive, list[0][0]+list[1][0]-4, 0))
	from := list[0][1] + list[1][1]
	p := make([]byte, len(log)-from)
	if _, err := s.ReadAt(p, int64(from)); err != nil || !bytes.Equal(p, log[from:]) {
		t.Errorf("behind it: %v", err)
	}
	n, err := s.ReadAt(make([]byte, len(log)), 0)
	if n != list[0][1] || !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("all of it: got %d bytes, %v, want the %d before the damage", n, err, list[0][1])
	}
	// What failed once may be asked for again.
	for range 2 {
		if _, err := s.ReadAt(make([]byte, 10), int64(list[0][1])); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("in it: got %v, want ErrCorrupt", err)
		}
	}
}

func TestArchiveNamesWithoutArchives(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{}\n"} {
		path := write(t, filepath.Join(dir, "log.jsonl.zst"), text)
		if _, err := store.OpenFile(path); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%q: got %v, want ErrCorrupt", text, err)
		}
	}
}

// A failing source fails behind some bytes, and is not damaged.
type failing struct {
	store.Source
	behind int64
}

var errDisk = errors.New("the disk is gone")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if n := f.behind - off; n < int64(len(p)) {
		n, _ := f.Source.ReadAt(p[:max(n, 0)], off)
		return n, errDisk
	}
	return f.Source.ReadAt(p, off)
}

func TestArchivesOnFailingDisks(t *testing.T) {
	log := generate(t, 1<<20)
	archive := pack(t, log, nil)
	end := len(archive) - 9 - 12*len(frames(archive)) - 8
	for name, b := range map[string][]byte{"with a table": archive, "a stream": archive[:end]} {
		for _, behind := range []int64{0, 10, int64(len(b)) - 30} {
			s, err := store.OpenArchive(failing{inMemory(b), behind})
			if err == nil {
				_, err = io.Copy(io.Discard, io.NewSectionReader(s, 0, int64(len(log))))
			}
			if !errors.Is(err, errDisk) || errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s, behind %d bytes: got %v", name, behind, err)
			}
		}
	}
	if err := store.CreateArchive(io.Discard, failing{inMemory(log), 500 << 10}, nil); !errors.Is(err, errDisk) {
		t.Errorf("writing: got %v", err)
	}
}

// FuzzOpenArchive reads archives that are damaged at will: no read may give bytes
// that are not the log's where a sum stands for them, take the memory that the
// archive likes, or fail without saying that it is damaged.
func FuzzOpenArchive(f *testing.F) {
	log := generate(f, 20<<10)
	archive := pack(f, log, &store.ArchiveOptions{FrameSize: 4 << 10})
	f.Add(archive)
	f.Add(archive[:len(archive)-9])
	f.Add(append(bytes.Clone(archive), archive...))
	f.Add(table([][2]int{{1, 1}}, nil))
	f.Add(pack(f, nil, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		src := inMemory(b)
		s, err := store.OpenArchive(src)
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("opening: %v", err)
			}
			return
		}
		defer s.Close()
		size, err := s.Size()
		if err != nil || size < 0 {
			t.Fatalf("size %d, %v", size, err)
		}
		whole, err := io.ReadAll(io.NewSectionReader(s, 0, min(size, 8<<20)))
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Fatalf("reading: %v", err)
		}
		r := rand.New(rand.NewPCG(uint64(len(b)), 0))
		for range 10 {
			at := r.Int64N(size + 10)
			p := make([]byte, r.IntN(5000))
			n, err := s.ReadAt(p, at)
			if n < len(p) && err == nil {
				t.Fatalf("%d of %d bytes at %d, and no error", n, len(p), at)
			}
			if end := at + int64(n); end <= int64(len(whole)) && !bytes.Equal(p[:n], whole[at:end]) {
				t.Fatalf("%d bytes at %d are not what they were", n, at)
			}
		}
	})
}
