package show

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/lesson"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Lessons lists notes, one per row.
func Lessons(s *console.Screen, notes []lesson.Note) {
	t := &console.Table{Header: []string{"ID", "KIND", "GRAPH", "STATE", "MADE", "EFFECT", "NOTE"},
		Fixed: map[int]bool{0: true}}
	for _, n := range notes {
		t.Rows = append(t.Rows, []string{text.Clean(n.ID), kindName(n.Kind), graphName(n.KG), string(n.State),
			n.Made.UTC().Format("2006-01-02"), measured(n), text.OneLine(n.Text)})
	}
	_ = t.Write(s, s.Width(), func(h string) string { return s.In(console.Bold, h) }) // see [Run.JSON]
}

// measured returns a note's measured effect, "not measured" if it has not been measured, or "-" for a candidate.
func measured(n lesson.Note) string {
	if n.Kind == lesson.Candidate {
		return "-"
	}
	effect, _, _ := strings.Cut(text.OneLine(n.Effect), ", on ")
	return cmp.Or(effect, "not measured")
}

func kindName(k lesson.Kind) string {
	if k == lesson.Remark {
		return "note"
	}
	return text.Clean(string(k))
}

func graphName(kg string) string {
	if kg == "" {
		return "all"
	}
	return text.Clean(kg)
}

// Lesson shows all information about a note.
func Lesson(w io.Writer, n lesson.Note) {
	fmt.Fprintf(w, "%s: %s\n  graph:   %s\n  state:   %s\n  source:  %s\n", text.Clean(n.ID), text.OneLine(n.Text),
		graphName(n.KG), n.State, text.OneLine(n.Source))
	if n.Model != "" {
		fmt.Fprintf(w, "  model:   %s\n", text.OneLine(n.Model))
	}
	fmt.Fprintf(w, "  made:    %s\n", n.Made.UTC().Format("2006-01-02 15:04 UTC"))
	if !n.Changed.IsZero() {
		fmt.Fprintf(w, "  changed: %s\n", n.Changed.UTC().Format("2006-01-02 15:04 UTC"))
	}
	effect := "not measured"
	if n.Effect != "" {
		effect = text.OneLine(n.Effect)
	}
	fmt.Fprintf(w, "  effect:  %s\n", effect)
	if n.Version > 1 {
		fmt.Fprintf(w, "  version: %d\n", n.Version)
	}
	if f := n.From; f != nil {
		fmt.Fprintf(w, "  thread:  %s\n  query of: %s, %s, revision %d, %s\n", text.OneLine(f.Link), text.OneLine(f.Author),
			f.Date.UTC().Format("2006-01-02 15:04 UTC"), f.Revision, text.OneLine(f.License))
	}
	if n.Question != "" {
		fmt.Fprintf(w, "  asked, as data:\n%s", quoted(n.Question))
	}
	if n.SPARQL != "" {
		fmt.Fprintf(w, "  query:\n%s", quoted(n.SPARQL))
	}
	for _, was := range n.Was {
		fmt.Fprintf(w, "  version %d until %s, %s: %s\n", was.Version, was.Until.UTC().Format("2006-01-02"), was.State,
			text.OneLine(was.Text))
	}
}

// quoted returns text with a vertical bar before each line.
func quoted(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(s)) {
		b.WriteString("  | " + strings.TrimRight(text.Clean(line), " \n") + "\n")
	}
	return b.String()
}
