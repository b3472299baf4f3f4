package evalrun

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/text"
)

// File names in a run's folder.
const (
	RunFile     = "run.json"
	ResultsFile = "results.jsonl"
	MetaFile    = "meta.jsonl"
	SummaryFile = "summary.json"
	spentFile   = "spent.jsonl"
	goldDir     = "gold"
	itemsDir    = "items"
	trajDir     = "trajectories"
)

type folder string

func (d folder) path(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

func (d folder) make() error {
	for _, sub := range []string{goldDir, itemsDir, trajDir} {
		if err := os.MkdirAll(d.path(sub), 0o700); err != nil {
			return fmt.Errorf("cannot create the run's folder: %w", err)
		}
	}
	return nil
}

// write atomically replaces a file; see [dataset.ReplaceFile].
func (d folder) write(content []byte, parts ...string) error {
	if err := dataset.ReplaceFile(d.path(parts...), content); err != nil {
		return fmt.Errorf("cannot write to the run's folder (is the disk full?): %w", err)
	}
	return nil
}

// writeJSON replaces a file with v as indented JSON.
func (d folder) writeJSON(v any, parts ...string) error {
	var b bytes.Buffer
	if err := encode(&b, v, "  "); err != nil {
		return fmt.Errorf("%s: %w", d.path(parts...), err)
	}
	return d.write(b.Bytes(), parts...)
}

// encode writes v as JSON followed by a line break, without HTML escaping.
func encode(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// readJSON reads a file written by writeJSON; ok is false if there is none.
func (d folder) readJSON(v any, parts ...string) (ok bool, err error) {
	b, err := os.ReadFile(d.path(parts...))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read %w", err) // the error names the file
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, fmt.Errorf("%s is damaged: %w; if you have a copy, restore it", d.path(parts...),
			text.JSON(err))
	}
	return true, nil
}

// sweep removes partially written files left behind by a crash.
func (d folder) sweep() {
	for _, sub := range []string{".", goldDir, itemsDir} {
		left, _ := filepath.Glob(d.path(sub, ".new-*")) // the pattern is valid
		for _, path := range left {
			_ = os.Remove(path) // if this fails, the next sweep removes it
		}
	}
}

// freshTrajectory returns the path for a new trajectory of the item, after renaming any existing one. All are kept; the
// latest has the item's own name.
func (d folder) freshTrajectory(name string) (string, error) {
	path := d.path(trajDir, name+".jsonl")
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	for n := 2; ; n++ {
		old := d.path(trajDir, name+"~"+strconv.Itoa(n)+".jsonl")
		if _, err := os.Lstat(old); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Rename(path, old); err != nil {
			return "", fmt.Errorf("cannot keep the trajectory of an earlier attempt: %w", err)
		}
		return path, nil
	}
}

// readLines reads a JSON Lines file and calls f for each line.
func readLines(path string, f func(line int, data []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	br := bufio.NewReaderSize(file, 1<<16)
	for n := 1; ; n++ {
		data, err := br.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		if len(bytes.TrimSpace(data)) > 0 {
			if ferr := f(n, data); ferr != nil {
				return fmt.Errorf("%s: line %d: %w", path, n, text.JSON(ferr))
			}
		}
		if err != nil {
			return nil
		}
	}
}

// events reads the trajectory of the given item; ok is false if there is none. For a truncated trajectory, it returns
// the complete events and event.ErrTorn.
func (d folder) events(id string) (events []agent.Event, ok bool, err error) {
	f, err := os.Open(d.path(trajDir, FileName(id)+".jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if events, err = event.Read(f); err != nil {
		err = fmt.Errorf("item %s: %w", id, err)
	}
	return events, true, err
}
