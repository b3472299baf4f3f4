package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// Regardless of its text, a drawing is well-formed XML that contains only the elements that were drawn.
func TestTextsAreEscaped(t *testing.T) {
	const hostile = "\"><script>alert(1)</script>\x00\x1b[31m\u202e&amp;'\xff"
	s := NewFile(100, 50, hostile, hostile)
	s.Text(1, 2, hostile, `text-anchor="end"`)
	s.Rect(1, 2, -3, 4, "", hostile)
	s.Circle(1, 2, 3, `class="dot"`, hostile)
	s.Line(1, 2, 3, 4, "")
	elements := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(s.String()))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, s)
		}
		if e, ok := tok.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
	if elements["script"] != 0 || elements["rect"] != 2 || elements["circle"] != 1 || elements["line"] != 1 ||
		elements["text"] != 3 {
		t.Errorf("elements: %v", elements)
	}
	if strings.ContainsAny(s.String(), "\x00\x1b\u202e") || strings.Contains(s.String(), `width="-`) {
		t.Errorf("drawing:\n%s", s)
	}
}
