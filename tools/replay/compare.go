package main

import (
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// These are all the differences between what our agent shows of the recorded results and what the record shows. The
// comparison removes the listed differences one by one, and counts the observations in which each was found.
// Differences that a record without numbers, languages and ranks cannot show are marked [not in the record].
//
// Searches
//   - glossLeftOut: the explanation in parentheses after some data types is omitted.
//   - a line states that labels and aliases are searched and whether there are more hits. If nothing is found, it
//     suggests what to try (briefly from the second time on); the record is empty in that case.
//   - the alias by which a hit was found is added, and a data type that the description repeats appears only once [not
//     in the record].
//   - noDescription: the colon is omitted if there is no description.
//   - lineBreaks: a description is a single line, and any white space becomes a single space.
//
// Entries
//   - the first line names the entity, and the last lines name the properties that were shortened or omitted.
//   - an entity without a label is marked [not in the record: the replay has no labels].
//   - "rank" marks preferred and deprecated statements; quantities have their units, dates their precision, and strings
//     their language [not in the record].
//   - prunedShape: the record's page was written by the pruning model, while ours always has the page's original
//     structure: a single value is not in a list, an empty property or qualifier object is omitted, and a duplicate
//     value appears once.
//   - the model is told that an argument is not a single ID; the record shows an empty page.
//   - if a property has more than 200 values, the rest are only counted, and a page is truncated after 16,000
//     characters [not in the record].
//
// Examples
//   - lineBreaks, as above.
//   - propertyName: the property appears with its label and ID (in the replay, which has no labels, with its ID).
//   - subject and value have their IDs [not in the record].
//   - firstTwenty: if there are more than 20, the first 20 are shown, with the total.
//
// Queries
//   - limitReached: if the query's own limit was reached, the last line reports it.
//   - the first line has the number of rows, and the third has the kinds of values and how many are unbound; columns
//     are separated by " | " and not padded.
//   - gapCounted: the line between the first and the last five rows reports how many are omitted.
//   - item labels are added if there is no label column [not in the record: it has no labels].
//   - unknownValue: "unknown value" replaces a blank node label.
//   - prefixedName: an IRI in a known namespace has its prefix ("wdt:P31" for P31, "schema:version"), so that wdt:,
//     p: and ps: differ.
//   - unboundRows: rows without bound variables show "-" in each column; the record states that its table is empty.
//   - longCell: a cell is truncated after 200 characters.
//   - an empty result, a syntax error and every other failure have different messages.

// difference is one of the differences listed above; apply removes it from both observations.
type difference struct {
	name  string
	apply func(ours, theirs string) (string, string)
}

// compare removes the differences in turn until both observations are equal, and counts the removals that were needed.
func compare(count counts, ours, theirs string, differences ...difference) bool {
	for _, d := range differences {
		if ours == theirs {
			break
		}
		a, b := d.apply(ours, theirs)
		if a != ours || b != theirs {
			count.add("  needed " + d.name)
		}
		ours, theirs = a, b
	}
	return ours == theirs
}

// compareObservation compares what the agent showed with what the record shows for the same action.
func compareObservation(count counts, p *recordPlayer, s step) bool {
	theirs := p.run.Actions[s.pos].Observation
	if s.Action == "stop" || theirs == nil {
		count.add("not recorded (a stop, or an action that was not carried out)")
		return true
	}
	ok := false
	switch s.Action {
	case "search_wikidata":
		ok = compareSearch(count, s.Observation, *theirs)
	case "get_wikidata_entry":
		ok = compareEntry(count, s, *theirs)
	case "get_property_examples":
		ok = compareExamples(count, s.Observation, *theirs)
	case "execute_sparql":
		ok = compareTable(count, p, s, *theirs)
	}
	if ok {
		count.add(s.Action + ": equal up to the listed differences")
	} else {
		count.add(s.Action + ": different")
	}
	return ok
}

var (
	gloss     = regexp.MustCompile(`(\tData Type: [A-Za-z-]+) \([^\n]*\)`)
	colon     = regexp.MustCompile(`(?m)(\([QP]\d+\)): ?($|\t)`)
	gapLine   = regexp.MustCompile(`(?m)^… \d+ rows? not shown …$`)
	dottedRow = regexp.MustCompile(`(?m)^[ .]*\.\.\.[ .]*$`)
	genid     = "/.well-known/genid/"
)

// lineBreaks replaces every kind of white space with a single space.
func lineBreaks(name string) difference {
	return difference{name + ": lineBreaks", func(a, b string) (string, string) { return text.Fold(a), text.Fold(b) }}
}

func compareSearch(count counts, ours, theirs string) bool {
	if theirs == "" {
		count.add("  search_wikidata: nothing found, whose text is ours")
		return strings.HasPrefix(ours, "Nothing found.")
	}
	ours, note, _ := cutLast(ours)
	if !strings.HasPrefix(note, "(Labels and aliases") {
		return false
	}
	return compare(count, ours, theirs,
		difference{"search_wikidata: glossLeftOut", func(a, b string) (string, string) {
			return a, gloss.ReplaceAllString(b,
				"$1")
		}},
		difference{"search_wikidata: noDescription", func(a, b string) (string, string) {
			return a, colon.ReplaceAllString(b,
				"$1$2")
		}},
		lineBreaks("search_wikidata"))
}

// cutLast removes the last line of a string.
func cutLast(s string) (before, last string, ok bool) {
	i := strings.LastIndexByte(s, '\n')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

func compareEntry(count counts, s step, theirs string) bool {
	if s.Failure != "" {
		count.add("  get_wikidata_entry: several numbers at once, which the model is told")
		return theirs == "{}"
	}
	ours := s.Observation
	_, ours, _ = strings.Cut(ours, "\n") // the heading
	if strings.TrimSpace(theirs) == "{}" || theirs == "" {
		count.add("  get_wikidata_entry: an empty page, whose text is ours")
		return ours == "It has no statements."
	}
	return compare(count, ours, theirs, difference{"get_wikidata_entry: prunedShape", func(a, b string) (string,
		string) {
		return reshape(a), reshape(b)
	}})
}

func compareExamples(count counts, ours, theirs string) bool {
	if theirs == "" {
		count.add("  get_property_examples: none, whose text is ours")
		return strings.Contains(ours, "no examples recorded")
	}
	return compare(count, ours, theirs,
		difference{"get_property_examples: propertyName", func(a, b string) (string, string) {
			return arrow.ReplaceAllString(a, " -- P --> "), arrow.ReplaceAllString(b, " -- P --> ")
		}},
		difference{"get_property_examples: firstTwenty", func(a, b string) (string, string) {
			lines := strings.Split(b, "\n")
			before, last, _ := cutLast(a)
			if len(lines) > 20 && strings.Contains(last, "examples in all") {
				return before, strings.Join(lines[:20], "\n")
			}
			return a, b
		}},
		lineBreaks("get_property_examples"))
}

var arrow = regexp.MustCompile(` -- [^\n]*? --> `)

func compareTable(count counts, p *recordPlayer, s step, theirs string) bool {
	table, err := queryAt(p.run, s.pos+1)
	switch {
	case err != nil:
		count.add("  execute_sparql: a failure, whose text is ours")
		return s.Failure != "" && strings.HasPrefix(theirs, "java.util.concurrent")
	case table.Empty():
		count.add("  execute_sparql: an empty result, whose text is ours")
		return theirs == "Query returned empty result." && strings.Contains(s.Observation, "returned no rows")
	case table.Ask:
		return s.Observation == theirs
	case strings.HasPrefix(theirs, "Empty DataFrame"): // rows without values: the record has no columns for them
		count.add("  needed execute_sparql: unboundRows")
		return len(table.Vars) == 0
	}
	shown := s.Observation
	if before, last, _ := cutLast(shown); strings.HasPrefix(last, "(The query's LIMIT") {
		count.add("  needed execute_sparql: limitReached")
		shown = before
	}
	lines := strings.Split(shown, "\n")
	ours := strings.Join(append([]string{lines[1]}, lines[3:]...), "\n")
	count.add("  execute_sparql: count, kinds and separators removed")
	return compare(count, squeeze(strings.ReplaceAll(gapLine.ReplaceAllString(ours, "GAP"), " | ", " ")),
		squeeze(dottedRow.ReplaceAllString(theirs, "GAP")),
		difference{"execute_sparql: unknownValue", func(a, b string) (string, string) {
			eachCell(table.Rows, func(c rdf.Term) {
				if c.Kind == rdf.BlankKind || strings.Contains(c.Value, genid) {
					b = strings.ReplaceAll(b, c.Value[strings.LastIndexByte(c.Value, '/')+1:], "(unknownvalue)")
				}
			})
			return a, b
		}},
		difference{"execute_sparql: prefixedName", func(a, b string) (string, string) {
			eachCell(table.Rows, func(c rdf.Term) {
				if !strings.HasPrefix(c.Value, "http") {
					return
				}
				last := c.Value
				if strings.HasPrefix(last, "http://www.wikidata.org/") {
					last = last[strings.LastIndexByte(last, '/')+1:]
				}
				a = strings.ReplaceAll(a, squeeze(strings.Trim(rdf.Shorten(c.Value), "<>")), squeeze(last))
				a = strings.ReplaceAll(a, squeeze(c.Value), squeeze(last))
			})
			return a, b
		}})
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func eachCell(rows [][]rdf.Term, f func(rdf.Term)) {
	for _, row := range rows {
		for _, c := range row {
			if c.Bound() {
				f(c)
			}
		}
	}
}
