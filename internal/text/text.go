// Package text contains small text helpers used by many packages.
package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Clip returns at most n characters of s. If s is longer, the result ends with an ellipsis, which counts toward n.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count, cut := 0, 0
	for i := range s {
		if count == n-1 {
			cut = i
		}
		if count >= n {
			return strings.ToValidUTF8(s[:cut], "\uFFFD") + "…"
		}
		count++
	}
	return s
}

// ClipApart clips two texts like [Clip], but keeps their difference visible: if they have a long common prefix, it
// keeps only the end of the prefix.
func ClipApart(a, b string, n int) (string, string) {
	if a == b || Clip(a, n) != Clip(b, n) {
		return Clip(a, n), Clip(b, n)
	}
	x, y := []rune(a), []rune(b)
	same := 0
	for same < len(x) && same < len(y) && x[same] == y[same] {
		same++
	}
	from := max(0, same-n/4)
	return Clip("…"+string(x[from:]), n), Clip("…"+string(y[from:]), n)
}

// Fold returns s on one line, with single spaces between words and no leading or trailing space.
func Fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// OneLine is like [Fold] but also removes control characters. The result can be used in a log, a terminal or a wiki's
// edit summary.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) ||
			turns(r)
	}), " ")
}

// turns reports whether a character changes the direction of the text that follows it.
func turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// Count formats a number with its noun: "1 entry", "12,000 entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return Thousands(n) + " " + noun + "s"
}

// Thousands formats a number with commas between groups of three digits.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// JSON rewrites an error from encoding/json in plain words. It returns other errors unchanged.
func JSON(err error) error {
	if plain := jsonWords(err); plain != "" {
		return &jsonError{plain, err}
	}
	return err
}

type jsonError struct {
	text string
	err  error
}

func (e *jsonError) Error() string { return e.text }
func (e *jsonError) Unwrap() error { return e.err }

func jsonWords(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the JSON ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("it is not JSON, or ends too early, at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		where := "the value"
		if kind.Field != "" {
			where = fmt.Sprintf("the member %q", kind.Field)
		}
		return fmt.Sprintf("%s is a JSON %s, which does not belong there", where, kind.Value)
	}
	// A decoder with DisallowUnknownFields returns this error, for which encoding/json has no type.
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Sprintf("the member %s is unknown", name)
	}
	return ""
}

// Clean removes everything that could hide something or control a terminal: control characters except line breaks and
// tabs, characters that change the direction of text, and invalid UTF-8.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), turns(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

var (
	tagEscaper       = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	attributeEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
)

// EscapeTags makes untrusted text safe to use between tags in a prompt. Line breaks are kept.
func EscapeTags(s string) string { return tagEscaper.Replace(Clean(s)) }

// EscapeAttribute makes untrusted text safe to use as an attribute value.
func EscapeAttribute(s string) string { return attributeEscaper.Replace(Fold(Clean(s))) }
