// Package kbqagraph generates small graphs in the formats of Interactive-KBQA's data sets, for tests and for the
// example dialogues: KQA Pro's part of Wikidata, with nodes for values and for facts; MetaQA's films; and Freebase,
// with compound values. All data is invented. The same seed always produces the same graph.
package kbqagraph

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Add is a function that adds a triple.
type Add func(s, p, o rdf.Term)

// Numbers of entities of each kind in a world.
const (
	countries = 4
	cities    = 16
	people    = 30
	films     = 24
)

// world contains the facts that all graphs express, each in its own format.
type world struct {
	countries []string
	cities    []city
	people    []person
	films     []film
}

type city struct {
	name                   string
	country                int
	area                   float64 // square kilometers
	elevation, inception   int
	population, countedIn  [2]int // counts and their years
	twin, twinned          int    // the twin city, and the year of the twinning
	mayor, mayorFrom, then int    // a person; the years in which the mayor took and left office, or 0 if still in office
}

type person struct {
	name                  string
	birth                 string
	place                 int
	jobs                  []string
	spouse, married, prix int // prix is the index of an award, or -1 if there is none
	wonIn, wonFor         int
}

type film struct {
	name             string
	director, writer int
	cast             []int
	roles            []string
	genre, language  string
	year, minutes    int
	released         string
	country          int
	tags             []string
}

var (
	starts = []string{"Bar", "Cal", "Dor", "El", "Fen", "Gar", "Hol", "Ist", "Jor", "Kel", "Lor", "Mar", "Nor", "Os",
		"Pel", "Ros", "Sel", "Tor", "Ul", "Ven"}
	ends  = []string{"den", "mark", "vik", "ford", "ova", "ita", "burg", "mere", "stad", "ano"}
	given = []string{"Ada", "Bruno", "Clara", "Dario", "Edda", "Felix", "Greta", "Hugo", "Irma", "Jonas", "Klara",
		"Livia", "Milo", "Nora", "Otto"}
	family = []string{"Abel", "Berg", "Corvin", "Dahl", "Egger", "Falk", "Grimm", "Hansen", "Ivers", "Jansen", "Krall",
		"Lund"}
	titles    = []string{"The Silent", "A Distant", "The Last", "Under the", "The Golden", "Broken"}
	nouns     = []string{"River", "Harbor", "Winter", "Garden", "Letter", "Bridge"}
	genres    = []string{"drama", "comedy", "thriller", "science fiction"}
	languages = []string{"Norvian", "Calish", "Dorian"}
	tags      = []string{"black and white", "based on a novel", "courtroom", "road trip"}
	awards    = []string{"Golden Reel", "Silver Lantern", "Critics' Crown"}
	roles     = []string{"the captain", "a teacher", "the stranger", "a nurse", "the thief"}
)

func newWorld(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 14))
	w := &world{}
	used := map[string]bool{}
	fresh := func(make func() string) string {
		for {
			if s := make(); !used[s] {
				used[s] = true
				return s
			}
		}
	}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	place := func() string { return pick(starts) + pick(ends) }
	for range countries {
		w.countries = append(w.countries, fresh(func() string { return pick(starts) + "ia" }))
	}
	for i := range cities {
		c := city{name: fresh(place), country: i % countries, area: float64(20+r.IntN(300)) + 0.5, elevation: 5 + r.IntN(900),
			inception: 1100 + r.IntN(800), twin: (i + 1 + r.IntN(cities-1)) % cities, twinned: 1950 + r.IntN(60),
			mayor: r.IntN(people), mayorFrom: 1990 + r.IntN(20)}
		c.population = [2]int{10_000 + r.IntN(90_000), 110_000 + r.IntN(800_000)}
		c.countedIn = [2]int{1950 + r.IntN(10), 2010 + r.IntN(10)}
		if i%2 == 0 {
			c.then = c.mayorFrom + 4
		}
		w.cities = append(w.cities, c)
	}
	jobs := []string{"film director", "actor", "screenwriter"}
	for i := range people {
		p := person{name: fresh(func() string { return pick(given) + " " + pick(family) }), place: r.IntN(cities),
			spouse: i ^ 1,
			birth:  fmt.Sprintf("%d-%02d-%02d", 1930+r.IntN(60), 1+r.IntN(12), 1+r.IntN(28)), married: 1975 + i/2, prix: -1}
		p.jobs = []string{jobs[i%3]}
		if i%5 == 0 && p.jobs[0] != "actor" {
			p.jobs = append(p.jobs, "actor")
		}
		if i%3 == 0 {
			p.prix, p.wonIn, p.wonFor = r.IntN(len(awards)), 1990+r.IntN(30), r.IntN(films)
		}
		w.people = append(w.people, p)
	}
	for i := range films {
		f := film{name: fresh(func() string { return pick(titles) + " " + pick(nouns) }), director: 3 * r.IntN(people/3),
			writer: 3*r.IntN(people/3) + 2, genre: pick(genres), language: pick(languages), year: 1970 + r.IntN(50),
			minutes: 70 + r.IntN(90), country: r.IntN(countries)}
		f.released = fmt.Sprintf("%d-%02d-%02d", f.year, 1+r.IntN(12), 1+r.IntN(28))
		for j := range 3 {
			f.cast = append(f.cast, 3*((i+4*j)%(people/3))+1)
			f.roles = append(f.roles, roles[(i+j)%len(roles)])
		}
		if i%4 != 0 {
			f.tags = append(f.tags, pick(tags))
		}
		w.films = append(w.films, f)
	}
	return w
}

