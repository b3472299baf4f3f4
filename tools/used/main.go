// Command used measures which parts of the best preset's observations are used later: which of the IDs shown in a line,
// a list or a row occur in a later call or in the final query, and which of these were not shown anywhere else. Parts
// that are never used can be omitted from observations.
//
//	used [-without ACTIONS] PATH...
//
// Each PATH is a trajectory or a folder. In a folder, *.jsonl files that start with a trajectory's first event are
// read, at any depth. IDs in the question and in the preset's rules are ignored, since every reader knows them.
//
// With -without, the observations of the given actions are ignored, as if the actions had not been called. This is for
// the noisy reader, which always looks up the first item it needs, even if everything about it was shown before.
//
// Lists are measured by position. "Needed at" counts the used IDs that are not shown anywhere else and whose position
// is in a given range: if the list is truncated before the range, they are lost.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
)

func main() {
	if err := command(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "used:", err)
		os.Exit(1)
	}
}

func command(w io.Writer, args []string) error {
	f := flag.NewFlagSet("used", flag.ContinueOnError)
	without := f.String("without", "", "actions that do not count, separated by commas")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return errors.New("usage: used [-without ACTIONS] PATH...")
	}
	p, err := preset.Named("best")
	if err != nil {
		return err
	}
	m := &measure{known: p.Rules.Known, without: strings.Split(*without, ","), parts: map[string]*sum{}}
	for _, path := range f.Args() {
		if err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".jsonl") {
				return err
			}
			return m.file(name)
		}); err != nil {
			return err
		}
	}
	if m.runs == 0 {
		return errors.New("there are no runs of the best preset")
	}
	return m.write(w)
}

type measure struct {
	known       []string
	without     []string // actions that do not count
	runs, bytes int
	parts       map[string]*sum
}

// places are the upper bounds of the position ranges.
var places = []int{1, 2, 4, 6, 8, 10, 12, 14, 20}

// sum contains the totals for one part of the observations.
type sum struct {
	times, entries, bytes int
	shown, used, only     int   // IDs
	at                    []int // of only, by position
	longest               int
}

// entry is a line, a list item or a row.
type entry struct {
	part  string
	place int // from 1
	text  string
	ids   []string
}

// file measures a trajectory. Other files, and runs of other presets, are skipped.
func (m *measure) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	events, err := event.Read(f)
	if err != nil || len(events) == 0 || events[0].Question == nil || events[0].Preset != "best" {
		return nil // a run that was cut off, or a different kind of file
	}
	m.runs++
	known := map[string]bool{}
	for _, id := range append(idsIn(events[0].Question.Text), m.known...) {
		known[id] = true
	}
	var seen []entry
	var later []string // the calls after each step
	for i, e := range events {
		if e.Step == nil || e.Event != "step" || e.Step.Observation == "" {
			continue
		}
		if slices.Contains(m.without, e.Step.Action) {
			continue
		}
		m.bytes += len(e.Step.Observation)
		text := after(events[i+1:])
		for _, x := range entriesOf(e.Step) {
			seen, later = append(seen, x), append(later, text)
		}
	}
	m.count(seen, later, known)
	return nil
}

// after returns the arguments of the calls in events and the final query.
func after(events []event.Event) string {
	var s strings.Builder
	for _, e := range events {
		switch {
		case e.Event == "step" && e.Step != nil:
			s.WriteString(e.Step.Argument + "\n")
		case e.Event == "final":
			s.WriteString(e.SPARQL + "\n")
		}
	}
	return s.String()
}

// count adds the entries in a run. For each entry, later contains the calls after it.
func (m *measure) count(seen []entry, later []string, known map[string]bool) {
	shownIn := map[string][]int{} // entries by ID
	for i, x := range seen {
		for _, id := range x.ids {
			shownIn[id] = append(shownIn[id], i)
		}
	}
	had := map[string]bool{}
	for i, x := range seen {
		s := m.parts[x.part]
		if s == nil {
			s = &sum{at: make([]int, len(places)+1)}
			m.parts[x.part] = s
		}
		if !had[x.part] {
			had[x.part] = true
			s.times++
		}
		s.entries++
		s.bytes += len(x.text) + 1
		s.longest = max(s.longest, x.place)
		for _, id := range x.ids {
			if known[id] {
				continue
			}
			s.shown++
			if !has(later[i], id) {
				continue
			}
			s.used++
			if len(shownIn[id]) == 1 {
				s.only++
				at := slices.IndexFunc(places, func(p int) bool { return x.place <= p })
				if at < 0 {
					at = len(places)
				}
				s.at[at]++
			}
		}
	}
}

