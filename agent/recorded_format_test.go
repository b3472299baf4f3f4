package agent

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// These are all the differences between what our formatter makes of the record's results and what the record shows. Each test below takes away the differences that it
// names, one by one, and counts the observations that needed it. What a record without numbers, languages and ranks cannot show is marked [not in the record].
//
// Searches
//   - glossLeftOut: the explanation in brackets behind some data types is left out.
//   - a line says that labels and aliases are searched; where more exist, that; where nothing is found, what to try. The record is empty there.
//   - the alias by which a hit was found is added [not in the record].
//   - noDescription: the colon is left out where there is no description.
//   - lineBreaks: a description is one line, and any kind of space one space.
//
// Entries
//   - a first line names the entity, a last one the properties that were left out.
//   - "rank" marks preferred and deprecated statements; a quantity has its unit, a date its precision, a text its language [not in the record].
//   - emptyGroups: a statement's empty qualifier object is left out.
//   - sameValue: a value that the record's pruning lists twice stands once.
//
// Examples
//   - lineBreaks, as above.
//   - subject, property and value have their numbers [not in the record]; of more than 20 the first 20 are shown, with the total.
//
// Queries
//   - a first line gives the number of rows, a third the kinds of the values; columns are separated by " | " and not padded.
//   - gapCounted: the line between the first and the last five says how many are left out.
//   - labels of items are added where there is no label column [not in the record: it has no labels].
//   - unknownValue: "unknown value" stands for the name of a blank node.
//   - prefixedName: an IRI of a known namespace has its prefix ("wdt:P31" for P31, "schema:version"), so that wdt:, p: and ps: are told apart.
//   - unboundRows: rows in which nothing is bound show "-" under each column; the record says that its table is empty.
//   - longCell: a cell is cut after 200 characters.
//   - an empty result, a syntax error and each other failure has a text of its own.

type difference struct {
	name  string
	apply func(ours, theirs string) (string, string)
}

// compare takes away the differences in turn until both texts are equal, and counts those that were needed.
func compare(count map[string]int, ours, theirs string, differences ...difference) bool {
	for _, d := range differences {
		if ours == theirs {
			break
		}
		a, b := d.apply(ours, theirs)
		if a != ours || b != theirs {
			count["  needed "+d.name]++
		}
		ours, theirs = a, b
	}
	return ours == theirs
}

func TestRecordedObservations(t *testing.T) {
	count := map[string]int{}
	bad := 0
	for i, run := range recordedRuns(t) {
		for j, a := range run.Actions {
			if a.Observation == nil || *a.Observation == "" {
				count["none recorded"]++
				continue
			}
			ok := false
			switch a.Name {
			case actSearch:
				ok = compareSearch(count, *a.Observation)
			case actEntry:
				ok = compareEntry(count, *a.Observation)
			case actExamples:
				ok = compareExamples(count, *a.Observation)
			case actExecute:
				ok = compareTable(count, run, j)
			}
			if ok {
				count[a.Name+": equal up to the listed differences"]++
				continue
			}
			count[a.Name+": different"]++
			if bad++; bad <= 8 {
				t.Errorf("run %d, action %d: %s(%s) differs in a way that is not listed:\n%s", i, j, a.Name, a.Argument, clip(*a.Observation, 1500))
			}
		}
	}
	logCounts(t, count)
}

var gloss = regexp.MustCompile(`(\tData Type: [A-Za-z-]+) \([^\n]*\)`)

var colon = regexp.MustCompile(`(?m)(\([QP]\d+\)): ?($|\t)`)

func compareSearch(count map[string]int, theirs string) bool {
	var lines []string
	for _, h := range parseHits(theirs) {
		lines = append(lines, hitText(h))
	}
	return compare(count, strings.Join(lines, "\n"), theirs,
		difference{"search: glossLeftOut", func(a, b string) (string, string) { return a, gloss.ReplaceAllString(b, "$1") }},
		difference{"search: noDescription", func(a, b string) (string, string) { return a, colon.ReplaceAllString(b, "$1$2") }},
		difference{"search: lineBreaks", func(a, b string) (string, string) { return fold(a), fold(b) }})
}

func compareEntry(count map[string]int, theirs string) bool {
	e, err := parseEntity("Q1", theirs)
	if err != nil {
		return false
	}
	return compare(count, newPage(e).String(), theirs,
		difference{"entry: prunedShape", func(a, b string) (string, string) {
			again, err := parseEntity("Q1", b)
			if err != nil {
				return a, b
			}
			return a, newPage(again).String()
		}})
}

func compareExamples(count map[string]int, theirs string) bool {
	name, list := parseExamples(theirs)
	return compare(count, examplesText(name, list, len(list)), theirs,
		difference{"examples: lineBreaks", func(a, b string) (string, string) { return fold(a), fold(b) }})
}

var (
	gapLine   = regexp.MustCompile(`(?m)^… \d+ rows? not shown …$`)
	dottedRow = regexp.MustCompile(`(?m)^[ .]*\.\.\.[ .]*$`)
	blankName = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
)

func compareTable(count map[string]int, run recordedRun, j int) bool {
	theirs := *run.Actions[j].Observation
	p := &recordPlayer{run: run, pos: j + 1}
	table, err := p.Query(nil, "")
	if err != nil {
		count["  execute_sparql: a failure, whose text is ours"]++
		return !strings.HasPrefix(theirs, "True")
	}
	if table.Empty() {
		count["  execute_sparql: an empty result, whose text is ours"]++
		return theirs == "Query returned empty result."
	}
	if table.Ask {
		return spinachPreset.tableText(table, nil) == theirs
	}
	if strings.HasPrefix(theirs, "Empty DataFrame") { // rows without any value: the record has no columns for them
		count["  needed execute_sparql: unboundRows"]++
		return len(table.Vars) == 0
	}
	lines := strings.Split(spinachPreset.tableText(table, nil), "\n")
	ours := strings.Join(append([]string{lines[1]}, lines[3:]...), "\n")
	count["  execute_sparql: count, kinds and separators taken away"]++
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return compare(count, squeeze(strings.ReplaceAll(gapLine.ReplaceAllString(ours, "GAP"), " | ", " ")), squeeze(dottedRow.ReplaceAllString(theirs, "GAP")),
		difference{"execute_sparql: unknownValue", func(a, b string) (string, string) {
			for _, row := range table.Rows {
				for _, c := range row {
					if c.Kind == rdf.BlankKind || strings.Contains(c.Value, "/.well-known/genid/") {
						b = strings.ReplaceAll(b, c.Value[strings.LastIndexByte(c.Value, '/')+1:], "(unknownvalue)")
					}
				}
			}
			return a, b
		}},
		difference{"execute_sparql: prefixedName", func(a, b string) (string, string) {
			for _, row := range table.Rows {
				for _, c := range row {
					if !c.Bound() || !strings.HasPrefix(c.Value, "http") {
						continue
					}
					last := c.Value
					if strings.HasPrefix(last, "http://www.wikidata.org/") {
						last = last[strings.LastIndexByte(last, '/')+1:]
					}
					a = strings.ReplaceAll(a, squeeze(cellText(c, nil)), squeeze(last))
				}
			}
			return a, b
		}},
		difference{"execute_sparql: longCell", func(a, b string) (string, string) {
			for _, row := range table.Rows {
				for _, c := range row {
					if f := fold(c.Value); clip(f, maxCell) != f {
						b = strings.ReplaceAll(b, squeeze(c.Value), squeeze(clip(f, maxCell)))
					}
				}
			}
			return a, b
		}})
}
