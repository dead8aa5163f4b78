package modelcontext

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/sessctl/sessctl/entries"
	"github.com/sessctl/sessctl/sessiontree"
)

// A Context is what a model is sent from a place of a session.
type Context struct {
	Leaf     entries.ID // "" before the first entry
	Dialect  Dialect
	Messages []Message
	Settings
	Report Report

	// started are the calls of which the path tells that their tool was started;
	// promised tells whether the log promises to tell it of all.
	started  map[string]bool
	promised bool
	// sure are the answers of which nothing can be on another branch: what the path does
	// not tell of their calls did not happen.
	sure    map[entries.ID]bool
	reduced *int // tokens, about, of a context that Apply made
}

// Options say how a context is built. Nil stands for the zero value.
type Options struct {
	// Dialect, where set, takes the place of the log's own.
	Dialect Dialect
	// Blob gives the bytes that oh-my-pi moved out of its log, by their SHA-256 in
	// lower-case hex. Without it, and where it fails, references stay as they are and
	// are reported.
	Blob func(sum string) ([]byte, error)
	// Lookback is how many bytes of the log above the context are read in search of
	// the settings in force, where no native compaction tells them: 0 stands for
	// 16 MiB, a negative number for all.
	Lookback int64
}

// Build makes the context that a model has at leaf, from which the path goes up to
// its root. The empty leaf is the place before the first entry; one that is not in
// the log is sessiontree.ErrNotFound.
func Build(t *sessiontree.Tree, leaf entries.ID, opt *Options) (*Context, error) {
	b := &builder{t: t, ctx: &Context{Leaf: leaf}}
	if opt != nil {
		b.opt = *opt
	}
	if err := b.build(); err != nil {
		return nil, err
	}
	return b.ctx, nil
}

// Hash is the SHA-256, in hex, over the dialect and the messages' bytes in their order,
// each with its length in front: two contexts with one hash are sent alike.
func (c *Context) Hash() string {
	h := sha256.New()
	h.Write([]byte(c.Dialect))
	for _, m := range c.Messages {
		var length [8]byte
		for i, n := 0, len(m.Raw); i < len(length); i, n = i+1, n>>8 {
			length[i] = byte(n)
		}
		h.Write(length[:])
		h.Write(m.Raw)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// derive gives a context with other messages, for a method that changes nothing.
func (c *Context) derive(messages []Message, r Report) *Context {
	d := *c
	d.Messages, d.Report = messages, r
	return &d
}
