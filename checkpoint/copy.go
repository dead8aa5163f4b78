package checkpoint

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/sessiontree"
)

// CopyContents copies what a log refers to from one store into another, so that a session
// that was copied from elsewhere has its contents beside it. missing counts those that the
// store it comes from does not have either.
func CopyContents(ctx context.Context, t *sessiontree.Tree, from, to *Store) (missing int, err error) {
	seen := map[string]bool{}
	for e, err := range t.Entries() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return missing, err
		}
		r, _, err := readRecord(e, from)
		if err != nil && r.List == "" {
			continue // it refers to nothing that could be told
		}
		b := to.batch()
		for _, sum := range r.sums() {
			if seen[sum] || to.Has(sum) {
				continue
			}
			seen[sum] = true
			switch err := b.copy(from, sum); {
			case errors.Is(err, ErrNoBlob):
				missing++
			case err != nil:
				b.drop()
				return missing, err
			}
		}
		if err := b.commit(); err != nil {
			return missing, err
		}
	}
	return missing, nil
}

func (b *batch) copy(from *Store, sum string) error {
	data, err := from.Get(sum)
	if err == nil {
		err = b.put(sum, data)
	}
	return err
}

// sums lists what a record refers to.
func (r *record) sums() (list []string) {
	if r.List != "" {
		list = append(list, r.List)
	}
	for _, f := range r.Files {
		for _, s := range []*State{f.Before, f.State, f.From, f.To} {
			if s != nil && s.Kind == File {
				list = append(list, s.SHA256)
			}
		}
	}
	return list
}
