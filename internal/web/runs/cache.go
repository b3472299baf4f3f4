package runs

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// kept is the maximum number of entries in a cache.
const kept = 12

// cache keeps the most recently read values. It is safe for concurrent use; two concurrent calls may both read the same
// file.
type cache[T any] struct {
	mu    sync.Mutex
	of    map[string]remembered[T]
	order []string // oldest first
}

type remembered[T any] struct {
	changed time.Time
	size    int64
	value   T
}

// get calls read for the file at path, and caches the result until the file's modification time or size changes.
func (c *cache[T]) get(path string, changed time.Time, size int64, read func() (T, error)) (T, error) {
	c.mu.Lock()
	have, ok := c.of[path]
	c.mu.Unlock()
	if ok && have.changed.Equal(changed) && have.size == size {
		return have.value, nil
	}
	value, err := read()
	if err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]remembered[T]{}
	}
	if _, ok := c.of[path]; !ok {
		if c.order = append(c.order, path); len(c.order) > kept {
			delete(c.of, c.order[0])
			c.order = c.order[1:]
		}
	}
	c.of[path] = remembered[T]{changed, size, value}
	return value, nil
}

// number returns an integer parameter from the URL, or 0.
func number(r *http.Request, name string) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return 0
	}
	return n
}

func word(r *http.Request, name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }

// with returns the URL with one parameter changed.
func with(r *http.Request, name string, value int) string {
	q := r.URL.Query()
	q.Set(name, strconv.Itoa(value))
	return "?" + q.Encode()
}
