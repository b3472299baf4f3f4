//go:build integration

package engines

import (
	"cmp"
	_ "embed"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// faultsFile lists the traps for which an engine's answer differs from the standard or is missing. Each line lists the
// engine, the trap's name, and how the answer differs; the trap's query is a minimal one that shows the fault. The test
// fails if a listed trap is answered correctly or an unlisted trap is answered incorrectly.
//
//go:embed testdata/faults.tsv
var faultsFile string

// trapFault reports whether an engine is known to answer a trap differently.
func trapFault(engine, trap string) bool {
	for line := range strings.Lines(faultsFile) {
		if cells := strings.Split(line, "\t"); len(cells) == 3 && cells[0] == engine && cells[1] == trap {
			return true
		}
	}
	return false
}

// family attributes failures of longer queries to the faults that the traps show. It recognizes errors by part of the
// message, and differing rows by the content of the query. Families for Oxigraph and Blazegraph are narrow. Families
// for Virtuoso are wide, because Oxigraph's answer to the same query is judged strictly.
type family struct {
	engine  string
	trap    string
	message string
	holds   *regexp.Regexp
}

var families = []family{
	{"oxigraph", "SUBSTR by decimals", "", regexp.MustCompile(`CEIL\((?s:.*)SUBSTR\(\?\w+, 1, \?`)},
	{"oxigraph", "group_concat of numbers", "", regexp.MustCompile(`GROUP_CONCAT`)},
	{"oxigraph", "average of nothing by a decimal", "", regexp.MustCompile(`AVG\(\?\w+\) / [\d.]+`)},
	{"oxigraph", "cast with spaces around", "", regexp.MustCompile(`xsd:decimal\(SUBSTR`)},
	{"oxigraph", "star of an absent term", "", regexp.MustCompile(`\* wd:Q\d+`)},
	{"oxigraph", `"2024-03-01T00:00:00Z"^^xsd:dateTime - "2024-02-01T00:00:00Z"^^xsd:dateTime`, "",
		regexp.MustCompile(`\?(mort|death|date|end|age|president_deathdate|[a-zA-Z_]+) - \?`)},
	{"oxigraph", "computed from aggregates by their names", "a variable that is unbound", nil},
	{"oxigraph", "computed from aggregates by their names", "expected one of IF, TZ", nil},
	{"oxigraph", "maximum with unbound values", "", regexp.MustCompile(`MAX\(`)},
	{"oxigraph", "distance", "geosparql/function/distance", nil},
	{"blazegraph", "computed from aggregates by their names", "ConcurrentModificationException", nil},
	{"blazegraph", "VALUES at the end over what is grouped away", "", regexp.MustCompile(`(?s)GROUP BY[^{}]*VALUES`)},
	{"blazegraph", "", "Cannot add process datatype literals", nil},
	{"virtuoso", "distance", "Undefined procedure DB.DBA.http", nil},
	{"virtuoso", "NOT EXISTS before UNION", "selid is used outside its scope", nil},
	{"virtuoso", "OPTIONAL with FILTER before UNION", "No column", nil},
	{"virtuoso", "long group_concat", "Max row length is exceeded", nil},
	{"virtuoso", "long group_concat", "too long", nil},
	{"virtuoso", "group_concat of numbers", "Required argument DELIM", nil},
	{"virtuoso", "plus with both ends free", "transitive", nil},
	{"virtuoso", "YEAR of a label", "Incomplete RDF box", nil},
	{"virtuoso", `YEAR("2024")`, "needs a datetime", nil},
	{"virtuoso", "1 / 0", "Division by 0", nil},
	{"virtuoso", "", "used in the result set outside", nil},
	{"virtuoso", "", "ssg_print_bop_bool_expn", nil},
	{"virtuoso", "", "keys in group by or hash join", nil},
	{"virtuoso", "filter in OPTIONAL sees outer variables", "", regexp.MustCompile(`(?s)OPTIONAL \{[^{}]*FILTER`)},
	{"virtuoso", "path before UNION", "", regexp.MustCompile(`[\w)][*+] `)},
	{"virtuoso", "FILTER next to BIND and OPTIONAL", "",
		regexp.MustCompile(`(?s)(FILTER|BIND).*(OPTIONAL|UNION|BIND|FILTER)`)},
	{"virtuoso", "empty sum, minimum, average", "", regexp.MustCompile(`SUM\(|AVG\(|MIN\(|MAX\(`)},
	{"virtuoso", "MINUS does not see outer variables", "", regexp.MustCompile(`MINUS`)},
	{"virtuoso", "coordinates as written", "", regexp.MustCompile(`P625|wktLiteral`)},
	{"virtuoso", "years before year 1", "", regexp.MustCompile(`P5\d\d|P1191|P1619|P2031|dateTime`)},
	{"virtuoso", `REPLACE("abab"@en, "(a)(b)", "$2$1")`, "",
		regexp.MustCompile(`SUBSTR|REPLACE|STRAFTER|STRBEFORE|UCASE|LCASE`)},
	{"virtuoso", "1 / 2", "", regexp.MustCompile(` / `)},
	{"virtuoso", "wd:Q1 < wd:Q2", "", regexp.MustCompile(`\?\w+ [<>] \?`)},
	{"virtuoso", "an unbound variable joins", "", regexp.MustCompile(`(?s)OPTIONAL.*\}`)},
}

// known returns the fault that explains an engine's answer to a query, or "" if there is none. A trap's fault explains
// only that trap.
func known(engine, name, text string, err error) string {
	if trapFault(engine, name) {
		return "a trap of testdata/faults.tsv"
	}
	if !strings.HasPrefix(name, "seed ") && !strings.HasPrefix(name, "gold ") && !strings.HasPrefix(name, "forum ") {
		return ""
	}
	if engine != "virtuoso" && strings.HasPrefix(name, "seed ") {
		return "" // Oxigraph and Blazegraph answer all generated queries correctly
	}
	for _, f := range families {
		if f.engine == engine && (err != nil && f.message != "" && strings.Contains(err.Error(), f.message) || err == nil &&
			f.holds != nil && f.holds.MatchString(text)) {
			return cmp.Or(f.trap, f.message)
		}
	}
	return ""
}

// TestFaultsAreTold checks that every fault refers to an existing trap, and that docs/engines.md describes it.
func TestFaultsAreTold(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	rq, err := os.ReadFile("testdata/traps.rq")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(faultsFile) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 3 || !strings.Contains(string(rq), "\n### "+cells[1]+"\n") {
			t.Errorf("no such trap: %q", line)
			continue
		}
		told = append(told, cells[0]+"\t"+cells[1])
		if !strings.Contains(string(docs), strings.ReplaceAll(cells[1], "|", `\|`)) {
			t.Errorf("docs/engines.md does not describe %s on %s", cells[1], cells[0])
		}
	}
	for _, f := range families {
		if f.trap != "" && !slices.Contains(told, f.engine+"\t"+f.trap) {
			t.Errorf("%s: %s names a family, but is not in testdata/faults.tsv", f.engine, f.trap)
		}
	}
}
