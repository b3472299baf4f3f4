package annotate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Choice is something to choose from, with its key.
type Choice struct{ Key, Name, Help string }

// Reasons are why a candidate is excluded: the SPINACH paper's kinds (section 3.1, appendix C), and what else makes a pair of question and query worthless.
var Reasons = []Choice{
	{"wikimedia", "Presentation of Wikimedia projects", "articles, sitelinks, what one Wikipedia has and another lacks"},
	{"code", "Help with code", "its meaning cannot be said in plain words"},
	{"optimisation", "Only about the time limit", "hints and restructurings"},
	{"formatting", "Only formatting", "labels, images, links, concatenations"},
	{"meaning", "Meaning unclear", "nobody can tell what was wanted"},
	{"wrong", "The query is wrong", "it does not answer what was asked, and cannot be mended"},
	{"duplicate", "Duplicate", "another candidate or a published benchmark has it"},
	{"other", "Other", "say what in the note"},
}

// Guidelines are how a question is worded (SPINACH, section 3.2), in our words.
var Guidelines = []Choice{
	{"Stands alone", "", "No “my query”, no “as above”: who reads only the question must understand it."},
	{"Says every constraint", "", "Each condition, number, date, order and limit of the query is in the question, and nothing else is."},
	{"Tells apart", "", "Which Paris? Name what tells entities apart. Narrative location or filming location? Citizenship or birth country? Keep close properties apart."},
	{"Sounds like a person", "", "“When does it take place?”, not “what is its point in time?”: names of properties only where other words would be ambiguous."},
	{"Marks what is optional", "", "Fields in OPTIONAL come “if available”."},
	{"Names what is returned", "", "“For each, also return the name and the height.” Formats may be shown: “as YYYY-MM-DD”."},
	{"Mentions duplicates", "", "“Each pair once”, “without repeats” where the query sees to it."},
}

// itemData is what the page of a candidate shows.
type itemData struct {
	*Case
	Own               *Work // never nil
	Filter            Filter
	Before, After     string
	At, Total         int
	Result            *shownTable
	Trimmed           []diffLine
	Guidelines        []Choice
	Reasons           []Choice
	OthersDecided     int
	CanCompare        bool
	Page              pageData
	Endpoint          string
	Sources           []source
	NearOnes          []nearOne
	PermalinkSafe     string
	Disambiguate      []string
	QueriesOfComments map[int][]dataset.Query
}

// source is a text of the query that can be looked at beside the edited one.
type source struct{ Key, Name, Text string }

type nearOne struct {
	dataset.Near
	Heading, URL string
}

// pageData is what the script of a page gets.
type pageData struct {
	Candidate  string          `json:"candidate"`
	Resolution bool            `json:"resolution"`
	Who        string          `json:"who"`
	Version    int64           `json:"version"`
	Query      string          `json:"query"`
	Question   string          `json:"question"`
	Note       string          `json:"note"`
	Verdict    dataset.Verdict `json:"verdict"`
	Reason     string          `json:"reason"`
	Cleaned    string          `json:"cleaned"`
	Trimmed    string          `json:"trimmed"`
	Precise    string          `json:"precise,omitempty"`
	Natural    string          `json:"natural,omitempty"`
	Before     string          `json:"before"`
	After      string          `json:"after"`
	Queue      string          `json:"queue"`
	Filter     string          `json:"filter"`
	Compare    string          `json:"compare,omitempty"`
	Works      []pageWork      `json:"works,omitempty"`
}

// pageWork is a work to take texts from when comparing.
type pageWork struct {
	Query    string          `json:"query"`
	Question string          `json:"question"`
	Verdict  dataset.Verdict `json:"verdict"`
	Reason   string          `json:"reason"`
}

// startQuery is the query that an annotator begins with.
func startQuery(c *dataset.Candidate) string { return cmp.Or(c.Cleaned, c.Original) }

// ownWork gives the work of who, or a new one.
func ownWork(c *Case, who string) *Work {
	if w := c.Of(who); w != nil {
		return w
	}
	return &Work{Candidate: c.Candidate.ID, Annotator: who, Query: startQuery(c.Candidate)}
}

