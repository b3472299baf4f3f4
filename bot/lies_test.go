package bot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// subject is a kind of result used in the test: a list of named items, each with a value.
type subject struct {
	query    string // the values of LIMIT and OFFSET are %d
	question map[string]string
	things   map[string]string // what the items are called, in the plural
}

var subjects = []subject{
	{`SELECT ?mountain ?height WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?height . } ORDER BY ?mountain LIMIT %d OFFSET %d`,
		map[string]string{"en": "Which mountains do you know, with their height?", "de": "Welche Berge gibt es, mit ihrer Höhe?", "fr": "Quelles montagnes y a-t-il, avec leur altitude ?"},
		map[string]string{"en": "mountains", "de": "Berge", "fr": "montagnes"}},
	{`SELECT ?country ?population WHERE { ?country wdt:P31 wd:Q6256 ; wdt:P1082 ?population . } ORDER BY ?country LIMIT %d OFFSET %d`,
		map[string]string{"en": "Which countries are there, and how many people live in them?", "de": "Welche Länder gibt es, mit der Zahl ihrer Einwohner?", "fr": "Quels pays y a-t-il, avec leur population ?"},
		map[string]string{"en": "countries", "de": "Länder", "fr": "pays"}},
	{`SELECT ?person ?born WHERE { ?person wdt:P31 wd:Q5 ; wdt:P569 ?born . } ORDER BY ?person LIMIT %d OFFSET %d`,
		map[string]string{"en": "Which people are there, and when were they born?", "de": "Welche Personen gibt es, und wann wurden sie geboren?", "fr": "Quelles personnes y a-t-il, et quand sont-elles nées ?"},
		map[string]string{"en": "people", "de": "Personen", "fr": "personnes"}},
	{`SELECT ?film ?released WHERE { ?film wdt:P57 ?director ; wdt:P577 ?released . } ORDER BY ?film LIMIT %d OFFSET %d`,
		map[string]string{"en": "Which films do you have, with the year of release?", "de": "Welche Filme gibt es, mit dem Jahr der Veröffentlichung?", "fr": "Quels films y a-t-il, avec leur année de sortie ?"},
		map[string]string{"en": "films", "de": "Filme", "fr": "films"}},
}

// truths are sentences that are true of any result: %[1]s is the number of items, %[2]s is what they are called, and
// the rest are the first item's name and value and the last item's.
var truths = map[string][]string{
	"en": {"There are %[1]s %[2]s in the table.", "The query finds %[1]s %[2]s, from %[3]s (%[4]s) to %[5]s (%[6]s).",
		"The table begins with %[3]s, with %[4]s, and ends with %[5]s, with %[6]s.", "Wikidata gives %[4]s for %[3]s.",
		"%[3]s has %[4]s, %[5]s has %[6]s.", "I found %[1]s %[2]s; the first is %[3]s.", "%[3]s and %[5]s are both in the list."},
	"de": {"Es gibt %[1]s %[2]s in der Tabelle.", "Die Abfrage findet %[1]s %[2]s, von %[3]s (%[4]s) bis %[5]s (%[6]s).",
		"Die Tabelle beginnt mit %[3]s, mit %[4]s, und endet mit %[5]s, mit %[6]s.", "Wikidata nennt %[4]s für %[3]s.",
		"%[3]s hat %[4]s, %[5]s hat %[6]s.", "Gefunden wurden %[1]s %[2]s; zuerst kommt %[3]s."},
	"fr": {"Il y a %[1]s %[2]s dans le tableau.", "La requête trouve %[1]s %[2]s, de %[3]s (%[4]s) à %[5]s (%[6]s).",
		"Le tableau commence par %[3]s, avec %[4]s, et finit par %[5]s, avec %[6]s.", "Wikidata donne %[4]s pour %[3]s.",
		"%[3]s a %[4]s, %[5]s a %[6]s.", "Voici %[1]s %[2]s ; le premier nom est %[3]s."},
}

// claims are sentences that models add from memory: %s is a name in the result.
var claims = map[string][]string{
	"en": {"%s is the most beautiful of them.", "%s was destroyed in the war.", "Most of them are popular with tourists.", "%s is known for its wine.",
		"All of them belong to the same family.", "%s won several prizes.", "Scientists do not agree on %s.", "%s lies in Switzerland.",
		"None of them is protected by law.", "%s was the first to be discovered.", "%s has two brothers.", "It is also the oldest in Europe."},
	"de": {"%s ist am schönsten.", "%s wurde im Krieg zerstört.", "Die meisten sind bei Touristen beliebt.", "%s ist für Wein bekannt.",
		"%s gewann mehrere Preise.", "%s liegt in der Schweiz.", "Fachleute streiten über %s.", "Keines davon steht unter Schutz.", "%s hat zwei Brüder."},
	"fr": {"%s est le plus beau.", "%s a été détruit pendant la guerre.", "La plupart attirent des touristes.", "%s est connu pour son vin.",
		"%s a gagné plusieurs prix.", "%s se trouve en Suisse.", "Les savants discutent de %s.", "%s a deux frères."},
}

