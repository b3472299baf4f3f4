package safe

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func breaks(m map[string]int) { m["x"] = 1 }

func TestDo(t *testing.T) {
	if err := Do(func() error { return io.EOF }); err != io.EOF { //nolint:errorlint // the same error value
		t.Errorf("an error: %v", err)
	}
	if err := Do(func() error { return nil }); err != nil {
		t.Errorf("no error: %v", err)
	}
	err := Do(func() error { breaks(nil); return nil })
	var p *Panic
	if !errors.As(err, &p) || !strings.Contains(p.Where, "safe.breaks, safe_test.go:10") ||
		!strings.Contains(err.Error(), "nil map") {
		t.Errorf("a panic: %v", err)
	}
	if err := Do(func() error { panic(io.ErrUnexpectedEOF) }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a panic with an error: %v", err)
	}
}
