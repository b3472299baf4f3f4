package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func entityValue(id, label string) kg.Value {
	return kg.Value{Term: rdf.IRI(rdf.Entity + id), Label: label}
}

func date(s string, precision int) kg.Value {
	return kg.Value{Term: rdf.Typed(s, rdf.XSDDateTime), Precision: precision}
}

// merkel returns a page with every form of value: a single value, a list, qualifiers, ranks, unknown value and no
// value, dates, quantities, and strings.
func merkel() *kg.Entity {
	return &kg.Entity{ID: "Q567", Label: "Angela Merkel", Description: "Chancellor of Germany from 2005 to 2021",
		Claims: []kg.PropertyStatements{
			{Property: kg.PropertyRef{ID: "P31", Label: "instance of"},
				Statements: []kg.Statement{{Value: entityValue("Q5", "human")}}},
			{Property: kg.PropertyRef{ID: "P26", Label: "spouse"}, Statements: []kg.Statement{
				{Value: entityValue("Q96", "Joachim Sauer"), Rank: kg.Preferred,
					Qualifiers: []kg.Qualifier{{Property: kg.PropertyRef{ID: "P580", Label: "start time"},
						Values: []kg.Value{date("1998-12-30T00:00:00Z", 11)}}}},
				{Value: entityValue("Q97", "Ulrich Merkel"), Rank: kg.Normal, Qualifiers: []kg.Qualifier{
					{Property: kg.PropertyRef{ID: "P580", Label: "start time"}, Values: []kg.Value{date("1977-01-01T00:00:00Z", 9)}},
					{Property: kg.PropertyRef{ID: "P582", Label: "end time"}, Values: []kg.Value{date("1982-01-01T00:00:00Z", 9)}}}},
			}},
			{Property: kg.PropertyRef{ID: "P1412", Label: "languages spoken"},
				Statements: []kg.Statement{{Value: entityValue("Q188", "German")}, {Value: entityValue("Q7737", "Russian")}}},
			{Property: kg.PropertyRef{ID: "P2048", Label: "height"},
				Statements: []kg.Statement{{Value: kg.Value{Term: rdf.Typed("+165", rdf.XSDDecimal), Unit: "Q174728",
					UnitLabel: "centimetre"}}}},
			{Property: kg.PropertyRef{ID: "P1559", Label: "name in native language"},
				Statements: []kg.Statement{{Value: kg.Value{Term: rdf.LangString("Angela Merkel", "de")}}}},
			{Property: kg.PropertyRef{ID: "P40", Label: "child"}, Statements: []kg.Statement{{Value: kg.Value{None: true}}}},
			{Property: kg.PropertyRef{ID: "P140", Label: "religion"}, Statements: []kg.Statement{{Value: kg.Value{Unknown: true},
				Rank: kg.Deprecated}}},
		}}
}

const merkelPage = `{
  "instance of (P31)": "human (Q5)",
  "spouse (P26)": {
    "Joachim Sauer (Q96)": {
      "Qualifiers": [
        {
          "rank": "preferred",
          "start time (P580)": "30 December 1998"
        }
      ]
    },
    "Ulrich Merkel (Q97)": {
      "Qualifiers": [
        {
          "start time (P580)": "1977",
          "end time (P582)": "1982"
        }
      ]
    }
  },
  "languages spoken (P1412)": [
    "German (Q188)",
    "Russian (Q7737)"
  ],
  "height (P2048)": "165 centimetre (Q174728)",
  "name in native language (P1559)": "Angela Merkel@de",
  "child (P40)": "no value",
  "religion (P140)": {
    "unknown value": {
      "Qualifiers": [
        {
          "rank": "deprecated"
        }
      ]
    }
  }
}`

