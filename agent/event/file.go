package event

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/spinachbot/spinachbot/agent/render"
)

// File is a [Recorder] that appends events to a file, one JSON object per line.
type File struct {
	mu   sync.Mutex
	f    *os.File
	size int64 // bytes in complete lines
	pack *packer
	last int // ID of the last event
	bad  error
}

// Create creates the file at path for a single run. It fails if the file exists, so that no trajectory is ever
// overwritten.
func Create(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("trajectory: %w (each run requires a separate file in a writable directory)",
			err)
	}
	return &File{f: f, pack: newPacker()}, nil
}

type line struct {
	Event
	// for a model event, the messages and tools that were removed from Request
	Prompt *packedPrompt `json:"prompt,omitempty"`
}

// durable lists the events after which the file is synced to disk: once per step, and before anything is published.
var durable = []string{"step", "rollback", "review", "final", "end"}

// Record writes an event, and syncs the file after the last event of a step. If the disk is full or fails, Record cuts
// off the torn line, so that the file stays readable. This and every later call then return the error.
func (t *File) Record(_ context.Context, e Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bad != nil {
		return t.bad
	}
	if e.ID == 0 { // not from a [Log]
		e.ID, e.Parent = t.last+1, t.last
	}
	t.last = e.ID
	l := line{Event: e}
	if e.Request != nil {
		l.Request, l.Prompt = t.pack.pack(e)
	}
	t.pack.learn(e)
	var b bytes.Buffer
	if err := render.EncodeJSON(&b, l); err != nil {
		return fmt.Errorf("trajectory %s: event %s: %w", t.f.Name(), e.Event, err)
	}
	b.WriteByte('\n')
	n, err := t.f.Write(b.Bytes())
	if err == nil && slices.Contains(durable, e.Event) {
		err = t.f.Sync()
	}
	if err != nil {
		t.bad = fmt.Errorf("trajectory %s: event %s: %w (is the disk full?)", t.f.Name(), e.Event, err)
		if n > 0 && t.f.Truncate(t.size) == nil {
			_, _ = t.f.Seek(t.size, io.SeekStart)
		}
		return t.bad
	}
	t.size += int64(n)
	return nil
}

// Name returns the file name that was passed to [Create] or [Append].
func (t *File) Name() string { return t.f.Name() }

// Close closes the file.
func (t *File) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.f.Close()
}

// ErrTorn means that a trajectory's last line is incomplete, for example after a crash in the middle of a write. The
// events before it are valid.
var ErrTorn = errors.New("the trajectory's last line is torn: the events before it are complete")

// Read reads the events in a trajectory file of either format. If the last line is torn, it returns the events before
// that line and [ErrTorn]. If the format is unknown, the first event is not a start event, or a line other than the
// last is malformed, Read returns an error that names the line.
func Read(r io.Reader) ([]Event, error) {
	events, _, err := read(r)
	return events, err
}

// reading is the state of a read in progress.
type reading struct {
	events []Event
	pack   *packer
	old    *oldTree // for a file in the first format
	size   int64    // bytes of valid lines
	open   bool     // the last line does not end in a newline
}

func read(r io.Reader) ([]Event, *reading, error) {
	in := &reading{pack: newPacker()}
	br := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		text, err := br.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return in.events, in, fmt.Errorf("trajectory: line %d: %w", n, err)
		}
		last := err != nil
		if len(bytes.TrimSpace(text)) > 0 {
			if err := in.line(text); err != nil && last && len(in.events) > 0 {
				return in.events, in, ErrTorn
			} else if err != nil {
				return in.events, in, fmt.Errorf("trajectory: line %d %w", n, err)
			}
		}
		in.size += int64(len(text))
		if last {
			in.open = len(text) > 0
			return in.events, in, nil
		}
	}
}

// line reads one line.
func (in *reading) line(text []byte) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("is not an event: %w", err)
	}
	if len(in.events) == 0 {
		if l.Event.Event != "start" || l.Format != Format && l.Format != oldFormat {
			return fmt.Errorf("has event %q of format %q, want a start event of format %q or %q", l.Event.Event,
				l.Format, Format, oldFormat)
		}
		if l.Format == oldFormat {
			in.old = &oldTree{steps: map[int]int{}}
		}
	}
	if l.Event.Event == "step" && l.Step == nil || l.Event.Event == "rollback" && l.To == nil ||
		l.Event.Event == "review" && l.Review == nil {
		return fmt.Errorf("has a %s event without its content", l.Event.Event)
	}
	if in.old != nil {
		in.old.place(&l.Event)
	} else if l.ID <= l.Parent || l.Parent < 0 {
		return fmt.Errorf("has event %d below event %d", l.ID, l.Parent)
	}
	if l.Prompt != nil {
		if l.Request == nil {
			return errors.New("has a prompt without a request")
		}
		if err := in.pack.unpack(l.Request, l.Prompt); err != nil {
			return fmt.Errorf("is not an event: %w", err)
		}
	}
	in.pack.learn(l.Event)
	in.events = append(in.events, l.Event)
	return nil
}

// Append opens a file created by [Create] so that it can be continued after a crash, and returns the events in it. It
// cuts off a torn last line.
func Append(path string) (*File, []Event, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("trajectory: %w", err)
	}
	events, in, err := read(f)
	switch {
	case err != nil && !errors.Is(err, ErrTorn):
	case in.old != nil:
		err = fmt.Errorf("trajectory %s: a run of format %q cannot be continued", path, oldFormat)
	default:
		_, serr := f.Seek(in.size, io.SeekStart)
		err = errors.Join(f.Truncate(in.size), serr)
	}
	if err == nil && in.open {
		in.size++
		_, err = f.WriteString("\n")
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	last := 0
	if len(events) > 0 {
		last = events[len(events)-1].ID
	}
	return &File{f: f, size: in.size, pack: in.pack, last: last}, events, nil
}