// kqa writes triples in KQA Pro's format.
type kqa struct {
	add           Add
	nodes, values int
	concepts      map[string]rdf.Term
}

func (k *kqa) triple(s rdf.Term, p string, o rdf.Term) { k.add(s, rdf.IRI(p), o) }

// node adds an entity and, if concept is not "", makes it an instance of that concept.
func (k *kqa) node(name, concept string) rdf.Term {
	n := rdf.IRI(fmt.Sprintf("e%d", k.nodes))
	k.nodes++
	k.triple(n, "pred:name", rdf.String(name))
	if concept != "" {
		if _, ok := k.concepts[concept]; !ok {
			k.concepts[concept] = k.node(concept, "")
		}
		k.triple(n, "pred:instance_of", k.concepts[concept])
	}
	return n
}

func (k *kqa) blank() rdf.Term {
	k.values++
	return rdf.Blank(fmt.Sprintf("n%d", k.values))
}

func (k *kqa) number(v float64, unit string) rdf.Term {
	n := k.blank()
	k.triple(n, "pred:value", rdf.Typed(fmt.Sprintf("%.1f", v), rdf.XSDDouble))
	k.triple(n, "pred:unit", rdf.String(unit))
	return n
}

func (k *kqa) date(v string) rdf.Term {
	n := k.blank()
	k.triple(n, "pred:date", rdf.Typed(v, rdf.XSDDate))
	return n
}

func (k *kqa) year(v int) rdf.Term {
	n := k.blank()
	k.triple(n, "pred:year", rdf.Typed(fmt.Sprint(v), rdf.XSDInteger))
	return n
}

func (k *kqa) text(v string) rdf.Term {
	n := k.blank()
	k.triple(n, "pred:value", rdf.String(v))
	return n
}

// fact adds a triple and, if there are modifiers, a node with them. The modifiers are predicate-value pairs.
func (k *kqa) fact(s rdf.Term, p string, o rdf.Term, modifiers ...any) {
	k.triple(s, p, o)
	if len(modifiers) == 0 {
		return
	}
	n := k.blank()
	k.triple(n, "pred:fact_h", s)
	k.triple(n, "pred:fact_r", rdf.IRI(p))
	k.triple(n, "pred:fact_t", o)
	for i := 0; i < len(modifiers); i += 2 {
		k.triple(n, modifiers[i].(string), modifiers[i+1].(rdf.Term))
	}
}