func TestPage(t *testing.T) {
	if d := cmp.Diff(merkelPage, NewPage(merkel(), true).String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPruneByAnswer(t *testing.T) {
	const sauer = `"Joachim Sauer (Q96)": {"Qualifiers": [{"rank": "preferred", "start time (P580)": "30 December 1998"}]}`
	tests := []struct {
		name, answer, want string
		unknown            int
		ok                 bool
	}{
		{"a subset", `{"instance of (P31)": "human (Q5)", "spouse (P26)": {` + sauer + `}}`,
			`{"instance of (P31)": "human (Q5)", "spouse (P26)": {` + sauer + `}}`, 0, true},
		{"other order, other layout, a fence", "```json\n{\"spouse (P26)\": {\"Joachim Sauer (Q96)\": {}}, \"P31\": true}\n```",
			`{"instance of (P31)": "human (Q5)", "spouse (P26)": "Joachim Sauer (Q96)"}`, 0, true},
		{"a value of a list", `{"languages spoken (P1412)": "Russian (Q7737)"}`,
			`{"languages spoken (P1412)": "Russian (Q7737)"}`, 0, true},
		{"a qualifier of several", `{"spouse (P26)": {"Ulrich Merkel (Q97)": {"Qualifiers": [{"end time (P582)": "1982"}]}}}`,
			`{"spouse (P26)": {"Ulrich Merkel (Q97)": {"Qualifiers": [{"end time (P582)": "1982"}]}}}`, 0, true},
		{"another label for an existing ID", `{"type (P31)": "person (Q5)"}`, `{"instance of (P31)": "human (Q5)"}`,
			0, true},
		{"what is not on the page is left out", `{"instance of (P31)": ["human (Q5)", "robot (Q11012)"], "salary (P3618)": "1 euro"}`, `{"instance of (P31)": "human (Q5)"}`, 2, true},
		{"a changed qualifier is left out", `{"spouse (P26)": {"Joachim Sauer (Q96)": {"Qualifiers": [{"start time (P580)": "1 April 1999"}]}}}`, `{"spouse (P26)": "Joachim Sauer (Q96)"}`, 0, true},
		{"nothing on the page", `{"salary (P3618)": "1 euro"}`, ``, 1, false},
		{"an empty object", `{}`, ``, 0, false},
		{"no JSON", `I would keep the spouse.`, ``, 0, false},
		{"half a JSON", `{"spouse (P26)": {`, ``, 0, false},
		{"a list", `["spouse (P26)"]`, ``, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, unknown, ok := PruneByAnswer(NewPage(merkel(), true), tt.answer)
			if ok != tt.ok || unknown != tt.unknown {
				t.Fatalf("ok %v, %d unknown", ok, unknown)
			}
			if ok && got.String() != indent(t, tt.want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

func indent(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(s), "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNoLabel checks that once labels have been looked up, an entity without a label is marked, both as a value and in
// a qualifier, even if the pruning model does not copy the mark.
func TestNoLabel(t *testing.T) {
	e := &kg.Entity{ID: "Q1", Claims: []kg.PropertyStatements{{Property: kg.PropertyRef{ID: "P39", Label: "position held"},
		Statements: []kg.Statement{
			{Value: entityValue("Q652965", ""), Qualifiers: []kg.Qualifier{{Property: kg.PropertyRef{ID: "P1365",
				Label: "replaces"}, Values: []kg.Value{entityValue("Q7", "")}}}},
			{Value: entityValue("Q8", "happiness")}, {Value: kg.Value{Term: rdf.String("Q9")}}}}}}
	const want = `{"position held (P39)": {"Q652965 (no label)": {"Qualifiers": [{"replaces (P1365)": "Q7 (no label)"}]}, "happiness (Q8)": {}, "Q9": {}}}`
	if d := cmp.Diff(indent(t, want), NewPage(e, true).String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(indent(t, strings.ReplaceAll(want, " (no label)", "")), NewPage(e, false).String()); d != "" {
		t.Errorf("labels were not looked up (-want +got):\n%s", d)
	}
	for _, answer := range []string{`{"P39": ["Q652965"]}`, `{"P39": ["Q652965 (no label)"]}`,
		`{"P39": "Q652965  (no label)"}`} {
		got, unknown, ok := PruneByAnswer(NewPage(e, true), answer)
		if !ok || unknown != 0 || got.String() != indent(t, `{"position held (P39)": "Q652965 (no label)"}`) {
			t.Errorf("%s gives %s, %d unknown", answer, got, unknown)
		}
	}
}

// FuzzPruneByAnswer checks that no answer from the model adds a line that is not on the page.
func FuzzPruneByAnswer(f *testing.F) {
	f.Add(`{"spouse (P26)": {"Joachim Sauer (Q96)": {"Qualifiers": [{"rank": "x"}, 3]}}}`)
	f.Add(`{"P26": [1, null, {}], "P31": {"": ""}}`)
	f.Add(merkelPage)
	whole := NewPage(merkel(), true)
	lines := map[string]bool{}
	trim := func(s string) string { return strings.Trim(s, " ,{}[]:") }
	for line := range strings.SplitSeq(whole.String(), "\n") {
		for part := range strings.SplitSeq(line, ": ") {
			lines[trim(part)] = true
		}
		lines[trim(line)] = true
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got, _, ok := PruneByAnswer(whole, answer)
		if !ok {
			return
		}
		if !json.Valid([]byte(got.String())) {
			t.Errorf("not JSON: %s", got)
		}
		for line := range strings.SplitSeq(got.String(), "\n") {
			for part := range strings.SplitSeq(line, ": ") {
				if !lines[trim(part)] {
					t.Errorf("%q is not on the page", part)
				}
			}
		}
	})
}

// TestPruneByWords checks that the fallback keeps statements that share words with the question or state the kind of
// item, and reports how much is omitted.
func TestPruneByWords(t *testing.T) {
	e := merkel()
	for i := range 40 {
		e.Claims = append(e.Claims, kg.PropertyStatements{Property: kg.PropertyRef{ID: fmt.Sprintf("P9%03d", i),
			Label: "matter"}, Statements: []kg.Statement{{Value: entityValue("Q1", "thing")}}})
	}
	awards := kg.PropertyStatements{Property: kg.PropertyRef{ID: "P9999", Label: "award received"}}
	for i := range 70 {
		awards.Statements = append(awards.Statements, kg.Statement{Value: entityValue(fmt.Sprintf("Q1%03d", i),
			fmt.Sprintf("prize %d", i))})
	}
	e.Claims = append(e.Claims, awards)
	got := PruneByWords(NewPage(e, true), "Which awards has Angela Merkel received?")
	text := got.String()
	if len(got.props) != prunedProps || !strings.Contains(text, "instance of (P31)") || !strings.Contains(text,
		"award received (P9999)") {
		t.Errorf("%d properties: %s", len(got.props), text)
	}
	if strings.Count(text, "prize") != prunedValuesMatch || !strings.Contains(text, "… and 45 more") {
		t.Errorf("%d values: %s", strings.Count(text, "prize"), text)
	}
	if again := PruneByWords(NewPage(e, true), "Which awards has Angela Merkel received?").String(); again != text {
		t.Error("two calls return different results")
	}
}

func TestDateText(t *testing.T) {
	for _, tt := range []struct {
		in        string
		precision int
		want      string
	}{
		{"1952-03-11T00:00:00Z", 11, "11 March 1952"}, {"1952-03-11T00:00:00Z", 0, "11 March 1952"}, {"1952-03-01T00:00:00Z",
			10, "March 1952"},
		{"1952-01-01T00:00:00Z", 9, "1952"}, {"1950-01-01T00:00:00Z", 8, "1950s"}, {"1801-01-01T00:00:00Z", 7, "19. century"},
		{"1900-01-01T00:00:00Z", 7, "19. century"},
		{"1000-01-01T00:00:00Z", 6, "about 1000"}, {"-0043-03-15T00:00:00Z", 11, "15 March 44 BCE"}, {"0000-01-01T00:00:00Z",
			9, "1 BCE"}, {"-0700-01-01T00:00:00Z", 7, "7. century BCE"}, {"-0500-01-01T00:00:00Z", 9, "501 BCE"},
		{"-3500000000-01-01T00:00:00Z", 3, "about 3500000000 BCE"}, {"-3500000000-01-01T00:00:00Z", 0, "1 January 3500000000 BCE"},
		{"+1952-00-00T00:00:00Z", 0, "1952"}, {"1952-03-00T00:00:00Z", 0, "March 1952"}, {"soon", 11, "soon"},
		{"1952-13-01", 11, "1952-13-01"},
	} {
		if got := dateText(tt.in, tt.precision); got != tt.want {
			t.Errorf("%s by %d: %q, want %q", tt.in, tt.precision, got, tt.want)
		}
	}
}
