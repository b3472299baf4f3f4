package lesson

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func book(t *testing.T) *Book {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "data", "lessons.jsonl"), func() time.Time { return time.Unix(1e9, 0) })
}

// A note is shown only if a person has approved it and it has not been changed or withdrawn since.
func TestOnlyApproved(t *testing.T) {
	b := book(t)
	shown := func(want ...string) {
		t.Helper()
		got, err := b.For("wikidata")
		if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	shown()
	id, err := b.Add(Note{KG: "wikidata", Text: " Rivers end\nby P403.\x1b[31m ", Source: "run"})
	if err != nil || id != "n1" {
		t.Fatal(id, err)
	}
	general, err := b.Add(Note{Text: "Count first."})
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.Add(Note{KG: "dbpedia", Text: "Rivers end by P403."})
	if err != nil {
		t.Fatal(err)
	}
	shown()
	for _, x := range []string{id, general, other} {
		if err := b.Set(x, Approved); err != nil {
			t.Fatal(err)
		}
	}
	shown("Rivers end by P403. [31m", "Count first.")
	if err := b.Edit(id, "Rivers end by P403 or P974."); err != nil {
		t.Fatal(err)
	}
	shown("Count first.")
	if err := b.Set(general, Withdrawn); err != nil {
		t.Fatal(err)
	}
	shown()
	if _, err := b.Add(Note{Text: "COUNT first."}); err == nil || !strings.Contains(err.Error(), "as n2 (withdrawn)") {
		t.Errorf("a withdrawn note was learned again: %v", err)
	}
}

func TestLimits(t *testing.T) {
	b := book(t)
	for i := range MaxNotes {
		if _, err := b.Add(Note{KG: "k", Text: fmt.Sprint("note ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Add(Note{KG: "k", Text: "one more"}); err == nil || !strings.Contains(err.Error(), "16 notes already") {
		t.Errorf("%v", err)
	}
	if _, err := b.Add(Note{KG: "other", Text: strings.Repeat("ä", MaxText)}); err != nil {
		t.Errorf("512 characters: %v", err)
	}
	for _, bad := range []string{"", " \n", strings.Repeat("ä", MaxText+1)} {
		if _, err := b.Add(Note{Text: bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// A note-taker can change only notes on its own graph that no person has read.
func TestTaker(t *testing.T) {
	b := book(t)
	taker := Taker{Book: b, KG: "k", Source: "runs"}
	mine, err := taker.Add("mine")
	if err != nil {
		t.Fatal(err)
	}
	read, err := taker.Add("read")
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := b.Add(Note{KG: "x", Text: "foreign"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Set(read, Approved); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{read, foreign, "n99"} {
		if taker.Update(id, "changed") == nil || taker.Delete(id) == nil {
			t.Errorf("%s was changed", id)
		}
	}
	if err := taker.Update(mine, "mine, better"); err != nil {
		t.Error(err)
	}
	lines, err := taker.Lines()
	if err != nil || strings.Join(lines, "|") != "n1 (proposed): mine, better|n2 (approved): read" {
		t.Errorf("%q, %v", lines, err)
	}
	if err := taker.Delete(mine); err != nil {
		t.Error(err)
	}
	if _, err := b.Get(mine); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
	if n, err := b.Get(read); err != nil || n.Source != "runs" || n.Made.Unix() != 1e9 {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestDamaged(t *testing.T) {
	b := book(t)
	if _, err := b.Add(Note{Text: "x"}); err != nil {
		t.Fatal(err)
	}
	const good = `{"id":"n1","text":"x","state":"proposed"}`
	for line, want := range map[string]string{
		"{oops":                                  "not JSON",
		"null":                                   `no "id"`,
		`{"id":"n2","state":"approved"}`:         `no "text"`,
		`{"id":"n2","text":"y","state":"happy"}`: `"state" is "happy"`,
		`{"id":"n1","text":"twice","state":"proposed"}`: `an earlier note has the same ID, "n1"`,
	} {
		content := good + "\n" + line + "\n"
		if err := os.WriteFile(b.path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := b.For("k"); err == nil || !strings.Contains(err.Error(), "line 2 is not a note") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
		if err := b.Set("n1", Approved); err == nil {
			t.Errorf("%s: changed", line)
		}
		if kept, err := os.ReadFile(b.path); err != nil || string(kept) != content {
			t.Errorf("%s: the file is now %q, %v", line, kept, err)
		}
	}
}
