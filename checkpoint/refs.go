package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/sessctl/sessctl/internal/durable"
)

// A ref tells gc of a log that does not lie beside the store, and refers to it.
type ref struct {
	Log string `json:"log"`
}

// register makes a log known to gc, durably, before anything of it is stored. One beside
// the store, or in a directory beside it, is found without that.
func (st *Store) register(log string) error {
	log, err := filepath.Abs(log)
	if err != nil {
		return err
	}
	home := filepath.Dir(st.dir)
	if dir := filepath.Dir(log); dir == home || filepath.Dir(dir) == home {
		return nil
	}
	if err := durable.MkdirAll(st.fsys, refsDir, 0o700); err != nil {
		return err
	}
	name := path.Join(refsDir, sumOf([]byte(log))[:16]+".json")
	err = durable.WriteFile(st.fsys, name, strings.NewReader(string(encode(ref{log}))), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// registered lists the logs elsewhere that refer to the store.
func (st *Store) registered() (logs []string, err error) {
	list, err := st.fsys.ReadDir(refsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if path.Ext(e.Name()) != ".json" {
			continue // of a process that died
		}
		name := path.Join(refsDir, e.Name())
		data, err := readFile(st.fsys, name, 1<<16)
		var r ref
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil || r.Log == "" {
			return nil, fmt.Errorf("%s in %s names a log that refers to the store, and cannot be read: %w", name, st.dir, errors.Join(err, errRef))
		}
		logs = append(logs, r.Log)
	}
	return logs, nil
}

var errRef = errors.New("a reference to a log is damaged")