// KQAPro generates a graph in the format of KQA Pro's part of Wikidata. Nodes are identified by <pred:name>, and their
// classes by <pred:instance_of>. Numbers, strings, dates and years have nodes with <pred:value>, <pred:unit>,
// <pred:date> or <pred:year>. Statements about a triple are attached to a node with <pred:fact_h>, <pred:fact_r> and
// <pred:fact_t>.
func KQAPro(seed uint64, add Add) {
	w := newWorld(seed)
	k := &kqa{add: add, concepts: map[string]rdf.Term{}}
	var countries, cities, people, films, prizes []rdf.Term
	for _, c := range w.countries {
		countries = append(countries, k.node(c, "sovereign state"))
	}
	for _, c := range w.cities {
		cities = append(cities, k.node(c.name, "city"))
	}
	for _, p := range w.people {
		people = append(people, k.node(p.name, "human"))
	}
	for _, f := range w.films {
		films = append(films, k.node(f.name, "film"))
	}
	for _, a := range awards {
		prizes = append(prizes, k.node(a, "film award"))
	}
	named := map[string]rdf.Term{}
	thing := func(name, concept string) rdf.Term {
		if _, ok := named[name]; !ok {
			named[name] = k.node(name, concept)
		}
		return named[name]
	}
	for i, c := range w.countries {
		k.fact(countries[i], "capital", cities[i], "start_time", k.year(w.cities[i].inception+100))
		k.fact(countries[i], "ISO_3166-1_alpha-2_code", k.text(strings.ToUpper(c[:2])))
	}
	for i, c := range w.cities {
		k.fact(cities[i], "country", countries[c.country])
		for j, n := range c.population {
			k.fact(cities[i], "population", k.number(float64(n), "1"), "point_in_time", k.year(c.countedIn[j]))
		}
		k.fact(cities[i], "area", k.number(c.area, "square kilometre"))
		k.fact(cities[i], "elevation_above_sea_level", k.number(float64(c.elevation), "metre"))
		k.fact(cities[i], "inception", k.year(c.inception))
		k.fact(cities[i], "twinned_administrative_body", cities[c.twin], "start_time", k.year(c.twinned))
	}
	for i, p := range w.people {
		k.fact(people[i], "date_of_birth", k.date(p.birth))
		k.fact(people[i], "place_of_birth", cities[p.place])
		k.fact(people[i], "spouse", people[p.spouse], "start_time", k.year(p.married), "place_of_marriage",
			cities[p.married%len(cities)])
		for _, j := range p.jobs {
			k.fact(people[i], "occupation", thing(j, "profession"))
		}
		if p.prix >= 0 {
			k.fact(people[i], "award_received", prizes[p.prix], "point_in_time", k.year(p.wonIn), "for_work", films[p.wonFor])
		}
	}
	for i, f := range w.films {
		k.fact(films[i], "director", people[f.director])
		k.fact(films[i], "screenwriter", people[f.writer])
		for j, a := range f.cast {
			k.fact(films[i], "cast_member", people[a], "character_role", k.text(f.roles[j]))
		}
		k.fact(films[i], "genre", thing(f.genre, "film genre"))
		k.fact(films[i], "original_language_of_film_or_TV_show", thing(f.language, "language"))
		k.fact(films[i], "duration", k.number(float64(f.minutes), "minute"))
		k.fact(films[i], "country_of_origin", countries[f.country])
		k.fact(films[i], "publication_date", k.date(f.released), "place_of_publication",
			countries[(f.country+1)%len(countries)])
	}
}

// MetaQA generates a graph of films with MetaQA's nine predicates. Every node has a <name>; tags are literals.
func MetaQA(seed uint64, add Add) {
	w := newWorld(seed)
	nodes := map[string]rdf.Term{}
	node := func(name string) rdf.Term {
		if t, ok := nodes[name]; ok {
			return t
		}
		t := rdf.IRI(fmt.Sprintf("m%d", len(nodes)))
		nodes[name] = t
		add(t, rdf.IRI("name"), rdf.String(name))
		return t
	}
	for i, f := range w.films {
		m := node(f.name)
		add(m, rdf.IRI("directed_by"), node(w.people[f.director].name))
		add(m, rdf.IRI("written_by"), node(w.people[f.writer].name))
		for _, a := range f.cast {
			add(m, rdf.IRI("starred_actors"), node(w.people[a].name))
		}
		add(m, rdf.IRI("release_year"), node(fmt.Sprint(f.year)))
		add(m, rdf.IRI("in_language"), node(f.language))
		add(m, rdf.IRI("has_genre"), node(f.genre))
		for _, t := range append(f.tags, strings.ToLower(w.people[f.director].name)) {
			add(m, rdf.IRI("has_tags"), rdf.String(t))
		}
		add(m, rdf.IRI("has_imdb_rating"), node([]string{"bad", "okay", "good"}[i%3]))
		add(m, rdf.IRI("has_imdb_votes"), node([]string{"unknown", "well known", "famous"}[i%3]))
	}
}

