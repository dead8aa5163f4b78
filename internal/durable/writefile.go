package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// ErrPublished is in the error of a WriteFile that failed after the file had got
// its name: the file is there, whole, but may not survive a power cut, or its
// temporary name was left beside it. Calling again would fail with fs.ErrExist.
var ErrPublished = errors.New("the file is in place, but what follows failed")

// WriteFile publishes a new file whole or not at all, with exactly this mode, and
// returns nil once it survives a power cut. Where the name exists it fails with
// fs.ErrExist and leaves that alone.
//
// It writes a temporary file beside the name, ".<base>.<random>.tmp", which it
// removes again on every error; one that is found was left by a process that died,
// and is nobody's. Only an error that is ErrPublished leaves the file.
func WriteFile(fsys FS, name string, data io.Reader, perm fs.FileMode) error {
	dir, base := filepath.Split(name)
	temp := dir + tempName(base)
	if err := writeTemp(fsys, temp, data, perm); err != nil {
		return err
	}
	renamed, err := publish(fsys, temp, name)
	if err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	// The temporary name goes before the directory is synced, so that one sync
	// makes both certain. A failure to remove it does not keep from that sync.
	if !renamed {
		err = fsys.Remove(temp)
	}
	// Until now the file's bytes are certain, but its name is not.
	err = errors.Join(err, fsys.SyncDir(filepath.Dir(name)))
	if err != nil {
		return fmt.Errorf("%s: %w: %w", name, ErrPublished, err)
	}
	return nil
}

// longestBase leaves room for what tempName adds to a name of at most 255 bytes.
const longestBase = 200

// tempName is hidden, and ends like nothing that a listing of logs looks for. It is
// random because a process that died may have left one.
func tempName(base string) string {
	if len(base) > longestBase {
		base = strings.ToValidUTF8(base[:longestBase], "")
	}
	return "." + base + "." + strings.ToLower(rand.Text()[:12]) + ".tmp"
}

// writeTemp writes and syncs the temporary file, or leaves none.
func writeTemp(fsys FS, temp string, data io.Reader, perm fs.FileMode) error {
	// O_EXCL: never write into somebody else's file or through a link.
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	err = fill(f, temp, data)
	// Close reports what some network file systems find out only then.
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	return nil
}

func fill(f File, temp string, data io.Reader) error {
	n, err := io.Copy(io.NewOffsetWriter(f, 0), data)
	if err != nil {
		return err
	}
	// A file system that lies about a write (full, quota, network) shows it here.
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if fi.Size() != n {
		return &fs.PathError{Op: "write", Path: temp, Err: fmt.Errorf("%d bytes written, %d there: %w", n, fi.Size(), io.ErrShortWrite)}
	}
	// The bytes before the name: otherwise a power cut could leave the name on an
	// empty file.
	return f.Sync()
}

// publish gives the temporary file its name, and says whether it thereby lost the
// temporary one.
func publish(fsys FS, temp, name string) (renamed bool, err error) {
	// A link, as it refuses a name that exists; a rename would replace the file.
	err = fsys.Link(temp, name)
	if !linksUnsupported(err) {
		return false, err
	}
	// FAT, some network file systems and Android know no links. Rename after a look
	// is the best there: two processes that publish one name at the same moment
	// could both succeed, the second replacing the first's whole file by its own.
	switch _, err := fsys.Lstat(name); {
	case err == nil:
		return false, &os.LinkError{Op: "link", Old: temp, New: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	return true, fsys.Rename(temp, name)
}

// linksUnsupported tells whether the file system refused a link as such: as not
// permitted (Linux's FAT and Android; a directory that may not be written would
// have refused the temporary file) or as an unknown function (Windows' FAT).
func linksUnsupported(err error) bool {
	const errorInvalidFunction = syscall.Errno(1)
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) ||
		runtime.GOOS == "windows" && errors.Is(err, errorInvalidFunction)
}