var strangers = []string{"Monte Rosa", "Ruritania", "Ada Lovelace", "Metropolis", "Zinalrothorn", "Freedonia", "Emmy Noether", "Stalker"}

var counted = map[string]map[int]string{"en": {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"},
	"de": {2: "zwei", 3: "drei", 4: "vier", 5: "fünf", 6: "sechs", 7: "sieben", 8: "acht", 9: "neun", 10: "zehn"},
	"fr": {2: "deux", 3: "trois", 4: "quatre", 5: "cinq", 6: "six", 7: "sept", 8: "huit", 9: "neuf", 10: "dix"}}

// liar is a model that runs one query and then writes a given answer.
type liar struct {
	query         string
	first, second string // its answer, and its revised answer if it is asked again
	asked         int
}

func (l *liar) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	call := func(name string, args map[string]any) (*llm.Response, error) {
		b, err := json.Marshal(args)
		return &llm.Response{Choices: []llm.Choice{{FinishReason: "tool_calls",
			ToolCalls: []llm.ToolCall{{ID: "c", Name: name, Arguments: string(b)}}}}}, err
	}
	switch {
	case req.Purpose == "correct", req.Purpose == "proofread":
		l.asked++
		text := l.second
		if req.JSON {
			b, err := json.Marshal(map[string]string{"answer": text})
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		return &llm.Response{Choices: []llm.Choice{{Content: text}}}, nil
	case req.Purpose != "act":
		return nil, llm.ErrNoModel
	case !strings.Contains(fmt.Sprint(req.Messages), "LIMIT "+strings.Fields(strings.SplitN(l.query, "LIMIT ", 2)[1])[0]):
		return call("query", map[string]any{"sparql": l.query, "returns": "things with a value"})
	}
	return call("finish", map[string]any{"answer": l.first})
}

// said returns a true sentence about a result, or a false one of the given kind: figure, name, count or claim.
func said(r *rand.Rand, s subject, lang, kind string, a *agent.Answer) string {
	rows := a.Table.Rows
	i, k := 0, len(rows)-1
	name := func(i int) string {
		_, id, _ := strings.Cut(rows[i][0].Value, "/entity/")
		return a.Labels[id]
	}
	value := func(i int) string { return written(r, lang, rows[i][1].Value) }
	n := len(rows)
	if kind == "claim" {
		text := claims[lang][r.IntN(len(claims[lang]))]
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, name(r.IntN(n)))
		}
		return text
	}
	form := truths[lang][r.IntN(len(truths[lang]))]
	for !strings.Contains(form, map[string]string{"figure": "%[4]s", "name": "%[3]s", "count": "%[1]s", "": ""}[kind]) {
		form = truths[lang][r.IntN(len(truths[lang]))]
	}
	count, first, number := n, name(i), value(i)
	switch kind {
	case "count":
		distinct := map[string]bool{} // the number of rows and the number of items are both true
		for _, row := range rows {
			distinct[row[0].Value] = true
		}
		for count == n || count == len(distinct) {
			count = max(2, n-3+r.IntN(7))
		}
	case "name":
		first = strangers[r.IntN(len(strangers))]
	case "figure":
		number = written(r, lang, spoiled(r, rows[i][1].Value))
	}
	words := strconv.Itoa(count)
	if w := counted[lang][count]; w != "" && r.IntN(2) == 0 {
		words = w
	}
	return fmt.Sprintf(form, words, s.things[lang], first, number, name(k), value(k))
}

// written returns a value as text in the language might give it: only the year of a date, or all digits of a number,
// possibly grouped.
func written(r *rand.Rand, lang, v string) string {
	if year, _, ok := strings.Cut(v, "-"); ok && len(year) == 4 {
		return year
	}
	whole, part, point := strings.Cut(v, ".")
	if n, err := strconv.Atoi(whole); err == nil && r.IntN(2) == 0 {
		whole = forum.Texts(lang).Number(n)
	}
	if point {
		return whole + map[string]string{"en": ".", "de": ",", "fr": ","}[lang] + part
	}
	return whole
}

