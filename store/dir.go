package store

import (
	"os"
	"slices"
	"strings"
)

// ReadDir lists a directory in the order of names, leaving its access time alone
// where the system allows it.
func ReadDir(path string) ([]os.DirEntry, error) {
	d, err := openQuietly(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.ReadDir(-1)
	sortByName(list)
	return list, err
}

func sortByName(list []os.DirEntry) {
	slices.SortFunc(list, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}
