package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSystemClock(t *testing.T) {
	c := systemClock{}
	if err := c.Sleep(context.Background(), time.Millisecond); err != nil {
		t.Error(err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Sleep(done, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a done context: %v", err)
	}
	soon, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	if err := c.Sleep(soon, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends: %v", err)
	}
}
