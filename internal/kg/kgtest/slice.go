package kgtest

// SliceQuestions returns twenty queries on the built-in slice of Wikidata, in the dialect of its query service. Every
// engine must return the same rows.
func SliceQuestions() []Question {
	const labels = ` SERVICE wikibase:label { bd:serviceParam wikibase:language "en". } `
	return []Question{
		{"capital of Germany", "SELECT ?c ?cLabel WHERE { wd:Q183 wdt:P36 ?c ." + labels + "}"},
		{"neighbors of Germany", "SELECT ?c WHERE { wd:Q183 wdt:P47 ?c }"},
		{"neighbors that are countries", "SELECT DISTINCT ?c WHERE { wd:Q183 wdt:P47 ?c . ?c wdt:P31/wdt:P279* wd:Q6256 }"},
		{"number of countries", "SELECT (COUNT(DISTINCT ?c) AS ?n) WHERE { ?c wdt:P31 wd:Q6256 }"},
		{"is Berlin the capital", "ASK { wd:Q183 wdt:P36 wd:Q64 }"},
		{"is Paris the capital of Germany", "ASK { wd:Q183 wdt:P36 wd:Q90 }"},
		{"landlocked countries in Africa", "SELECT ?c ?cLabel WHERE { ?c wdt:P31 wd:Q123480 ; wdt:P30 wd:Q15 ." + labels +
			"}"},
		{"the highest mountain in Pakistan", "SELECT ?m ?mLabel ?h WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 wd:Q843 ; wdt:P2044 ?h ." + labels +
			"} ORDER BY DESC(?h) LIMIT 1"},
		{"heads of government before reunification",
			"SELECT ?p ?pLabel ?start ?end WHERE { ?p p:P39 ?s . ?s ps:P39 wd:Q4970706 ; pq:P580 ?start . " +
				`OPTIONAL { ?s pq:P582 ?end } FILTER(?start < "1990-10-03T00:00:00Z"^^xsd:dateTime)` + labels +
				"} ORDER BY ?start"},
		{"monarchs who descend from Victoria", "SELECT DISTINCT ?m WHERE { ?m wdt:P39 wd:Q9134365 . ?m (wdt:P22|wdt:P25)+ wd:Q9439 }"},
		{"populations", "SELECT ?c ?n WHERE { VALUES ?c { wd:Q79 wd:Q183 } ?c wdt:P1082 ?n } ORDER BY DESC(?n)"},
		{"films of a director by year", "SELECT ?f ?fLabel (MIN(YEAR(?d)) AS ?year) WHERE { ?f wdt:P57 wd:Q55400 ; wdt:P577 ?d ." + labels +
			"} GROUP BY ?f ?fLabel ORDER BY ?year ?f"},
		{"neighbors and their capitals", "SELECT ?l ?lLabel ?h ?hLabel WHERE { wd:Q183 wdt:P47 ?l . ?l wdt:P36 ?h ." +
			labels + "} ORDER BY ?lLabel"},
		{"high mountains", "SELECT ?m ?h WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P2044 ?h . FILTER(?h > 8000) } ORDER BY DESC(?h)"},
		{"countries by continent", "SELECT ?k (COUNT(DISTINCT ?c) AS ?n) WHERE { ?c wdt:P31 wd:Q6256 ; wdt:P30 ?k } GROUP BY ?k ORDER BY DESC(?n) ?k"},
		{"all populations with their dates", "SELECT ?n ?when WHERE { wd:Q183 p:P1082 ?s . ?s ps:P1082 ?n . OPTIONAL { ?s pq:P585 ?when } }"},
		{"countries without a coast and without neighbors in Africa",
			"SELECT ?c WHERE { ?c wdt:P31 wd:Q123480 MINUS { ?c wdt:P47/wdt:P30 wd:Q15 } }"},
		{"named subquery", "SELECT ?c ?k WITH { SELECT ?c WHERE { wd:Q183 wdt:P47 ?c } } AS %near WHERE { INCLUDE %near . ?c wdt:P36 ?k }"},
		{"hint", `SELECT ?c WHERE { hint:Query hint:optimizer "None" . ?c wdt:P47 wd:Q183 ; wdt:P30 wd:Q46 }`},
		{"children or parents", "SELECT DISTINCT ?p WHERE { { wd:Q9439 wdt:P40 ?p } UNION { ?p wdt:P25 wd:Q9439 } }"},
	}
}
