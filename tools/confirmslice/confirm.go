package main

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

type verdict string

const (
	confirmed   verdict = "confirmed"
	inverse     verdict = "inverse"
	together    verdict = "together"
	model       verdict = "model"
	ownWords    verdict = "own words"
	unconfirmed verdict = "UNCONFIRMED"
)

var verdicts = []verdict{confirmed, inverse, together, model, ownWords, unconfirmed}

type qualifier struct {
	p string
	o rdf.Term
}

type statement struct {
	subject, p string
	o          rdf.Term
	rank       string
	quals      []qualifier
}

func (s *statement) fact() string { return key(s.subject, s.p, value(s.o)) }

// triples is a set of triples, with the statement nodes assembled from them and, for messages, their English labels.
type triples struct {
	statements map[string]*statement
	labels     map[string]string
}

// id returns the ID in a prefixed name: Q42 for wd:Q42, P31 for wdt:P31.
func id(name string) string { return name[strings.IndexByte(name, ':')+1:] }

func newGraph(ts []triple) *triples {
	g := &triples{map[string]*statement{}, map[string]string{}}
	st := func(node string) *statement {
		if g.statements[node] == nil {
			g.statements[node] = &statement{}
		}
		return g.statements[node]
	}
	for _, t := range ts {
		prefix, _, _ := strings.Cut(t.p, ":")
		switch {
		case prefix == "p":
			st(name(t.o)).subject = id(t.s)
			st(name(t.o)).p = id(t.p)
		case prefix == "ps":
			st(t.s).o = t.o
		case prefix == "pq":
			st(t.s).quals = append(st(t.s).quals, qualifier{id(t.p), t.o})
		case t.p == "wikibase:rank":
			st(t.s).rank = name(t.o)
		case t.p == "rdfs:label" && (t.o.Lang == "en" || t.o.Lang == "mul"):
			if g.labels[id(t.s)] == "" || t.o.Lang == "en" {
				g.labels[id(t.s)] = t.o.Value
			}
		}
	}
	for node, s := range g.statements {
		if s.subject == "" {
			delete(g.statements, node)
		}
	}
	return g
}

// judge determines the verdict on each triple.
type judge struct {
	ev    *evidence
	in    *triples
	count map[string]map[verdict]int
	lines []string
}

func (j *judge) add(kind string, v verdict) {
	if j.count[kind] == nil {
		j.count[kind] = map[verdict]int{}
	}
	j.count[kind][v]++
}

// note lists an unconfirmed triple.
func (j *judge) note(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *judge) all(ts []triple) {
	for _, t := range ts {
		kind, v := j.triple(t)
		j.add(kind, v)
	}
}

// modelPredicates are predicates whose triples follow from the statement or value that they belong to.
var modelPredicates = map[string]bool{"rdf:type": true, "wikibase:timeTimezone": true,
	"wikibase:timeCalendarModel": true, "wikibase:timePrecision": true,
	"wikibase:timeValue": true, "wikibase:quantityAmount": true, "wikibase:quantityUnit": true,
	"wikibase:geoLatitude": true, "wikibase:geoLongitude": true,
	"wikibase:geoGlobe": true, "schema:inLanguage": true, "schema:isPartOf": true}

func (j *judge) triple(t triple) (kind string, v verdict) {
	prefix, _, _ := strings.Cut(t.p, ":")
	switch {
	case t.p == "schema:description":
		return "description", ownWords
	case t.p == "rdfs:label" || t.p == "skos:altLabel":
		return j.name(t)
	case t.p == "schema:about" || t.p == "schema:name":
		if t.p == "schema:about" {
			j.note("article\t%s\t%s", t.s, j.text(t.o))
		}
		return "article", unconfirmed
	case prefix == "wdt", prefix == "ps":
		return j.fact(t, prefix == "ps")
	case prefix == "pq":
		return j.qualifier(t)
	case t.p == "wikibase:rank":
		return j.rank(t)
	case prefix == "p", prefix == "psv", prefix == "pqv", modelPredicates[t.p] && !strings.HasPrefix(t.s, "wd:P"):
		if t.p == "rdf:type" && strings.HasPrefix(t.s, "wd:Q") {
			j.note("no value\t%s\t%s", j.text(rdf.IRI(rdf.Entity+id(t.s))), name(t.o))
			return "no value", unconfirmed
		}
		return "model", model
	case strings.HasPrefix(t.s, "wd:"):
		v = unconfirmed
		if j.ev.triples[key(t.s, t.p, t.o.Value)] {
			v = confirmed
		} else {
			j.note("declaration\t%s\t%s\t%s", t.s, t.p, t.o.Value)
		}
		return "declaration", v
	}
	j.note("other\t%s\t%s\t%s", t.s, t.p, t.o)
	return "other", unconfirmed
}

