package cache

import (
	"testing"
	"time"
)

func TestCache(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c := New[string, int](2, time.Minute, func() time.Time { return now })
	c.Put("a", 1)
	c.Put("b", 2)
	if _, ok := c.Get("a"); !ok {
		t.Error("a is gone")
	}
	c.Put("c", 3) // b is the least recently used entry
	if _, ok := c.Get("b"); ok {
		t.Error("b should have made room")
	}
	c.Put("a", 4)
	if v, ok := c.Get("a"); !ok || v != 4 || c.order.Len() != 2 {
		t.Errorf("a is %d, %v", v, ok)
	}
	now = now.Add(time.Minute)
	if _, ok := c.Get("a"); ok || len(c.items) != 1 {
		t.Error("a should have expired")
	}
}