// item shows a candidate for annotation.
func (s *Server) item(w http.ResponseWriter, r *http.Request, who string) error {
	id := r.PathValue("id")
	cases, c, err := s.among(r.Context(), id)
	if err != nil {
		return err
	}
	d := c.Candidate
	f := readFilter(r.URL.Query())
	data := &itemData{Case: c, Own: ownWork(c, who), Filter: f, Guidelines: Guidelines, Reasons: Reasons, CanCompare: c.Visible(who) && len(c.Decided()) > 1 || c.State() == Resolved,
		Endpoint: s.GraphName, PermalinkSafe: webAddress(d.Provenance.Permalink), QueriesOfComments: map[int][]dataset.Query{}}
	data.Before, data.After, data.At, data.Total = s.neighbours(cases, f, who, id)
	for _, x := range c.Decided() {
		if x.Annotator != who {
			data.OthersDecided++
		}
	}
	if d.Result != nil {
		data.Result = sampleTable(d.Result)
		s.label(r.Context(), data.Result)
	}
	if d.Trimmed != "" {
		data.Trimmed = diffLines(d.Cleaned, d.Trimmed)
	}
	for _, q := range d.Queries {
		data.QueriesOfComments[q.Comment] = append(data.QueriesOfComments[q.Comment], q)
	}
	data.Sources = sources(d)
	_, byID := s.all()
	for _, n := range d.Near {
		one := nearOne{Near: n}
		if other, ok := byID[n.ID]; ok {
			one.Heading, one.URL = other.Provenance.Heading, "/item/"+n.ID+"?"+f.Query()
		}
		data.NearOnes = append(data.NearOnes, one)
	}
	data.Page = pageData{Candidate: id, Who: who, Version: data.Own.Version, Query: data.Own.Query, Question: data.Own.Question, Note: data.Own.Note, Verdict: data.Own.Verdict,
		Cleaned: startQuery(d), Trimmed: d.Trimmed, Before: data.Before, After: data.After, Queue: "/?" + f.Query(), Filter: f.Query()}
	if data.CanCompare {
		data.Page.Compare = "/compare/" + id + "?" + f.Query()
	}
	if d.Suggestion != nil {
		data.Page.Precise, data.Page.Natural, data.Disambiguate = d.Suggestion.Precise, d.Suggestion.Natural, d.Suggestion.Disambiguate
	}
	s.show(w, http.StatusOK, "item.html", &view{Title: cmp.Or(d.Provenance.Heading, id), Who: who, Page: "item", Data: data})
	return nil
}

// sources are the forms of the candidate's query that can be looked at.
func sources(d *dataset.Candidate) []source {
	var out []source
	for _, x := range []source{{"labels", "With labels", d.Annotated}, {"original", "As posted", d.Original}, {"cleaned", "As run", d.Cleaned}} {
		if x.Text != "" {
			out = append(out, x)
		}
	}
	return out
}

// webAddress gives an address only when it is one of the web.
func webAddress(s string) string {
	if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
		return s
	}
	return ""
}

// shownTable is a result as a page shows it.
type shownTable struct {
	Head     []string
	Rows     [][]cell
	Total    int // rows in all
	Bytes    int64
	MS       int64
	RanAt    time.Time
	Endpoint string
	Ask      bool
	Boolean  bool
}

// cell is a value of a row.
type cell struct {
	Text  string `json:"text"`
	ID    string `json:"id,omitempty"` // Q or P number
	URL   string `json:"url,omitempty"`
	Label string `json:"label,omitempty"`
	Kind  string `json:"kind"` // id, url, number, time, text, none
}

// maxShown is how many rows a page shows.
const maxShown = 200

