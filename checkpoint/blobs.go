package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sessctl/sessctl/internal/durable"
)

// ErrNoBlob: the store does not have the content, or has other bytes in its place.
var ErrNoBlob = errors.New("checkpoint: the content is not in the store")

// A Store keeps contents of files, each once, under the SHA-256 of its bytes:
// `sha256/ab/cdef…`, as they are or, where that is smaller, compressed, with `.zst` at the
// name's end. So they can be read without this package. Files are 0600, directories
// 0700. Whatever is read is checked against its name. A Store is safe for concurrent
// use, also by several processes.
type Store struct {
	dir  string
	fsys durable.FS
	root *os.Root // nil in tests on a simulated disk
	now  func() time.Time

	mu     sync.Mutex
	synced map[string]bool // blobs that are known to be durable
	dirs   map[string]bool // directories of blobs whose own names are
}

// The names in a store.
const (
	sumsDir    = "sha256"
	tempDir    = "tmp"
	refsDir    = "refs"       // logs elsewhere that refer to this store
	statesDir  = "workspaces" // what scans remember; disposable
	zstdSuffix = ".zst"
)

// StoreOf gives where the blobs of a log are by default: beside it.
func StoreOf(log string) string { return filepath.Join(filepath.Dir(log), "blobs") }

// OpenStore opens the store in a directory, which is made where it is missing.
func OpenStore(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := durable.MkdirAll(durable.OS(), dir, 0o700); err != nil {
		return nil, err
	}
	st, err := LookStore(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{sumsDir, tempDir} {
		if err := durable.MkdirAll(st.fsys, name, 0o700); err != nil {
			st.Close()
			return nil, err
		}
	}
	st.removeLeftovers()
	return st, nil
}

// LookStore opens a store that is only read. A directory that is missing is an error
// that is fs.ErrNotExist.
func LookStore(dir string) (*Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{dir: dir, fsys: durable.Root(root), root: root, now: time.Now, synced: map[string]bool{}}, nil
}

// Dir is the directory of the store.
func (st *Store) Dir() string { return st.dir }

// Close gives the store up.
func (st *Store) Close() error {
	if st.root == nil {
		return nil
	}
	return st.root.Close()
}

// blobName is where a blob is, without what names its compression.
func blobName(sum string) string { return path.Join(sumsDir, sum[:2], sum[2:]) }

// sumOf is the name of some bytes.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Put stores a content and gives its sum. When it returns nil the content survives a
// power cut.
func (st *Store) Put(data []byte) (sum string, err error) {
	sum = sumOf(data)
	return sum, st.put(sum, data)
}

func (st *Store) put(sum string, data []byte) error {
	b := st.batch()
	if err := b.put(sum, data); err != nil {
		b.drop()
		return err
	}
	return b.commit()
}

// Has tells whether the store has something under a sum. Only Get tells whether it is
// sound.
func (st *Store) Has(sum string) bool {
	_, _, err := st.find(sum)
	return err == nil
}

// find looks for a blob. What is no regular file was planted, and is not followed.
func (st *Store) find(sum string) (name string, info fs.FileInfo, err error) {
	if !validSum(sum) {
		return "", nil, fmt.Errorf("%w: %q is no SHA-256", ErrNoBlob, sum)
	}
	for _, suffix := range []string{"", zstdSuffix} {
		name = blobName(sum) + suffix
		info, err = st.fsys.Lstat(name)
		switch {
		case err == nil && info.Mode().IsRegular():
			return name, info, nil
		case err == nil:
			return "", nil, fmt.Errorf("%w: %s in %s is no regular file; remove it", ErrNoBlob, name, st.dir)
		case !errors.Is(err, fs.ErrNotExist):
			return "", nil, fmt.Errorf("%w: %w", ErrNoBlob, err)
		}
	}
	return "", nil, fmt.Errorf("%w: %s is not in %s", errNoFile, sum, st.dir)
}

// errNoFile is ErrNoBlob where nothing stands in the blob's place.
var errNoFile = fmt.Errorf("%w", ErrNoBlob)

// largestBlob bounds what is unpacked: a planted file must not take all memory.
const largestBlob = 1 << 30

// Get gives a content by its sum: exactly those bytes, or an error that is ErrNoBlob.
func (st *Store) Get(sum string) ([]byte, error) {
	name, _, err := st.find(sum)
	if err != nil {
		return nil, err
	}
	return st.sound(name, sum)
}

// sound reads the blob in a file, and checks that it is what its name says.
func (st *Store) sound(name, sum string) ([]byte, error) {
	data, err := st.read(name, sum)
	if err != nil {
		return nil, fmt.Errorf("%w: %s in %s: %w", ErrNoBlob, name, st.dir, err)
	}
	if got := sumOf(data); got != sum {
		return nil, fmt.Errorf("%w: %s in %s holds other bytes, with the sum %s; it was damaged or replaced", ErrNoBlob, name, st.dir, got)
	}
	return data, nil
}

func (st *Store) read(name, sum string) ([]byte, error) {
	data, err := readFile(st.fsys, name, largestBlob)
	if err != nil || path.Ext(name) != zstdSuffix {
		return data, err
	}
	return unpack(data, sum)
}

// readFile reads a file of at most so many bytes.
func readFile(fsys durable.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%d bytes are more than %d", info.Size(), most)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(io.NewSectionReader(f, 0, info.Size()), data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it became shorter; whoever cares looks at it again
	}
	return data[:n], err
}

// The coders have no state between calls and are safe for concurrent use. Making one
// takes longer than most files.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(largestBlob))
	if err != nil {
		panic(err)
	}
	return d
})

// largestUnproven is how much is unpacked before it is known that the sum is right.
const largestUnproven = 32 << 20

// unpack unpacks a blob. A planted one may be tiny and unpack to very much: what is large
// is summed piece by piece first.
func unpack(packed []byte, sum string) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return nil, err
	}
	if !h.HasFCS || h.FrameContentSize > largestUnproven {
		if err := proveSum(packed, sum); err != nil {
			return nil, err
		}
	}
	return decoder().DecodeAll(packed, make([]byte, 0, min(h.FrameContentSize, largestUnproven)))
}

func proveSum(packed []byte, sum string) error {
	d, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largestBlob), zstd.WithDecoderMaxWindow(largestUnproven))
	if err != nil {
		return err
	}
	defer d.Close()
	h := sha256.New()
	if _, err := io.Copy(h, d); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		return fmt.Errorf("it unpacks to other bytes, with the sum %s", got)
	}
	return nil
}

// pack compresses where that saves at least a sixteenth.
func pack(data []byte) (packed []byte, suffix string) {
	packed = encoder().EncodeAll(data, nil)
	if len(packed) < len(data)-len(data)/16 {
		return packed, zstdSuffix
	}
	return data, ""
}
