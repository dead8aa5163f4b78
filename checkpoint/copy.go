package checkpoint

import (
	"context"
	"errors"
)

// CopyContents copies into a store the contents that a log refers to and another store
// has: a fork that lies elsewhere goes on with the files of its source. It returns how many
// contents it copied, and how many the other store does not have.
func CopyContents(ctx context.Context, log string, from, to *Store) (copied, missing int, err error) {
	sums, _, err := from.mentioned(log)
	if err != nil {
		return 0, 0, err
	}
	b := to.batch()
	for _, sum := range sums {
		if err := ctx.Err(); err != nil {
			b.drop()
			return 0, 0, err
		}
		data, err := from.Get(sum)
		if errors.Is(err, ErrNoBlob) {
			missing++
			continue
		}
		if err == nil {
			err = b.put(sum, data)
		}
		if err != nil {
			b.drop()
			return 0, missing, err
		}
		copied++
	}
	return copied, missing, b.commit()
}
