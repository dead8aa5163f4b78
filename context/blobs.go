package modelcontext

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// blobReference is how oh-my-pi stores bytes that it moved out of its log
// (session-persistence.ts): as the value of a few members. In a text the quotes would
// be escaped.
var blobReference = regexp.MustCompile(`"(data|image_url|result)"\s*:\s*"blob:sha256:([^"\\]*)"`)

const blobPrefix = `"blob:sha256:`

// validSum is how the sum of a blob is written; anything else is no name of one.
var validSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// resolveBlobs puts bytes in the place of references.
func (b *builder) resolveBlobs() {
	if b.ctx.Dialect != Omp {
		return
	}
	b.blobs = map[string]blob{}
	for i, m := range b.ctx.Messages {
		if bytes.Contains(m.Raw, []byte(blobPrefix)) {
			b.ctx.Messages[i].Raw = blobReference.ReplaceAllFunc(m.Raw, func(reference []byte) []byte {
				return b.resolve(m, reference)
			})
		}
	}
}

// resolve gives the member with its bytes, or as it is.
func (b *builder) resolve(m Message, reference []byte) []byte {
	parts := blobReference.FindSubmatch(reference)
	name, sum := parts[1], string(parts[2])
	found, known := b.blobs[sum]
	if !known {
		found = b.readBlob(sum)
		b.blobs[sum] = found
	}
	if found.err != nil {
		b.ctx.Report.drop(m.Entry, MissingBlob, fmt.Sprintf("%s: %v", sum, found.err))
		return reference
	}
	text := found.encoded
	if string(name) == "image_url" { // it is stored as its text
		text = jsonvalue.AppendString(nil, string(found.data))
	}
	return append(append(append([]byte{'"'}, name...), `":`...), text...)
}

// A blob is read once, however often it is named.
type blob struct {
	data, encoded []byte // encoded is base64, in quotes
	err           error
}

func (b *builder) readBlob(sum string) (found blob) {
	if found.data, found.err = b.blob(sum); found.err == nil {
		found.encoded = append(base64.StdEncoding.AppendEncode([]byte{'"'}, found.data), '"')
	}
	return found
}

// blob asks the caller, and trusts bytes only by their sum.
func (b *builder) blob(sum string) ([]byte, error) {
	if !validSum.MatchString(sum) {
		return nil, fmt.Errorf("it is no SHA-256 in lower-case hex")
	}
	if b.opt.Blob == nil {
		return nil, fmt.Errorf("no blobs are known")
	}
	data, err := b.opt.Blob(sum)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("its bytes have another sum, %x", got)
	}
	return data, nil
}
