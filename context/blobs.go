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
// (session-persistence.ts): as the value of a few members, in compact JSON. In a
// text the quotes would be escaped.
var blobReference = regexp.MustCompile(`"(data|image_url|result)":"blob:sha256:([0-9a-f]{64})"`)

const blobPrefix = `"blob:sha256:`

// resolveBlobs puts bytes in the place of references.
func (b *builder) resolveBlobs() {
	if b.ctx.Dialect != Omp {
		return
	}
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
	data, err := b.blob(sum)
	if err != nil {
		b.ctx.Report.drop(m.Entry, MissingBlob, fmt.Sprintf("%s: %v", sum, err))
		return reference
	}
	text := string(data) // an image_url is stored as its text
	if string(name) != "image_url" {
		text = base64.StdEncoding.EncodeToString(data)
	}
	member := append(append([]byte{'"'}, name...), `":`...)
	return jsonvalue.AppendString(member, text)
}

// blob asks the caller, and trusts bytes only by their sum.
func (b *builder) blob(sum string) ([]byte, error) {
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
