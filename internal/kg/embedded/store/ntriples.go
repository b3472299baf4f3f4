package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// readNTriples reads N-Triples (W3C RDF 1.1 N-Triples) line by line and passes every triple to add. Blank node labels
// are passed as written. For an invalid line, it returns an error that includes the line number.
func readNTriples(r io.Reader, add func(s, p, o rdf.Term)) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var long []byte
	for line := 1; ; line++ {
		text, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], text...)
			for errors.Is(err, bufio.ErrBufferFull) {
				text, err = br.ReadSlice('\n')
				long = append(long, text...)
			}
			text = long
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if perr := parseNTLine(text, add); perr != nil {
			return fmt.Errorf("line %d: %w", line, perr)
		}
		if err == io.EOF {
			return nil
		}
	}
}

// ntLine is a line of N-Triples being parsed.
type ntLine struct {
	text []byte
	at   int
}

func parseNTLine(line []byte, add func(s, p, o rdf.Term)) error {
	l := ntLine{text: line}
	l.space()
	if l.done() {
		return nil
	}
	s, err := l.term()
	if err != nil {
		return err
	}
	p, err := l.term()
	if err != nil {
		return err
	}
	o, err := l.term()
	if err != nil {
		return err
	}
	if s.Kind == rdf.LiteralKind || p.Kind != rdf.IRIKind {
		return errors.New("a literal cannot be a subject, and only an IRI can be a predicate")
	}
	l.space()
	if l.at >= len(l.text) || l.text[l.at] != '.' {
		return errors.New("the triple does not end with a dot")
	}
	l.at++
	l.space()
	if !l.done() {
		return fmt.Errorf("unexpected text after the dot: %q", text.Clip(string(bytes.TrimSpace(l.text[l.at:])), 60))
	}
	add(s, p, o)
	return nil
}

func (l *ntLine) space() {
	for l.at < len(l.text) {
		switch l.text[l.at] {
		case ' ', '\t', '\r', '\n':
			l.at++
		default:
			return
		}
	}
}

func (l *ntLine) done() bool { return l.at >= len(l.text) || l.text[l.at] == '#' }

func (l *ntLine) term() (rdf.Term, error) {
	l.space()
	if l.done() {
		return rdf.Term{}, errors.New("the triple is cut off")
	}
	switch l.text[l.at] {
	case '<':
		iri, err := l.iri()
		return rdf.IRI(iri), err
	case '_':
		return l.blank()
	case '"':
		return l.literal()
	}
	return rdf.Term{}, fmt.Errorf("expected <, _: or a quote, found %q", text.Clip(string(l.text[l.at:]), 60))
}

func (l *ntLine) iri() (string, error) {
	end := bytes.IndexByte(l.text[l.at:], '>')
	if end < 0 {
		return "", errors.New("an IRI has no closing >")
	}
	s := string(l.text[l.at+1 : l.at+end])
	l.at += end + 1
	if strings.IndexByte(s, '\\') >= 0 {
		u, err := unescape(s)
		if err != nil {
			return "", err
		}
		s = u
	}
	if i := strings.IndexAny(s, " \t\"<{}|^`"); i >= 0 {
		return "", fmt.Errorf("an IRI contains %q, which is not allowed: %s", s[i], text.Clip(s, 60))
	}
	return s, nil
}

func (l *ntLine) blank() (rdf.Term, error) {
	start := l.at + 2
	if start > len(l.text) || l.text[l.at+1] != ':' {
		return rdf.Term{}, errors.New("expected _: and a label")
	}
	end := start
	for end < len(l.text) && !strings.ContainsRune(" \t\r\n<\"", rune(l.text[end])) {
		end++
	}
	for end > start && l.text[end-1] == '.' {
		end--
	}
	if end == start {
		return rdf.Term{}, errors.New("a blank node has no label")
	}
	l.at = end
	return rdf.Blank(string(l.text[start:end])), nil
}

func (l *ntLine) literal() (rdf.Term, error) {
	start, escaped := l.at+1, false
	end := start
	for ; ; end++ {
		if end >= len(l.text) {
			return rdf.Term{}, errors.New("a literal has no closing quote")
		}
		if l.text[end] == '\\' {
			escaped = true
			end++
		} else if l.text[end] == '"' {
			break
		}
	}
	s := string(l.text[start:end])
	l.at = end + 1
	if escaped {
		u, err := unescape(s)
		if err != nil {
			return rdf.Term{}, err
		}
		s = u
	}
	if !utf8.ValidString(s) {
		return rdf.Term{}, fmt.Errorf("a literal is not valid UTF-8: %q", text.Clip(s, 60))
	}
	switch {
	case l.at < len(l.text) && l.text[l.at] == '@':
		end := l.at + 1
		for end < len(l.text) && (isAlnum(l.text[end]) || l.text[end] == '-') {
			end++
		}
		lang := string(l.text[l.at+1 : end])
		if lang == "" {
			return rdf.Term{}, errors.New("a literal has an @ without a language tag")
		}
		l.at = end
		return rdf.LangString(s, lang), nil
	case l.at+2 < len(l.text) && l.text[l.at] == '^' && l.text[l.at+1] == '^' && l.text[l.at+2] == '<':
		l.at += 2
		dt, err := l.iri()
		return rdf.Typed(s, dt), err
	}
	return rdf.String(s), nil
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// unescape replaces the escape sequences in N-Triples strings and IRIs: \t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX.
func unescape(s string) (string, error) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i >= len(s) {
			return "", errors.New("a backslash at the end of a string")
		}
		if j := strings.IndexByte("tbnrf\"'\\", s[i]); j >= 0 {
			b.WriteByte("\t\b\n\r\f\"'\\"[j])
			continue
		}
		n := map[byte]int{'u': 4, 'U': 8}[s[i]]
		if n == 0 || i+n >= len(s) {
			return "", fmt.Errorf("an unknown or truncated escape sequence: \\%s", text.Clip(s[i:], 60))
		}
		v, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
		if err != nil || !utf8.ValidRune(rune(v)) {
			return "", fmt.Errorf("an escape sequence that is not a valid character: \\%s", s[i:i+1+n])
		}
		b.WriteRune(rune(v))
		i += n
	}
	return b.String(), nil
}