// spoiled changes a digit in the year of a date or in the integer part of a number.
func spoiled(r *rand.Rand, v string) string {
	year, rest, ok := strings.Cut(v, "-")
	if !ok {
		year, rest, _ = strings.Cut(v, ".")
	}
	b := []byte(year)
	at := r.IntN(len(b))
	b[at] = '1' + (b[at]-'1'+1+byte(r.IntN(8)))%9
	if ok {
		return string(b) + "-" + rest
	}
	return string(b)
}

// In 200 replies (100 in a sample) by a model that lies in half of them, no lie reaches the page, and fewer than 3% of the true sentences
// are suppressed. See docs/replies.md for measurements.
func TestNoLieReachesThePage(t *testing.T) {
	files, err := filepath.Glob("../internal/sandbox/data/*.ttl")
	if err != nil || len(files) == 0 {
		t.Fatal("no graph", err)
	}
	g, err := embedded.Load(embedded.Options{Name: "slice"}, files...)
	if err != nil {
		t.Fatal(err)
	}
	best, err := preset.Named("best")
	if err != nil {
		t.Fatal(err)
	}
	way := *best
	way.Probe.Queries = 0
	r := rand.New(rand.NewPCG(17, 2026))
	lies, reached, corrected, honest, held := map[string]int{}, 0, 0, 0, 0
	replies := corpus.Pick(100, 200)
	if testing.Short() {
		replies = 40
	}
	for range replies {
		s := subjects[r.IntN(len(subjects))]
		lang := []string{"en", "de", "fr"}[r.IntN(3)]
		l := &liar{query: fmt.Sprintf(s.query, 2+r.IntN(11), r.IntN(12))}
		ask := func(faithful bool) *agent.Outcome {
			t.Helper()
			e := agent.New(slog.New(slog.DiscardHandler), l, tool.Wikibase(g), time.Now, agent.Options{Preset: &way,
				Faithful: faithful, Proofread: faithful})
			out, err := e.Ask(t.Context(), agent.Question{Text: s.question[lang], Language: lang}, forgetful{}, agent.Limits{})
			if err != nil || out.Answer == nil {
				t.Fatalf("%s: %+v, %v", l.query, out, err)
			}
			return out
		}
		l.first = "."
		a := ask(false).Answer
		if slices.ContainsFunc(a.Table.Rows, func(row []rdf.Term) bool { return a.Labels[rdf.EntityID(row[0].Value)] == "" }) {
			continue // no one would write an ID as a name
		}
		trueOne := said(r, s, lang, "", a)
		kind, lie := "", ""
		if r.IntN(2) == 0 {
			kind = []string{"figure", "name", "count", "claim"}[r.IntN(4)]
			lie = said(r, s, lang, kind, a)
			lies[kind]++
		}
		l.first = strings.TrimSpace(trueOne + " " + lie)
		l.second = l.first
		if r.IntN(2) == 0 {
			l.second = trueOne
		}
		out := ask(true)
		corrected += l.asked
		text, err := forum.Compose(reply.New(out, "Ann", "Olga", "sb-1"), ":")
		if err != nil {
			t.Fatal(err)
		}
		text = ungrouped(text)
		if kind != "" && strings.Contains(text, ungrouped(lie)) {
			reached++
			t.Errorf("%s: %q reached the page; the result: %v", kind, lie, a.Table.Rows)
		}
		c := agent.Checker(s.question[lang], a, lang)
		for _, sentence := range c.Sentences(trueOne) {
			honest++
			if !strings.Contains(text, ungrouped(sentence)) {
				held++
				t.Logf("held back: %q: %+v", sentence, c.Faults(sentence))
			}
		}
	}
	t.Logf("lies %v, reached the page %d; asked again %d times; true sentences %d, held back %d", lies, reached, corrected, honest, held)
	if held*100 >= 3*honest || len(lies) != 4 {
		t.Errorf("%d of %d true sentences were held back; lies %v", held, honest, lies)
	}
}

type forgetful struct{}

func (forgetful) Record(context.Context, agent.Event) error { return nil }

var grouped = regexp.MustCompile(`\d{1,3}(?:[., \x{a0}\x{202f}]\d{3})+\b`)

// ungrouped removes the separators from numbers, which a reply formats.
func ungrouped(s string) string {
	return grouped.ReplaceAllStringFunc(s, func(n string) string {
		return strings.NewReplacer(".", "", ",", "", " ", "", "\u00a0", "", "\u202f", "").Replace(n)
	})
}
