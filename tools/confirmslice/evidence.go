package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// evidence contains the facts in the shared files, as sets of keys. A key consists of parts joined by tabs.
type evidence struct {
	triples  map[string]bool // subject, predicate, value: property declarations, sitelink counts and similar
	facts    map[string]bool // Q183, P36, Q64
	quals    map[string]bool // Q183, P36, Q64, P580, 1990-10-03
	ranks    map[string]bool // Q183, P36, Q64, wikibase:PreferredRank
	together map[string]bool // Q183, P36, Q64: mentioned together in a query and its result
	names    map[string]bool // Q183, en, Germany; the language is "" if the source does not state it
	shows    map[string]bool // P36, label, label: property examples that a run saw
}

func key(parts ...string) string { return strings.Join(parts, "\t") }

// readEvidence reads the data/slice, data/spinach and papers folders.
func readEvidence(shared string) (*evidence, error) {
	ev := &evidence{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{},
		map[string]bool{}, map[string]bool{}}
	var ts []triple
	if err := eachNT(filepath.Join(shared, "data", "slice", "wikidata-slice.nt.gz"),
		func(t triple) { ts = append(ts, t) }); err != nil {
		return nil, err
	}
	ev.addGraph(ts)
	for _, f := range []string{"items", "properties"} {
		if err := ev.addLabels(filepath.Join(shared, "data", "slice", "labels-"+f+".tsv")); err != nil {
			return nil, err
		}
	}
	if err := ev.addLog(filepath.Join(shared, "data", "spinach", "qald10-log.json")); err != nil {
		return nil, err
	}
	if err := ev.addOutputs(filepath.Join(shared, "data", "spinach", "qald10-outputs.json")); err != nil {
		return nil, err
	}
	papers, err := filepath.Glob(filepath.Join(shared, "papers", "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, f := range papers {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		ev.addNames(string(b))
	}
	return ev, nil
}

func (ev *evidence) addGraph(ts []triple) {
	g := newGraph(ts)
	for _, t := range ts {
		switch {
		case t.p == "rdfs:label" || t.p == "skos:altLabel":
			ev.names[key(id(t.s), t.o.Lang, t.o.Value)] = true
		case strings.HasPrefix(t.p, "wdt:"):
			ev.facts[key(id(t.s), id(t.p), value(t.o))] = true
		case strings.HasPrefix(t.s, "wd:"):
			ev.triples[key(t.s, t.p, t.o.Value)] = true
		}
	}
	for _, st := range g.statements {
		f := st.fact()
		ev.facts[f] = true
		for _, q := range st.quals {
			ev.quals[key(f, q.p, value(q.o))] = true
		}
		if st.rank != "" {
			ev.ranks[key(f, st.rank)] = true
		}
	}
}

func (ev *evidence) addLabels(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(b), "\n") {
		f := strings.Split(line, "\t")
		if len(f) < 4 || !strings.HasPrefix(f[0], rdf.Entity) {
			continue
		}
		num := rdf.EntityID(f[0])
		ev.names[key(num, "en", f[1])] = true
		for _, a := range strings.Split(f[3], "; ") {
			ev.names[key(num, "en", a)] = true
		}
	}
	return nil
}

// The parts of the run files that this command uses.
type (
	logged struct {
		Generated []execution `json:"generated_sparqls"`
		Actions   []struct {
			Name        string  `json:"action_name"`
			Argument    string  `json:"action_argument"`
			Observation *string `json:"observation"`
		} `json:"actions"`
	}
	execution struct {
		SPARQL       string            `json:"sparql"`
		Preverbalize string            `json:"preverbalized"`
		Labels       map[string]string `json:"label_to_id_map"`
		Rows         json.RawMessage   `json:"execution_result"`
	}
	cell struct {
		Type     string `json:"type"`
		Value    string `json:"value"`
		Datatype string `json:"datatype"`
		Lang     string `json:"xml:lang"`
	}
)

