package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/agent/render"
)

// TrajectoryFile is a [Recorder] that appends events to a file, one JSON object a line, each on the disk before Record returns.
type TrajectoryFile struct {
	mu   sync.Mutex
	f    *os.File
	size int64 // bytes of whole lines
	bad  error
}

// OpenTrajectory creates the file at path for one run. A file that is there already is refused, so that no trajectory is ever overwritten.
// See [TrajectoryName] for a safe name.
func OpenTrajectory(path string) (*TrajectoryFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("trajectory: %w (each run needs a file of its own in a directory that can be written)", err)
	}
	return &TrajectoryFile{f: f}, nil
}

// Record writes an event and syncs the file. When the disk is full or fails, the torn line is cut off, so that the file stays readable, and this and
// every later Record return the error.
func (t *TrajectoryFile) Record(_ context.Context, e Event) error {
	var b bytes.Buffer
	if err := render.EncodeJSON(&b, e); err != nil {
		return fmt.Errorf("trajectory %s: event %s: %w", t.f.Name(), e.Event, err)
	}
	b.WriteByte('\n')
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bad != nil {
		return t.bad
	}
	n, err := t.f.Write(b.Bytes())
	if err == nil {
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

// Close closes the file.
func (t *TrajectoryFile) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.f.Close()
}

// TrajectoryName makes a file name from any text, such as a question's ID: letters, digits, dash and underscore stay, everything else becomes a dash, at most 80
// characters, with the ending .jsonl. It never names a directory, a hidden file or a device.
func TrajectoryName(id string) string {
	s := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, id)
	if s = strings.Trim(s, "-"); s == "" {
		s = "run"
	}
	return "t-" + s[:min(len(s), 80)] + ".jsonl"
}

// ErrTorn says that a trajectory's last line is torn, as after a crash in the middle of a write. The events before it are good.
var ErrTorn = errors.New("the trajectory's last line is torn: the events before it are complete")

// ReadTrajectory reads the events of a trajectory file. A torn last line gives the events before it together with [ErrTorn]. A file of an unknown format, one that
// does not begin with a start event, and a broken line in the middle are errors that name the line.
func ReadTrajectory(r io.Reader) ([]Event, error) {
	var out []Event
	br := bufio.NewReaderSize(r, 1<<16)
	for line := 1; ; line++ {
		text, err := br.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return out, fmt.Errorf("trajectory: line %d: %w", line, err)
		}
		last := err != nil
		if len(bytes.TrimSpace(text)) == 0 {
			if last {
				return out, nil
			}
			continue
		}
		var e Event
		if uerr := json.Unmarshal(text, &e); uerr != nil {
			if last && len(out) > 0 {
				return out, ErrTorn
			}
			return out, fmt.Errorf("trajectory: line %d is no event: %w", line, uerr)
		}
		if len(out) == 0 && (e.Event != "start" || e.Format != Format) {
			return nil, fmt.Errorf("trajectory: line %d: event %q of format %q, want a start event of format %q", line, e.Event, e.Format, Format)
		}
		out = append(out, e)
		if last {
			return out, nil
		}
	}
}
