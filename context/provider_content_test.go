package modelcontext_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// checkNotEmpty, rule empty: a message says something. Anthropic says: "all messages
// must have non-empty content except for the optional final assistant message"; the
// exception is for a prefill, which no log has, and newer models take none. An
// assistant message of thinking that is not sent has nothing in it either. A system
// message may be there for its tools alone. Results are for checkErrorResults:
// [Tool calls] has their content optional, and [Chat] takes "".
func checkNotEmpty(messages []sentMessage) (found []violation) {
	for _, m := range messages {
		if m.mayBeEmpty() || len(m.sentBlocks()) > 0 {
			continue
		}
		if m.role != "assistant" && !isBlank(jsonText(m.fields["content"])) {
			continue
		}
		found = append(found, violation{m.at, "empty", m.role})
	}
	return found
}

func (m sentMessage) mayBeEmpty() bool {
	switch m.role {
	case "user", "developer", "custom", "assistant":
		return false
	case "system":
		return m.fields["sections"] != nil || m.fields["toolsAdded"] != nil || m.fields["toolsRemoved"] != nil
	}
	return true // results, and those that are rendered with words of the harness
}

// checkBlankText, rule text: a text block has more than white space in it. Anthropic
// says: "text content blocks must be non-empty", and "text content blocks must contain
// non-whitespace text". A result of text alone may be empty (it is sent as one
// string), one with an image beside it may not.
func checkBlankText(messages []sentMessage) (found []violation) {
	for _, m := range messages {
		blocks := m.blocks()
		hasImage := slices.ContainsFunc(blocks, func(b sentBlock) bool { return b.kind == "image" })
		for i, b := range blocks {
			switch {
			case b.kind != "text":
			case !isJSONText(b.fields["text"]):
				found = append(found, violation{m.at, "text", fmt.Sprintf("block %d has no text", i)})
			case isBlank(jsonText(b.fields["text"])) && (m.role != "toolResult" || hasImage):
				found = append(found, violation{m.at, "text", fmt.Sprintf("block %d is blank", i)})
			}
		}
	}
	return found
}

// checkBlockTypes, rule block: [Messages] and [Chat] list the types of blocks; of those
// pi's form has text and images in what is not the assistant's. (What a harness does
// not know of an assistant's blocks it leaves out.)
func checkBlockTypes(messages []sentMessage) (found []violation) {
	for _, m := range messages {
		for i, b := range m.blocks() {
			if m.role != "assistant" && b.kind != "text" && b.kind != "image" {
				found = append(found, violation{m.at, "block", fmt.Sprintf("block %d has the type %q", i, b.kind)})
			}
		}
	}
	return found
}

// checkImages, rule image: [Vision]: base64 of JPEG, PNG, GIF, or WebP. Anthropic says:
// "invalid base64 data", "image cannot be empty", "media_type: Input should be
// 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", and "Image does not match the
// provided media type". A reference to where an image is stored is no base64, which
// makes a session unusable from there on.
func checkImages(messages []sentMessage) (found []violation) {
	for _, m := range messages {
		for i, b := range m.blocks() {
			if why := badImage(b); b.kind == "image" && m.role != "assistant" && why != "" {
				found = append(found, violation{m.at, "image", fmt.Sprintf("block %d: %s", i, why)})
			}
		}
	}
	return found
}

func badImage(b sentBlock) string {
	mime := jsonText(b.fields["mimeType"])
	data, err := base64.StdEncoding.DecodeString(jsonText(b.fields["data"]))
	switch {
	case !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, mime):
		return fmt.Sprintf("mime type %q", mime)
	case err != nil:
		return err.Error()
	case len(data) == 0:
		return "no data"
	}
	if found := http.DetectContentType(data); strings.HasPrefix(found, "image/") && found != mime {
		return found + " said to be " + mime
	}
	return ""
}

// checkErrorResults, rule error: a result that is an error says which. Anthropic says:
// "tool_result: content cannot be empty if `is_error` is true".
func checkErrorResults(messages []sentMessage) (found []violation) {
	for _, m := range messages {
		if m.role != "toolResult" || string(m.fields["isError"]) != "true" {
			continue
		}
		if len(m.sentBlocks()) == 0 && isBlank(jsonText(m.fields["content"])) {
			found = append(found, violation{m.at, "error", "an error without content"})
		}
	}
	return found
}
