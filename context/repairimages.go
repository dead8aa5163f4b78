package modelcontext

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonvalue"
)

// images looks at the images that stand outside of a message's content: those of a
// shell command, of a summary's archive, and of files that were mentioned.
func (r *repairer) images(m Message) Message {
	for _, name := range []string{"images", "blocks"} {
		before := blocks(m.Field(name))
		var after []json.RawMessage
		for _, b := range before {
			if b = r.block(m, b); b != nil {
				after = append(after, b)
			}
		}
		if !sameBlocks(before, after) {
			m = m.with(name, jsonvalue.Array(after...))
		}
	}
	if m.Role == RoleFileMention {
		m = r.fileImages(m)
	}
	return m
}

// fileImages takes the image from a file whose image cannot be sent; its text stays.
func (r *repairer) fileImages(m Message) Message {
	before := blocks(m.Field("files"))
	after := make([]json.RawMessage, len(before))
	for i, file := range before {
		after[i] = file
		if image := fieldOf(file, "image"); truthy(image) {
			mended := r.image(m, image)
			if kindOf(mended) != "image" {
				mended = nil
			}
			if !bytes.Equal(mended, image) {
				after[i] = jsonvalue.Set(file, "image", mended)
			}
		}
	}
	if sameBlocks(before, after) {
		return m
	}
	return m.with("files", jsonvalue.Array(after...))
}

// image gives an image that providers take: of a type that they know, which its
// bytes are too; else a text that says that it is missing.
func (r *repairer) image(m Message, b []byte) []byte {
	stated := jsonvalue.String(fieldOf(b, "mimeType"))
	encoded := jsonvalue.String(fieldOf(b, "data"))
	if strings.ContainsAny(encoded, "\r\n") { // which providers do not take
		r.note(m, ReplacedImage, "its base64 has line breaks")
		encoded = strings.NewReplacer("\r", "", "\n", "").Replace(encoded)
		b = jsonvalue.Set(b, "data", jsonvalue.AppendString(nil, encoded))
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	actual := imageType(data)
	if m.Role != RoleAssistant && err == nil && actual != "" {
		if stated == actual {
			return b
		}
		r.note(m, ReplacedImage, "it is "+actual+" and not "+stated)
		return jsonvalue.Set(b, "mimeType", jsonvalue.AppendString(nil, actual))
	}
	r.note(m, ReplacedImage, "no image that can be sent")
	return textBlock("[an image that is not available]")
}

// imageType tells by its first bytes which of the types that every provider takes an
// image is of; "" for any other.
func imageType(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 14 && string(data[:4]) == "RIFF" && string(data[8:14]) == "WEBPVP":
		return "image/webp"
	}
	return ""
}
