package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessctl/sessctl/internal/sessgen"
	"github.com/sessctl/sessctl/store"
)

// memory is a Source of bytes.
type memory struct {
	*bytes.Reader
	closed bool
}

func inMemory(b []byte) *memory { return &memory{Reader: bytes.NewReader(b)} }

func (m *memory) Size() (int64, error) { return m.Reader.Size(), nil }

func (m *memory) Close() error {
	m.closed = true
	return nil
}

func pack(t testing.TB, log []byte, opt *store.ArchiveOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := store.CreateArchive(&b, inMemory(log), opt); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t testing.TB, archive []byte) store.Source {
	t.Helper()
	s, err := store.OpenArchive(inMemory(archive))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func readAll(t testing.TB, s store.Source) []byte {
	t.Helper()
	size, err := s.Size()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(io.NewSectionReader(s, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func generate(t testing.TB, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := sessgen.Write(&b, size, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// logs are the shapes that frames are cut from.
func logs(t testing.TB) map[string][]byte {
	noise := make([]byte, 700<<10)
	for i, r := 0, rand.NewChaCha8([32]byte{}); i < len(noise); i += 8 {
		binary.LittleEndian.PutUint64(noise[i:], r.Uint64())
	}
	return map[string][]byte{
		"empty":                 {},
		"one line":              []byte("one\n"),
		"no newline at the end": []byte(content),
		"a session":             generate(t, 3<<20),
		"a long line":           []byte("a\n" + strings.Repeat("long", 300<<10) + "\nb\n"),
		"nothing but newlines":  bytes.Repeat([]byte("\n"), 600<<10),
		"what does not shrink":  noise,
	}
}

func TestArchivesHoldTheirLogs(t *testing.T) {
	for name, log := range logs(t) {
		for _, size := range []int{0, 1, 1000, 1 << 30} {
			if size == 1 && len(log) > 1000 {
				continue // an archive of single bytes takes its time
			}
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				packed := pack(t, log, &store.ArchiveOptions{FrameSize: size})
				if got := readAll(t, unpack(t, packed)); !bytes.Equal(got, log) {
					t.Errorf("got %d bytes, want the %d of the log", len(got), len(log))
				}
				if got := decompress(t, packed); !bytes.Equal(got, log) {
					t.Errorf("as a whole: got %d bytes, want the %d of the log", len(got), len(log))
				}
			})
		}
	}
}

// decompress reads an archive as a decoder does that knows nothing of seek tables.
func decompress(t testing.TB, packed []byte) []byte {
	t.Helper()
	dec, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	b, err := io.ReadAll(dec)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestZstdReadsArchivesAndIsRead(t *testing.T) {
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("needs the command zstd")
	}
	dir := t.TempDir()
	for name, log := range logs(t) {
		path := write(t, filepath.Join(dir, "log.zst"), string(pack(t, log, nil)))
		cmd := exec.Command("zstd", "-dc", path)
		if got, err := cmd.Output(); err != nil || !bytes.Equal(got, log) {
			t.Errorf("%s: zstd -d gave %d bytes and %v, want the %d of the log", name, len(got), err, len(log))
		}
		for _, args := range [][]string{{"-19", "--long=27"}, {"--no-check"}} {
			cmd := exec.Command("zstd", append(args, "-c")...)
			cmd.Stdin = bytes.NewReader(log)
			packed, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if got := readAll(t, unpack(t, packed)); !bytes.Equal(got, log) {
				t.Errorf("%s: of zstd %v got %d bytes, want %d", name, args, len(got), len(log))
			}
		}
	}
}

func TestFramesEndWhereLinesEnd(t *testing.T) {
	log := generate(t, 4<<20)
	list := frames(pack(t, log, nil))
	if len(list) < 10 {
		t.Fatalf("got %d frames of 4 MiB", len(list))
	}
	at := 0
	for i, f := range list {
		at += f[1]
		if log[at-1] != '\n' && f[1] != 256<<10 {
			t.Errorf("frame %d of %d bytes ends inside a line", i, f[1])
		}
	}
	if at != len(log) {
		t.Errorf("the frames have %d bytes, the log %d", at, len(log))
	}
}

// frames gives the sizes in a seek table, compressed and plain, read as its
// specification says.
func frames(archive []byte) (list [][2]int) {
	end := len(archive) - 9
	n := int(binary.LittleEndian.Uint32(archive[end:]))
	for at := end - 12*n; at < end; at += 12 {
		list = append(list, [2]int{int(binary.LittleEndian.Uint32(archive[at:])), int(binary.LittleEndian.Uint32(archive[at+4:]))})
	}
	return list
}

func TestArchiveReadAt(t *testing.T) {
	var list []string
	for i := range 3000 {
		list = append(list, fmt.Sprint(i))
	}
	log := strings.Join(list, "\n")
	for _, frame := range []int{0, 5, 100} {
		s := unpack(t, pack(t, []byte(log), &store.ArchiveOptions{FrameSize: frame}))
		checkSource(t, s, log)
	}
	s := unpack(t, pack(t, []byte(log), nil))
	s.Close()
	if _, err := s.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: got %v, want ErrClosed", err)
	}
	if _, err := s.Size(); err == nil {
		t.Error("closed: got a size")
	}
}

// TestArchiveReadsAreThoseOfTheLog reads at random places, at once.
func TestArchiveReadsAreThoseOfTheLog(t *testing.T) {
	log := generate(t, 8<<20)
	s := unpack(t, pack(t, log, &store.ArchiveOptions{FrameSize: 64 << 10}))
	var wg sync.WaitGroup
	for seed := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 0))
			for range 100 {
				at := r.IntN(len(log) + 100)
				p := make([]byte, r.IntN(1<<(6+r.IntN(16))))
				n, err := s.ReadAt(p, int64(at))
				want := log[min(at, len(log)):min(at+len(p), len(log))]
				if !bytes.Equal(p[:n], want) || (err == nil) != (n == len(p)) || err != nil && err != io.EOF {
					t.Errorf("%d bytes at %d: got %d, %v, want %d", len(p), at, n, err, len(want))
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestArchivesAreOpenedTransparently(t *testing.T) {
	dir := t.TempDir()
	log := generate(t, 1<<20)
	plain, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, archive := range map[string][]byte{
		"log.jsonl.zst": pack(t, log, nil), "named otherwise": pack(t, log, nil), "stream.zst": plain.EncodeAll(log, nil), "log.jsonl": log,
	} {
		path := write(t, filepath.Join(dir, name), string(archive))
		s, err := store.OpenFile(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(readAll(t, s), log) {
			t.Errorf("%s: not the log", name)
		}
		s.Close()
		if s, err = store.Spool(bytes.NewReader(archive)); err != nil {
			t.Fatalf("%s, from a stream: %v", name, err)
		}
		if !bytes.Equal(readAll(t, s), log) {
			t.Errorf("%s, from a stream: not the log", name)
		}
		s.Close()
	}
}

// TestArchivesOfOthers reads what other writers of the format may do: no sums in
// the table, sums in the table but not in the frames, frames in frames, empty ones.
func TestArchivesOfOthers(t *testing.T) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	var sizes [][2]int
	for _, lines := range []string{"one\n", "", "two\nthree\n", ""} {
		f := enc.EncodeAll([]byte(lines), nil)
		body, sizes = append(body, f...), append(sizes, [2]int{len(f), len(lines)})
	}
	two := append(enc.EncodeAll([]byte("fo"), nil), enc.EncodeAll([]byte("ur\n"), nil)...)
	body, sizes = append(body, two...), append(sizes, [2]int{len(two), 5})
	const want = "one\ntwo\nthree\nfour\n"
	for name, sums := range map[string][]uint32{
		"no sums": nil,
		// As the command zstd has them at the end of its frames.
		"sums": {0x096816df, 0x51d8e999, 0x9a9404f6, 0x51d8e999, 0x36fa23a3},
	} {
		s := unpack(t, append(bytes.Clone(body), table(sizes, sums)...))
		if got := string(readAll(t, s)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		checkSource(t, s, want)
	}
	wrong := append(bytes.Clone(body), table(sizes, []uint32{1, 2, 3, 4, 5})...)
	if _, err := unpack(t, wrong).ReadAt(make([]byte, 4), 0); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("wrong sums: got %v, want ErrCorrupt", err)
	}
}

// table makes a seek table.
func table(sizes [][2]int, sums []uint32) []byte {
	var b []byte
	word := func(n uint32) { b = binary.LittleEndian.AppendUint32(b, n) }
	for i, s := range sizes {
		word(uint32(s[0]))
		word(uint32(s[1]))
		if sums != nil {
			word(sums[i])
		}
	}
	word(uint32(len(sizes)))
	if sums != nil {
		b = append(b, 0x80)
	} else {
		b = append(b, 0)
	}
	word(0x8F92EAB1)
	entries := b
	b = nil
	word(0x184D2A5E)
	word(uint32(len(entries)))
	return append(b, entries...)
}

// TestCorpusShrinks holds that real sessions take a third of their room.
func TestCorpusShrinks(t *testing.T) {
	dir := os.Getenv("SESSCTL_CORPUS")
	if dir == "" {
		t.Skip("needs SESSCTL_CORPUS")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "pi", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	var plain, packed int
	for _, path := range paths {
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archive := pack(t, log, nil)
		if !bytes.Equal(readAll(t, unpack(t, archive)), log) {
			t.Errorf("%s: not the log", path)
		}
		t.Logf("%s: %d to %d, %.2f times smaller", filepath.Base(path), len(log), len(archive), float64(len(log))/float64(len(archive)))
		plain, packed = plain+len(log), packed+len(archive)
	}
	t.Logf("all: %.2f times smaller", float64(plain)/float64(packed))
	if plain < 3*packed {
		t.Errorf("%d bytes became %d; want a third", plain, packed)
	}
}
