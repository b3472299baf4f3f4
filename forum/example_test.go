package forum_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/forum"
)

const page = `== Cats ==
Which cats are in Wikidata? [[User:Ada|Ada]] ([[User talk:Ada|talk]]) 10:00, 5 June 2024 (UTC)
: Try this: {{SPARQL|query=SELECT ?cat { ?cat wdt:P31 wd:Q146 }}} [[User:Ben|Ben]] 11:30, 5 June 2024 (UTC)
`

// A talk page is read as threads of comments.
func ExampleParse() {
	p := forum.Parse("Wikidata:Request a query", page, forum.Options{})
	for _, t := range p.Threads {
		fmt.Println(t.Heading)
		for _, c := range t.Comments {
			fmt.Println(*c.Author, c.Time.Format(time.RFC3339), c.Level, c.Text)
			for _, q := range c.Queries {
				fmt.Println("query:", q.SPARQL)
			}
		}
	}
	// Output:
	// Cats
	// Ada 2024-06-05T10:00:00Z 1 Which cats are in Wikidata?
	// Ben 2024-06-05T11:30:00Z 2 Try this: [query]
	// query: SELECT ?cat { ?cat wdt:P31 wd:Q146 }
}

// A reply is written as wikitext in which no external text can become markup. Its first line:
func ExampleCompose() {
	text, err := forum.Compose(forum.Reply{
		Language: "en", To: "Ada", Short: "There are two [[cats]].", Marker: "sb-1",
		Query: "SELECT ?cat WHERE { ?cat wdt:P31 wd:Q146 . }", Endpoint: "query.wikidata.org",
		RanAt:    time.Date(2024, 6, 5, 12, 0, 0, 0, time.UTC),
		Operator: "Op", Signature: "~~~~",
	}, ":")
	if err != nil {
		log.Fatal(err)
	}
	first, _, _ := strings.Cut(text, "\n")
	fmt.Println(first)
	// Output:
	// :@Ada: There are two &#91;&#91;cats&#93;&#93;.<!-- spinachbot:sb-1 -->
}