var anID = regexp.MustCompile(`\b[QP][1-9][0-9]*\b`)

func idsIn(text string) []string {
	var out []string
	for _, id := range anID.FindAllString(text, -1) {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// has reports whether an ID occurs in the text as a whole word.
func has(text, id string) bool {
	for rest := text; ; {
		i := strings.Index(rest, id)
		if i < 0 {
			return false
		}
		if rest = rest[i+len(id):]; rest == "" || rest[0] < '0' || rest[0] > '9' {
			return true
		}
	}
}

// taking is an observation of the best preset that is being split into entries.
type taking struct {
	step  *event.Step
	lines []string
	out   []entry
	count map[string]int // the last position in each part
}

func entriesOf(s *event.Step) []entry {
	t := &taking{step: s, lines: strings.Split(s.Observation, "\n"), count: map[string]int{}}
	for i, line := range t.lines {
		inner := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(inner, "used by: "):
			t.list("used by", strings.TrimPrefix(inner, "used by: "), ", ")
		case strings.HasPrefix(inner, "also has: "), strings.HasPrefix(line, "  also "):
			t.list("also has", inner, ", ")
		case s.Action == tool.BeforehandName:
			t.beforehand(i, line, inner)
		case s.Action == tool.FindName && strings.HasSuffix(line, "(0 uses)"):
			t.add("hits without uses", line)
		case s.Action == tool.FindName && strings.HasPrefix(line, "  "):
			t.add("hits", line)
		case s.Action == tool.FindName:
			t.count["hits"] = 0
			t.add("names", line)
		case s.Action == tool.LookName && strings.HasPrefix(line, "  "):
			t.add("properties", line)
		case s.Action == tool.LookName:
			t.count["properties"] = 0
			t.add("things", line)
		case s.Action == tool.QueryName && i > 1:
			t.add("rows", line)
		default:
			t.add("lines", line)
		}
	}
	return t.out
}

func (t *taking) add(part, text string) {
	t.count[part]++
	t.out = append(t.out, entry{t.step.Action + ": " + part, t.count[part], text, idsIn(text)})
}

func (t *taking) list(part, text, sep string) {
	t.count[part] = 0
	for _, x := range strings.Split(text, sep) {
		t.add(part, x)
	}
}

// beforehand adds a line from the lookup before the first turn.
func (t *taking) beforehand(i int, line, inner string) {
	name, _, _ := strings.Cut(inner, ": ")
	switch {
	case strings.HasPrefix(line, "Instances of "):
		head, members, _ := strings.Cut(line, " have: ")
		t.add("classes", head)
		t.list("what instances have", members, ", ")
	case line == "Properties:":
		t.add("heads", line)
	case strings.HasPrefix(line, "No name here"):
		t.add("names missing", line)
	case strings.HasPrefix(line, "Solved before"):
		t.add("solved questions", line)
	case strings.HasPrefix(line, "  P") && slices.Contains(t.lines[:i], "Properties:"):
		t.add("properties", line)
	case strings.HasPrefix(line, "  P") && name != "":
		t.list("values of things", inner, "; ")
	default:
		t.add("things", line)
	}
}

func (m *measure) write(w io.Writer) error {
	fmt.Fprintf(w, "%d runs, %d bytes of observations, %d a run\n\n", m.runs, m.bytes, m.bytes/m.runs)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "part\truns\tentries\tlongest\tbytes %\tIDs\tused\tonly here\tneeded at ")
	from := 1
	for _, p := range places {
		if p == from {
			fmt.Fprintf(t, "%d\t", p)
		} else {
			fmt.Fprintf(t, "%d-%d\t", from, p)
		}
		from = p + 1
	}
	fmt.Fprintf(t, "%d-\t\n", from)
	names := make([]string, 0, len(m.parts))
	for n := range m.parts {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return m.parts[b].bytes - m.parts[a].bytes })
	for _, n := range names {
		s := m.parts[n]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%d\t%d\t%d\t", n, s.times, s.entries, s.longest,
			100*float64(s.bytes)/float64(max(m.bytes, 1)), s.shown, s.used, s.only)
		for _, k := range s.at {
			fmt.Fprintf(t, "%d\t", k)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