func (ev *evidence) addLog(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var runs []logged
	if err := json.Unmarshal(b, &runs); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, r := range runs {
		for _, x := range r.Generated {
			for label, num := range x.Labels {
				ev.names[key(num, "", label)] = true
			}
			ev.addResult(x.SPARQL, x.Rows)
		}
		for _, a := range r.Actions {
			if a.Observation == nil {
				continue
			}
			ev.addNames(*a.Observation)
			switch a.Name {
			case "get_wikidata_entry":
				ev.addPage(a.Argument, *a.Observation)
			case "get_property_examples":
				for _, l := range strings.Split(*a.Observation, "\n") {
					s, rest, _ := strings.Cut(l, " -- ")
					_, o, _ := strings.Cut(rest, " --> ")
					ev.shows[key(a.Argument, s, o)] = true
				}
			}
		}
	}
	return nil
}

func (ev *evidence) addOutputs(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var out []struct {
		Predicted     string          `json:"predicted_sparql"`
		Gold          string          `json:"gold_sparql"`
		PredictedRows json.RawMessage `json:"predicted_answer_tuple"`
		GoldRows      json.RawMessage `json:"gold_answer_tuple"`
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, o := range out {
		ev.addResult(o.Predicted, o.PredictedRows)
		ev.addResult(o.Gold, o.GoldRows)
	}
	return nil
}

var (
	idInText   = regexp.MustCompile(`\b([QP][1-9]\d*)\b`)
	nameInText = regexp.MustCompile(`([^\n"\\\[\]{}:(]{2,80}?) \(([QP][1-9]\d*)\)`)
)

// addNames adds every "label (Q42)" in text.
func (ev *evidence) addNames(text string) {
	for _, m := range nameInText.FindAllStringSubmatch(text, -1) {
		ev.names[key(m[2], "", strings.TrimSpace(m[1]))] = true
	}
}

// addResult records the IDs that occur together in a query and a row of its result. It skips queries with many IDs,
// whose combinations prove little.
func (ev *evidence) addResult(query string, rows json.RawMessage) {
	var table []map[string]cell
	if json.Unmarshal(rows, &table) != nil {
		return
	}
	var entities, props []string
	ids := idInText.FindAllString(query, -1)
	slices.Sort(ids)
	for _, m := range slices.Compact(ids) {
		if m[0] == 'P' {
			props = append(props, m)
		} else {
			entities = append(entities, m)
		}
	}
	if len(entities) > 8 || len(props) > 8 {
		return
	}
	for _, row := range table {
		subjects := entities
		var values []string
		for _, c := range row {
			v := shownCell(c)
			values = append(values, v)
			if c.Type == "uri" && v != c.Value {
				subjects = append(subjects[:len(subjects):len(subjects)], v)
			}
		}
		for _, s := range subjects {
			for _, p := range props {
				for _, v := range append(values, entities...) {
					if v != s {
						ev.together[key(s, p, v)] = true
					}
				}
			}
		}
	}
}

func shownCell(c cell) string {
	if c.Type == "uri" {
		return value(rdf.IRI(c.Value))
	}
	if c.Lang != "" {
		return c.Value
	}
	return value(rdf.Typed(c.Value, c.Datatype))
}

// addPage adds the facts on an entity page, in the form that the runs saw: an object from property to a value, a list
// of values, or an object from value to qualifiers.
func (ev *evidence) addPage(num, observation string) {
	var page map[string]any
	if json.Unmarshal([]byte(observation), &page) != nil {
		return
	}
	num = strings.TrimPrefix(strings.TrimSpace(num), "wd:")
	for prop, v := range page {
		m := idInBrackets.FindStringSubmatch(prop)
		if m == nil {
			continue
		}
		switch v := v.(type) {
		case string:
			ev.facts[key(num, m[1], shown(v))] = true
		case []any:
			for _, x := range v {
				if s, ok := x.(string); ok {
					ev.facts[key(num, m[1], shown(s))] = true
				}
			}
		case map[string]any:
			for val, detail := range v {
				f := key(num, m[1], shown(val))
				ev.facts[f] = true
				ev.addQualifiers(f, detail)
			}
		}
	}
}

func (ev *evidence) addQualifiers(fact string, detail any) {
	d, _ := detail.(map[string]any)
	groups, _ := d["Qualifiers"].([]any)
	for _, g := range groups {
		group, _ := g.(map[string]any)
		for prop, v := range group {
			m := idInBrackets.FindStringSubmatch(prop)
			if m == nil {
				continue
			}
			list, ok := v.([]any)
			if !ok {
				list = []any{v}
			}
			for _, x := range list {
				if s, ok := x.(string); ok {
					ev.quals[key(fact, m[1], shown(s))] = true
				}
			}
		}
	}
}
