package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// ReadAnswer reads an answer from JSON: a whole document of the SPARQL 1.1 Query Results JSON Format, a bare list of
// bindings or a bare truth value (both as in SPINACH's output files), or null. d numbers the cells.
//
// encoding/json first validates the text; then a single pass extracts the cells. A table of 100,000 rows takes a
// quarter of a second.
func ReadAnswer(d *Dict, data []byte) (*Answer, error) {
	if !json.Valid(data) {
		var v any
		return nil, fmt.Errorf("the result is not JSON: %w", json.Unmarshal(data, &v))
	}
	s := &scanner{d: d, text: unsafe.String(unsafe.SliceData(data), len(data)), a: &Answer{}, index: map[string]int32{}}
	s.space()
	var err error
	switch s.text[s.at] {
	case 'n':
		return s.a, nil
	case 't', 'f':
		s.a.Kind, s.a.Bool = Boolean, s.text[s.at] == 't'
		return s.a, nil
	case '[':
		err = s.bindings()
	case '{':
		err = s.document()
	default:
		err = errors.New("the result is a number or a string; want a SPARQL result object, a list of bindings, true, false or null")
	}
	if err != nil {
		return nil, err
	}
	return s.a, nil
}

// maxCells keeps cell numbers within 32 bits.
const maxCells = 1 << 30

// scanner reads JSON that is known to be valid. Strings without escapes are slices of the text. Dict copies the strings
// that it keeps.
type scanner struct {
	d     *Dict
	text  string
	at    int
	a     *Answer
	index map[string]int32
	cells []int32 // of the current row
	cols  []int32
}

func (s *scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' ||
		s.text[s.at] == '\r') {
		s.at++
	}
}

func (s *scanner) str() string {
	s.at++
	from := s.at
	plain := true
	for s.text[s.at] != '"' {
		if s.text[s.at] == '\\' {
			plain = false
			s.at++
		}
		s.at++
	}
	s.at++
	if plain && utf8.ValidString(s.text[from:s.at-1]) {
		return s.text[from : s.at-1]
	}
	var out string
	_ = json.Unmarshal([]byte(s.text[from-1:s.at]), &out) // valid, since the whole document is
	return out
}

// skip skips a value and returns its text.
func (s *scanner) skip() string {
	from := s.at
	for depth := 0; ; {
		switch s.text[s.at] {
		case '"':
			s.str()
			s.at--
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		s.at++
		if depth == 0 && (s.at >= len(s.text) || strings.IndexByte(",]}: \n\t\r", s.text[s.at]) >= 0) {
			return s.text[from:s.at]
		}
	}
}

// object calls f at the value of each member; f must read the value.
func (s *scanner) object(f func(key string) error) error {
	s.at++
	for s.space(); s.text[s.at] != '}'; s.space() {
		if s.text[s.at] == ',' {
			s.at++
			s.space()
		}
		key := s.str()
		s.space()
		s.at++ // the colon
		s.space()
		if err := f(key); err != nil {
			return err
		}
	}
	s.at++
	return nil
}

// array calls f at each element; f must read the element.
func (s *scanner) array(f func() error) error {
	s.at++
	for s.space(); s.text[s.at] != ']'; s.space() {
		if s.text[s.at] == ',' {
			s.at++
			s.space()
		}
		if err := f(); err != nil {
			return err
		}
	}
	s.at++
	return nil
}

func (s *scanner) is(c byte) bool { return s.text[s.at] == c }

func (s *scanner) document() error {
	found := false
	err := s.object(func(key string) error {
		switch {
		case key == "boolean" && (s.is('t') || s.is('f')):
			found = true
			s.a.Kind, s.a.Bool = Boolean, s.is('t')
		case key == "head" && s.is('{'):
			return s.object(func(key string) error {
				if key != "vars" || !s.is('[') {
					s.skip()
					return nil
				}
				return s.array(func() error {
					if !s.is('"') {
						return errors.New("the result's head contains a variable that is not a string")
					}
					s.a.column(s.str(), len(s.a.Vars), s.index)
					return nil
				})
			})
		case key == "results" && s.is('{'):
			return s.object(func(key string) error {
				if key == "bindings" && s.is('[') {
					found = true
					return s.bindings()
				}
				s.skip()
				return nil
			})
		}
		s.skip()
		return nil
	})
	if err == nil && !found {
		return errors.New(`the result has neither "boolean" nor "results" with "bindings"`)
	}
	return err
}

func (s *scanner) bindings() error {
	s.a.Kind, s.a.Dict = Table, s.d
	if len(s.a.Rows.Starts) == 0 {
		s.a.Rows.Starts = []int32{0}
	}
	n := 0
	return s.array(func() error {
		n++
		if !s.is('{') {
			return fmt.Errorf("row %d of the result is not an object of bindings", n)
		}
		s.cells, s.cols = s.cells[:0], s.cols[:0]
		hint := 0
		err := s.object(func(name string) error {
			if !s.is('{') {
				if s.skip() == "null" {
					return nil // unbound
				}
				return fmt.Errorf("row %d of the result: %q is not an object with type and value", n, name)
			}
			col := s.a.column(name, hint, s.index)
			hint = int(col) + 1
			cell, err := s.cell()
			if err != nil {
				return fmt.Errorf("row %d of the result: %q: %w", n, name, err)
			}
			s.cells, s.cols = append(s.cells, s.d.ID(cell)), append(s.cols, col)
			return nil
		})
		if len(s.a.Columns) > maxCells {
			return fmt.Errorf("the result has more than %d cells", maxCells)
		}
		s.a.addRow(s.cells, s.cols)
		return err
	})
}

func (s *scanner) cell() (Cell, error) {
	var c Cell
	var more []string
	err := s.object(func(key string) error {
		into := (*string)(nil)
		switch key {
		case "type":
			into = &c.Type
		case "value":
			into = &c.Value
		case "xml:lang":
			into = &c.Lang
		case "datatype":
			into = &c.Datatype
		}
		if into != nil && s.is('"') {
			*into = s.str()
			return nil
		}
		other := s.skip()
		if key == "value" {
			c.Value = other // for example, a number, which is compared as written
		}
		more = append(more, fmt.Sprintf("%q:%s", key, other))
		return nil
	})
	if c.Type == "" && err == nil {
		err = errors.New(`it has no "type"`)
	}
	if len(more) > 0 {
		sort.Strings(more)
		c.More = strings.Join(more, ",")
	}
	return c, err
}
