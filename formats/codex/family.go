package codex

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/formats/internal/transcript"
	"github.com/sessctl/sessctl/internal/jsonl"
	"github.com/sessctl/sessctl/store"
)

type sourceFile = store.Source

// A family is the files that a thread is made of: the segments of it, and those of other
// threads that it goes on from.
type family struct {
	t        *translator
	log      *transcript.Log
	rollouts []*rollout          // the one that was asked for first
	names    map[string]string   // the paths of segments
	byThread map[string][]string // the segments of a thread
}

// fileName is how Codex names a file: by the time, the thread and, of a segment but the
// first, the segment.
var fileName = regexp.MustCompile(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-f-]{36})(?:_([0-9a-f-]{36}))?\.jsonl$`)

// gather reads the other files of a thread. Only a thread that Codex keeps in segments
// has any.
func (f *family) gather() {
	first := f.rollouts[0]
	if !first.meta.paginated && first.meta.base == "" {
		return
	}
	f.look(first.path)
	for _, id := range f.byThread[first.meta.id] {
		f.open(id, first)
	}
	for i := 0; i < len(f.rollouts); i++ {
		if r := f.rollouts[i]; r.meta.base != "" {
			f.open(r.meta.base, r)
		}
	}
}

// open reads the file of a segment, unless it was read. One that cannot be read is told
// of, at the file that needs it.
func (f *family) open(id string, by *rollout) {
	if f.segment(id) != nil {
		return
	}
	path, ok := f.names[id]
	if !ok {
		f.missing(by, "goes on from the segment "+entries.ID(id).Short()+", whose file is not found; put it beside this one or into its own folder of sessions")
		return
	}
	src, err := store.OpenFile(path)
	if err == nil {
		_, err = f.read(src, f.log.AddFile(src, path), path)
	}
	if err != nil {
		f.missing(by, "belongs together with "+filepath.Base(path)+", which cannot be read: "+err.Error())
	}
}

func (f *family) missing(by *rollout, what string) {
	f.log.Notes.Damage(jsonl.MissingParent, transcript.Place{File: by.file, Line: 1}, 0, filepath.Base(by.path)+" "+what)
}

// segment gives the file of a segment that was read, nil where it was not.
func (f *family) segment(id string) *rollout {
	for _, r := range f.rollouts {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (f *family) read(src sourceFile, file int32, path string) (*rollout, error) {
	size, err := src.Size()
	if err != nil {
		return nil, err
	}
	r := &rollout{file: file, path: path, tag: "c", id: segmentOf(path)}
	if err := f.t.read(r, src, size); err != nil {
		return nil, err
	}
	if r.id != "" && (r.meta.paginated || r.meta.base != "") {
		r.tag = r.id[len(r.id)-8:] + "-"
	}
	f.rollouts = append(f.rollouts, r)
	return r, nil
}

// FileIDs gives the ids of the thread that a file is of and of the segment of it that it is,
// which the first one has of the thread, by the file's name. A file of any other name has none.
func FileIDs(path string) (thread, segment string) {
	m := fileName.FindStringSubmatch(strings.TrimSuffix(filepath.Base(path), store.ArchiveSuffix))
	if m == nil {
		return "", ""
	}
	return m[1], cmp.Or(m[2], m[1])
}

func segmentOf(path string) string {
	_, segment := FileIDs(path)
	return segment
}

// look finds files by their names, in the folder of sessions that a file is in and in
// that of archived ones.
func (f *family) look(path string) {
	f.names, f.byThread = map[string]string{}, map[string][]string{}
	if _, err := os.Stat(path); err != nil {
		return // a stream has no neighbours
	}
	for _, dir := range folders(path) {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil: // a folder that cannot be read has nothing that is found
			case d.IsDir() && path != dir && !datePart.MatchString(d.Name()):
				return fs.SkipDir
			case !d.IsDir():
				f.found(path)
			}
			return nil
		})
	}
}

func (f *family) found(path string) {
	thread, id := FileIDs(path)
	if id == "" {
		return
	}
	if _, taken := f.names[id]; !taken {
		f.byThread[thread] = append(f.byThread[thread], id)
	} else if strings.HasSuffix(path, store.ArchiveSuffix) {
		return // the log stands beside its archive
	}
	f.names[id] = path
}

var datePart = regexp.MustCompile(`^\d+$`)

// folders gives the folder of sessions that a file is in (three above the file, where
// those are a date), and the one that Codex has beside it.
func folders(path string) []string {
	dir := filepath.Dir(path)
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	top := dir
	for range 3 {
		if datePart.MatchString(filepath.Base(top)) {
			top = filepath.Dir(top)
		}
	}
	switch filepath.Base(top) {
	case "sessions":
		return []string{top, filepath.Join(filepath.Dir(top), "archived_sessions")}
	case "archived_sessions":
		return []string{top, filepath.Join(filepath.Dir(top), "sessions")}
	}
	return []string{top}
}

// inOrder sorts the files so that a segment comes behind the one that it goes on from,
// the older first, and last the one in which the thread goes on.
func (f *family) inOrder() []*rollout {
	active := f.newest()
	list := slices.Clone(f.rollouts)
	slices.SortStableFunc(list, func(a, b *rollout) int {
		return cmp.Or(strings.Compare(a.meta.time, b.meta.time), strings.Compare(a.path, b.path))
	})
	done := map[*rollout]bool{}
	var order []*rollout
	var put func(r *rollout, depth int)
	put = func(r *rollout, depth int) {
		if done[r] {
			return
		}
		done[r] = true
		if base := f.baseOf(r); base != nil && depth < len(list) {
			put(base, depth+1)
		}
		order = append(order, r)
	}
	for _, r := range list {
		if r != active {
			put(r, 0)
		}
	}
	put(active, 0)
	return order
}

// newest gives the segment in which the thread that was asked for goes on.
func (f *family) newest() *rollout {
	newest := f.rollouts[0]
	for _, r := range f.rollouts {
		if r.meta.id == newest.meta.id && r.meta.time > newest.meta.time {
			newest = r
		}
	}
	return newest
}

// baseOf gives the file that a segment goes on from, nil where there is none.
func (f *family) baseOf(r *rollout) *rollout {
	if r.meta.base == "" || r.meta.base == r.id {
		return nil
	}
	return f.segment(r.meta.base)
}

func sortByEnd(list []*rollout) {
	slices.SortStableFunc(list, func(a, b *rollout) int {
		return cmp.Or(cmp.Compare(a.meta.end, b.meta.end), cmp.Compare(a.meta.endOrdinal, b.meta.endOrdinal))
	})
}
