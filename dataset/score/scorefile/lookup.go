package scorefile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// keptLine is a line in the file written by [Scorer.Keep]; [Scorer.ReadResults] also reads such lines.
type keptLine struct {
	SPARQL string          `json:"sparql"`
	Result json.RawMessage `json:"result"` // null if the query itself caused the failure
	Error  string          `json:"error,omitempty"`
}

// Keep reads the results in a file and, from then on, appends the graph's responses to it. A last line that was cut
// off by a crash is dropped.
func (s *Scorer) Keep(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	s.keep = f // closed by Close
	dec := json.NewDecoder(f)
	for end := int64(0); ; end = dec.InputOffset() {
		var k keptLine
		err := dec.Decode(&k)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			if rest, rerr := cutOff(f, end); rerr != nil || !rest {
				return cmp.Or(rerr, notKept(end))
			}
			if err = f.Truncate(end); err == nil {
				_, err = f.Seek(0, io.SeekEnd)
			}
			if err == nil && end > 0 {
				_, err = f.WriteString("\n")
			}
			return err
		case errors.Is(err, io.EOF):
			return nil // the next line is written here
		case err != nil || k.SPARQL == "":
			return notKept(end)
		}
		s.remember(strings.TrimSpace(k.SPARQL), k.Result)
	}
}

func notKept(end int64) error {
	return fmt.Errorf("after byte %d it has something other than kept results; specify a new file", end)
}

// cutOff reports whether the rest of a file, from end, is an incomplete kept line.
func cutOff(f *os.File, end int64) (bool, error) {
	const start = `{"sparql":`
	b := make([]byte, len(start)+2)
	n, err := f.ReadAt(b, end)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	rest := strings.TrimLeft(string(b[:n]), "\n")
	return strings.HasPrefix(rest, start) || strings.HasPrefix(start, rest), nil
}

// lookUp returns the result of a query, or null if it has none. If the query itself is at fault, why is the reason; if
// the result could not be found, failure is the reason.
func (s *Scorer) lookUp(ctx context.Context, query string) (result json.RawMessage, failure, why string, err error) {
	null := json.RawMessage("null")
	query = strings.TrimSpace(query)
	if query == "" {
		return null, "", "", nil
	}
	if r, ok := s.known[query]; ok {
		return r, "", "", nil
	}
	if s.Graph == nil {
		return null, "its result is not in the file of results", "", nil
	}
	s.asked++
	if s.Progress != nil {
		s.Progress(s.done, s.asked)
	}
	t, err := s.Graph.Query(ctx, sparql.ReplaceAutoLanguage(query, "en"))
	if ctx.Err() != nil {
		return nil, "", "", ctx.Err()
	}
	if err == nil {
		if result, err = json.Marshal(t); err != nil {
			return nil, "", "", err
		}
		return result, "", "", s.keepResult(query, result, "")
	}
	var known *kg.Error
	if !errors.As(err, &known) {
		return nil, "", "", err
	}
	if known.Transient() {
		return null, known.Error(), "", nil
	}
	return null, "", known.Error(), s.keepResult(query, null, known.Error())
}

// keepResult stores a result in memory and, if [Scorer.Keep] was called, in its file.
func (s *Scorer) keepResult(query string, result json.RawMessage, why string) error {
	s.remember(query, result)
	if s.keep == nil {
		return nil
	}
	line, err := json.Marshal(keptLine{query, result, why})
	if err == nil {
		_, err = s.keep.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("a result cannot be kept: %w", err)
	}
	return nil
}
