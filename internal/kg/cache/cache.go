// Package cache caches the responses of a knowledge graph. It stores a bounded number of values, each for a limited
// time.
package cache

import (
	"container/list"
	"sync"
	"time"
)

// Cache is a bounded cache whose entries expire. If it is full, a new entry replaces the least recently used one. It is
// safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	most  int
	ttl   time.Duration
	now   func() time.Time
	order *list.List // elements are *cached[K, V], most recently used first
	items map[K]*list.Element
}

type cached[K comparable, V any] struct {
	key   K
	value V
	until time.Time
}

// New returns a cache that holds up to most values. Each value expires after ttl, as measured by now.
func New[K comparable, V any](most int, ttl time.Duration, now func() time.Time) *Cache[K, V] {
	return &Cache[K, V]{most: most, ttl: ttl, now: now, order: list.New(), items: map[K]*list.Element{}}
}

// Get returns the value stored under key unless it has expired.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var none V
	e, ok := c.items[key]
	if !ok {
		return none, false
	}
	it := e.Value.(*cached[K, V])
	if !c.now().Before(it.until) {
		c.order.Remove(e)
		delete(c.items, key)
		return none, false
	}
	c.order.MoveToFront(e)
	return it.value, true
}

// Put stores value under key for the cache's time to live.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	it := &cached[K, V]{key: key, value: value, until: c.now().Add(c.ttl)}
	if e, ok := c.items[key]; ok {
		e.Value = it
		c.order.MoveToFront(e)
		return
	}
	c.items[key] = c.order.PushFront(it)
	for c.order.Len() > c.most {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.items, last.Value.(*cached[K, V]).key)
	}
}
