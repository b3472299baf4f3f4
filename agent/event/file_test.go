package event

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

func TestRead(t *testing.T) {
	start := `{"id":1,"event":"start","time":"2026-01-01T00:00:00Z","format":"` + Format +
		`","question":{"ID":"","Text":"x","Language":"","History":null}}` + "\n"
	step := `{"id":2,"parent":1,"event":"step","time":"2026-01-01T00:00:00Z","step":{"n":1,"thought":"t","action":"stop","argument":"","observation":"","ms":0}}` + "\n"
	for _, tt := range []struct {
		name, text string
		n          int
		err        string
	}{
		{"whole", start + step, 2, ""},
		{"without the last line's end", start + strings.TrimSpace(step), 2, ""},
		{"empty lines", start + "\n\n" + step + "\n", 2, ""},
		{"torn last line", start + step + step[:30], 2, "torn"},
		{"torn in the middle", start + step[:30] + "\n" + step, 1, "line 2"},
		{"only a torn line", start[:20], 0, "line 1"},
		{"another format", strings.Replace(start, Format, "spinachbot-trajectory-9", 1), 0, "trajectory-9"},
		{"no start", step, 0, "want a start event"},
		{"empty", "", 0, ""},
		{"a step without content", start + `{"id":2,"parent":1,"event":"step"}` + "\n", 1, "line 2"},
		{"a rollback without content", start + `{"id":2,"parent":1,"event":"rollback"}` + "\n", 1, "line 2"},
		{"no JSON", "hello\nworld\n", 0, "line 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tt.text))
			if len(got) != tt.n {
				t.Errorf("%d events, want %d", len(got), tt.n)
			}
			if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if (tt.err == "torn") != errors.Is(err, ErrTorn) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// FuzzRead checks that no file crashes Read, and that anything it reads starts with a start event in one of our
// formats.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id":1,"event":"start","format":"` + Format + `","question":{"Text":"x"}}` +
		"\n{\"event\":\"step\"}\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, _ := Read(bytes.NewReader(b))
		if len(events) > 0 && (events[0].Event != "start" ||
			events[0].Format != Format && events[0].Format != oldFormat) {
			t.Errorf("begins with %+v", events[0])
		}
	})
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.jsonl")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); err == nil {
		t.Error("an existing file was opened again")
	}
	if err := f.Record(t.Context(), Event{Event: "start", Format: Format}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); !bytes.HasSuffix(b, []byte("\n")) {
		t.Errorf("not on disk when Record returned: %q", b)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	err = f.Record(t.Context(), Event{Event: "end"})
	if err == nil || !strings.Contains(err.Error(), "event end") {
		t.Errorf("after a failed write: error %v", err)
	}
	if again := f.Record(t.Context(), Event{Event: "end"}); again == nil {
		t.Error("recording continued after a failure")
	}
	if _, err := Create(filepath.Join(dir, "missing", "t.jsonl")); err == nil {
		t.Error("no error for a missing directory")
	}
}

// TestRecordedErrorKinds checks that the kind of a failure survives recording.
func TestRecordedErrorKinds(t *testing.T) {
	for _, err := range []error{llm.ErrNoModel, llm.ErrBudget, llm.ErrContextLength} {
		err = fmt.Errorf("call: %w", err)
		// in the current form, and in the first version's form
		for _, e := range []Event{{Error: err.Error(), Cause: CauseOf(err)}, {Error: err.Error()}} {
			if got := recordedError(e); !errors.Is(got, errors.Unwrap(err)) {
				t.Errorf("%v is lost: %v", err, got)
			}
		}
	}
	c := CallFailure{Kind: kg.Timeout, Message: "m"}
	if kg.KindOf(c.Err()) != kg.Timeout || kg.KindOf((&CallFailure{Message: "m"}).Err()) != "" {
		t.Error("kinds of the graph are lost")
	}
}

// TestOldTree reads a file in the first format, in which events have only an order. After a rollback that abandons
// steps, the tree branches off at the step that it returns to; after a rollback that only rejects an action, there is
// no new branch.
func TestOldTree(t *testing.T) {
	file := `{"event":"start","format":"spinachbot-trajectory-1","question":{"text":"x"}}
{"event":"model","request":{"purpose":"act","messages":[]}}
{"event":"step","step":{"n":1}}
{"event":"step","step":{"n":2}}
{"event":"rollback","to":2,"reason":"repeat"}
{"event":"rollback","to":1,"reason":"repeat"}
{"event":"step","step":{"n":3}}
{"event":"rollback","to":0,"reason":"repeat"}
{"event":"step","step":{"n":4}}
{"event":"end"}
`
	events, err := Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var parents []int
	for _, e := range events {
		parents = append(parents, e.Parent)
	}
	if want := "[0 1 2 3 4 3 6 1 8 9]"; fmt.Sprint(parents) != want {
		t.Errorf("parents %v, want %s", parents, want)
	}
	if s := Steps(events); len(s) != 1 || s[0].N != 4 {
		t.Errorf("steps %+v, want step 4 alone", s)
	}
}

// TestBadReferences checks that a prompt with a dangling reference is an error that names the line, never a panic.
func TestBadReferences(t *testing.T) {
	start := `{"id":1,"event":"start","format":"` + Format + `","question":{"text":"x"}}` + "\n"
	for _, prompt := range []string{`{"messages":[{"like":1,"count":1}]}`, `{"messages":[{"like":9,"count":1}]}`,
		`{"messages":[{}]}`, `{"messages":[],"tools":4}`,
		`{"messages":[{"message":{"role":"user"},"parts":[{"event":7}]}]}`,
		`{"messages":[{"message":{"role":"user"},"parts":[{"event":1,"at":2,"bytes":5}]}]}`,
		`{"messages":[{"message":{"role":"user"},"parts":[{"event":1,"at":-1,"bytes":-5}]}]}`} {
		line := `{"id":2,"parent":1,"event":"model","request":{"purpose":"act"},"prompt":` + prompt + "}\n"
		if _, err := Read(strings.NewReader(start + line + start)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", prompt, err)
		}
	}
}

// TestFullDisk requires a device that always reports a full disk.
func TestFullDisk(t *testing.T) {
	dev, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	l := NewLog(&File{f: dev, pack: newPacker()}, time.Now, 0)
	for range 2 {
		err := l.Branch(0).Record(t.Context(), Event{Event: "start", Format: Format})
		if !IsWriteError(err) || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("error %v", err)
		}
	}
}

// Invalid UTF-8 bytes are stored as the replacement character. A reference to the start of a message must be measured
// after the replacement, or a different message is read.
func TestFileInvalidText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := "caf\xe9 " + strings.Repeat("the same beginning ", 10)
	record := func(e Event) {
		if err := f.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	record(Event{Event: "start", Format: Format, Question: &Question{Text: begin}})
	for _, end := range []string{"one", "two"} {
		record(Event{Event: "model", Request: &llm.Request{Purpose: "act",
			Messages: []llm.Message{{Role: llm.User, Content: "x " + begin + end}}}})
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	events, err := Read(r)
	if err != nil {
		t.Fatal(err)
	}
	for i, end := range []string{"one", "two"} {
		want := strings.ToValidUTF8("x "+begin+end, "\ufffd")
		if got := events[i+1].Request.Messages[0].Content; got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	}
}
