package store

import (
	"slices"
	"sync"
)

const (
	cacheFrames = 8
	cacheBytes  = maxFrame
)

// A frameCache keeps the frames that were read last. The zero value is empty.
type frameCache struct {
	mu   sync.Mutex
	list []*cachedFrame // the one that was used last comes last
}

// A cachedFrame is decoded once, by whoever asks first, without the cache's lock.
type cachedFrame struct {
	frame int
	size  int64
	once  sync.Once
	data  []byte
	err   error
}

// get gives a frame's bytes, which nobody may change, from the cache or by decode.
func (c *frameCache) get(frame int, size int64, decode func() ([]byte, error)) ([]byte, error) {
	f := c.use(frame, size)
	f.once.Do(func() {
		if f.data, f.err = decode(); f.err != nil {
			c.drop(f) // the next one may have more luck: a disk can fail for a moment
		}
	})
	return f.data, f.err
}

// use finds a frame, or makes room for it, and makes it the last.
func (c *frameCache) use(frame int, size int64) *cachedFrame {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.list, func(f *cachedFrame) bool { return f.frame == frame })
	f := &cachedFrame{frame: frame, size: size}
	if i >= 0 {
		f = c.list[i]
		c.list = slices.Delete(c.list, i, i+1)
	}
	c.list = append(c.list, f)
	for len(c.list) > cacheFrames || len(c.list) > 1 && c.bytes() > cacheBytes {
		c.list = slices.Delete(c.list, 0, 1)
	}
	return f
}

func (c *frameCache) bytes() (n int64) {
	for _, f := range c.list {
		n += f.size
	}
	return n
}

func (c *frameCache) drop(f *cachedFrame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(g *cachedFrame) bool { return g == f })
}

func (c *frameCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = nil
}