func (j *judge) name(t triple) (string, verdict) {
	kind := "label " + t.o.Lang
	if t.p == "skos:altLabel" {
		kind = "alias " + t.o.Lang
	}
	langs := []string{t.o.Lang}
	if t.o.Lang == "en" || t.o.Lang == "mul" {
		langs = []string{"en", "mul", ""} // the runs used English
	}
	for _, l := range langs {
		if j.ev.names[key(id(t.s), l, t.o.Value)] {
			return kind, confirmed
		}
	}
	if j.ev.names[key(id(t.s), "en", t.o.Value)] { // the English name, used for a different language
		return kind, together
	}
	j.note("%s\t%s\t%s\t(%s)", kind, id(t.s), t.o.Value, j.in.labels[id(t.s)])
	return kind, unconfirmed
}

// fact judges a direct claim or a statement's value. It notes only the statement's value, so that each fact is listed
// once.
func (j *judge) fact(t triple, stmt bool) (string, verdict) {
	kind, subject := "fact", id(t.s)
	if stmt {
		s := j.in.statements[t.s]
		if s == nil {
			j.note("orphan\t%s\t%s", t.s, t.o)
			return kind, unconfirmed
		}
		subject = s.subject
	}
	v := j.claim(subject, id(t.p), value(t.o))
	if id(t.p) == "P1855" {
		kind, v = "example", j.example(t, subject)
	}
	if v == unconfirmed && stmt {
		j.note("%s\t%s\t%s\t%s", kind, j.label(subject), j.label(id(t.p)), j.text(t.o))
	}
	return kind, v
}

// inverses are the properties that state the same fact in the opposite direction.
var inverses = map[string][]string{"P36": {"P1376"}, "P1376": {"P36"}, "P47": {"P47"}, "P26": {"P26"}, "P22": {"P40"},
	"P25": {"P40"}, "P40": {"P22", "P25"},
	"P800": {"P57", "P50"}, "P57": {"P800"}, "P39": {"P1308"}, "P1308": {"P39"}, "P610": {"P361"}}

func (j *judge) claim(s, p, v string) verdict {
	if j.ev.facts[key(s, p, v)] {
		return confirmed
	}
	for _, inv := range inverses[p] {
		if j.ev.facts[key(v, inv, s)] {
			return inverse
		}
	}
	if p == "P17" && (j.ev.facts[key(v, "P36", s)]) { // a capital's country
		return inverse
	}
	if j.ev.together[key(s, p, v)] {
		return together
	}
	return unconfirmed
}

// example judges a property example: it is confirmed if a run saw it or its fact is confirmed.
func (j *judge) example(t triple, property string) verdict {
	best := unconfirmed
	for node, s := range j.in.statements {
		if s.subject != property || s.p != "P1855" || value(s.o) != value(t.o) || (strings.HasPrefix(t.s, "wds:") &&
			node != t.s) {
			continue
		}
		for _, q := range s.quals {
			if j.ev.shows[key(property, j.in.labels[value(s.o)], j.in.labels[value(q.o)])] ||
				j.ev.shows[key(property, j.in.labels[value(s.o)], value(q.o))] {
				return confirmed
			}
			if v := j.claim(value(s.o), property, value(q.o)); v != unconfirmed {
				best = v
			}
		}
	}
	return best
}

func (j *judge) qualifier(t triple) (string, verdict) {
	s := j.in.statements[t.s]
	if s == nil {
		return "qualifier", unconfirmed
	}
	if s.p == "P1855" {
		return "example", model // judged with the example
	}
	if j.ev.quals[key(s.fact(), id(t.p), value(t.o))] {
		return "qualifier", confirmed
	}
	if j.ev.together[key(s.subject, s.p, value(t.o))] {
		return "qualifier", together
	}
	j.note("qualifier\t%s\t%s\t%s\t%s\t%s", j.label(s.subject), j.label(s.p), j.text(s.o), j.label(id(t.p)), j.text(t.o))
	return "qualifier", unconfirmed
}

// rankReasons maps ranks to the qualifiers that imply them.
var rankReasons = map[string]string{"wikibase:PreferredRank": "P7452", "wikibase:DeprecatedRank": "P2241"}

func (j *judge) rank(t triple) (string, verdict) {
	s, rank := j.in.statements[t.s], name(t.o)
	if rank == "wikibase:NormalRank" || s == nil {
		return "rank", model
	}
	if j.ev.ranks[key(s.fact(), rank)] {
		return "rank", confirmed
	}
	for q := range j.ev.quals {
		if strings.HasPrefix(q, key(s.fact(), rankReasons[rank])+"\t") {
			return "rank", confirmed
		}
	}
	j.note("rank\t%s\t%s\t%s\t%s", j.label(s.subject), j.label(s.p), j.text(s.o), rank)
	return "rank", unconfirmed
}

func (j *judge) label(num string) string {
	if l := j.in.labels[num]; l != "" {
		return num + " " + l
	}
	return num
}

func (j *judge) text(t rdf.Term) string { return j.label(value(t)) }