// Freebase generates a graph in Freebase's format. Names are in English and are the values of ns:type.object.name. The
// name of a predicate consists of a domain, a type and a property. Events (performances, marriages, offices held) are
// blank nodes, which have ns:….from and often no ns:….to.
func Freebase(seed uint64, add Add) {
	const ns = "http://rdf.freebase.com/ns/"
	w := newWorld(seed)
	count := 0
	triple := func(s rdf.Term, p string, o rdf.Term) { add(s, rdf.IRI(ns+p), o) }
	event := func() rdf.Term {
		count++
		return rdf.IRI(fmt.Sprintf("%sm.0%04x", ns, count))
	}
	node := func(name, about string) rdf.Term {
		n := event()
		triple(n, "type.object.name", rdf.LangString(name, "en"))
		if about != "" {
			triple(n, "common.topic.description", rdf.LangString(about, "en"))
		}
		return n
	}
	day := func(year int) rdf.Term { return rdf.Typed(fmt.Sprintf("%d-01-01", year), rdf.XSDDate) }
	var countries, cities, people, films []rdf.Term
	for i, c := range w.countries {
		countries = append(countries, node(c, fmt.Sprintf("%s is a country whose capital is %s.", c, w.cities[i].name)))
	}
	for _, c := range w.cities {
		cities = append(cities, node(c.name, fmt.Sprintf("%s is a city in %s.", c.name, w.countries[c.country])))
	}
	for _, p := range w.people {
		people = append(people, node(p.name, fmt.Sprintf("%s is a %s from %s.", p.name, p.jobs[0], w.cities[p.place].name)))
	}
	for _, f := range w.films {
		films = append(films, node(f.name, fmt.Sprintf("%s is a %s of %d.", f.name, f.genre, f.year)))
	}
	node(w.cities[0].name, fmt.Sprintf("%s is a rock band.", w.cities[0].name)) // two entities with the same name
	mayor := node("Mayor", "")
	for i := range w.countries {
		triple(countries[i], "location.country.capital", cities[i])
	}
	for i, c := range w.cities {
		triple(cities[i], "location.location.containedby", countries[c.country])
		triple(cities[i], "location.location.area", rdf.Typed(fmt.Sprint(c.area), rdf.XSDDouble))
		e := event()
		triple(cities[i], "government.governmental_jurisdiction.governing_officials", e)
		triple(e, "government.government_position_held.office_holder", people[c.mayor])
		triple(e, "government.government_position_held.basic_title", mayor)
		triple(e, "government.government_position_held.from", day(c.mayorFrom))
		if c.then != 0 {
			triple(e, "government.government_position_held.to", day(c.then))
		}
	}
	for i, p := range w.people {
		triple(people[i], "people.person.date_of_birth", rdf.Typed(p.birth, rdf.XSDDate))
		triple(people[i], "people.person.place_of_birth", cities[p.place])
		if i < p.spouse {
			e := event()
			triple(people[i], "people.person.spouse_s", e)
			triple(people[p.spouse], "people.person.spouse_s", e)
			triple(e, "people.marriage.spouse", people[i])
			triple(e, "people.marriage.spouse", people[p.spouse])
			triple(e, "people.marriage.from", day(p.married))
		}
	}
	for i, f := range w.films {
		triple(films[i], "film.film.directed_by", people[f.director])
		triple(films[i], "film.film.initial_release_date", rdf.Typed(f.released, rdf.XSDDate))
		for j, a := range f.cast {
			e := event()
			triple(films[i], "film.film.starring", e)
			triple(e, "film.performance.film", films[i])
			triple(people[a], "film.actor.film", e)
			triple(e, "film.performance.actor", people[a])
			triple(e, "film.performance.character", node(f.roles[j], ""))
		}
	}
}