func showTable(t *kg.Table) *shownTable {
	out := &shownTable{Head: t.Vars, Total: len(t.Rows), Ask: t.Ask, Boolean: t.Boolean, MS: t.Elapsed.Milliseconds(), Endpoint: t.Source}
	if t.Ask {
		out.Total = 1
	}
	for _, row := range t.Rows[:min(len(t.Rows), maxShown)] {
		cells := make([]cell, len(t.Vars))
		for i := range cells {
			if i < len(row) {
				cells[i] = showTerm(row[i])
			} else {
				cells[i].Kind = "none"
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// sampleTable shows the sample of a harvested result. A sample that cannot be read gives a table without rows.
func sampleTable(r *dataset.Result) *shownTable {
	body := `{"head":{"vars":[]},"results":{"bindings":[]}}`
	head, err := json.Marshal(r.Head)
	switch sample := strings.TrimSpace(string(r.Sample)); {
	case sample == "true" || sample == "false":
		body = `{"head":{},"boolean":` + sample + `}`
	case sample != "" && err == nil && r.Head != nil:
		body = `{"head":{"vars":` + string(head) + `},"results":{"bindings":` + sample + `}}`
	}
	var t kg.Table
	out := &shownTable{Head: r.Head}
	if err := json.Unmarshal([]byte(body), &t); err == nil {
		out = showTable(&t)
	}
	out.Total, out.Bytes, out.MS, out.RanAt, out.Endpoint = r.Rows, r.Bytes, r.MS, r.RanAt, r.Endpoint
	return out
}

func showTerm(t rdf.Term) cell {
	switch id := rdf.EntityID(t.Value); {
	case !t.Bound():
		return cell{Kind: "none"}
	case t.IsIRI() && id != "":
		return cell{Text: id, ID: id, URL: entityAddress(id), Kind: "id"}
	case t.IsIRI():
		return cell{Text: t.Value, URL: webAddress(t.Value), Kind: "url"}
	case t.Datatype == rdf.XSDDateTime || t.Datatype == rdf.XSDDate:
		return cell{Text: strings.TrimSuffix(t.Value, "T00:00:00Z"), Kind: "time"}
	case t.Datatype == rdf.XSDInteger || t.Datatype == rdf.XSDDecimal || t.Datatype == rdf.XSDDouble:
		return cell{Text: t.Value, Kind: "number"}
	}
	return cell{Text: t.Value, Kind: "text"}
}

// entityAddress is the page of an entity.
func entityAddress(id string) string {
	switch id[0] {
	case 'P':
		return "https://www.wikidata.org/wiki/Property:" + id
	case 'L':
		return "https://www.wikidata.org/wiki/Lexeme:" + id
	}
	return "https://www.wikidata.org/wiki/" + id
}

// maxLabels bounds how many labels of a result are asked for.
const maxLabels = 150

// label puts labels beside the numbers of a table whose query brings none, as far as the graph gives them in short time; a table without is fine, too.
func (s *Server) label(ctx context.Context, t *shownTable) {
	var ids []string
	for _, row := range t.Rows {
		for i, c := range row {
			if c.ID != "" && !slices.Contains(t.Head, t.Head[i]+"Label") && !slices.Contains(ids, c.ID) && len(ids) < maxLabels {
				ids = append(ids, c.ID)
			}
		}
	}
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	labels, err := s.Graph.Labels(ctx, ids, []string{"en", "mul"})
	if err != nil && !errors.Is(err, context.Canceled) {
		s.Log.Info("no labels for a result", "error", err)
	}
	for _, row := range t.Rows {
		for i := range row {
			if !slices.Contains(t.Head, t.Head[i]+"Label") {
				row[i].Label = labels[row[i].ID]
			}
		}
	}
}

// namesOf gives the names of a query's numbers: those of the graph, else the labels that the harvest brought. pending says that more are on their way.
func (s *Server) namesOf(ctx context.Context, c *dataset.Candidate, q *sparql.Query) (found map[string]Name, pending bool) {
	var ids []string
	for _, i := range sparql.Identifiers(q) {
		ids = append(ids, i.ID)
	}
	found, pending = s.names.of(ctx, ids)
	for _, id := range ids {
		if _, ok := found[id]; !ok && c.Labels[id] != "" {
			found[id] = Name{Label: c.Labels[id]}
		}
	}
	return found, pending
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%s %ss", thousands(n), noun)
}

// thousands writes a number with thin groups of three digits.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func byteSize(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f kB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
