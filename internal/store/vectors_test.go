package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVectors checks that vectors can be read by model and text after the store is reopened.
func TestVectors(t *testing.T) { each(t, testVectors) }

func testVectors(t *testing.T, open opener) {
	s := open(t)
	v := map[string][]float32{"a": {0.5, -1}, "": {1e-30, 3}}
	if err := s.KeepVectors(t.Context(), "m", map[string][]float32{"a": {9}}); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepVectors(t.Context(), "m", v); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t)
	got, err := s.Vectors(t.Context(), "m", []string{"a", "b", ""})
	if err != nil || !cmp.Equal(v, got) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := s.Vectors(t.Context(), "other", []string{"a"}); err != nil || len(got) != 0 {
		t.Errorf("of another model: %v, %v", got, err)
	}
}
