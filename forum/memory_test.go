package forum

import (
	"fmt"
	"strings"
	"testing"
)

// TestTextsKeepsStrings fills several pieces and looks whether the first strings are still what they were.
func TestTextsKeepsStrings(t *testing.T) {
	var kept texts
	var got, want []string
	buf := []byte{}
	for i := range 5000 {
		s := strings.Repeat(fmt.Sprint(i, " é"), i%50)
		buf = append(buf[:0], s...)
		got, want = append(got, kept.keep(buf)), append(want, s)
	}
	long := strings.Repeat("x", textPiece+1)
	got, want = append(got, kept.keep([]byte(long))), append(want, long)
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("string %d is %q, want %q", i, clip(got[i], 60), clip(want[i], 60))
		}
	}
}

func TestBlockHandsOutEachPlaceOnce(t *testing.T) {
	var b block[int]
	var places []*int
	for i := range 200 {
		places = append(places, b.place(i))
	}
	for i, p := range places {
		if *p != i {
			t.Fatalf("place %d holds %d", i, *p)
		}
	}
}

// TestMemoryTellsKeysApart asks for many more strings than are found without hashing.
func TestMemoryTellsKeysApart(t *testing.T) {
	m := newMemory[int]()
	if _, ok := m.get(""); ok {
		t.Error("an empty memory knows the empty string")
	}
	for round := range 2 {
		for i := range 1000 {
			key := strings.Repeat("k", i%7) + fmt.Sprint(i/7)
			got, ok := m.get(key)
			if ok != (round == 1) || ok && got != i {
				t.Fatalf("round %d: %q gives %d, %t", round, key, got, ok)
			}
			m.put(key, i)
		}
	}
}
